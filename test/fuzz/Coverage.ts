/** What executions reached: the rules that were broken, with the part, and what was told. It owns counts. */
import type { EngineConnection, Event, HttpEngine, Sent } from "../../core/http/HttpEngine.ts"
import { ProtocolFault } from "../../core/http/HttpFault.ts"

/** An engine whose connections are changed. */
export const changed =
  (change: (connection: EngineConnection) => Partial<EngineConnection>) => (engine: HttpEngine): HttpEngine => ({
    ...engine,
    open: (opening) => {
      const own = engine.open(opening)
      const whole: EngineConnection = {
        get room() {
          return own.room
        },
        get isRetired() {
          return own.isRetired
        },
        get retainedBytes() {
          return own.retainedBytes
        },
        isSendEnded: (exchange) => own.isSendEnded(exchange),
        trySend: (request) => own.trySend(request),
        upload: (exchange, bytes) => own.upload(exchange, bytes),
        finish: (exchange, trailers) => own.finish(exchange, trailers),
        consumed: (exchange, bytes) => own.consumed(exchange, bytes),
        cancel: (exchange, code) => own.cancel(exchange, code),
        ping: () => own.ping(),
        leave: () => own.leave(),
        receive: (bytes) => own.receive(bytes),
        closed: (how) => own.closed(how),
        takeOutput: () => own.takeOutput(),
      }
      return Object.defineProperties(whole, Object.getOwnPropertyDescriptors(change(own)))
    },
  })

export class Coverage {
  /** How often each was reached: `h2 rule flood`, `h2 part ping`, `h1 told Head`, `h1 refused host`. */
  readonly counts = new Map<string, number>()

  readonly watch = (engine: HttpEngine): HttpEngine =>
    changed((own) => ({
      trySend: (request) => this.#sent(engine.protocol, own.trySend(request)),
      receive: (bytes) => this.#heard(engine.protocol, own.receive(bytes)),
      closed: (how) => this.#heard(engine.protocol, own.closed(how)),
    }))(engine)

  /** The rules, of those of a protocol, that no execution broke. */
  missed(protocol: HttpEngine["protocol"], rules: ReadonlyArray<string>): ReadonlyArray<string> {
    return rules.filter((rule) => !this.counts.has(`${protocol} rule ${rule}`))
  }

  /** A line for each protocol and kind, with the counts behind what was reached. */
  lines(): ReadonlyArray<string> {
    const kinds = new Map<string, Array<string>>()
    for (const [what, count] of [...this.counts].toSorted()) {
      const [protocol, kind, ...name] = what.split(" ")
      const line = `${protocol} ${kind}`
      kinds.set(line, [...kinds.get(line) ?? [], `${name.join(" ")} ${count}`])
    }
    return [...kinds].map(([kind, all]) => `${kind} (${all.length}): ${all.join(", ")}`)
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  #sent(protocol: string, sent: Sent): Sent {
    this.#count(`${protocol} sent ${sent._tag === "Unsent" ? sent.why : sent._tag}`)
    if (sent._tag === "Malformed") this.#count(`${protocol} refused ${sent.error.field.split(" ")[0]}`)
    return sent
  }

  #heard(protocol: string, events: ReadonlyArray<Event>): ReadonlyArray<Event> {
    let before = ""
    for (const event of events) {
      // A body in chunks of one byte is told in thousands.
      if (event._tag === before) continue
      before = event._tag === "Data" ? event._tag : ""
      this.#count(`${protocol} told ${event._tag}${event._tag === "Retired" ? `-${event.why}` : ""}`)
      if (!("error" in event) || !(event.error instanceof ProtocolFault)) continue
      this.#count(`${protocol} rule ${event.error.rule}`)
      this.#count(`${protocol} part ${event.error.part}`)
    }
    return events
  }
}
