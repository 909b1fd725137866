// The few things of an ELF file that decide where it can be loaded. Read here and not by `readelf`, which not every
// machine has that builds or publishes.

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_GNU_STACK = 0x6474e551;
const PF_X = 1;
const SHT_SYMTAB = 2;
const DT_NEEDED = 1;
const DT_STRTAB = 5;
const DT_VERNEED = 0x6ffffffe;
const DT_VERNEEDNUM = 0x6fffffff;

/**
 * @typedef {object} Elf
 * @property {boolean} executableStack so too where the file does not say, since the kernel takes that for a yes
 * @property {string[]} needed the libraries that it asks for
 * @property {string[]} versions the versions of their symbols that it asks for: `GLIBC_2.17`
 * @property {boolean} stripped it has no symbols but those that are linked by name
 */

/**
 * Of a file of 64 bits, little-endian; `undefined` where the file says that something lies behind its end.
 * @param {Buffer} bytes
 * @returns {Elf | undefined}
 */
export function readElf(bytes) {
  try {
    return elfOf(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** @param {Buffer} bytes @returns {Elf} */
function elfOf(bytes) {
  const segments = segmentsOf(bytes);
  const stack = segments.find(({ type }) => type === PT_GNU_STACK);
  const { needed, versions } = dynamicOf(bytes, segments);
  return {
    executableStack: stack === undefined || (stack.flags & PF_X) !== 0,
    needed,
    versions,
    stripped: !sectionTypes(bytes).includes(SHT_SYMTAB),
  };
}

/** A number of 64 bits; where something lies in a file is never as far as a double cannot tell. @param {Buffer} bytes @param {number} at */
const word = (bytes, at) => Number(bytes.readBigUInt64LE(at));

/** @typedef {{ type: number, flags: number, offset: number, address: number, size: number }} Segment */

/** @param {Buffer} bytes @returns {Segment[]} */
function segmentsOf(bytes) {
  const [start, size, count] = [word(bytes, 32), bytes.readUInt16LE(54), bytes.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    return {
      type: bytes.readUInt32LE(at),
      flags: bytes.readUInt32LE(at + 4),
      offset: word(bytes, at + 8),
      address: word(bytes, at + 16),
      size: word(bytes, at + 32),
    };
  });
}

/** @param {Buffer} bytes */
function sectionTypes(bytes) {
  const [start, size, count] = [word(bytes, 40), bytes.readUInt16LE(58), bytes.readUInt16LE(60)];
  return Array.from({ length: count }, (_, index) => bytes.readUInt32LE(start + index * size + 4));
}

/** @param {Buffer} bytes @param {Segment[]} segments */
function dynamicOf(bytes, segments) {
  const dynamic = segments.find(({ type }) => type === PT_DYNAMIC);
  if (dynamic === undefined) return { needed: [], versions: [] };
  /** @type {[number, number][]} */
  const entries = [];
  for (let at = dynamic.offset; at + 16 <= dynamic.offset + dynamic.size; at += 16)
    entries.push([word(bytes, at), word(bytes, at + 8)]);
  const value = (/** @type {number} */ tag) => entries.find(([found]) => found === tag)?.[1];
  const inFile = (/** @type {number} */ address) => {
    const segment = segments.find(
      ({ type, address: start, size }) => type === PT_LOAD && start <= address && address < start + size,
    );
    return segment === undefined ? 0 : address - segment.address + segment.offset;
  };
  const names = inFile(value(DT_STRTAB) ?? 0);
  const name = (/** @type {number} */ at) =>
    bytes.toString("latin1", names + at, bytes.indexOf(0, names + at));
  const needs = value(DT_VERNEED);
  return {
    needed: entries.filter(([tag]) => tag === DT_NEEDED).map(([, at]) => name(at)),
    versions:
      needs === undefined ? [] : versionsOf(bytes, inFile(needs), value(DT_VERNEEDNUM) ?? 0).map(name),
  };
}

/**
 * Where the names of the needed versions are.
 * @param {Buffer} bytes
 * @param {number} start
 * @param {number} libraries
 */
function versionsOf(bytes, start, libraries) {
  const names = [];
  let library = start;
  for (let left = libraries; left > 0; left -= 1) {
    let version = library + bytes.readUInt32LE(library + 8);
    for (let count = bytes.readUInt16LE(library + 2); count > 0; count -= 1) {
      names.push(bytes.readUInt32LE(version + 8));
      version += bytes.readUInt32LE(version + 12);
    }
    library += bytes.readUInt32LE(library + 12);
  }
  return names;
}
