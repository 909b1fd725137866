"use strict";

// What index.mjs takes the package from. A CommonJS module that throws while an ES module imports it ends Node 20, even
// where the import() of that one is caught: so this one does not throw, and index.mjs does.
try {
  module.exports = { loaded: require("./index.js") };
} catch (error) {
  module.exports = { error };
}
