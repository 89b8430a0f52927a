/**
 * A bounded set of provider gates by key: one for each provider, made on first use, kept while it is of use.
 *
 * Beyond the ceiling the longest unused gate that is closed and holds nothing gives way; one that is open or holds a call
 * never does, so an outage is not forgotten.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { decode, type Options as GateOptions } from "./GateOptions.ts"
import { GateCapacity } from "./GateRefused.ts"
import type { GateSnapshot } from "./GateSnapshot.ts"
import * as Limit from "./Limits.ts"
import * as ProviderGate from "./ProviderGate.ts"
import type { InvalidLimits, InvalidRequest } from "./Refusal.ts"
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

export const make = (options: Options): Effect.Effect<ProviderGates, InvalidLimits> =>
  Effect.gen(function* () {
    const max = yield* Effect.fromResult(
      Limit.count("ProviderGates", "maxGates", options.maxGates ?? 64, { min: 1, max: 1_024 }),
    )
    if (typeof options.gate === "object") yield* decode(options.gate)
    const gates = new Map<string, ProviderGate.ProviderGate>()
    return {
      get: (key) =>
        Effect.suspend((): Effect.Effect<ProviderGate.ProviderGate, GateCapacity | InvalidLimits | InvalidRequest> => {
          const wrong = Limit.key("key", key)
          if (wrong !== undefined) return Effect.fail(wrong)
          const known = gates.get(key)
          if (known === undefined) return added(gates, max, key, options)
          // The longest unused is the first: a Map keeps the order in which its keys came.
          gates.delete(key)
          gates.set(key, known)
          return Effect.succeed(known)
        }),
      snapshotAll: Effect.suspend(() =>
        Effect.map(
          Effect.forEach(gates, ([key, gate]) => Effect.map(gate.snapshot, (snapshot) => [key, snapshot] as const)),
          (entries) => new Map(entries),
        )
      ),
    } satisfies ProviderGates
  })

/** {@link make} as a layer. */
export const layer = (options: Options): Layer.Layer<ProviderGates, InvalidLimits> =>
  Layer.effect(ProviderGates, make(options))

const added = (
  gates: Map<string, ProviderGate.ProviderGate>,
  max: number,
  key: string,
  { gate }: Options,
): Effect.Effect<ProviderGate.ProviderGate, GateCapacity | InvalidLimits> =>
  Effect.flatMap(
    ProviderGate.make(typeof gate === "function" ? gate(key) : gate ?? {}),
    (made) =>
      Effect.suspend(() => {
        if (gates.size >= max) {
          const spare = [...gates].find(([, each]) => wicketOf(each)!.isSpare)
          if (spare === undefined) return Effect.fail(new GateCapacity({ limit: max }))
          gates.delete(spare[0])
        }
        gates.set(key, made)
        return Effect.succeed(made)
      }),
  )
