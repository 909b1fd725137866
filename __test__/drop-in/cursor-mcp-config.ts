export { releaseHeldLeasesSync, stageCursorMcpLease } from "fusion-cursor-native";
