/** What a good turn leaves in a workspace where another turn runs: the way to the agent ends, and nothing else. */

import { expect, test } from "vitest";
import { init, result } from "../support/stage.js";
import { alive, allGone, Desk, KINDS } from "./support.js";

test.each(KINDS)("the last turn of a workspace ends what all have left, through a .%s", async (kind) => {
  const left = (name: string) => ({
    start: [{ touch: name }, { linger: true }],
    as: "session",
    hold: "none",
    args: ["worker-server"],
  });
  const desk = new Desk([init, left("helper"), { waitFile: "helper" }, result("one")]);
  const binary = desk.agent(kind);
  desk.write(
    "other.json",
    JSON.stringify({ turn: [init, { touch: "other" }, { waitFile: "go" }, result("two")] }),
  );
  const other = desk.launch({ binary, env: { FUSION_CURSOR_SCENARIO: desk.at("other.json") } });
  await desk.pid("other");

  const one = await desk.launch({ binary });
  const helper = await desk.pid("helper");
  expect(one).toMatchObject({ text: "one", leftovers: [{ pid: helper }] });
  expect(alive(helper)).toBe(true);

  desk.write("go", "");
  expect(await other).toMatchObject({ text: "two", leftovers: [] });
  await allGone([helper]);
});

test.each(KINDS)("an agent that stays after its result is ended, through a .%s", async (kind) => {
  const desk = new Desk([init, { touch: "agent" }, result("done"), { linger: true }]);
  const { text, signal } = await desk.launch({
    binary: desk.agent(kind),
    exitGraceMs: 300,
    leftovers: "keep",
  });
  expect({ text, signal }).toEqual({ text: "done", signal: null });
  await allGone([await desk.pid("agent")]);
});
