/**
 * What the fields of a request ask of its connection, and those of them that are written as they are. The framing is the
 * engine's own to write: a field may repeat it and may not differ. Owns nothing.
 */
import type { InvalidRequest } from "../Refusal.ts"
import { invalid, wrongField } from "./HttpRules.ts"
import { addElements, isAuthority, isToken } from "./HttpSyntax.ts"

/** Options that would make a proxy take out of a request what says where it ends and whose it is. */
const kept = ["content-length", "transfer-encoding", "host"]

export class RequestFields {
  readonly #hasBody: boolean
  readonly #length: number | undefined
  readonly #texts: Array<string>
  host: string | undefined = undefined
  /** Protocols that it offers to switch to, in lower case. */
  readonly offers: Array<string> = []
  readonly #options: Array<string> = []

  /** `length`: bytes of the body; undefined where only its end will tell. What is written is added to `texts`. */
  constructor(hasBody: boolean, length: number | undefined, texts: Array<string>) {
    this.#hasBody = hasBody
    this.#length = length
    this.#texts = texts
  }

  /** Whether it says that it is the last on its connection. */
  get closes(): boolean {
    return this.#options.includes("close")
  }

  /** Takes the next field, or says what is wrong with it. */
  add(name: string, value: string): InvalidRequest | undefined {
    const wrong = wrongField(name, value)
    if (wrong !== undefined) return wrong
    const lower = name.toLowerCase()
    if (lower === "host") {
      const isFit = this.host === undefined && isAuthority(value, false)
      this.host = value
      return isFit ? undefined : invalid(lower, "host or host:port, once")
    }
    if (lower === "content-length") {
      return value === `${this.#length}` ? undefined : invalid(lower, "what the body says, or left out")
    }
    const rule = this.#steer(lower, value)
    this.#texts.push(name, ": ", value, "\r\n")
    return rule === undefined ? undefined : invalid(lower, rule)
  }

  /** The rule that a field breaks which steers the connection, if this one does. */
  #steer(name: string, value: string): string | undefined {
    switch (name) {
      case "transfer-encoding":
        return "left out: the engine frames the body"
      case "connection":
        addElements(this.#options, value)
        break
      case "upgrade":
        addElements(this.offers, value)
        break
      case "expect":
        return value.toLowerCase() === "100-continue" && this.#hasBody ? undefined : "100-continue, and with a body"
      case "te":
        return value.toLowerCase() === "trailers" ? undefined : "trailers: no coding is read but chunked"
    }
    return undefined
  }

  /** What is wrong with the fields together. */
  wrongInAll(): InvalidRequest | undefined {
    const fits = this.#options.every((option) => isToken(option) && !kept.includes(option)) &&
      (this.offers.length === 0 || this.#options.includes("upgrade"))
    return fits ? undefined : invalid("connection", `tokens but ${kept}, with upgrade among them where there is one`)
  }
}
