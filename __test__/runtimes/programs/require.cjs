// By `require`.

const cursor = require("fusion-cursor-native");
const testing = require("fusion-cursor-native/testing");

void import("./parts.mjs").then(({ play }) => play(cursor, testing));
