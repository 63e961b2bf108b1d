// Modules as the page holds them: gzip, seven bits to a character.
"use strict";

/// Characters that stand, with the seven bits after them, in one from U+0100 on: see packing.rs.
const UNSAFE = [0, 13, 60];

function bytesOf(text) {
  const colon = text.indexOf(":"), bytes = new Uint8Array(Number(text.slice(0, colon)));
  let bits = 0, count = 0, at = 0;
  const put = (value) => {
    bits = (bits << 7) | value;
    count += 7;
    if (count < 8) return;
    count -= 8;
    bytes[at++] = bits >> count;
    bits &= (1 << count) - 1;
  };
  for (let i = colon + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 128) put(code);
    else {
      put(UNSAFE[(code - 256) >> 7]);
      put((code - 256) & 127);
    }
  }
  return bytes;
}

async function compiled(text) {
  const unpacked = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(unpacked).arrayBuffer());
}
