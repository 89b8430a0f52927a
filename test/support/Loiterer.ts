/** A program with an Admission that somebody holds, and a part that the argument names; it then ends, or does not. */
import process from "node:process"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import * as Deadline from "../../core/Deadline.ts"

const scope = Scope.makeUnsafe()
const admission = Effect.runSync(Scope.provide(Admission.make({ maxRunning: 1, maxWait: "1 hour" }), scope))
Effect.runSync(Scope.provide(admission.enter({ tenant: "a" }), scope))
const wait = () => Effect.runFork(admission.run({ tenant: "b" })(Effect.void))

const parts: Readonly<Record<string, () => void>> = {
  hold: () => {},
  wait,
  leave: () => {
    const waiter = wait()
    setTimeout(() => {
      waiter.interruptUnsafe()
      console.log("left")
    }, 50)
  },
  drain: () => {
    const drain = Effect.flatMap(Deadline.after("100 millis"), (deadline) => admission.drain(deadline))
    Effect.runPromise(drain).then(({ held }) => console.log("drained", held))
  },
}
parts[process.argv[2] ?? ""]?.()
console.log("the end")
