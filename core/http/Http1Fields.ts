/**
 * What the fields of a request ask of its connection, and those of them that are written as they are. The framing is the
 * engine's own to write: a field may repeat it and may not differ. Owns nothing.
 */
import type { InvalidRequest } from "../Refusal.ts"
import { type Flat, invalid } from "./HttpGiven.ts"
import { wrongField } from "./HttpRules.ts"
import { addElements, isAuthority, isPadded, isToken, text, token } from "./HttpSyntax.ts"
import type { Slab } from "./Slab.ts"

/** Options that would make a proxy take out of a request what says where it ends and whose it is. */
const kept = ["content-length", "transfer-encoding", "host"]

/** What the fields ask for: protocols that are offered to switch to, and options of the connection, in lower case. */
export interface Asking {
  host: string | undefined
  readonly offers: Array<string>
  readonly options: Array<string>
}

/**
 * Writes the fields of a request; or says what is wrong with one. `length`: bytes of the body, undefined where only its end
 * will tell.
 */
export const writeFields = (
  slab: Slab,
  fields: Flat,
  length: number | undefined,
): Asking | InvalidRequest => {
  const asking: Asking = { host: undefined, offers: [], options: [] }
  const { options } = asking
  const needed: Array<string> = []
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i]!
    const value = fields[i + 1]!
    const lower = typeof name === "string" ? name.toLowerCase() : ""
    const isOwn = lower === "host" || lower === "content-length"
    // What is written is looked at in the same pass; only what fails there is looked at again, for the rule.
    const wrong = isOwn || !isWritten(slab, name, value) ? wrongField(name, value) : undefined
    if (wrong !== undefined) return wrong
    const rule = steered(asking, lower, value, length)
    if (rule !== undefined) return invalid(lower, rule)
    // RFC 9110, 7.8 and 10.1.4: these are for the next one on the way alone, which the connection has to say.
    if (lower === "upgrade" || lower === "te") needed.push(lower)
  }
  const fits = options.every((option) => isToken(option) && !kept.includes(option)) &&
    needed.every((option) => options.includes(option))
  return fits ? asking : invalid("connection", `tokens, with upgrade and te if sent, and not ${kept}`)
}

/** Writes a field; false where it breaks a rule of {@link wrongField}. */
export const isWritten = (slab: Slab, name: string, value: string): boolean =>
  typeof name === "string" && typeof value === "string" && name !== "" && !isPadded(value) &&
  slab.add(name, token.bytes) && slab.add(": ") && slab.add(value, text.bytes) && slab.add("\r\n")

/** Takes what a field asks for; the rule that it breaks. */
const steered = (
  asking: Asking,
  name: string,
  value: string,
  length: number | undefined,
): string | undefined => {
  switch (name) {
    case "host":
      if (asking.host !== undefined || !isAuthority(value, false)) return "host or host:port, once"
      asking.host = value
      return undefined
    case "connection":
      return void addElements(asking.options, value)
    case "upgrade":
      return void addElements(asking.offers, value)
    case "content-length":
      return length !== undefined && value === `${length}` ? undefined : "the length of the body"
    case "transfer-encoding":
      return "left out"
    case "expect":
      return length !== 0 && value.toLowerCase() === "100-continue" ? undefined : "100-continue with a body"
    case "te":
      return value.toLowerCase() === "trailers" ? undefined : "trailers"
    default:
      return undefined
  }
}
