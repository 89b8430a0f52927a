/**
 * Names that are being looked up. No runtime can cancel that, so a lookup that has begun is owned and counted here until the
 * runtime answers, whoever has left meanwhile: one a name, for all who wait for it, and so many at a time.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type { Census } from "./SocketConnection.ts"
import type { SocketDriver } from "./SocketDriver.ts"
import { type DialFault, NameNotFound } from "./SocketFault.ts"
import type { Address } from "./SocketTarget.ts"
import { shielded } from "./Transition.ts"

/**
 * How many at a time. A runtime may look up as few as two and have the others wait where nobody can call them back; here they
 * wait instead, and leave when nobody wants them any more.
 */
export const maxLookups = 4

type Addresses = ReadonlyArray<Address>
type Found = Exit.Exit<Addresses, DialFault>

interface Lookup {
  readonly host: string
  readonly waiting: Set<(found: Found) => void>
}

/** A runtime may say of a name that it has none, and not that it is not there. */
const some = (addresses: Addresses): Effect.Effect<Addresses, DialFault> =>
  addresses.length > 0 ? Effect.succeed(addresses) : Effect.fail(new NameNotFound({ phase: "resolve", code: "EMPTY" }))

export class Lookups {
  readonly #driver: SocketDriver
  readonly #census: Census
  readonly #context: Context.Context<never>
  readonly #begun = new Map<string, Lookup>()
  /** Those that wait for their turn, the first one first. */
  readonly #line = new Map<string, Lookup>()

  /** `context` is that of who made the sockets: a lookup is nobody's who dials. */
  constructor(driver: SocketDriver, census: Census, context: Context.Context<never>) {
    this.#driver = driver
    this.#census = census
    this.#context = context
  }

  /** Addresses of a name, the best first. Interrupted, it only stops waiting. */
  find(host: string): Effect.Effect<Addresses, DialFault> {
    return Effect.callback<Addresses, DialFault>((resume) => {
      const lookup = this.#begun.get(host) ?? this.#line.get(host) ?? this.#ask(host)
      lookup.waiting.add(resume)
      this.#beginNext()
      return Effect.sync(() => {
        lookup.waiting.delete(resume)
        if (lookup.waiting.size === 0 && this.#line.get(host) === lookup) this.#line.delete(host)
      })
    })
  }

  #ask(host: string): Lookup {
    const lookup: Lookup = { host, waiting: new Set() }
    this.#line.set(host, lookup)
    return lookup
  }

  #beginNext(): void {
    for (const lookup of this.#line.values()) {
      if (this.#begun.size === maxLookups) return
      this.#line.delete(lookup.host)
      this.#begun.set(lookup.host, lookup)
      this.#census.resolving++
      // A fiber of its own, which nobody interrupts.
      Effect.runForkWith(this.#context)(Effect.flatMap(this.#driver.resolve(lookup.host), some)).addObserver((found) =>
        this.#over(lookup, found)
      )
    }
  }

  /** The next one begins before anybody is told, who may ask again there and then. */
  #over(lookup: Lookup, found: Found): void {
    this.#begun.delete(lookup.host)
    this.#census.resolving--
    this.#beginNext()
    for (const resume of lookup.waiting) shielded(this.#context, () => resume(found))
  }
}
