/** Work behind each door fails, dies, comes late, or in the tick of its limit, and is interrupted at each step besides. */
import { assert, describe, it } from "vitest"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import * as CircuitBreaker from "../../core/CircuitBreaker.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as GateLine from "../../core/GateLine.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"
import * as FaultSweep from "../../core/testing/FaultSweep.ts"
import * as Script from "../../core/testing/Script.ts"
import * as Books from "../support/Books.ts"
import * as GateBooks from "../support/GateBooks.ts"

const limit = "1 second"
const plans = [
  Script.fail("down"),
  Script.die("bug"),
  Script.deaf(Script.late("2 seconds")),
  // For a gate, its own limit is the same tick.
  Script.inDeadlineTick,
]
interface Door {
  /** Whether one waits for the other. */
  readonly waits: boolean
  readonly through: <A, E>(tenant: string, work: Effect.Effect<A, E>) => Effect.Effect<unknown, unknown>
  readonly whole: Effect.Effect<unknown, unknown>
}

const sweeps = (what: string, make: Effect.Effect<Door, unknown, Scope.Scope>, late: string): void => {
  it(what, () => {
    const prepare = (script: Script.Script) =>
      Effect.map(make, ({ through, waits, whole }) => {
        const peer = script.port("peer", { call: Effect.yieldNow })
        return { call: (tenant: string) => through(tenant, peer.call).pipe(Deadline.within(limit)), waits, whole }
      })
    const may = ["Completed", "Failed", "Died", "Expired", late]
    const { calls, endings } = Effect.runSync(
      FaultSweep.on(prepare).sweep(plans, {
        fibers: ({ call, waits }) => ({ first: call("a"), second: waits ? call("b") : Effect.void }),
        disturb: "first",
        ends: { first: may, second: may },
        prompt: false,
        oracle: ({ whole }) => whole,
      }),
    )
    assert.isAtLeast(calls, 1)
    assert.includeMembers([...endings.first], ["Completed", "Died", "Interrupted", "down", late])
  })
}

describe("what is behind a door, and goes wrong", () => {
  const options = {
    concurrency: 1,
    tenantConcurrency: 1,
    reservedControl: 0,
    failureThreshold: 9,
    maxElapsed: limit,
  } as const

  sweeps(
    "AD-4 AD-40: of an Admission",
    Effect.map(Admission.make({ maxRunning: 1, maxWait: "1 minute" }), (admission): Door => ({
      waits: true,
      through: (tenant, work) => admission.run({ tenant })(Deadline.enforce(work)),
      whole: Books.whole(admission),
    })),
    "DeadlineExceeded",
  )

  sweeps(
    "PG-21 PG-22 PG-23: of a gate",
    Effect.map(ProviderGate.make({ ...options, concurrency: 2 }), (gate): Door => ({
      waits: false,
      through: (tenant, work) => gate.run({ tenant }, work),
      whole: GateBooks.whole(gate, 2),
    })),
    "CallTimedOut",
  )

  sweeps(
    "PG-46: of a line in front of a gate",
    Effect.gen(function* () {
      const gate = yield* ProviderGate.make(options)
      const line = yield* GateLine.make(gate, { maxWait: "1 minute" })
      return {
        waits: true,
        through: (tenant, work) => Effect.scoped(Effect.andThen(line.enter({ tenant }), Deadline.enforce(work))),
        whole: GateBooks.whole(gate, 1),
      } satisfies Door
    }),
    "DeadlineExceeded",
  )

  sweeps(
    "PG-12 PG-31: of a breaker",
    Effect.map(CircuitBreaker.make({ failureThreshold: 9, maxElapsed: limit }), (breaker): Door => ({
      waits: false,
      through: (_, work) => breaker.run(Deadline.enforce(work)),
      whole: Effect.map(breaker.snapshot, ({ state }) => assert.strictEqual(state, "closed")),
    })),
    "DeadlineExceeded",
  )
})
