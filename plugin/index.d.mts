import { plugin } from "./index.js";

export * from "./index.js";
export default plugin;
