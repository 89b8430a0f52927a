/**
 * Header blocks as fields (RFC 7541), strictly. It owns the dynamic table that the peer writes, up to the size that was
 * announced, and room for one text.
 *
 * A block is decoded to its end whatever it holds, since the next one builds on its entries. That takes time in its bytes
 * alone: a field that repeats an entry is the entry itself, and one that repeats its name has that name's verdict, however long
 * either is.
 */
import { nothing } from "./Carry.ts"
import * as Huffman from "./HpackHuffman.ts"
import { type Entry, entryOf, HpackTable } from "./HpackTable.ts"
import type { Rule } from "./HttpFault.ts"
import type { Latin1 } from "./Latin1.ts"

export interface FieldSink {
  readonly add: (entry: Entry) => void
}

/** Sizes of the table that one block may say, ahead of its fields. */
const mostSizes = 2
const cut = -1
const large = -2

export class HpackDecoder {
  readonly #latin1: Latin1
  readonly #most: number
  readonly #table: HpackTable
  #bytes = nothing
  #at = 0
  #to = 0
  #rule: Rule | undefined = undefined
  #room = new Uint8Array(512)

  /** `tableBytes` is what was announced as SETTINGS_HEADER_TABLE_SIZE. */
  constructor(tableBytes: number, latin1: Latin1) {
    this.#latin1 = latin1
    this.#most = tableBytes
    // The peer has to announce what it uses beyond the size that both sides begin with.
    this.#table = new HpackTable(Math.min(4_096, tableBytes))
  }

  /** The size of the dynamic table, by RFC 7541, 4.1. */
  get tableBytes(): number {
    return this.#table.size
  }

  /** Lets go of the table; nothing can be decoded any more. */
  drop(): void {
    this.#table.resize(0)
  }

  /** Tells the fields of one block, which may be empty; or the rule that it breaks, behind which no block can be read. */
  decode(bytes: Uint8Array, from: number, to: number, sink: FieldSink): Rule | undefined {
    this.#bytes = bytes
    this.#at = from
    this.#to = to
    this.#rule = undefined
    let sizes = 0
    while (this.#at < to && this.#rule === undefined) {
      const first = bytes[this.#at]!
      if ((first & 0xe0) === 0x20) this.#resize(++sizes <= mostSizes)
      else {
        sizes = mostSizes
        const entry = first >= 0x80 ? this.#indexed() : this.#literal(first)
        if (entry !== undefined) sink.add(entry)
      }
    }
    this.#bytes = nothing
    return this.#rule
  }

  /** RFC 7541, 4.2: at the beginning of a block alone, the smallest and the last one, and no larger than announced. */
  #resize(isAllowed: boolean): void {
    const size = this.#integer(0x1f)
    if (size < 0) return
    if (!isAllowed || size > this.#most) this.#rule = "hpack-table-size"
    else this.#table.resize(size)
  }

  #indexed(): Entry | undefined {
    const index = this.#integer(0x7f)
    return index < 0 ? undefined : this.#entry(index)
  }

  #literal(first: number): Entry | undefined {
    const isKept = first >= 0x40
    const index = this.#integer(isKept ? 0x3f : 0x0f)
    if (index < 0) return undefined
    const named = index === 0 ? undefined : this.#entry(index)
    const name = index === 0 ? this.#text() : named?.name
    if (name === undefined) return undefined
    const value = this.#text()
    if (value === undefined) return undefined
    const entry = entryOf(name, value, named)
    if (isKept) this.#table.insert(entry)
    return entry
  }

  #entry(index: number): Entry | undefined {
    const entry = index === 0 ? undefined : this.#table.at(index)
    if (entry === undefined) this.#rule = "hpack-index"
    return entry
  }

  /** RFC 7541, 5.1, up to 2^28: beyond every length and index that there can be. */
  #integer(mask: number): number {
    const value = this.#readInteger(mask)
    if (value < 0) this.#rule = value === cut ? "hpack-cut" : "hpack-integer"
    return value
  }

  #readInteger(mask: number): number {
    const prefix = this.#bytes[this.#at++]! & mask
    if (prefix < mask) return prefix
    let value = mask
    for (let shift = 0; shift <= 21; shift += 7) {
      if (this.#at >= this.#to) return cut
      const byte = this.#bytes[this.#at++]!
      value += (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    return large
  }

  #text(): string | undefined {
    if (this.#at >= this.#to) {
      this.#rule = "hpack-cut"
      return undefined
    }
    const isCoded = this.#bytes[this.#at]! >= 0x80
    const length = this.#integer(0x7f)
    if (length < 0) return undefined
    const from = this.#at
    if (length > this.#to - from) {
      this.#rule = "hpack-cut"
      return undefined
    }
    this.#at += length
    if (!isCoded) return this.#latin1(this.#bytes, from, this.#at)
    const room = this.#roomFor(length)
    const decoded = Huffman.decode(this.#bytes, from, this.#at, room)
    if (decoded >= 0) return this.#latin1(room, 0, decoded)
    this.#rule = "hpack-huffman"
    return undefined
  }

  /** Room that is larger than most texts need is not kept. */
  #roomFor(length: number): Uint8Array {
    const most = Huffman.mostDecoded(length)
    return most <= this.#room.length ? this.#room : new Uint8Array(most)
  }
}
