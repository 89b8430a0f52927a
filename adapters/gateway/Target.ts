/**
 * The request target: `/{provider}/{rest}?{query}`, read from the bytes as they were sent. It owns nothing.
 *
 * The provider is the first segment and everything after it goes to that provider as it is, so a target that two servers
 * could read differently is refused here instead of being repaired.
 */
import * as Effect from "effect/Effect"
import { Refusal } from "../../core/Refusal.ts"

/** `path` begins with `/` and keeps its query. */
export interface Target {
  readonly provider: string
  readonly path: string
}

/** A target that breaks a rule. Nothing was charged. The target is not repeated: it may hold a secret in its query. */
export class BadTarget extends Refusal {
  readonly _tag = "BadTarget"
  override readonly name = "BadTarget"
  readonly rule: string
  constructor(facts: { readonly rule: string }) {
    super()
    this.rule = facts.rule
  }
  override get message(): string {
    return `the request target must ${this.rule}`
  }
}

/** Nothing was charged. */
export class TargetTooLong extends Refusal {
  readonly _tag = "TargetTooLong"
  override readonly name = "TargetTooLong"
  readonly bytes: number
  readonly limit: number
  constructor(facts: { readonly bytes: number; readonly limit: number }) {
    super()
    this.bytes = facts.bytes
    this.limit = facts.limit
  }
  override get message(): string {
    return `the request target has ${this.bytes} bytes of ${this.limit}`
  }
}

const shape = /^\/([A-Za-z0-9][A-Za-z0-9._-]{0,63})(\/[^?]*)?(\?.*)?$/

/**
 * Reads a target. Only origin-form is accepted: absolute-form, authority-form and `*` name hosts or nothing at all.
 *
 * Refused as well: anything but printable ASCII, a backslash or its encoding, `#`, `%` without two hex digits, an encoded
 * NUL, and segments that are `.` or `..` after decoding, `/` and `\` and `;` counting as their ends.
 */
export const parse = (raw: string, maxBytes: number): Effect.Effect<Target, BadTarget | TargetTooLong> => {
  if (raw.length > maxBytes) return Effect.fail(new TargetTooLong({ bytes: raw.length, limit: maxBytes }))
  const rule = broken(raw)
  if (rule !== undefined) return Effect.fail(new BadTarget({ rule }))
  const match = shape.exec(raw)
  if (match === null) return Effect.fail(new BadTarget({ rule: "be /{provider}/{path}" }))
  return Effect.succeed({ provider: match[1]!, path: `${match[2] ?? "/"}${match[3] ?? ""}` })
}

const broken = (raw: string): string | undefined => {
  if (!raw.startsWith("/") || raw.startsWith("//")) return "begin with one slash and a provider"
  if (!/^[\x21-\x7e]*$/.test(raw)) return "be printable ASCII"
  if (/[\\#]/.test(raw)) return "hold no backslash and no fragment"
  if (/%(?![0-9A-Fa-f]{2})/.test(raw)) return "have two hex digits after each %"
  const path = raw.split("?", 1)[0]!
  if (/%00/.test(raw) || /%5c/i.test(path)) return "hold no encoded NUL or backslash"
  return path.split("/").some(climbs) ? "hold no . or .. segment, however it is encoded" : undefined
}

/** Decoded until nothing changes, at most thrice: an upstream that decodes twice would meet the dots then. */
const climbs = (segment: string): boolean => {
  let decoded = segment
  for (let i = 0; i < 3 && decoded.includes("%"); i++) {
    decoded = decoded.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  }
  return decoded.split(/[/\\]/).some((part) => /^\.\.?(;|$)/.test(part))
}
