// Whether a binary is loaded or started, from what its format says of it.

const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_FLAGS_1 = 0x6ffffffbn;
const DF_1_PIE = 0x08000000n;

/**
 * A program that may lie anywhere in memory has the type of a library; but it names what loads it, or, where it has all
 * in itself, a flag says so.
 * @param {Buffer} bytes
 */
function isElfProgram(bytes) {
  if (bytes.readUInt16LE(16) === 2) return true;
  const [at, size, count] = [
    Number(bytes.readBigUInt64LE(32)),
    bytes.readUInt16LE(54),
    bytes.readUInt16LE(56),
  ];
  for (let index = 0; index < count; index += 1) {
    const segment = at + index * size;
    const type = bytes.readUInt32LE(segment);
    if (type === PT_INTERP) return true;
    if (type !== PT_DYNAMIC) continue;
    const from = Number(bytes.readBigUInt64LE(segment + 8));
    const to = from + Number(bytes.readBigUInt64LE(segment + 32));
    for (let entry = from; entry < to; entry += 16) {
      const isFlags = bytes.readBigUInt64LE(entry) === DT_FLAGS_1;
      if (isFlags && (bytes.readBigUInt64LE(entry + 8) & DF_1_PIE) !== 0n) return true;
    }
  }
  return false;
}

/**
 * Of an ELF, Mach-O or PE file of 64 bits.
 * @param {Buffer} bytes
 * @returns {"library" | "program"}
 */
export function kindOf(bytes) {
  let isProgram;
  if (bytes.readUInt32BE(0) === 0x7f454c46) isProgram = isElfProgram(bytes);
  else if (bytes.readUInt32LE(0) === 0xfeedfacf) isProgram = bytes.readUInt32LE(12) === 2;
  else isProgram = (bytes.readUInt16LE(bytes.readUInt32LE(0x3c) + 22) & 0x2000) === 0;
  return isProgram ? "program" : "library";
}
