/** The plugin as Fusion loads it, and its provider as the dashboard asks it. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import plugin, {
  CursorRuntimeAdapter,
  cursorCliProvider,
  cursorCliRoutes,
} from "fusion-cursor-native/plugin";
import { describe, expect, test } from "vitest";
import { context, liveOn } from "./support/fusion.js";
import { AGENT, Machine, VERSION } from "./support/machine.js";

const { version } = JSON.parse(readFileSync(join(__dirname, "..", "package.json"), "utf8"));

describe("the plugin", () => {
  test("has the ids that Fusion knows, and the version of the package", () => {
    expect(plugin.manifest).toMatchObject({
      id: "fusion-plugin-cursor-runtime",
      version,
      runtime: { runtimeId: "cursor", version },
    });
    expect(plugin.runtime.metadata).toEqual(plugin.manifest.runtime);
    expect(plugin.state).toBe("installed");
    // What Fusion accepts as an id and as a version.
    expect(plugin.manifest.id).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
    expect(plugin.manifest.version).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test("has every setting that the provider names", () => {
    const { pluginSettingKeys } = cursorCliProvider.settings;
    expect(pluginSettingKeys).toEqual(["cursorCliBinaryPath"]);
    expect(Object.keys(plugin.manifest.settingsSchema)).toEqual(pluginSettingKeys);
  });

  test("needs nothing but the public surface of this package", () => {
    const text = readFileSync(join(__dirname, "..", "plugin", "index.js"), "utf8");
    const required = [...text.matchAll(/\brequire\("(.*?)"\)|\bimport\(/g)].map(([, name]) => name);
    expect(new Set(required)).toEqual(new Set(["fusion-cursor-native"]));
  });

  test("is the default export for both kinds of modules", async () => {
    const imported = await import("fusion-cursor-native/plugin");
    const required = createRequire(__filename)("fusion-cursor-native/plugin");
    expect(imported.default).toBe(plugin);
    expect(imported.plugin).toBe(plugin);
    expect(required.default).toBe(required.plugin);
    expect(required.plugin.manifest).toEqual(plugin.manifest);
  });

  test("tells at load what was loaded, with a log or without", () => {
    const loaded = context();
    plugin.hooks.onLoad(loaded);
    expect(loaded.logged).toEqual([expect.stringContaining(`fusion-cursor-native ${version} for `)]);
    plugin.hooks.onLoad({});
  });

  test("makes a runtime by either way", () => {
    for (const runtime of [
      plugin.runtime.factory(context()),
      cursorCliProvider.runtime.createAdapter(context()),
    ]) {
      expect(runtime).toBeInstanceOf(CursorRuntimeAdapter);
      expect([runtime.id, runtime.name]).toEqual(["cursor", "Cursor CLI"]);
      expect(runtime.describeModel({})).toBe("unknown model");
    }
  });
});

describe("the provider", () => {
  test("has the ids, routes and actions that the dashboard uses", () => {
    expect(plugin.cliProviders).toEqual([cursorCliProvider]);
    expect(cursorCliProvider).toMatchObject({
      providerId: "cursor-cli",
      displayName: "Cursor CLI",
      binaryName: "cursor-agent",
      providerType: "cli",
      statusRoute: "/providers/cursor-cli/status",
      authRoute: "/auth/cursor-cli",
      runtime: { runtimeId: "cursor" },
    });
    const served = cursorCliRoutes.map(({ method, path }) => `${method} ${path}`);
    const used = cursorCliProvider.actions.map(({ method, route }) => `${method} ${route}`);
    expect(new Set(used)).toEqual(new Set(served));
    expect(cursorCliProvider.actions.map(({ actionType }) => actionType)).toEqual([
      "enable",
      "disable",
      "test",
    ]);
  });

  test("probes what is in PATH, and a configured program first; settings are read at each use", async () => {
    const machine = new Machine();
    const found = machine.script("bin/cursor-agent", AGENT);
    const configured = machine.script("opt/my agent", AGENT);
    liveOn(machine);
    const fusion = context();
    expect(await cursorCliProvider.probe(fusion)).toMatchObject({
      available: true,
      authenticated: true,
      state: "ready",
      binaryPath: found,
      version: VERSION,
      usingConfiguredBinaryPath: false,
    });
    fusion.settings.cursorCliBinaryPath = ` ${configured} `;
    expect(await cursorCliProvider.probe(fusion)).toMatchObject({
      binaryPath: configured,
      usingConfiguredBinaryPath: true,
    });
    // One that has gone is told of, and what is found stands in.
    fusion.settings.cursorCliBinaryPath = "/no/such/agent";
    expect(await cursorCliProvider.probe(fusion)).toMatchObject({
      state: "ready",
      binaryPath: found,
      diagnostics: [expect.stringContaining("/no/such/agent")],
    });
  });

  test.each([[""], ["  "], [7], [null], [undefined], [{}]])(
    "takes %j in the settings for no path",
    async (stored) => {
      const machine = new Machine();
      liveOn(machine);
      const status = await cursorCliProvider.probe({ settings: { cursorCliBinaryPath: stored } });
      expect(status).toMatchObject({ state: "missing", usingConfiguredBinaryPath: false });
      expect(status.configuredBinaryPath).toBeUndefined();
      expect(await cursorCliProvider.probe({})).toMatchObject({ state: "missing" });
    },
  );

  test("lists the models of the configured program", async () => {
    const machine = new Machine();
    const settings = { cursorCliBinaryPath: machine.script("opt/agent", AGENT) };
    liveOn(machine);
    expect(await cursorCliProvider.discoverModels(context(settings))).toEqual({
      models: [
        { id: "auto", label: "Auto" },
        { id: "m", label: "M" },
      ],
      source: "models-text",
      fallbackUsed: false,
    });
    expect(await cursorCliProvider.discoverModels(context())).toMatchObject({
      models: [],
      fallbackUsed: true,
    });
  });
});

describe("the routes", () => {
  const [status, auth] = cursorCliRoutes;
  const get = async (settings = {}) => (await status?.handler({}, context(settings)))?.body;
  const post = (body: unknown, settings = {}) => auth?.handler({ body }, context(settings));

  test("tell the status: ready where it is enabled and somebody is logged in", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT);
    liveOn(machine);
    expect(await get()).toMatchObject({
      binary: { state: "ready" },
      enabled: true,
      extension: null,
      ready: true,
    });
    expect(await get({ useCursorCli: true })).toMatchObject({ enabled: true, ready: true });
    expect(await get({ useCursorCli: false })).toMatchObject({
      binary: { state: "ready" },
      enabled: false,
      ready: false,
    });
    machine.script("bin/cursor-agent", AGENT.replace("true", "false"));
    expect(await get()).toMatchObject({ binary: { state: "unauthenticated" }, enabled: true, ready: false });
  });

  test("let a provider be enabled whose program answers", async () => {
    const machine = new Machine();
    liveOn(machine);
    expect(await post({ enabled: true })).toEqual({
      status: 400,
      body: { error: expect.stringMatching(/^Cursor CLI was not enabled: .*cursor-agent/) },
    });
    const found = machine.script("bin/cursor-agent", AGENT);
    expect(await post({ enabled: true })).toMatchObject({
      status: 200,
      body: { enabled: true, restartRequired: false, binary: { binaryPath: found } },
    });
  });

  test("take a configured program for good only if it answers itself", async () => {
    const machine = new Machine();
    machine.script("bin/cursor-agent", AGENT);
    const own = machine.script("opt/agent", AGENT);
    const broken = machine.script("opt/broken", "exit 3");
    liveOn(machine);
    const refused = { status: 400, body: { error: expect.stringContaining("broken") } };
    expect(await post({ enabled: true, binaryPath: broken })).toEqual(refused);
    expect(await post({ enabled: true }, { cursorCliBinaryPath: broken })).toEqual(refused);
    // What is asked for now counts more than what is stored, a blank included.
    const settings = { cursorCliBinaryPath: broken };
    expect(await post({ enabled: true, binaryPath: own }, settings)).toMatchObject({
      status: 200,
      body: { binary: { binaryPath: own } },
    });
    expect(await post({ enabled: true, binaryPath: " " }, settings)).toMatchObject({
      status: 200,
      body: { binary: { binaryPath: machine.at("bin", "cursor-agent") } },
    });
  });

  test("let it be disabled whatever is here", async () => {
    liveOn(new Machine());
    expect(await post({ enabled: false })).toEqual({
      status: 200,
      body: { enabled: false, restartRequired: false },
    });
  });

  test.each([
    [undefined, "enabled"],
    [{}, "enabled"],
    [{ enabled: "yes" }, "enabled"],
    [{ enabled: true, binaryPath: 7 }, "binaryPath"],
    [{ enabled: true, binaryPath: "a\0b" }, "binaryPath"],
  ])("refuse %j", async (body, what) => {
    expect(await post(body)).toEqual({ status: 400, body: { error: expect.stringContaining(what) } });
  });
});
