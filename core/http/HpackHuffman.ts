/**
 * The Huffman code of HPACK (RFC 7541, appendix B). Owns nothing but its tables.
 *
 * The code is canonical: codes of one length follow each other in the order of their symbols, so the lengths say it all.
 */

/** The length of the code of each byte and, last, of the end of a text, in base 36. */
const lengths = "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad67777777777777777777777878djde6" +
  "f56565666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmnqqkjmnmp" +
  "qqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu"

const symbols = 257
const endSymbol = 256

const lengthOf: Uint8Array = Uint8Array.from(lengths, (letter) => parseInt(letter, 36))

const codeOf: Uint32Array = (() => {
  const codes = new Uint32Array(symbols)
  for (let length = 1, code = 0; length <= 30; length++, code *= 2) {
    for (let symbol = 0; symbol < symbols; symbol++) if (lengthOf[symbol] === length) codes[symbol] = code++
  }
  return codes
})()

/** Code and length of the bytes whose code has at most 23 bits, in one number, so that most bytes cost one look; 0 for others. */
const packed: Uint32Array = codeOf.map((code, symbol) => lengthOf[symbol]! > 23 ? 0 : (code << 5) | lengthOf[symbol]!)

/**
 * The decoder's automaton: a state is an inner node of the code's tree, of which there are 256, and a step takes four bits,
 * which complete one symbol at most.
 *
 * A step is the next state times 512, plus the symbol and 1 where one was completed; -1 leads to the end symbol, which no
 * text may hold. A text may end in a state that `padding` marks: behind nothing but ones, fewer than eight.
 */
const { padding, steps } = (() => {
  const children = new Int32Array(2 * symbols)
  let nodes = 1
  for (let symbol = 0; symbol < symbols; symbol++) {
    let node = 0
    for (let bit = lengthOf[symbol]! - 1; bit >= 0; bit--) {
      const slot = 2 * node + ((codeOf[symbol]! >>> bit) & 1)
      if (bit === 0) children[slot] = ~symbol
      else node = children[slot] ||= nodes++
    }
  }
  const steps = new Int32Array(16 * nodes)
  for (let at = 0; at < steps.length; at++) steps[at] = step(children, at >> 4, at & 15)
  const padding = new Uint8Array(nodes)
  for (let depth = 0, node = 0; depth < 8; depth++, node = children[2 * node + 1]!) padding[node] = 1
  return { padding, steps }
})()

function step(children: Int32Array, state: number, bits: number): number {
  let node = state
  let symbol = -1
  for (let bit = 3; bit >= 0; bit--) {
    const next = children[2 * node + ((bits >> bit) & 1)]!
    if (next >= 0) node = next
    else {
      symbol = ~next
      node = 0
    }
  }
  return symbol === endSymbol ? -1 : node * 512 + symbol + 1
}

/** The most bytes that so many of a code can stand for: its shortest has five bits. */
export const mostDecoded = (bytes: number): number => Math.floor(bytes * 8 / 5)

/** Writes what the code stands for to `into`, which has the room, from 0 on; returns its length, or -1 where it is none. */
export const decode = (bytes: Uint8Array, from: number, to: number, into: Uint8Array): number => {
  let state = 0
  let length = 0
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!
    const high = steps[16 * state + (byte >> 4)]!
    if (high < 0) return -1
    if ((high & 511) !== 0) into[length++] = (high & 511) - 1
    const low = steps[16 * (high >> 9) + (byte & 15)]!
    if (low < 0) return -1
    if ((low & 511) !== 0) into[length++] = (low & 511) - 1
    state = low >> 9
  }
  return padding[state] === 1 ? length : -1
}

/** Bytes of the code of a text, whose characters are one byte each. */
export const encodedBytes = (text: string): number => {
  let bits = 0
  for (let i = 0; i < text.length; i++) bits += lengthOf[text.charCodeAt(i)]!
  return (bits + 7) >> 3
}

/**
 * Writes the code of a text, with ones up to the end of its last byte, between two places; returns where it ends, or -1
 * where it is longer.
 */
export const encode = (text: string, into: Uint8Array, from: number, to: number): number => {
  let at = from
  let held = 0
  let bits = 0
  for (let i = 0; i < text.length; i++) {
    const byte = text.charCodeAt(i)
    const pair = packed[byte]!
    let left = pair & 31
    let code = pair >>> 5
    // Up to seven bits are held, so that no more than 23 of a code go in at once.
    if (pair === 0) {
      left = lengthOf[byte]! - 8
      code = codeOf[byte]!
      if (at === to) return -1
      held = (held << 8) | (code >>> left)
      into[at++] = held >>> bits
      code &= (1 << left) - 1
    }
    held = (held << left) | code
    bits += left
    while (bits >= 8) {
      bits -= 8
      if (at === to) return -1
      into[at++] = held >>> bits
    }
  }
  if (bits === 0) return at
  if (at === to) return -1
  into[at] = (held << (8 - bits)) | (0xff >> bits)
  return at + 1
}
