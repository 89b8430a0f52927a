/**
 * Fields as header blocks (RFC 7541). It owns its dynamic table of 4,096 bytes at most.
 *
 * Only fields that are no secret and the same in many requests go into the table. A connection may serve several users,
 * and to one who can choose a field and sees lengths, a table would tell what another one sent (RFC 7541, 7.1).
 */
import { nothing } from "./Carry.ts"
import * as Huffman from "./HpackHuffman.ts"
import { entryOf, HpackTable, statics } from "./HpackTable.ts"
import type { Flat } from "./HttpGiven.ts"
import * as Latin1 from "./Latin1.ts"

const tabled = ":authority accept accept-charset accept-encoding accept-language content-type te user-agent".split(" ")

/** Fields that no other table on the way may hold either (RFC 7541, 6.2.3). */
const secret = "authorization cookie proxy-authorization".split(" ")

/** No single entry takes more than an eighth of the table. */
const mostEntry = 512
const mostTable = 4_096

/** What is known of a name: its place among the static entries, and how a value that has none there goes out. */
interface Known {
  readonly index: number
  readonly values: ReadonlyMap<string, number> | undefined
  readonly manner: "tabled" | "plain" | "secret"
}

const unknown: Known = { index: 0, values: undefined, manner: "plain" }

const known: ReadonlyMap<string, Known> = (() => {
  const names = new Map<string, Known>()
  for (const name of tabled) names.set(name, { ...unknown, manner: "tabled" })
  for (const name of secret) names.set(name, { ...unknown, manner: "secret" })
  statics.forEach(({ name, value }, at) => {
    const { index, manner, values } = names.get(name) ?? unknown
    const all = value === "" ? values : new Map(values).set(value, at + 1)
    names.set(name, { index: index || at + 1, values: all, manner })
  })
  return names
})()

const listed = new Set([...known.keys()].filter((name) => name[0] !== ":"))

/** Whether a name is one of the static table that is no pseudo-field: so it is a token in lower case. */
export const isListed = (name: string): boolean => listed.has(name)

/** What a list of fields counts for the limits of both sides: names, values and 32 for each (RFC 9113, 6.5.2). */
export const sizeOf = (fields: Flat): number => {
  let bytes = 16 * fields.length
  for (let i = 0; i < fields.length; i++) bytes += fields[i]!.length
  return bytes
}

/**
 * The most bytes of a block: of a field no more than {@link sizeOf} counts, since its index and both of its lengths take
 * fewer than 32, and ahead of them two sizes of the table, of at most three each.
 */
export const mostBytes = (fields: Flat): number => sizeOf(fields) + 6

export class HpackEncoder {
  readonly #table = new HpackTable(mostTable)
  #into = nothing
  #at = 0
  /** The smallest size that the peer has asked for since the last block; undefined where it has asked for none. */
  #least: number | undefined = undefined
  #wanted = mostTable

  /** The peer keeps a table of so many bytes at most; the next block says what is used of them. */
  allow(bytes: number): void {
    this.#wanted = Math.min(mostTable, bytes)
    this.#least = Math.min(this.#least ?? mostTable, this.#wanted)
  }

  /**
   * Writes a block from a place on, where there is room for {@link mostBytes}; returns where it ends. Names are in lower case.
   */
  encode(fields: Flat, into: Uint8Array, at: number): number {
    this.#into = into
    this.#at = at
    if (this.#least !== undefined) this.#announce(this.#least)
    for (let i = 0; i < fields.length; i += 2) this.#add(fields[i]!, fields[i + 1]!)
    this.#into = nothing
    return this.#at
  }

  /**
   * Says what was made of the table, at the beginning of a block: no size again but 0, which may have been in one that was
   * dropped.
   */
  #announce(least: number): void {
    if (least === 0 || least < this.#table.max) this.#resize(least)
    if (this.#wanted !== this.#table.max) this.#resize(this.#wanted)
    this.#least = undefined
  }

  #add(name: string, value: string): void {
    const { index, manner, values } = known.get(name) ?? unknown
    const exact = values?.get(value)
    if (exact !== undefined) return this.#integer(0x80, 0x7f, exact)
    if (manner !== "tabled") return this.#literal(manner === "secret" ? 0x10 : 0, 0x0f, index, name, value)
    const kept = this.#table.find(name, value)
    if (kept > 0) return this.#integer(0x80, 0x7f, kept)
    const entry = entryOf(name, value)
    const isKept = entry.size <= mostEntry
    this.#literal(isKept ? 0x40 : 0, isKept ? 0x3f : 0x0f, index, name, value)
    if (isKept) this.#table.insert(entry)
  }

  #resize(size: number): void {
    this.#integer(0x20, 0x1f, size)
    this.#table.resize(size)
  }

  #literal(pattern: number, mask: number, index: number, name: string, value: string): void {
    this.#integer(pattern, mask, index)
    if (index === 0) this.#text(name)
    this.#text(value)
  }

  /** As a code where that is shorter. The length of a short one has one byte, so that it is written without being measured. */
  #text(text: string): void {
    const { length } = text
    const isShort = length < 127
    const coded = isShort ? 0 : Huffman.encodedBytes(text)
    if (coded < length) {
      const head = this.#at
      if (isShort) this.#at++
      else this.#integer(0x80, 0x7f, coded)
      const end = Huffman.encode(text, this.#into, this.#at, this.#at + length - 1)
      if (end >= 0) {
        if (isShort) this.#into[head] = 0x80 | (end - this.#at)
        this.#at = end
        return
      }
      this.#at = head
    }
    this.#integer(0, 0x7f, length)
    Latin1.write(text, this.#into, this.#at)
    this.#at += length
  }

  #integer(pattern: number, mask: number, value: number): void {
    if (value < mask) {
      this.#into[this.#at++] = pattern | value
      return
    }
    this.#into[this.#at++] = pattern | mask
    let rest = value - mask
    for (; rest >= 0x80; rest >>>= 7) this.#into[this.#at++] = (rest & 0x7f) | 0x80
    this.#into[this.#at++] = rest
  }
}
