import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: [process.platform === "win32" ? "__test__/windows/*.spec.ts" : "__test__/*.spec.ts"],
    // The addon holds threads and processes of its own: a crash must not take other files' tests with it.
    pool: "forks",
    watch: false,
    // Where the machine has ten times as much to do, a test takes ten times as long.
    testTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
  },
});
