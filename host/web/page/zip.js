// A ZIP archive of files that are stored as they are.
"use strict";

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

function checksum(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/// `files`: [path, bytes] of each.
function zipped(files) {
  const parts = [], index = [];
  let offset = 0;
  const record = (signature, fields, path) => {
    const name = new TextEncoder().encode(path), size = 4 + fields.reduce((sum, [bytes]) => sum + bytes, 0);
    const view = new DataView(new ArrayBuffer(size));
    view.setUint32(0, signature, true);
    let at = 4;
    for (const [bytes, value] of fields) {
      if (bytes === 2) view.setUint16(at, value, true);
      else view.setUint32(at, value, true);
      at += bytes;
    }
    return [new Uint8Array(view.buffer), name];
  };
  for (const [path, bytes] of files) {
    const crc = checksum(bytes), length = new TextEncoder().encode(path).length;
    // Version 2.0, names in UTF-8, stored, 1 January 1980.
    const common = [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 33], [4, crc], [4, bytes.length], [4, bytes.length], [2, length], [2, 0]];
    const head = record(0x04034b50, common, path);
    parts.push(...head, bytes);
    index.push(...record(0x02014b50, [[2, 20], ...common, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]], path));
    offset += head[0].length + head[1].length + bytes.length;
  }
  const size = index.reduce((sum, part) => sum + part.length, 0);
  const [end] = record(0x06054b50, [[2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, offset], [2, 0]], "");
  const all = [...parts, ...index, end], joined = new Uint8Array(all.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of all) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
