/** `--json`: one JSON object per line. Pure. */

/**
 * One line for an event, a result or an error. Fields that are computed when they are read count too: the
 * addon gives `args` and `result` as accessors, which `JSON.stringify` leaves out on a class instance.
 */
export function jsonLine(value: object, type?: string): string {
  const { type: ownType, ...rest } = readFields(value);
  const fields = { type: type ?? ownType, ...rest };
  // JSON lets C1 control characters stand as they are; a terminal would obey them.
  const text = JSON.stringify(fields).replace(
    /[\u007f-\u009f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `${text}\n`;
}

/** A failed turn, in the shape of the line that ends the output. */
export function jsonErrorLine(error: unknown): string {
  const fields = error instanceof Error ? readFields(error) : {};
  const { code, retryable, exitCode, signal, stderrTail, partial } = fields;
  return jsonLine(
    {
      code: typeof code === "string" ? code : "CURSOR_INTERNAL",
      message: error instanceof Error ? error.message : String(error),
      retryable,
      exitCode,
      signal,
      stderrTail,
      partial: typeof partial === "object" && partial !== null ? readFields(partial) : undefined,
    },
    "turn-error",
  );
}

/** Own fields and accessors, and the accessors of every prototype below `Object.prototype`. */
function readFields(value: object): Record<string, unknown> {
  const names = new Set<string>(Object.getOwnPropertyNames(value));
  let prototype: object | null = Object.getPrototypeOf(value);
  while (prototype !== null && prototype !== Object.prototype) {
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (descriptor.get !== undefined) {
        names.add(name);
      }
    }
    prototype = Object.getPrototypeOf(prototype);
  }
  const fields: Record<string, unknown> = {};
  for (const name of names) {
    const field = Reflect.get(value, name);
    if (typeof field !== "function") {
      fields[name] = field;
    }
  }
  return fields;
}
