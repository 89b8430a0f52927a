/**
 * A bounded set of provider gates by key: one for each provider, made on first use, kept while it is of use.
 *
 * Beyond the ceiling the longest unused gate that is closed and holds nothing gives way, one without counted failures
 * first; one that is open, holds a call or has a line never does, so an outage is not forgotten.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { decode, onlyKnown, type Options as GateOptions, or } from "./GateOptions.ts"
import { GateCapacity } from "./GateRefused.ts"
import type { GateSnapshot } from "./GateSnapshot.ts"
import * as Limit from "./Limits.ts"
import * as ProviderGate from "./ProviderGate.ts"
import { InvalidLimits, type InvalidRequest } from "./Refusal.ts"
import { wicketOf } from "./Wicket.ts"

export interface Options {
  /** The options of each provider's gate; those of an unknown one by default. Called once for a gate. */
  readonly gate?: GateOptions | ((key: string) => GateOptions) | undefined
  /** Gates kept at most, 1 to 1,024; 64 by default. */
  readonly maxGates?: number | undefined
}

export interface ProviderGates {
  /** The gate of a provider, the same one for as long as it is kept. The key is checked as a tenant's is. */
  readonly get: (key: string) => Effect.Effect<ProviderGate.ProviderGate, GateCapacity | InvalidLimits | InvalidRequest>
  /** The counts of every gate, by key. O(gates). */
  readonly snapshotAll: Effect.Effect<ReadonlyMap<string, GateSnapshot>>
}

export const ProviderGates: Context.Service<ProviderGates, ProviderGates> = Context.Service("holdfast/ProviderGates")

const system = "ProviderGates"
const names = { gate: true, maxGates: true } satisfies Record<keyof Options, true>

export const make = (options: Options): Effect.Effect<ProviderGates, InvalidLimits> =>
  Effect.gen(function* () {
    yield* onlyKnown(options, names, system)
    const max = yield* Effect.fromResult(
      Limit.count(system, "maxGates", or(options.maxGates, 64), { min: 1, max: 1_024 }),
    )
    const gate = or(options.gate, {})
    if (gate === null || (typeof gate !== "object" && typeof gate !== "function")) {
      const rule = "the options of a gate, or a function to them of the provider's key"
      return yield* Effect.fail(new InvalidLimits({ system, limit: "gate", rule, value: gate }))
    }
    if (typeof gate !== "function") yield* decode(gate)
    const set = new Gates(max, gate)
    return {
      get: (key) =>
        Effect.suspend((): ReturnType<ProviderGates["get"]> => {
          const wrong = Limit.key("key", key)
          return wrong === undefined ? set.get(key) : Effect.fail(wrong)
        }),
      snapshotAll: Effect.suspend(() =>
        Effect.map(
          Effect.forEach(
            [...set.gates],
            ([key, each]) => Effect.map(each.snapshot, (snapshot) => [key, snapshot] as const),
          ),
          (entries) => new Map(entries),
        )
      ),
    } satisfies ProviderGates
  })

/** {@link make} as a layer. */
export const layer = (options: Options): Layer.Layer<ProviderGates, InvalidLimits> =>
  Layer.effect(ProviderGates, make(options))

/** The gates by key, the longest unused first: a Map keeps the order in which its keys came. */
class Gates {
  readonly gates = new Map<string, ProviderGate.ProviderGate>()
  readonly #max: number
  readonly #options: GateOptions | ((key: string) => GateOptions)

  constructor(max: number, options: GateOptions | ((key: string) => GateOptions)) {
    this.#max = max
    this.#options = options
  }

  get(key: string): Effect.Effect<ProviderGate.ProviderGate, GateCapacity | InvalidLimits> {
    const known = this.#used(key)
    if (known !== undefined) return Effect.succeed(known)
    const options = typeof this.#options === "function" ? this.#options(key) : this.#options
    return Effect.flatMap(ProviderGate.make(options), (made) => Effect.suspend(() => this.#add(key, made)))
  }

  #used(key: string): ProviderGate.ProviderGate | undefined {
    const known = this.gates.get(key)
    if (known === undefined) return undefined
    this.gates.delete(key)
    this.gates.set(key, known)
    return known
  }

  #add(key: string, made: ProviderGate.ProviderGate): Effect.Effect<ProviderGate.ProviderGate, GateCapacity> {
    // Somebody else may have asked for it while it was made, and there is one gate a provider.
    const known = this.#used(key)
    if (known !== undefined) return Effect.succeed(known)
    if (this.gates.size >= this.#max) {
      const spare = this.#spare()
      if (spare === undefined) return Effect.fail(new GateCapacity({ limit: this.#max }))
      this.gates.delete(spare)
    }
    wicketOf(made)!.provider = key
    this.gates.set(key, made)
    return Effect.succeed(made)
  }

  /** The longest unused that has counted no failure, or else the longest unused of those that have. */
  #spare(): string | undefined {
    let failed: string | undefined
    for (const [key, gate] of this.gates) {
      const wicket = wicketOf(gate)!
      if (!wicket.isSpare) continue
      if (wicket.gate.circuit.failures === 0) return key
      failed ??= key
    }
    return failed
  }
}
