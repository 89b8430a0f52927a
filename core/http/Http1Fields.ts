/**
 * What the fields of a request ask of its connection, and those of them that are written as they are. The framing is the
 * engine's own to write: a field may repeat it and may not differ. Owns nothing.
 */
import type { InvalidRequest } from "../Refusal.ts"
import { invalid, wrongField } from "./HttpRules.ts"
import { addElements, isAuthority, isToken } from "./HttpSyntax.ts"

const none: ReadonlyArray<string> = []

/** Options that would make a proxy take out of a request what says where it ends and whose it is. */
const kept = ["content-length", "transfer-encoding", "host"]

/** No name that asks for anything is longer, or of another length. */
const lengths: ReadonlySet<number> = new Set([2, 4, 6, 7, 10, 14, 17])

export class RequestFields {
  readonly #hasBody: boolean
  readonly #length: number | undefined
  readonly #texts: Array<string>
  host: string | undefined = undefined
  /** Protocols that it offers to switch to, in lower case. */
  offers: ReadonlyArray<string> = none
  #options: ReadonlyArray<string> = none

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
    if (lengths.has(name.length)) {
      switch (name.toLowerCase()) {
        case "host":
          return this.#addHost(value)
        case "content-length":
          return this.#length !== undefined && value === String(this.#length)
            ? undefined
            : invalid("content-length", "what the body says, or left out")
        default: {
          const unfit = this.#steer(name.toLowerCase(), value)
          if (unfit !== undefined) return unfit
        }
      }
    }
    this.#texts.push(name, ": ", value, "\r\n")
    return undefined
  }

  /** What is wrong with the fields together. */
  wrongInAll(): InvalidRequest | undefined {
    if (this.#options.length === 0 && this.offers.length === 0) return undefined
    if (!this.#options.every(isToken)) return invalid("connection", "a list of tokens")
    const option = this.#options.find((name) => kept.includes(name))
    if (option !== undefined) return invalid("connection", `without ${option}`)
    return this.offers.length > 0 && !this.#options.includes("upgrade")
      ? invalid("connection", "with upgrade among it, where there is an upgrade")
      : undefined
  }

  #steer(name: string, value: string): InvalidRequest | undefined {
    switch (name) {
      case "transfer-encoding":
        return invalid("transfer-encoding", "left out: the engine frames the body")
      case "connection":
        this.#options = addElements(this.#options, value)
        return undefined
      case "upgrade":
        this.offers = addElements(this.offers, value)
        return undefined
      case "expect":
        return value.toLowerCase() === "100-continue" && this.#hasBody
          ? undefined
          : invalid("expect", "100-continue, and with a body")
      case "te":
        return value.toLowerCase() === "trailers" ? undefined : invalid("te", "trailers, since no other coding is read")
      default:
        return undefined
    }
  }

  #addHost(value: string): InvalidRequest | undefined {
    if (this.host !== undefined) return invalid("host", "there once")
    if (!isAuthority(value, false)) return invalid("host", "a host, or a host and a port")
    this.host = value
    return undefined
  }
}
