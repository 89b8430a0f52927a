/** Bytes that say where they belong, so that one which is lost, doubled or out of place is noticed. Owns nothing. */

/** 16 MiB. */
export const long = 16_777_216
export const pieceBytes = 65_536

const at = (offset: number): number => (offset * 31 + (offset >> 8) * 7 + (offset >> 16)) & 255

/** The bytes from `offset` on. */
export const piece = (offset: number, length: number): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = at(offset + i)
  return bytes
}

/** Reads along: how many have come, and whether each was the one that belongs there. */
export class Reader {
  bytes = 0
  isRight = true

  take(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) if (bytes[i] !== at(this.bytes + i)) this.isRight = false
    this.bytes += bytes.length
  }
}
