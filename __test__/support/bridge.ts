/** Bridges that are closed when the test is over, and callers of their tools. */

import {
  type CursorToolBridge,
  type CursorToolBridgeOptions,
  startCursorToolBridge,
  type ToolLike,
} from "fusion-cursor-native";
import { expect, onTestFinished } from "vitest";

export interface Result {
  content: Record<string, unknown>[];
  isError: boolean;
  structuredContent?: unknown;
  unknownTool?: boolean;
}

export async function bridgeOf(
  tools: ToolLike[],
  options: CursorToolBridgeOptions = {},
): Promise<CursorToolBridge> {
  const bridge = await startCursorToolBridge(tools, options);
  if (bridge === null) throw new Error("no tool was published");
  onTestFinished(() => bridge.dispose());
  return bridge;
}

/** A tool that does this. */
export function tool(execute: (...args: never[]) => unknown, more: Partial<ToolLike> = {}): ToolLike {
  return { name: "fn_x", ...more, execute: execute as NonNullable<ToolLike["execute"]> };
}

type Entry = Pick<CursorToolBridge, "serverEntry">;

export function post(
  { serverEntry: { env } }: Entry,
  body: unknown,
  more: RequestInit = {},
): Promise<Response> {
  const { FUSION_CURSOR_TOOL_BRIDGE_URL: url = "", FUSION_CURSOR_TOOL_BRIDGE_TOKEN: token } = env;
  return fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...more,
  });
}

/** What a call came to. */
export async function call(
  bridge: Entry,
  name = "fn_x",
  args: unknown = {},
  more: RequestInit & { callId?: string } = {},
): Promise<Result> {
  const { callId, ...init } = more;
  const response = await post(bridge, { name, arguments: args, callId }, init);
  expect(response.status).toBe(200);
  return (await response.json()) as Result;
}

export function texts({ content }: Result): unknown[] {
  return content.map(({ text }) => text);
}
