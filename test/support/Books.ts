/** The books of an Admission: what must add up at any moment, and what must be left when all is over. */
import * as Effect from "effect/Effect"
import type { Admission } from "../../core/Admission.ts"
import type { AdmissionSnapshot } from "../../core/AdmissionSnapshot.ts"
import { assert } from "./Assert.ts"

/** At any moment: the parts add up to the whole, and nothing is above its limit but by a debt that is shown. */
export const balanced = (admission: Admission): Effect.Effect<AdmissionSnapshot> =>
  Effect.gen(function* () {
    const s = yield* admission.snapshot
    const classes = Object.values(s.classes)
    assert.strictEqual(s.running, classes.reduce((sum, each) => sum + each.running, 0), "running by class")
    assert.strictEqual(s.waiting, classes.reduce((sum, each) => sum + each.waiting, 0), "waiting by class")
    assert.strictEqual(s.free, Math.max(0, s.limits.maxRunning - s.withheld - s.running), "free")
    assert.strictEqual(s.debt, Math.max(0, s.running + s.withheld - s.limits.maxRunning), "debt")
    if (s.withheld === 0) assert.isAtMost(s.running, s.limits.maxRunning, "above maxRunning")
    assert.isAtMost(s.waiting, s.limits.maxQueued ?? Infinity, "above maxQueued")
    assert.isAtMost(s.permits, s.running, "permits without units")
    const holders = yield* admission.holders
    const held = holders.filter((each) => each.state === "held")
    assert.strictEqual(held.length, s.permits, "holders")
    assert.strictEqual(held.reduce((sum, each) => sum + each.cost, 0), s.running, "units of holders")
    assert.strictEqual(holders.length - held.length, s.waiting, "waiters")
    assert.strictEqual(new Set(holders.map((each) => each.tenant)).size, s.tenants, "tenants in use")
    assert.strictEqual(new Set(holders.flatMap((each) => each.provider ?? [])).size, s.providers, "providers in use")
    return s
  })

/** At the end: nobody holds, waits or is withheld from, every unit is free, and what was granted came back. */
export const settled = (admission: Admission): Effect.Effect<void> =>
  Effect.gen(function* () {
    const s = yield* balanced(admission)
    const { debt, pairs, permits, providers, running, setAside, tenants, waiting, withheld } = s
    const left = { debt, pairs, permits, providers, running, setAside, tenants, waiting, withheld }
    for (const [name, count] of Object.entries(left)) assert.strictEqual(count, 0, name)
    assert.strictEqual(s.free, s.limits.maxRunning)
    assert.strictEqual(s.granted, s.released, "granted and given back")
  })

/** {@link settled}, and while it is open the whole capacity can be entered at once, by somebody new. */
export const whole = (admission: Admission): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* settled(admission)
    const { limits: { maxRunning }, state } = yield* admission.snapshot
    if (state !== "open") return
    // An emergency, since it may use every reserve.
    yield* Effect.scoped(admission.tryEnter({ tenant: "somebody new", cost: maxRunning, priority: "emergency" })).pipe(
      Effect.catch((refused) => Effect.die(new Error(`the capacity is not whole: ${refused.message}`))),
    )
    yield* settled(admission)
  })
