/** What the edge runtime is asked: a line that grants in turn, a deadline, a circuit, and books that add up. */
import * as Effect from "effect/Effect"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"
import * as ProviderGate from "../../core/ProviderGate.ts"

const program = Effect.gen(function* () {
  const admission = yield* Admission.make({ maxRunning: 1 })
  const order: Array<string> = []
  const ask = (tenant: string) => admission.run({ tenant })(Effect.delay(Effect.sync(() => order.push(tenant)), 1))
  yield* Effect.all([ask("flood"), ask("flood"), ask("flood"), ask("acme")], { concurrency: "unbounded" })
  const late = yield* Effect.scoped(Effect.gen(function* () {
    yield* admission.enter({ tenant: "acme" })
    return yield* Effect.flip(Deadline.within("5 millis")(admission.run({ tenant: "b" })(Effect.void)))
  }))
  const gate = yield* ProviderGate.make({ failureThreshold: 1 })
  yield* Effect.exit(gate.run({ tenant: "acme" }, Effect.fail("down")))
  const open = yield* Effect.flip(gate.run({ tenant: "acme" }, Effect.void))
  const { granted, released, running, waiting } = yield* admission.snapshot
  return { order, late: late._tag, open: open._tag, granted, released, running, waiting }
})

export default { fetch: async () => Response.json(await Effect.runPromise(Effect.scoped(program))) }
