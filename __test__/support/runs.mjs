import { readFileSync } from "node:fs";

/** Whether a process of this number runs; a zombie does not. @param {number} pid */
export function runs(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    return process.platform !== "linux";
  }
}
