/**
 * Another reader of HPACK, written from RFC 7541 alone: bit by bit, in plain lists. It is slow, shares nothing with the codec,
 * and what the codec reads is held against it. It owns its table.
 */
import type { Field } from "../../core/http/HttpMessage.ts"

/** RFC 7541, appendix B: the symbols of each length in the order of their codes; the last one is the end. */
const symbols: Readonly<Record<number, string | ReadonlyArray<number>>> = {
  5: "012aceiost",
  6: " %-./3456789=A_bdfghlmnpru",
  7: ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz",
  8: "&*,;XZ",
  10: '!"()?',
  11: "'+|",
  12: "#>",
  13: "\0$@[]~",
  14: "^}",
  15: "<`{",
  19: "\\\xc3\xd0",
  20: "\x80\x82\x83\xa2\xb8\xc2\xe0\xe2",
  21: "\x99\xa1\xa7\xac\xb0\xb1\xb3\xd1\xd8\xd9\xe3\xe5\xe6",
  22: "\x81\x84\x85\x86\x88\x92\x9a\x9c\xa0\xa3\xa4\xa9\xaa\xad\xb2\xb5\xb9\xba\xbb\xbd\xbe\xc4\xc6\xe4\xe8\xe9",
  23:
    "\x01\x87\x89\x8a\x8b\x8c\x8d\x8f\x93\x95\x96\x97\x98\x9b\x9d\x9e\xa5\xa6\xa8\xae\xaf\xb4\xb6\xb7\xbc\xbf\xc5\xe7\xef",
  24: "\t\x8e\x90\x91\x94\x9f\xab\xce\xd7\xe1\xec\xed",
  25: "\xc7\xcf\xea\xeb",
  26: "\xc0\xc1\xc8\xc9\xca\xcd\xd2\xd5\xda\xdb\xee\xf0\xf2\xf3\xff",
  27: "\xcb\xcc\xd3\xd4\xd6\xdd\xde\xdf\xf1\xf4\xf5\xf6\xf7\xf8\xfa\xfb\xfc\xfd\xfe",
  28: [2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 127, 220, 249],
  30: [10, 13, 22, 256],
}

const codes: ReadonlyMap<string, number> = (() => {
  const all = new Map<string, number>()
  let next = 0
  for (let length = 5; length <= 30; length++) {
    next *= 2
    const own = symbols[length] ?? ""
    for (const symbol of typeof own === "string" ? Array.from(own, (letter) => letter.charCodeAt(0)) : own) {
      all.set((next++).toString(2).padStart(length, "0"), symbol)
    }
  }
  return all
})()

/** RFC 7541, appendix A. */
const statics: ReadonlyArray<Field> = `:authority|:method GET|:method POST|:path /|:path /index.html|:scheme http|
:scheme https|:status 200|:status 204|:status 206|:status 304|:status 400|:status 404|:status 500|accept-charset|
accept-encoding gzip, deflate|accept-language|accept-ranges|accept|access-control-allow-origin|age|allow|authorization|
cache-control|content-disposition|content-encoding|content-language|content-length|content-location|content-range|
content-type|cookie|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|if-range|
if-unmodified-since|last-modified|link|location|max-forwards|proxy-authenticate|proxy-authorization|range|referer|
refresh|retry-after|server|set-cookie|strict-transport-security|transfer-encoding|user-agent|vary|via|
www-authenticate`.replaceAll("\n", "").split("|").map((line) => {
  const [name = "", ...value] = line.split(" ")
  return [name, value.join(" ")]
})

/** What cannot be read, behind which nothing can be. */
class Unreadable extends Error {}

const need = (holds: boolean): void => {
  if (!holds) throw new Unreadable()
}

export class ReferenceHpack {
  readonly #most: number
  #size: number
  /** The sizes of the table that the last block said. */
  sizes: ReadonlyArray<number> = []
  #table: ReadonlyArray<Field> = []
  #rest: ReadonlyArray<number> = []

  constructor(most: number) {
    this.#most = this.#size = most
  }

  get size(): number {
    return this.#size
  }

  /** The fields of a block, or undefined. */
  read(block: string): ReadonlyArray<Field> | undefined {
    this.#rest = Array.from(block, (letter) => letter.charCodeAt(0))
    this.sizes = []
    try {
      return this.#fields()
    } catch (error) {
      if (error instanceof Unreadable) return undefined
      throw error
    }
  }

  #fields(): ReadonlyArray<Field> {
    const fields: Array<Field> = []
    for (let sizes = 2; this.#rest.length > 0;) {
      const pattern = this.#rest[0]!.toString(2).padStart(8, "0")
      if (pattern.startsWith("001")) {
        need(sizes-- > 0)
        this.#size = this.#integer(5)
        this.sizes = [...this.sizes, this.#size]
        need(this.#size <= this.#most)
        this.#evict()
        continue
      }
      sizes = 0
      fields.push(this.#field(pattern))
    }
    return fields
  }

  #field(pattern: string): Field {
    if (pattern.startsWith("1")) return this.#entry(this.#integer(7))
    const isKept = pattern.startsWith("01")
    const index = this.#integer(isKept ? 6 : 4)
    const name = index === 0 ? this.#text() : this.#entry(index)[0]
    const field: Field = [name, this.#text()]
    if (isKept) {
      this.#table = [field, ...this.#table]
      this.#evict()
    }
    return field
  }

  #evict(): void {
    const bytes = (): number => this.#table.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0)
    while (bytes() > this.#size) this.#table = this.#table.slice(0, -1)
  }

  #entry(index: number): Field {
    const entry = [...statics, ...this.#table][index - 1]
    need(entry !== undefined)
    return entry!
  }

  #byte(): number {
    need(this.#rest.length > 0)
    const [byte, ...rest] = this.#rest
    this.#rest = rest
    return byte!
  }

  /** As the codec has it, of four bytes more at most. */
  #integer(bits: number): number {
    const full = 2 ** bits - 1
    const prefix = this.#byte() % (full + 1)
    if (prefix < full) return prefix
    let value = full
    for (let place = 0; place < 4; place++) {
      const byte = this.#byte()
      value += (byte % 128) * 128 ** place
      if (byte < 128) return value
    }
    throw new Unreadable()
  }

  #text(): string {
    need(this.#rest.length > 0)
    const isCoded = this.#rest[0]! >= 128
    const length = this.#integer(7)
    need(length <= this.#rest.length)
    const own = this.#rest.slice(0, length)
    this.#rest = this.#rest.slice(length)
    return isCoded ? decoded(own) : String.fromCharCode(...own)
  }
}

const decoded = (bytes: ReadonlyArray<number>): string => {
  let text = ""
  let code = ""
  for (const bit of bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("")) {
    code += bit
    const symbol = codes.get(code)
    if (symbol === undefined) continue
    need(symbol < 256)
    text += String.fromCharCode(symbol)
    code = ""
  }
  need(code.length < 8 && !code.includes("0"))
  return text
}
