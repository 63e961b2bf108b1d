// Modules and texts as the page holds them: LZMA, seven bits to a character.
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

// Places of the probabilities: of what comes next, of lengths, distances and literals.
const MATCH = 0, REPEAT = 192, FIRST = 204, SECOND = 216, THIRD = 228, LONG = 240, SLOT = 432, SPECIAL = 688, ALIGNED = 816,
  LENGTH = 832, REPEATED = 1346, LITERAL = 1860;

/// The bytes of an LZMA file (I. Pavlov's specification of LZMA, 2015), whose header has the length.
function unlzma(input) {
  const [properties] = input, lc = properties % 9, lp = Math.floor(properties / 9) % 5, pb = Math.floor(properties / 45);
  const header = new DataView(input.buffer, input.byteOffset), length = header.getUint32(5, true), out = new Uint8Array(length);
  const odds = new Uint16Array(LITERAL + (0x300 << (lc + lp))).fill(1024);
  let range = 0xffffffff, code = header.getUint32(14), next = 18;
  const bit = (place) => {
    const p = odds[place], bound = ((range >>> 11) * p) >>> 0;
    let value = 0;
    if (code < bound) {
      range = bound;
      odds[place] = p + ((2048 - p) >> 5);
    } else {
      value = 1;
      range = (range - bound) >>> 0;
      code = (code - bound) >>> 0;
      odds[place] = p - (p >> 5);
    }
    if (range < 0x1000000) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | input[next++]) >>> 0;
    }
    return value;
  };
  const tree = (place, bits) => {
    let m = 1;
    for (let i = 0; i < bits; i++) m = (m << 1) | bit(place + m);
    return m - (1 << bits);
  };
  const reversed = (place, bits) => {
    let m = 1, value = 0;
    for (let i = 0; i < bits; i++) {
      const one = bit(place + m);
      m = (m << 1) | one;
      value |= one << i;
    }
    return value;
  };
  const direct = (bits) => {
    let value = 0;
    for (let i = 0; i < bits; i++) {
      range >>>= 1;
      const one = code >= range ? 1 : 0;
      if (one) code = (code - range) >>> 0;
      value = (value << 1) | one;
      if (range < 0x1000000) {
        range = (range << 8) >>> 0;
        code = ((code << 8) | input[next++]) >>> 0;
      }
    }
    return value;
  };
  const lengthAt = (place, position) => {
    if (!bit(place)) return tree(place + 2 + 8 * position, 3);
    if (!bit(place + 1)) return 8 + tree(place + 130 + 8 * position, 3);
    return 16 + tree(place + 258, 8);
  };
  const distance = (count) => {
    const slot = tree(SLOT + 64 * Math.min(count, 3), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1, far = (2 | (slot & 1)) << bits;
    if (slot < 14) return far + reversed(SPECIAL + far - slot, bits);
    return far + 16 * direct(bits - 4) + reversed(ALIGNED, 4);
  };
  let state = 0, last = [0, 0, 0, 0], at = 0;
  while (at < length) {
    const position = at & ((1 << pb) - 1);
    if (!bit(MATCH + 16 * state + position)) {
      const before = at > 0 ? out[at - 1] : 0;
      const place = LITERAL + 0x300 * (((at & ((1 << lp) - 1)) << lc) + (before >> (8 - lc)));
      let symbol = 1;
      if (state >= 7) {
        let other = out[at - last[0] - 1];
        while (symbol < 0x100) {
          const wanted = (other >> 7) & 1;
          other <<= 1;
          const one = bit(place + ((1 + wanted) << 8) + symbol);
          symbol = (symbol << 1) | one;
          if (one !== wanted) break;
        }
      }
      while (symbol < 0x100) symbol = (symbol << 1) | bit(place + symbol);
      out[at++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let count;
    if (bit(REPEAT + state)) {
      if (!bit(FIRST + state)) {
        if (!bit(LONG + 16 * state + position)) {
          state = state < 7 ? 9 : 11;
          out[at] = out[at - last[0] - 1];
          at += 1;
          continue;
        }
      } else {
        const which = !bit(SECOND + state) ? 1 : bit(THIRD + state) ? 3 : 2;
        last = [last[which], ...last.slice(0, which), ...last.slice(which + 1)];
      }
      count = lengthAt(REPEATED, position);
      state = state < 7 ? 8 : 11;
    } else {
      count = lengthAt(LENGTH, position);
      state = state < 7 ? 7 : 10;
      last = [distance(count), last[0], last[1], last[2]];
    }
    const from = at - last[0] - 1, end = Math.min(length, at + count + 2);
    for (let i = from; at < end; i++) out[at++] = out[i];
  }
  return out;
}

const unpacked = (text) => unlzma(bytesOf(text));
