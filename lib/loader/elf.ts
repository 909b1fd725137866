/** What the program headers of an ELF file say: the loader that it wants, and how much of the file is mapped. */

/** Bytes of a file, from a place in it; fewer at its end. */
export type Read = (at: number, length: number) => Uint8Array;

const PT_LOAD = 1;
const PT_INTERP = 3;
/** More than any path, and any count of headers that a linker writes. */
const MOST = 4096;

/** The path of the interpreter; `undefined` where the file has none, as where the loader itself was started. */
export function interpreterOf(read: Read): string | undefined {
  for (const { type, from, length } of segmentsOf(read)) {
    if (type !== PT_INTERP) continue;
    // Anywhere in the file: what changes the interpreter afterwards, as NixOS does, puts it at the end. It ends with a NUL.
    const path = read(from, Math.min(MOST, length));
    return Buffer.from(path).toString("latin1").replace(/\0.*$/s, "");
  }
  return undefined;
}

/** Whether the file ends before what is mapped of it: the system maps it all the same, and a read of it ends Node. */
export function isCutOff(read: Read): boolean {
  const end = segmentsOf(read).reduce(
    (end, { type, from, length }) => (type === PT_LOAD ? Math.max(end, from + length) : end),
    0,
  );
  return end > 0 && read(end - 1, 1).length === 0;
}

interface Segment {
  readonly type: number;
  /** Where it begins in the file, and how much of the file it is, in bytes. */
  readonly from: number;
  readonly length: number;
}

/** None where it is no such file. */
function segmentsOf(read: Read): Segment[] {
  const head = view(read(0, 64));
  // 64 bits and little-endian, as all that there is a package for.
  if (head.byteLength < 64 || head.getUint32(0) !== 0x7f454c46 || head.getUint16(4) !== 0x0201) return [];
  const size = head.getUint16(54, true);
  const headers = view(
    read(Number(head.getBigUint64(32, true)), Math.min(MOST, size * head.getUint16(56, true))),
  );
  const segments: Segment[] = [];
  for (let at = 0; size >= 56 && at + size <= headers.byteLength; at += size)
    segments.push({
      type: headers.getUint32(at, true),
      from: Number(headers.getBigUint64(at + 8, true)),
      length: Number(headers.getBigUint64(at + 32, true)),
    });
  return segments;
}

function view({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
