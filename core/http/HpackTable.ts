/**
 * The tables of HPACK (RFC 7541, 2.3): the static one, and a dynamic one, which owns its entries up to its size and lets go
 * of the oldest first.
 */
import type { Rule } from "./HttpFault.ts"
import type { Field } from "./HttpMessage.ts"
import { text, token } from "./HttpSyntax.ts"

/** What a name means to whoever reads a response. */
export type Role = "plain" | "pseudo" | "status" | "length" | "connection"

/** A field as it was decoded. What is wrong with it by itself is found once, however often a table repeats it. */
export interface Entry {
  readonly field: Field
  /** By RFC 7541, 4.1: the bytes of both, and 32. */
  readonly size: number
  readonly rule: Rule | undefined
  readonly role: Role
}

const roles: Readonly<Record<string, Role>> = {
  "content-length": "length",
  connection: "connection",
  "keep-alive": "connection",
  "proxy-connection": "connection",
  "transfer-encoding": "connection",
  upgrade: "connection",
}

const roleOf = (name: string): Role =>
  name.charCodeAt(0) === 0x3a
    ? name === ":status" ? "status" : "pseudo"
    : Object.hasOwn(roles, name)
    ? roles[name]!
    : "plain"

/** RFC 9113, 8.2.1, and the stricter values of RFC 9110, 5.5. */
const ruleOf = (name: string, value: string, role: Role): Rule | undefined => {
  const isPseudo = role === "pseudo" || role === "status"
  const own = isPseudo ? name.slice(1) : name
  if (own === "" || token.outside.test(own) || /[A-Z]/.test(own)) return "field-name"
  if (text.outside.test(value)) return "control"
  return /^[\t ]|[\t ]$/.test(value) ? "blank" : undefined
}

export const entryOf = (name: string, value: string): Entry => {
  const role = roleOf(name)
  // A response's fields hold the very pair that the table has, so nobody may change it.
  const field: Field = Object.freeze([name, value] as const)
  return { field, size: name.length + value.length + 32, rule: ruleOf(name, value, role), role }
}

/** RFC 7541, appendix A: names in order, each with its values, of which there is one at least. */
const listed =
  ":authority=;:method=GET,POST;:path=/,/index.html;:scheme=http,https;:status=200,204,206,304,400,404,500;" +
  "accept-charset=;accept-encoding=gzip, deflate;accept-language=;accept-ranges=;accept=;access-control-allow-origin=;" +
  "age=;allow=;authorization=;cache-control=;content-disposition=;content-encoding=;content-language=;content-length=;" +
  "content-location=;content-range=;content-type=;cookie=;date=;etag=;expect=;expires=;from=;host=;if-match=;" +
  "if-modified-since=;if-none-match=;if-range=;if-unmodified-since=;last-modified=;link=;location=;max-forwards=;" +
  "proxy-authenticate=;proxy-authorization=;range=;referer=;refresh=;retry-after=;server=;set-cookie=;" +
  "strict-transport-security=;transfer-encoding=;user-agent=;vary=;via=;www-authenticate="

const pairs: ReadonlyArray<Field> = listed.split(";").flatMap((line): ReadonlyArray<Field> => {
  const [name = "", values = ""] = line.split("=")
  // The one value with a comma in it.
  return (name === "accept-encoding" ? [values] : values.split(",")).map((value) => [name, value])
})

/** The static table; its first entry has index 1. */
export const statics: ReadonlyArray<Entry> = pairs.map(([name, value]) => entryOf(name, value))

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

  get count(): number {
    return this.#entries.length - this.#first
  }

  /** The entry of an index of both tables; undefined where there is none. */
  at(index: number): Entry | undefined {
    if (index <= statics.length) return statics[index - 1]
    const place = this.#entries.length - (index - statics.length)
    return place >= this.#first ? this.#entries[place] : undefined
  }

  /** Puts an entry at the first place. One that is larger than the table empties it, and that is no error. */
  insert(entry: Entry): void {
    this.#shrink(this.#max - entry.size)
    if (entry.size > this.#max) return
    this.#entries.push(entry)
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
