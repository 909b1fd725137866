// What system and processor a binary is for, from its first bytes: ELF, Mach-O or PE.

/**
 * As Node names them: `linux x64`.
 * @param {Buffer} bytes
 */
export function machineOf(bytes) {
  if (bytes.length < 64) return "nothing that is known";
  // Of 64 bits, the low byte first: what has another form may name the same processor, and is loaded nowhere.
  if (bytes.readUInt32BE(0) === 0x7f454c46 && bytes.readUInt16BE(4) === 0x0201)
    return named("linux", bytes.readUInt16LE(18), { 62: "x64", 183: "arm64" });
  if (bytes.readUInt32LE(0) === 0xfeedfacf)
    return named("darwin", bytes.readUInt32LE(4), { 16777223: "x64", 16777228: "arm64" });
  if (bytes.readUInt16BE(0) === 0x4d5a) {
    const at = bytes.readUInt32LE(0x3c);
    if (at + 6 <= bytes.length && bytes.readUInt32BE(at) === 0x50450000)
      return named("win32", bytes.readUInt16LE(at + 4), { 34404: "x64", 43620: "arm64" });
  }
  return "nothing that is known";
}

/**
 * @param {string} os
 * @param {number} number
 * @param {Record<number, string>} processors
 */
function named(os, number, processors) {
  return `${os} ${processors[number] ?? `processor ${number}`}`;
}
