// RFC 1951 and 1950, for browsers without DecompressionStream. Slower, and only what is needed:
// the data are our own, so a fault in them is an error and nothing is repaired.

const LENGTH_BASE = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67,
  83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5,
  5, 5, 0];
const DISTANCE_BASE = [1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513,
  769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577];
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11,
  11, 12, 12, 13, 13];
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

class Bits {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
    this.held = 0;
    this.count = 0;
  }

  take(wanted) {
    while (this.count < wanted) {
      if (this.at >= this.bytes.length) throw new Error("the data are cut off");
      this.held |= this.bytes[this.at++] << this.count;
      this.count += 8;
    }
    const value = this.held & ((1 << wanted) - 1);
    this.held >>>= wanted;
    this.count -= wanted;
    return value;
  }

  toByte() {
    this.held = 0;
    this.count = 0;
  }
}

// Canonical codes by length: how many there are of each, and the symbols in order.
function codes(lengths) {
  const counts = new Array(16).fill(0);
  for (const length of lengths) counts[length]++;
  counts[0] = 0;
  const offsets = [0, 0];
  for (let length = 1; length < 15; length++) offsets.push(offsets[length] + counts[length]);
  const symbols = [];
  lengths.forEach((length, symbol) => {
    if (length) symbols[offsets[length]++] = symbol;
  });
  return { counts, symbols };
}

function symbolOf(bits, { counts, symbols }) {
  let code = 0;
  let first = 0;
  let index = 0;
  for (let length = 1; length < 16; length++) {
    code |= bits.take(1);
    if (code - counts[length] < first) return symbols[index + code - first];
    index += counts[length];
    first = (first + counts[length]) << 1;
    code <<= 1;
  }
  throw new Error("the data contain an unknown code");
}

function fixedCodes() {
  const lengths = Array.from({ length: 288 }, (_, symbol) =>
    symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8);
  return [codes(lengths), codes(new Array(30).fill(5))];
}

function ownCodes(bits) {
  const literals = bits.take(5) + 257;
  const distances = bits.take(5) + 1;
  const given = bits.take(4) + 4;
  const ofLengths = new Array(19).fill(0);
  for (let index = 0; index < given; index++) ofLengths[CODE_LENGTH_ORDER[index]] = bits.take(3);
  const reader = codes(ofLengths);
  const lengths = [];
  while (lengths.length < literals + distances) {
    const symbol = symbolOf(bits, reader);
    if (symbol < 16) lengths.push(symbol);
    else {
      const repeated = symbol === 16 ? lengths[lengths.length - 1] : 0;
      const times = symbol === 16 ? 3 + bits.take(2)
        : symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7);
      for (let time = 0; time < times; time++) lengths.push(repeated);
    }
  }
  return [codes(lengths.slice(0, literals)), codes(lengths.slice(literals))];
}

function inflate(bytes) {
  const bits = new Bits(bytes, 2); // zlib's two bytes of header say nothing that is needed
  const out = [];
  let last = 0;
  while (!last) {
    last = bits.take(1);
    const kind = bits.take(2);
    if (kind === 0) {
      bits.toByte();
      const length = bits.take(16);
      bits.take(16);
      for (let index = 0; index < length; index++) out.push(bits.take(8));
      continue;
    }
    const [literals, distances] = kind === 1 ? fixedCodes() : ownCodes(bits);
    for (;;) {
      const symbol = symbolOf(bits, literals);
      if (symbol === 256) break;
      if (symbol < 256) {
        out.push(symbol);
        continue;
      }
      const length = LENGTH_BASE[symbol - 257] + bits.take(LENGTH_BITS[symbol - 257]);
      const far = symbolOf(bits, distances);
      const from = out.length - DISTANCE_BASE[far] - bits.take(DISTANCE_BITS[far]);
      for (let index = 0; index < length; index++) out.push(out[from + index]);
    }
  }
  return Uint8Array.from(out);
}
