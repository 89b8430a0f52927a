/** Outcome: every exit is one of five. */
import { assert, it } from "vitest"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import { WaitExpired } from "../../core/AdmissionRefused.ts"
import { DeadlineExceeded } from "../../core/Deadline.ts"
import * as Outcome from "../../core/Outcome.ts"

const exceeded = new DeadlineExceeded({ elapsed: Duration.zero })
const expired = new WaitExpired({ waited: Duration.zero, bound: "maxWait", account: "total" })
const unreadable = Proxy.revocable({}, {})
unreadable.revoke()
const cases: ReadonlyArray<readonly [string, Exit.Exit<unknown, unknown>, Outcome.Outcome]> = [
  ["a success", Exit.void, "Completed"],
  ["a success that holds an error", Exit.succeed(exceeded), "Completed"],
  ["a typed failure", Exit.fail("failed"), "Failed"],
  ["a failure without a value", Exit.fail(undefined), "Failed"],
  ["a failure that is null", Exit.fail(null), "Failed"],
  ["another tag", Exit.fail({ _tag: "Other" }), "Failed"],
  ["what throws when it is looked at", Exit.fail(unreadable.proxy), "Failed"],
  ["a deadline", Exit.fail(exceeded), "Expired"],
  ["a wait", Exit.fail(expired), "Expired"],
  ["an interruption", Exit.failCause(Cause.interrupt(1)), "Interrupted"],
  ["no reason at all", Exit.failCause(Cause.empty), "Interrupted"],
  ["a defect", Exit.die(exceeded), "Died"],
  ["a failure and a defect", Exit.failCause(Cause.combine(Cause.fail("f"), Cause.die("d"))), "Died"],
  ["an interruption and a defect", Exit.failCause(Cause.combine(Cause.interrupt(1), Cause.die("d"))), "Died"],
  ["an interruption and a failure", Exit.failCause(Cause.combine(Cause.interrupt(1), Cause.fail("f"))), "Failed"],
  [
    "an interruption and a deadline",
    Exit.failCause(Cause.combine(Cause.interrupt(1), Cause.fail(exceeded))),
    "Expired",
  ],
]

it.each(cases)("%s", (_, exit, outcome) => assert.strictEqual(Outcome.fromExit(exit), outcome))
