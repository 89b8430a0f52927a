/** The fields of one header block, as they are decoded: kept up to the limits, and judged as a whole (RFC 9113, 8.2 and 8.3). */
import type { FieldSink } from "./HpackDecoder.ts"
import type { Entry } from "./HpackTable.ts"
import type { Rule } from "./HttpFault.ts"
import type { Field } from "./HttpMessage.ts"
import { steers } from "./HttpSyntax.ts"

export interface BlockLimits {
  readonly maxHeadBytes: number
  readonly maxTrailerBytes: number
  readonly maxFields: number
}

/** `nothing`: nobody will read it. */
type Kind = "head" | "trailers" | "nothing"

export class Block implements FieldSink {
  readonly #limits: BlockLimits
  readonly #kind: Kind
  #bytes = 0
  readonly fields: Array<Field> = []
  /** The first rule that is broken. */
  rule: Rule | undefined
  status = 0
  /** Of the lengths, the first, and how many there are; one that is none counts as two that differ. */
  length = 0
  lengths = 0

  constructor(limits: BlockLimits, kind: Kind) {
    this.#limits = limits
    this.#kind = kind
  }

  add(entry: Entry): void {
    if (this.rule !== undefined || this.#kind === "nothing") return
    const { maxFields, maxHeadBytes, maxTrailerBytes } = this.#limits
    this.#bytes += entry.size
    const isHead = this.#kind === "head"
    if (this.#bytes > (isHead ? maxHeadBytes : maxTrailerBytes)) this.rule = isHead ? "head-bytes" : "trailers-bytes"
    else this.rule = (entry.rule === "content-length" ? undefined : entry.rule) ?? this.#judge(entry)
    if (this.rule !== undefined || entry.role === "status") return
    if (this.fields.push(entry.field) > maxFields) this.rule = "fields"
  }

  #judge({ name, number, role, rule }: Entry): Rule | undefined {
    switch (role) {
      case "plain":
        return this.#kind === "trailers" && steers.test(name) ? "trailer-field" : undefined
      case "length":
        if (this.#kind === "trailers") return "trailer-field"
        if (this.lengths === 0) this.length = number
        this.lengths += rule === undefined ? 1 : 2
        return undefined
      case "status":
        if (this.#kind === "trailers" || this.status > 0 || this.fields.length > 0) return "pseudo-field"
        this.status = number
        return undefined
      case "connection":
        return "connection-field"
      default:
        return "pseudo-field"
    }
  }
}
