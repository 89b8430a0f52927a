/**
 * What the fields of a request ask of its connection, and those of them that are written as they are. The framing is the
 * engine's own to write: a field may repeat it and may not differ. Owns nothing.
 */
import type { InvalidRequest } from "../Refusal.ts"
import { invalid, wrongField } from "./HttpRules.ts"
import { elements, isAuthority, isToken } from "./HttpSyntax.ts"

const none: ReadonlyArray<string> = []

/** Options that would make a proxy take out of a request what says where it ends and whose it is. */
const kept = ["content-length", "transfer-encoding", "host"]

export class RequestFields {
  /** Bytes of the body; undefined where only its end will tell. */
  readonly #length: number | undefined
  readonly #hasBody: boolean
  readonly lines: Array<string> = []
  host: string | undefined = undefined
  /** Protocols that it offers to switch to, in lower case. */
  offers: ReadonlyArray<string> = none
  #options: ReadonlyArray<string> = none

  constructor(hasBody: boolean, length: number | undefined) {
    this.#hasBody = hasBody
    this.#length = length
  }

  /** Whether it says that it is the last on its connection. */
  get closes(): boolean {
    return this.#options.includes("close")
  }

  /** Takes the next field, or says what is wrong with it. */
  add(name: string, value: string): InvalidRequest | undefined {
    const wrong = wrongField(name, value)
    if (wrong !== undefined) return wrong
    switch (name.toLowerCase()) {
      case "host":
        return this.#addHost(value)
      case "content-length":
        return this.#length !== undefined && value === String(this.#length)
          ? undefined
          : invalid("content-length", "what the body says, or left out")
      case "transfer-encoding":
        return invalid("transfer-encoding", "left out: the engine frames the body")
      case "connection":
        this.#options = [...this.#options, ...elements(value)]
        break
      case "upgrade":
        this.offers = [...this.offers, ...elements(value)]
        break
      case "expect":
        if (value.toLowerCase() !== "100-continue" || !this.#hasBody) {
          return invalid("expect", "100-continue, and with a body")
        }
        break
      case "te":
        if (value.toLowerCase() !== "trailers") return invalid("te", "trailers, since no other coding is read")
    }
    this.lines.push(name, ": ", value, "\r\n")
    return undefined
  }

  /** What is wrong with the fields together. */
  wrongInAll(): InvalidRequest | undefined {
    if (!this.#options.every(isToken)) {
      return invalid("connection", "a list of tokens")
    }
    const option = this.#options.find((name) => kept.includes(name))
    if (option !== undefined) return invalid("connection", `without ${option}`)
    return this.offers.length > 0 && !this.#options.includes("upgrade")
      ? invalid("connection", "with upgrade among it, where there is an upgrade")
      : undefined
  }

  #addHost(value: string): InvalidRequest | undefined {
    if (this.host !== undefined) return invalid("host", "there once")
    if (!isAuthority(value, false)) return invalid("host", "a host, or a host and a port")
    this.host = value
    return undefined
  }
}
