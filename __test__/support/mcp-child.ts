/** The stdio child in front of a bridge that does what a test tells it to. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { root } from "./host.js";
import { eventually } from "./stage.js";

export const CHILD = join(root, "mcp-schema-server.cjs");
export const TOKEN = "0123456789abcdef".repeat(4);
export const TOOLS = [
  { name: "fn_add", description: "Adds", inputSchema: { type: "object", properties: {} } },
  { name: "fn_wait", description: "Waits", inputSchema: { type: "object" } },
];

export interface Received {
  body: { name: string; arguments: Record<string, unknown>; callId: string };
  request: IncomingMessage;
  response: ServerResponse;
}

/** A folder that is gone when the test is over. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), "fusion-cursor-child-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function schemaFile(
  content: unknown = { serverInfo: { name: "fusion", version: "1" }, tools: TOOLS },
): string {
  const file = join(scratch(), "schema.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

/** A bridge that keeps every call until the test answers it, unless `answer` does so at once. */
export class FakeBridge {
  readonly calls: Received[] = [];
  /** How many of the callers have gone before they were answered. */
  vanished = 0;
  answer: ((call: Received) => void) | undefined;
  readonly #server: Server;
  #port = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", () => {
        const call = { body: JSON.parse(Buffer.concat(parts).toString("utf8")), request, response };
        this.calls.push(call);
        response.on("close", () => {
          if (!response.writableFinished) this.vanished += 1;
        });
        this.answer?.(call);
      });
    });
  }

  static async start(): Promise<FakeBridge> {
    const bridge = new FakeBridge();
    bridge.#server.listen(0, "127.0.0.1");
    await once(bridge.#server, "listening");
    bridge.#port = (bridge.#server.address() as AddressInfo).port;
    onTestFinished(() => bridge.kill());
    return bridge;
  }

  get env(): Record<string, string> {
    return {
      FUSION_CURSOR_TOOL_BRIDGE_URL: `http://127.0.0.1:${this.#port}/tool-call`,
      FUSION_CURSOR_TOOL_BRIDGE_TOKEN: TOKEN,
    };
  }

  /** The call with this number, once it is there. */
  async call(number: number): Promise<Received> {
    await eventually(`call ${number} is there`, () => this.calls.length > number);
    return this.calls[number] as Received;
  }

  /** Breaks all connections, and takes new ones. */
  dropConnections(): void {
    this.#server.closeAllConnections();
  }

  /** Ends it as the death of its process would: all connections break. */
  kill(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

export function reply({ response }: Received, body: unknown, status = 200): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(text),
  });
  response.end(text);
}

export const said = (text: string): object => ({ content: [{ type: "text", text }], isError: false });

// biome-ignore lint/suspicious/noExplicitAny: an answer is what the assertions find it to be
export type Answer = any;

/** A child, and all that it wrote. */
export class McpChild {
  readonly process: ChildProcess;
  /** Every line of its stdout: each must be JSON. */
  readonly answers: Answer[] = [];
  bytes = 0;
  stderr = "";
  #rest: Buffer[] = [];

  constructor(
    env: Record<string, string>,
    { file = schemaFile(), program = CHILD, paused = false, cwd = scratch() } = {},
  ) {
    this.process = spawn(process.execPath, [program, file], { env: { PATH: process.env.PATH, ...env }, cwd });
    onTestFinished(() => {
      this.process.kill("SIGKILL");
    });
    this.process.stdin?.on("error", () => {});
    this.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    if (!paused) this.read();
  }

  get pid(): number {
    return this.process.pid as number;
  }

  /** Reads its stdout from now on. */
  read(): void {
    this.process.stdout?.on("data", (chunk: Buffer) => {
      this.bytes += chunk.length;
      let start = 0;
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
        this.answers.push(
          JSON.parse(Buffer.concat([...this.#rest, chunk.subarray(start, end)]).toString("utf8")),
        );
        this.#rest = [];
        start = end + 1;
      }
      this.#rest.push(chunk.subarray(start));
    });
  }

  write(bytes: string | Buffer): void {
    this.process.stdin?.write(bytes);
  }

  send(message: unknown): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  request(id: unknown, method: string, params?: unknown): void {
    this.send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
  }

  call(id: unknown, name: string, args: object = {}): void {
    this.request(id, "tools/call", { name, arguments: args });
  }

  /** The first answer with this id, once it is there. */
  async answer(id: unknown): Promise<Answer> {
    const find = (): Answer => this.answers.find((answer) => answer.id === id);
    await eventually(`an answer to ${JSON.stringify(id)}`, () => find() !== undefined);
    return find();
  }

  /** Answered once all that was written before has been read: what is answered at once has its answer then. */
  async settled(): Promise<void> {
    const id = `settled-${this.answers.length}-${Math.random()}`;
    this.request(id, "ping");
    await this.answer(id);
  }

  end(): void {
    this.process.stdin?.end();
  }

  /** How it ended, once all that it wrote is there. */
  async ended(): Promise<{ code: number | null; signal: string | null }> {
    const { process } = this;
    if (process.exitCode === null && process.signalCode === null) await once(process, "exit");
    const { stdout } = process;
    if (stdout !== null && !stdout.destroyed && stdout.listenerCount("data") > 0) {
      await eventually("its stdout has ended", () => stdout.readableEnded);
    }
    return { code: process.exitCode, signal: process.signalCode };
  }
}
