// A host that takes itself for a compiled one: to make one of Deno or Node takes files that no package has.

if (globalThis.Deno === undefined) require("node:sea").isSea = () => true;
else {
  const { build } = globalThis.Deno;
  Object.defineProperty(globalThis.Deno, "build", { value: { ...build, standalone: true } });
}

const { join } = require("node:path");
const process = require("node:process");
const { CursorSession, startCursorToolBridge } = require("fusion-cursor-native");

const tools = [{ name: "fn_x", execute() {} }];

async function main() {
  const { code, message } = await startCursorToolBridge(tools).catch((error) => error);
  const session = await CursorSession.create({ cwd: join(process.cwd(), "work"), fusionTools: tools });
  const { reasonCode, detail } = session.fusionToolBridgeError;
  await session.dispose();
  console.log(JSON.stringify({ code, reasonCode, same: message === detail, message }));
}

void main();
