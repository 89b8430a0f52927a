/**
 * The tables of HPACK (RFC 7541, 2.3): the static one, and a dynamic one, which owns its entries up to its size and lets go
 * of the oldest first.
 */
import type { Rule } from "./HttpFault.ts"
import type { Field } from "./HttpMessage.ts"
import { isPadded, text } from "./HttpSyntax.ts"

/** What a name means to whoever reads a response. */
export type Role = "plain" | "pseudo" | "status" | "length" | "connection"

/** A field as it was decoded. What is wrong with it by itself is found once, however often a table repeats it. */
export interface Entry {
  readonly name: string
  readonly value: string
  /** Both, as it is told. */
  readonly field: Field
  /** By RFC 7541, 4.1: the bytes of both, and 32. */
  readonly size: number
  readonly rule: Rule | undefined
  /** Whether its name may be one, which a field that only takes the name need not look at again. */
  readonly isNamed: boolean
  readonly role: Role
  /** Of a status and of a length. */
  readonly number: number
}

const ofConnection = /^(?:connection|keep-alive|proxy-connection|transfer-encoding|upgrade)$/

const roleOf = (name: string): Role => {
  if (ofConnection.test(name)) return "connection"
  if (name === ":status") return "status"
  return name === "content-length" ? "length" : isPseudo(name) ? "pseudo" : "plain"
}

const isPseudo = (name: string): boolean => name.charCodeAt(0) === 0x3a

/** RFC 9113, 8.2.1: a token in lower case, behind a colon perhaps. */
const lowerName = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/

/** RFC 9113, 8.2.1; the stricter values of RFC 9110, 5.5; and a status and a length that are one. */
const ruleOf = (name: string, isNamed: boolean, value: string): Rule | undefined => {
  if (!isNamed) return "field-name"
  if (text.outside.test(value)) return "control"
  if (isPadded(value)) return "blank"
  if (name === ":status") return /^[1-9]\d\d$/.test(value) ? undefined : "status"
  return name === "content-length" && !isLength(value) ? "content-length" : undefined
}

/** Strict as in HTTP/1.1: no sign, no leading zero, at most 2^53 - 1. */
const isLength = (value: string): boolean =>
  /^(?:0|[1-9]\d{0,15})$/.test(value) && Number(value) <= Number.MAX_SAFE_INTEGER

/** `named`: an entry of that name, if there is one. */
export const entryOf = (name: string, value: string, named?: Entry): Entry => {
  const role = named?.role ?? roleOf(name)
  const isNamed = named?.isNamed ?? lowerName.test(name)
  return {
    name,
    value,
    field: [name, value],
    size: name.length + value.length + 32,
    rule: ruleOf(name, isNamed, value),
    isNamed,
    role,
    number: role === "status" || role === "length" ? Number(value) : 0,
  }
}

/**
 * The very pair is in the fields of every response that repeats it, so nobody may change it. Nor is it what lookups compare,
 * since JavaScriptCore reads a frozen array five times as slowly as another.
 */
const shared = (entry: Entry): Entry => {
  Object.freeze(entry.field)
  return entry
}

/** RFC 7541, appendix A: names in order, each with its values, of which there is one at least. */
const listed =
  ":authority=;:method=GET|POST;:path=/|/index.html;:scheme=http|https;:status=200|204|206|304|400|404|500;" +
  "accept-charset=;accept-encoding=gzip, deflate;accept-language=;accept-ranges=;accept=;access-control-allow-origin=;" +
  "age=;allow=;authorization=;cache-control=;content-disposition=;content-encoding=;content-language=;content-length=;" +
  "content-location=;content-range=;content-type=;cookie=;date=;etag=;expect=;expires=;from=;host=;if-match=;" +
  "if-modified-since=;if-none-match=;if-range=;if-unmodified-since=;last-modified=;link=;location=;max-forwards=;" +
  "proxy-authenticate=;proxy-authorization=;range=;referer=;refresh=;retry-after=;server=;set-cookie=;" +
  "strict-transport-security=;transfer-encoding=;user-agent=;vary=;via=;www-authenticate="

const pairs: ReadonlyArray<Field> = listed.split(";").flatMap((line): ReadonlyArray<Field> => {
  const [name = "", values = ""] = line.split("=")
  return values.split("|").map((value) => [name, value])
})

/** The static table; its first entry has index 1. */
export const statics: ReadonlyArray<Entry> = pairs.map(([name, value]) => shared(entryOf(name, value)))

export class HpackTable {
  /** The oldest first; what was let go of stands at the front until there is more of that than of the rest. */
  #entries: Array<Entry | undefined> = []
  #first = 0
  #size = 0
  #max: number

  constructor(max: number) {
    this.#max = max
  }

  /** By RFC 7541, 4.1. */
  get size(): number {
    return this.#size
  }

  get max(): number {
    return this.#max
  }

  /** The entry of an index of both tables; undefined where there is none. */
  at(index: number): Entry | undefined {
    if (index <= statics.length) return statics[index - 1]
    const place = this.#entries.length - (index - statics.length)
    return place >= this.#first ? this.#entries[place] : undefined
  }

  /** The index of a pair that the dynamic table holds; 0 where it does not. */
  find(name: string, value: string): number {
    for (let place = this.#entries.length - 1; place >= this.#first; place--) {
      const entry = this.#entries[place]!
      if (entry.value === value && entry.name === name) return statics.length + this.#entries.length - place
    }
    return 0
  }

  /** Puts an entry at the first place. One that is larger than the table empties it, and that is no error. */
  insert(entry: Entry): void {
    this.#shrink(this.#max - entry.size)
    if (entry.size > this.#max) return
    this.#entries.push(shared(entry))
    this.#size += entry.size
  }

  resize(max: number): void {
    this.#max = max
    this.#shrink(max)
  }

  #shrink(most: number): void {
    while (this.#size > most && this.#first < this.#entries.length) {
      this.#size -= this.#entries[this.#first]!.size
      this.#entries[this.#first++] = undefined
    }
    if (this.#first > 16 && 2 * this.#first > this.#entries.length) {
      this.#entries.splice(0, this.#first)
      this.#first = 0
    }
  }
}
