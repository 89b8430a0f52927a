/** A visit over a scripted platform, at each call of which something goes wrong, and which is interrupted at each step besides. */
import { assert, it } from "vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type { SocketDriver } from "../../core/SocketDriver.ts"
import { PeerRefused } from "../../core/SocketFault.ts"
import * as Sockets from "../../core/Sockets.ts"
import * as FaultSweep from "../../core/testing/FaultSweep.ts"
import * as Script from "../../core/testing/Script.ts"

const facts = { protocol: undefined, local: undefined, remote: undefined, tls: undefined }
const refused = new PeerRefused({ phase: "connect", code: "ECONNREFUSED" })

/** Handles that open, secure, answer and close as the script says; two addresses for every name. */
const platform = (script: Script.Script): SocketDriver => ({
  cancelling: "closes",
  resolve: () => Effect.succeed(["10.0.0.1", "10.0.0.2"].map((ip) => ({ ip, family: 4 }))),
  credentials: () => Result.succeed(undefined),
  connect: (_, events) => {
    const { context } = Fiber.getCurrent()!
    const handle = Effect.runSync(script.open("socket"))
    const run = (effect: Effect.Effect<void>): void => void Effect.runForkWith(context)(effect)
    const ask = (label: string, then: () => void) =>
      script.callback(label, () => {})((exit) => Exit.isSuccess(exit) ? then() : events.failed(refused))
    let stop = ask("connect", () => events.opened())
    let isClosing = false
    const destroy = (): void => {
      if (isClosing) return
      isClosing = true
      stop()
      run(Effect.andThen(handle.close, Effect.sync(events.gone)))
    }
    return {
      facts: () => facts,
      secure: () => void (stop = ask("secure", () => events.opened())),
      resume: () => {},
      pause: () => {},
      write: (pieces) => {
        ask("write", () => {
          events.drained()
          for (const piece of pieces) events.received(piece)
        })
        return false
      },
      end: () => void ask("end", events.finished),
      destroy,
      reset: destroy,
    }
  },
})

const visit = (sockets: Sockets.Sockets) =>
  Effect.gen(function* () {
    const socket = yield* sockets.dial({ host: "peer.test", port: 1, tls: {} })
    yield* socket.write(new Uint8Array(3))
    yield* socket.read
    yield* socket.end
    yield* socket.close
  })

it("nothing of a visit is left, whatever goes wrong in it and wherever it is interrupted", () => {
  const prepare = (script: Script.Script) => Sockets.make(platform(script))
  // A close that never comes is against what a driver promises.
  const fails = ["connect", "secure", "write", "end"].map((label) => Script.at(label, Script.fail("down")))
  // Late by more than an address has to itself, so that the other one is tried as well.
  const plans = [...fails, Script.late("300 millis")]
  const may = ["Completed", "Failed", "PeerRefused"]
  const { calls, endings } = Effect.runSync(
    FaultSweep.on(prepare).sweep(plans, {
      fibers: (sockets) => ({ visit: Effect.scoped(visit(sockets)) }),
      disturb: "visit",
      ends: { visit: may },
      prompt: false,
      // What answers late does so to nobody, and is then over.
      rest: Duration.seconds(5),
      oracle: (sockets) =>
        Effect.flatMap(
          sockets.snapshot,
          (census) =>
            Object.values(census).every((count) => count === 0) ? Effect.void : Effect.fail(JSON.stringify(census)),
        ),
    }),
  )
  assert.isAtLeast(calls, 5)
  assert.includeMembers([...endings.visit], ["Completed", "Interrupted", "PeerRefused"])
})
