/** What a lease leaves in the scope that it was taken in, which may live long: nothing, once it is over. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as CircuitBreaker from "../../core/CircuitBreaker.ts"
import * as GateLine from "../../core/GateLine.ts"
import * as Lease from "../../core/Lease.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as Sweep from "../../core/testing/Sweep.ts"
import * as Books from "../support/GateBooks.ts"

const ask = { tenant: "a" } as const
const options = { concurrency: 4, reservedControl: 0, tenantConcurrency: 4 }

/** A verb that is over by its own: as a program in a scope that lives on. What it stands on lives in another, its home. */
type Verb = (gate: ProviderGate.ProviderGate, home: Scope.Scope) => Effect.Effect<unknown, unknown, Scope.Scope>
const verbs: Readonly<Record<string, Verb>> = {
  "tryEnter and settle": (gate) => Effect.flatMap(gate.tryEnter(ask), (permit) => gate.settle(permit, "success")),
  "a line's enter and settle": (gate, home) =>
    Effect.flatMap(
      Scope.provide(GateLine.make(gate), home),
      (line) => Effect.flatMap(line.enter(ask), (permit) => gate.settle(permit, "success")),
    ),
  "a tryEnter that is refused": (gate) => Effect.exit(gate.tryEnter({ tenant: "" })),
  "a breaker's tryEnter and settle": () =>
    Effect.flatMap(
      CircuitBreaker.make({}),
      (breaker) => Effect.flatMap(breaker.tryEnter, (pass) => breaker.settle(pass, "success")),
    ),
}

describe("a lease", () => {
  for (const [name, verb] of Object.entries(verbs)) {
    it.effect(`PG-15: that is over leaves nothing in its scope: ${name}`, () =>
      Effect.gen(function* () {
        const gate = yield* ProviderGate.make(options)
        const scope = yield* Scope.make()
        yield* Scope.provide(verb(gate, yield* Effect.scope), scope)
        assert.strictEqual(scope.state._tag, "Empty")
        yield* Books.whole(gate, 4)
      }))
  }

  it.effect("PG-12: is registered in the form in which Effect adds a finalizer itself", () =>
    Effect.gen(function* () {
      const own = yield* Effect.withFiber((fiber) => Lease.registered(fiber, () => {}, (scope) => scope))
      const theirs = yield* Scope.make()
      yield* Scope.addFinalizerExit(theirs, () => Effect.void)
      const formOf = ({ state }: Scope.Closeable): unknown =>
        Object.entries(state).map(([name, value]) => [name, typeof value === "string" ? value : typeof value])
          .toSorted()
      assert.deepStrictEqual(formOf(own), formOf(theirs))
    }))

  it("PG-12: that was interrupted at whatever step is held with its scope's end registered, or leaves nothing", () => {
    const seen = new Set<string>()
    const staged = Effect.all({ gate: ProviderGate.make(options), scope: Scope.make() })
    Effect.runSync(
      Sweep.on(staged).sweep({
        fibers: ({ gate, scope }) => ({
          victim: Scope.provide(Effect.andThen(gate.tryEnter(ask), Effect.yieldNow), scope),
        }),
        disturb: "victim",
        oracle: ({ gate, scope }) =>
          Effect.gen(function* () {
            const { held } = yield* gate.snapshot
            seen.add(`${held} ${scope.state._tag}`)
            yield* Scope.close(scope, Exit.void)
            yield* Books.whole(gate, 4)
          }),
      }),
    )
    assert.deepStrictEqual([...seen].sort(), ["0 Empty", "1 Open"])
  })

  it.effect("PG-12 PG-15: asked for without a scope, against the types, is a defect that keeps nothing", () =>
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const breaker = yield* CircuitBreaker.make({})
      for (const enter of [gate.tryEnter(ask), breaker.tryEnter]) {
        const exit = Effect.runSyncExit(enter as Effect.Effect<never>)
        assert.isTrue(Exit.hasDies(exit))
        assert.include(String(exit), "Scope")
      }
      yield* Books.whole(gate, 4)
    }))
})
