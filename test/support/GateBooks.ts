/** The books of a provider gate: what must add up at any moment, and what must be left when all is over. */
import * as Effect from "effect/Effect"
import type { GateSnapshot } from "../../core/GateSnapshot.ts"
import type { ProviderGate } from "../../core/ProviderGate.ts"
import { assert } from "./Assert.ts"

/** At any moment: every call that was let in is held or was judged once, a call that timed out perhaps both. */
export const balanced = (gate: ProviderGate): Effect.Effect<GateSnapshot> =>
  Effect.gen(function* () {
    const s = yield* gate.snapshot
    const judged = s.successes + s.failures + s.neutral + s.stale
    assert.isAtLeast(s.held, s.granted - judged, "held or judged")
    assert.isAtMost(s.held, s.granted - judged + s.timedOut, "held and not judged")
    assert.isAtMost(s.heldOrdinary + s.heldEmergency, s.held)
    assert.isAtMost(s.tenantsActive, s.held)
    assert.strictEqual(s.tenantsActive === 0, s.held === 0)
    return s
  })

/** At the end: nothing is held, nobody is remembered, and each call was judged once. */
export const settled = (gate: ProviderGate): Effect.Effect<GateSnapshot> =>
  Effect.gen(function* () {
    const s = yield* balanced(gate)
    const { held, heldEmergency, heldOrdinary, tenantsActive } = s
    const left = { held, heldEmergency, heldOrdinary, tenantsActive }
    for (const [name, count] of Object.entries(left)) assert.strictEqual(count, 0, name)
    assert.strictEqual(s.granted, s.successes + s.failures + s.neutral + s.stale, "judged once each")
    assert.notStrictEqual(s.circuit.state, "half-open", "a probe is left")
    return s
  })

/** {@link settled}, and all `places` can be entered at once, by somebody new; so the circuit has to be closed. */
export const whole = (gate: ProviderGate, places: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* settled(gate)
    const all = Effect.forEach(
      Array.from({ length: places }),
      () => gate.tryEnter({ tenant: "somebody new", priority: "emergency" }),
    )
    const one = Effect.flip(Effect.scoped(gate.tryEnter({ tenant: "one more", priority: "emergency" })))
    yield* Effect.scoped(Effect.andThen(all, one)).pipe(
      Effect.catch((refused) => Effect.die(new Error(`the places are not whole: ${String(refused)}`))),
    )
    yield* settled(gate)
  })
