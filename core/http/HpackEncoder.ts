/**
 * Fields as header blocks (RFC 7541). It owns its dynamic table of 4,096 bytes at most, and room for one block.
 *
 * Only fields that are no secret and the same in many requests go into the table. A connection may serve several users,
 * and to one who can choose a field and sees lengths, a table would tell what another one sent (RFC 7541, 7.1).
 */
import * as Huffman from "./HpackHuffman.ts"
import { entryOf, HpackTable, statics } from "./HpackTable.ts"
import * as Latin1 from "./Latin1.ts"

const tabled: ReadonlySet<string> = new Set(
  ":authority accept accept-charset accept-encoding accept-language content-type te user-agent".split(" "),
)

/** Fields that no other table on the way may hold either (RFC 7541, 6.2.3). */
const secret: ReadonlySet<string> = new Set("authorization cookie proxy-authorization".split(" "))

/** No single entry takes more than an eighth of the table. */
const mostEntry = 512
const mostTable = 4_096

interface Listed {
  readonly index: number
  readonly values: ReadonlyMap<string, number>
}

const listed: ReadonlyMap<string, Listed> = (() => {
  const names = new Map<string, { readonly index: number; readonly values: Map<string, number> }>()
  statics.forEach(({ field: [name, value] }, at) => {
    const own = names.get(name) ?? { index: at + 1, values: new Map() }
    names.set(name, own)
    if (value !== "") own.values.set(value, at + 1)
  })
  return names
})()

const unlisted: Listed = { index: 0, values: new Map() }

export class HpackEncoder {
  readonly #table = new HpackTable(mostTable)
  #room = new Uint8Array(512)
  #at = 0
  /** The smallest size that the peer has asked for since the last block; undefined where it has asked for none. */
  #least: number | undefined = undefined
  #wanted = mostTable

  /** The peer keeps a table of so many bytes at most; the next block says what is used of them. */
  allow(bytes: number): void {
    this.#wanted = Math.min(mostTable, bytes)
    this.#least = Math.min(this.#least ?? mostTable, this.#wanted)
  }

  begin(): void {
    this.#at = 0
    if (this.#least === undefined) return
    if (this.#least < this.#table.max) this.#resize(this.#least)
    if (this.#wanted !== this.#table.max) this.#resize(this.#wanted)
    this.#least = undefined
  }

  /** Adds a field whose name is in lower case; both texts were checked to be bytes. */
  add(name: string, value: string): void {
    this.#reserve(name.length + value.length + 24)
    const { index, values } = listed.get(name) ?? unlisted
    const exact = values.get(value)
    if (exact !== undefined) return this.#integer(0x80, 0x7f, exact)
    if (!tabled.has(name)) return this.#literal(secret.has(name) ? 0x10 : 0, 0x0f, index, name, value)
    const known = this.#find(name, value)
    if (known > 0) return this.#integer(0x80, 0x7f, known)
    const entry = entryOf(name, value)
    const isKept = entry.size <= mostEntry
    this.#literal(isKept ? 0x40 : 0, isKept ? 0x3f : 0x0f, index, name, value)
    if (isKept) this.#table.insert(entry)
  }

  /** The block, until the next one begins. */
  take(): Uint8Array {
    return this.#room.subarray(0, this.#at)
  }

  #find(name: string, value: string): number {
    for (let i = 1; i <= this.#table.count; i++) {
      const [ownName, ownValue] = this.#table.at(statics.length + i)!.field
      if (ownValue === value && ownName === name) return statics.length + i
    }
    return 0
  }

  #resize(size: number): void {
    this.#reserve(8)
    this.#integer(0x20, 0x1f, size)
    this.#table.resize(size)
  }

  #literal(pattern: number, mask: number, index: number, name: string, value: string): void {
    this.#integer(pattern, mask, index)
    if (index === 0) this.#text(name)
    this.#text(value)
  }

  #text(text: string): void {
    const coded = Huffman.encodedBytes(text)
    if (coded < text.length) {
      this.#integer(0x80, 0x7f, coded)
      this.#at = Huffman.encode(text, this.#room, this.#at)
    } else {
      this.#integer(0, 0x7f, text.length)
      Latin1.write(text, this.#room, this.#at)
      this.#at += text.length
    }
  }

  #integer(pattern: number, mask: number, value: number): void {
    if (value < mask) {
      this.#room[this.#at++] = pattern | value
      return
    }
    this.#room[this.#at++] = pattern | mask
    let rest = value - mask
    for (; rest >= 0x80; rest >>>= 7) this.#room[this.#at++] = (rest & 0x7f) | 0x80
    this.#room[this.#at++] = rest
  }

  #reserve(bytes: number): void {
    const length = this.#at + bytes
    if (length <= this.#room.length) return
    const larger = new Uint8Array(Math.max(2 * this.#room.length, length))
    larger.set(this.#room.subarray(0, this.#at))
    this.#room = larger
  }
}
