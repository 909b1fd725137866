/** A type of index.d.ts held against a value: tsc checks the table, the run what comes. */

import { expect } from "vitest";

type Kind = "boolean" | "number" | "object" | "string" | "null";

/** `?` behind the kind where the type leaves the member out at times: every member, and no other. */
export type Members<T> = {
  [K in keyof T]-?: undefined extends T[K]
    ? `${Kind}?`
    : null extends T[K]
      ? `${Exclude<Kind, "null">} or null`
      : Kind;
};

export function fits<T extends object>(value: T, members: Members<T>): void {
  expect(Object.keys(members)).toEqual(expect.arrayContaining(Object.keys(value)));
  for (const [name, kinds] of Object.entries<string>(members)) {
    if (!(name in value) && kinds.endsWith("?")) continue;
    const found = (value as Record<string, unknown>)[name];
    const kind = found === null ? "null" : typeof found;
    expect(kinds.replace("?", "").split(" or "), `${name} is ${kind}`).toContain(kind);
  }
}
