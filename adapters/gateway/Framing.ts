/**
 * How a request says where it ends: the one thing that two servers in a row must never read differently. Owns nothing.
 *
 * `node:http` already refuses most of the shapes that smuggle a second request; these are the ones that one runtime or
 * another lets through. The gateway writes its own framing upstream, so nothing of the client's survives it.
 */
import * as Effect from "effect/Effect"
import { Refusal } from "../../core/Refusal.ts"
import type { Fields } from "./Message.ts"

/** `bytes` is undefined for a chunked body. No body is 0 bytes. */
export interface Framing {
  readonly bytes: number | undefined
}

/** A header whose framing breaks a rule. Nothing was charged. The connection is closed, for what follows is unclear. */
export class BadFraming extends Refusal {
  readonly _tag = "BadFraming"
  override readonly name = "BadFraming"
  readonly rule: string
  constructor(facts: { readonly rule: string }) {
    super()
    this.rule = facts.rule
  }
  override get message(): string {
    return `a request must ${this.rule}`
  }
}

/** Something other than 100-continue was expected, which nobody here can promise. Nothing was charged. */
export class ExpectationFailed extends Refusal {
  readonly _tag = "ExpectationFailed"
  override readonly name = "ExpectationFailed"
  readonly rule: string
  constructor(facts: { readonly rule: string }) {
    super()
    this.rule = facts.rule
  }
  override get message(): string {
    return `a request must ${this.rule}`
  }
}

/** More header lines than the limit. Nothing was charged. */
export class TooManyFields extends Refusal {
  readonly _tag = "TooManyFields"
  override readonly name = "TooManyFields"
  readonly fields: number
  readonly limit: number
  constructor(facts: { readonly fields: number; readonly limit: number }) {
    super()
    this.fields = facts.fields
    this.limit = facts.limit
  }
  override get message(): string {
    return `the header has ${this.fields} lines of ${this.limit}`
  }
}

/** The values of all lines of one name, in their order. */
export const valuesOf = (fields: Fields, name: string): ReadonlyArray<string> =>
  fields.filter(([line]) => line.toLowerCase() === name).map(([, value]) => value)

/** What says how a request is framed. `version` is that of HTTP, as `1.1`. */
export interface Head {
  readonly method: string
  readonly version: string
  readonly fields: Fields
}

/** Reads the framing of a request. A body on GET or HEAD is refused, since some servers read it as the next request. */
export const read = (
  { method, version, fields }: Head,
  maxFields: number,
): Effect.Effect<Framing, BadFraming | TooManyFields> => {
  if (fields.length > maxFields) return Effect.fail(new TooManyFields({ fields: fields.length, limit: maxFields }))
  const lengths = valuesOf(fields, "content-length")
  const codings = valuesOf(fields, "transfer-encoding")
  const rule = broken(version, lengths, codings, valuesOf(fields, "host").length)
  if (rule !== undefined) return Effect.fail(new BadFraming({ rule }))
  const bytes = codings.length === 1 ? undefined : Number(lengths[0] ?? 0)
  if (bytes !== 0 && (method === "GET" || method === "HEAD")) {
    return Effect.fail(new BadFraming({ rule: `carry no body with ${method}` }))
  }
  return Effect.succeed({ bytes })
}

/** Checks what the request expects of its answer; a list's empty places say nothing. */
export const expects = (fields: Fields): Effect.Effect<void, ExpectationFailed> => {
  const expected = valuesOf(fields, "expect").flatMap((value) => value.split(",")).map((one) =>
    one.trim().toLowerCase()
  )
  if (expected.every((one) => one === "100-continue" || one === "")) return Effect.void
  return Effect.fail(new ExpectationFailed({ rule: "expect nothing but 100-continue" }))
}

const broken = (
  version: string,
  lengths: ReadonlyArray<string>,
  codings: ReadonlyArray<string>,
  hosts: number,
): string | undefined => {
  if (hosts > 1) return "have one host line"
  if (lengths.length > 1) return "have one content-length line"
  // Who spoke an older version to us need not have seen it, and may end the body elsewhere (RFC 9112, 6.1).
  if (codings.length > 0 && version !== "1.1") return "have no transfer-encoding before HTTP/1.1"
  if (codings.length > 1) return "have one transfer-encoding line"
  if (lengths.length + codings.length > 1) return "have a content-length or a transfer-encoding, not both"
  if (lengths.length === 1 && !/^\d{1,15}$/.test(lengths[0]!)) return "have a content-length of digits alone"
  if (codings.length === 1 && codings[0]!.toLowerCase() !== "chunked") return "have no transfer-encoding but chunked"
  return undefined
}
