/** Sockets over a platform that does as the test says: who is tried when, what is owned until when, what is refused at the door. */
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import * as Deadline from "../../core/Deadline.ts"
import * as HappyEyeballs from "../../core/HappyEyeballs.ts"
import * as SocketFault from "../../core/SocketFault.ts"
import * as Sockets from "../../core/Sockets.ts"
import { HandClock } from "../../core/testing/HandClock.ts"
import { type Address, decode, familyOf, type Target } from "../../core/SocketTarget.ts"
import { none, piece, platform, refused } from "../support/Handles.ts"

/** How many there are in a scope. */
const finalizers = ({ state }: Scope.Scope): number =>
  state._tag !== "Open" ? 0 : state.finalizer !== undefined ? 1 : state.finalizers?.size ?? 0

const named: Target = { host: "peer.test", port: 80 }

describe("several addresses", () => {
  it("are tried by turns of their kinds, the first one's first", () => {
    const address = (ip: string) => ({ ip, family: familyOf(ip) })
    const ordered = HappyEyeballs.order(["::1", "::2", "::3", "10.0.0.1", "10.0.0.2"].map(address))
    assert.deepStrictEqual(ordered.map(({ ip }) => ip), ["::1", "10.0.0.1", "::2", "10.0.0.2", "::3"])
  })

  it.effect("are tried a quarter of a second apart, and at once when one fails; the first that answers wins", () =>
    Effect.gen(function* () {
      const { handles, ips, sockets } = platform({ addresses: ["::1", "10.0.0.1", "10.0.0.2", "10.0.0.3"] })
      const dialing = yield* Effect.forkChild(Effect.scoped(Effect.map(sockets.dial(named), () => "won")))
      yield* TestClock.adjust(249)
      assert.deepStrictEqual(ips(), ["::1"])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(ips(), ["::1", "10.0.0.1"])
      handles[1]!.events.failed(refused)
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(ips(), ["::1", "10.0.0.1", "10.0.0.2"])
      assert.deepStrictEqual(yield* sockets.snapshot, { ...none, dialing: 2 })
      handles[0]!.events.opened()
      assert.strictEqual(yield* Fiber.join(dialing), "won")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(ips(), ["::1", "10.0.0.1", "10.0.0.2"])
      assert.deepStrictEqual(handles.map(({ told }) => told.at(-1)), ["destroy", "destroy", "destroy"])
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))

  it.effect("none of which answers fail as the first did", () =>
    Effect.gen(function* () {
      for (const [first, second] of [[0, 1], [1, 0]] as const) {
        const { handles, sockets } = platform({ addresses: ["10.0.0.1", "10.0.0.2"] })
        const dialing = yield* Effect.forkChild(Effect.flip(Effect.scoped(sockets.dial(named))))
        yield* TestClock.adjust(250)
        const faults = [refused, new SocketFault.PeerReset({ phase: "connect", code: "ECONNRESET" })]
        for (const place of [first, second]) handles[place]!.events.failed(faults[place]!)
        assert.strictEqual(yield* Fiber.join(dialing), refused)
        assert.deepStrictEqual(yield* sockets.snapshot, none)
      }
    }))

  it.effect("two of which answer at one time are one connection", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({ addresses: ["10.0.0.1", "10.0.0.2"] })
      const scope = yield* Scope.make()
      const dialing = yield* Effect.forkChild(Scope.provide(sockets.dial(named), scope))
      yield* TestClock.adjust(250)
      handles[1]!.events.opened()
      handles[0]!.events.opened()
      const socket = yield* Fiber.join(dialing)
      assert.deepStrictEqual(yield* sockets.snapshot, { ...none, open: 1 })
      yield* Scope.close(scope, Exit.void)
      yield* socket.closed
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))

  it.effect("of which one fails are rid of it there and then, and have no timer once all have begun", () =>
    Effect.gen(function* () {
      const clock = new HandClock()
      const scope = yield* Scope.make()
      let open = 0
      const attempt = (name: string, own: Scope.Closeable) =>
        Effect.andThen(
          Scope.provide(Effect.acquireRelease(Effect.sync(() => open++), () => Effect.sync(() => open--)), own),
          name === "a" ? Effect.fail("at once") : Effect.never,
        )
      const race = Effect.provideService(HappyEyeballs.race(["a", "b", "c"], scope, attempt), Clock.Clock, clock)
      const racing = yield* Effect.forkChild(race, { startImmediately: true })
      assert.deepStrictEqual([open, clock.sleeping], [1, 1])
      clock.advance(HappyEyeballs.staggerMillis)
      assert.deepStrictEqual([open, clock.sleeping], [2, 0])
      yield* Fiber.interrupt(racing)
      assert.strictEqual(open, 0)
    }))

  it.effect("of which one fails there and then do not make the next one wait", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const attempt = (name: string) => name === "b" ? Effect.succeed(name) : Effect.fail("at once")
      assert.strictEqual(yield* HappyEyeballs.race(["a", "b", "c"], scope, attempt), "b")
    }))

  it.effect("beyond eight are tried once one of those under way has failed, however many there are", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({ addresses: Array.from({ length: 400 }, (_, i) => `10.0.1.${i % 256}`) })
      const dialing = yield* Effect.forkChild(Effect.scoped(sockets.dial(named)))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([handles.length, HappyEyeballs.maxAttempts], [8, 8])
      handles[3]!.events.failed(refused)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(handles.length, 9)
      // Each that fails there and then makes way for the next.
      for (let i = 0; i < 400; i++) {
        if (i !== 3) handles[i]!.events.failed(refused)
        yield* TestClock.adjust(0)
      }
      assert.strictEqual(handles.length, 400)
      assert.strictEqual((yield* Effect.flip(Fiber.join(dialing)))._tag, "PeerRefused")
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))

  it.effect("that a local address cannot reach are left out", () =>
    Effect.gen(function* () {
      const { ips, sockets } = platform({ addresses: ["::1", "10.0.0.1"] })
      const dialing = yield* Effect.forkChild(Effect.scoped(sockets.dial({ ...named, localAddress: "10.0.0.9" })))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ips(), ["10.0.0.1"])
      yield* Fiber.interrupt(dialing)
      const six = platform({ addresses: ["10.0.0.1"] }).sockets
      const fault = yield* Effect.flip(Effect.scoped(six.dial({ ...named, localAddress: "::9" })))
      assert.strictEqual(fault._tag, "LocalAddressUnusable")
    }))

  it.effect("none of which there are is a name that is not found", () =>
    Effect.gen(function* () {
      const { sockets } = platform({ addresses: [] })
      for (const more of [{}, { localAddress: "::9" }]) {
        const fault = yield* Effect.flip(Effect.scoped(sockets.dial({ ...named, ...more })))
        assert.deepInclude(fault, { _tag: "NameNotFound", phase: "resolve" })
      }
    }))
})

/** A platform whose lookups answer when the test says. */
const lookups = () => {
  const { driver, handles } = platform({})
  const asked: Array<string> = []
  const answer = new Map<string, (told: Effect.Effect<ReadonlyArray<Address>, SocketFault.DialFault>) => void>()
  const resolve = (host: string) =>
    Effect.callback<ReadonlyArray<Address>, SocketFault.DialFault>((resume) => {
      asked.push(host)
      answer.set(host, resume)
    })
  return {
    handles,
    asked,
    sockets: Effect.runSync(Sockets.make({ ...driver, resolve })),
    found: (host: string) => answer.get(host)!(Effect.succeed([{ ip: "10.0.0.1", family: 4 }])),
    fails: (host: string) => answer.get(host)!(Effect.fail(refused)),
  }
}

describe("a lookup", () => {
  const dialled = (sockets: Sockets.Sockets, host = "peer.test") =>
    Effect.forkChild(Effect.scoped(sockets.dial({ host, port: 80 })), { startImmediately: true })

  it.effect("that nobody waits for any more is counted until the runtime answers, and serves who dials meanwhile", () =>
    Effect.gen(function* () {
      const { asked, fails, found, handles, sockets } = lookups()
      yield* Fiber.interrupt(yield* dialled(sockets))
      assert.deepStrictEqual(yield* sockets.snapshot, { ...none, resolving: 1 })
      const both = [yield* dialled(sockets), yield* dialled(sockets)]
      yield* Fiber.interrupt(both[0]!)
      assert.deepStrictEqual([asked, yield* sockets.snapshot], [["peer.test"], { ...none, resolving: 1 }])
      found("peer.test")
      assert.deepStrictEqual([handles.length, yield* sockets.snapshot], [1, { ...none, dialing: 1 }])
      handles[0]!.events.opened()
      yield* Fiber.join(both[1]!)
      // It is asked anew then, and a fault is told to all.
      const others = [yield* dialled(sockets), yield* dialled(sockets)]
      fails("peer.test")
      assert.deepStrictEqual(yield* Effect.forEach(others, (each) => Effect.flip(Fiber.join(each))), [refused, refused])
      assert.deepStrictEqual([asked, yield* sockets.snapshot], [["peer.test", "peer.test"], none])
    }))

  it.effect("is told to all who wait, whatever an observer of one of them does", () =>
    Effect.gen(function* () {
      const { fails, sockets } = lookups()
      const [first, second] = [yield* dialled(sockets), yield* dialled(sockets)]
      first.addObserver(() => {
        throw new Error("an observer's own")
      })
      fails("peer.test")
      assert.deepStrictEqual(yield* Effect.flip(Fiber.join(second)), refused)
    }))

  it.effect("goes by the clock of whoever made the sockets, and not by the time that there was for that", () =>
    Effect.gen(function* () {
      const { driver } = platform({})
      const resolve = () =>
        Effect.flatMap(
          Effect.andThen(Effect.sleep("1 minute"), Deadline.Current),
          (bound) => bound === undefined ? Effect.fail(refused) : Effect.never,
        )
      const sockets = yield* Deadline.within("1 second")(Sockets.make({ ...driver, resolve }))
      const dialing = yield* dialled(sockets)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(yield* Effect.flip(Fiber.join(dialing)), refused)
    }))

  it.effect("waits for its turn behind four others, and is never begun where nobody waits for it any more", () =>
    Effect.gen(function* () {
      const { asked, fails, sockets } = lookups()
      const hosts = Array.from({ length: 12 }, (_, i) => `${i}.test`)
      const dials = yield* Effect.forEach(hosts, (host) => dialled(sockets, host))
      const full = { ...none, resolving: 4 }
      assert.deepStrictEqual([asked, yield* sockets.snapshot], [hosts.slice(0, 4), full])
      const again = yield* Effect.forEach(["5.test", "11.test"], (host) => dialled(sockets, host))
      for (const each of dials.slice(0, 7)) yield* Fiber.interrupt(each)
      assert.deepStrictEqual(yield* sockets.snapshot, full)
      for (const host of hosts.slice(0, 2)) fails(host)
      assert.deepStrictEqual([asked.slice(4), yield* sockets.snapshot], [["5.test", "7.test"], full])
      for (let i = 2; i < asked.length; i++) fails(asked[i]!)
      yield* Effect.forEach([...dials.slice(7), ...again], (each) => Effect.flip(Fiber.join(each)))
      assert.deepStrictEqual([asked.length, yield* sockets.snapshot], [4 + 1 + 5, none])
    }))
})

describe("a handle", () => {
  const held: Target = { host: "10.0.0.1", port: 80 }

  it.effect("is waited for, however the dial ends, until the system has let go of it", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({ keeps: true })
      const dialing = yield* Effect.forkChild(Effect.scoped(sockets.dial(held)), { startImmediately: true })
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(dialing), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(interrupting.pollUnsafe())
      assert.deepStrictEqual(yield* sockets.snapshot, { ...none, closing: 1 })
      handles[0]!.events.gone()
      yield* Fiber.join(interrupting)
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))

  it.effect("that a deadline cuts off is gone when the deadline is told of", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({ keeps: true })
      const dial = Deadline.within("1 second")(Deadline.enforce(Effect.scoped(sockets.dial(held))))
      const dialing = yield* Effect.forkChild(Effect.flip(dial))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([dialing.pollUnsafe(), handles[0]!.told], [undefined, ["destroy"]])
      handles[0]!.events.gone()
      assert.strictEqual((yield* Fiber.join(dialing))._tag, "DeadlineExceeded")
    }))

  it.effect("is never opened for a name whose lookup was interrupted, and the interruption does not wait for that", () =>
    Effect.gen(function* () {
      const { found, handles, sockets } = lookups()
      const dialing = yield* Effect.forkChild(Effect.scoped(sockets.dial(named)), { startImmediately: true })
      yield* Fiber.interrupt(dialing)
      found("peer.test")
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([handles, yield* sockets.snapshot], [[], none])
    }))

  it.effect("that is there when its dial is interrupted is closed, though the caller's scope stays open", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({})
      const scope = yield* Scope.make()
      const dial = Scope.provide(sockets.dial({ ...held, tls: {} }), scope)
      const dialing = yield* Effect.forkChild(dial, { startImmediately: true })
      handles[0]!.events.opened()
      yield* Fiber.interrupt(dialing)
      assert.deepStrictEqual([handles[0]!.told, yield* sockets.snapshot], [["secure 10.0.0.1", "destroy"], none])
    }))

  it.effect("that is asked for without a scope, against the types, is a defect, and nobody is dialled", () =>
    Effect.sync(() => {
      const { handles, sockets } = platform({})
      const exit = Effect.runSyncExit(sockets.dial(held) as Effect.Effect<never>)
      assert.isTrue(Exit.hasDies(exit))
      assert.include(String(exit), "Scope")
      assert.deepStrictEqual(handles, [])
    }))

  it.effect("that is closed by its scope while another fiber dials interrupts that", () =>
    Effect.gen(function* () {
      const { sockets } = platform({})
      const scope = yield* Scope.make()
      const dialing = yield* Effect.forkChild(Scope.provide(sockets.dial(held), scope), { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(dialing)))
      const late = yield* Effect.exit(Scope.provide(sockets.dial(held), scope))
      assert.isTrue(Exit.hasInterrupts(late))
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))

  it.effect("that is gone leaves nothing in a scope that lives longer", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({ addresses: ["10.0.0.1", "10.0.0.2"] })
      const scope = yield* Scope.make()
      for (const target of [held, named]) {
        const dialing = yield* Effect.forkChild(Scope.provide(sockets.dial(target), scope), { startImmediately: true })
        handles.at(-1)!.events.opened()
        const socket = yield* Fiber.join(dialing)
        assert.strictEqual(finalizers(scope), 1)
        yield* socket.close
        assert.strictEqual(finalizers(scope), 0)
      }
    }))

  it.effect("of a dial that cannot be cancelled is abandoned, counted, and closed once that is over", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({ keeps: true, abandons: true })
      const dialing = yield* Effect.forkChild(Effect.scoped(sockets.dial(held)), { startImmediately: true })
      yield* Fiber.interrupt(dialing)
      assert.deepStrictEqual(yield* sockets.snapshot, { ...none, abandoned: 1 })
      handles[0]!.events.opened()
      assert.deepStrictEqual(handles[0]!.told, ["destroy", "destroy"])
      handles[0]!.events.gone()
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))

  it.effect("whose write cannot be cancelled is abandoned in the same way", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({ keeps: true, abandons: true })
      const dialing = yield* Effect.forkChild(sockets.dial(held), { startImmediately: true })
      const { events } = handles[0]!
      events.opened()
      const socket = yield* Fiber.join(dialing)
      const writing = yield* Effect.forkChild(Effect.flip(socket.write([piece(1), piece(1)])), {
        startImmediately: true,
      })
      yield* socket.close
      assert.strictEqual((yield* Fiber.join(writing))._tag, "SocketClosed")
      assert.deepStrictEqual(yield* sockets.snapshot, { ...none, abandoned: 1 })
      events.gone()
      yield* socket.closed
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))

  it.effect("keeps so many bytes for whoever reads later, and then makes the peer wait until all are read", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({})
      const dialing = yield* Effect.forkChild(sockets.dial({ ...held, maxReadBytes: 10 }), { startImmediately: true })
      const { events, told } = handles[0]!
      events.opened()
      const socket = yield* Fiber.join(dialing)
      events.received(piece(9))
      assert.deepStrictEqual(told, ["resume"])
      events.received(piece(1))
      assert.deepStrictEqual(told, ["resume", "pause"])
      assert.strictEqual((yield* socket.read)?.length, 9)
      assert.deepStrictEqual(told, ["resume", "pause"])
      assert.strictEqual((yield* socket.read)?.length, 1)
      assert.deepStrictEqual(told, ["resume", "pause", "resume"])
    }))

  it.effect("hands over what came before its end, and before its fault", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({})
      const dialing = yield* Effect.forkChild(sockets.dial(held), { startImmediately: true })
      const { events, told } = handles[0]!
      events.opened()
      const socket = yield* Fiber.join(dialing)
      events.received(piece(3))
      events.failed(refused)
      events.received(piece(4))
      assert.strictEqual((yield* socket.read)?.length, 3)
      assert.strictEqual(yield* Effect.flip(socket.read), refused)
      assert.strictEqual(yield* Effect.flip(socket.write(piece(1))), refused)
      assert.strictEqual(told.filter((each) => each === "destroy").length, 1)
      yield* socket.close
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))

  it.effect("is written to by one at a time, and not once it has been ended", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({})
      const dialing = yield* Effect.forkChild(sockets.dial(held), { startImmediately: true })
      const { events, told } = handles[0]!
      events.opened()
      const socket = yield* Fiber.join(dialing)
      yield* socket.write(piece(1))
      const full = yield* Effect.forkChild(socket.write([piece(1), piece(1)]), { startImmediately: true })
      assert.strictEqual((yield* Effect.flip(socket.write(piece(1))))._tag, "SocketBusy")
      assert.deepStrictEqual(told, ["resume", "write 1", "write 2"])
      events.drained()
      yield* Fiber.join(full)
      const ending = yield* Effect.forkChild(socket.end, { startImmediately: true })
      assert.strictEqual((yield* Effect.flip(socket.write(piece(1))))._tag, "SocketClosed")
      events.finished()
      yield* Fiber.join(ending)
      yield* socket.end
      assert.strictEqual(told.filter((each) => each === "end").length, 1)
    }))

  /** One that is dialled, with its handle. */
  const opened = (target: Target = held) =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({})
      const dialing = yield* Effect.forkChild(sockets.dial(target), { startImmediately: true })
      handles[0]!.events.opened()
      return { ...handles[0]!, socket: yield* Fiber.join(dialing) }
    })
  const full = [piece(1), piece(1)]

  it.effect("that has been ended lets a write that waits go with its end, since no room is told of any more", () =>
    Effect.gen(function* () {
      const { events, socket } = yield* opened()
      const writing = yield* Effect.forkChild(socket.write(full), { startImmediately: true })
      const ending = yield* Effect.forkChild(socket.end, { startImmediately: true })
      assert.isUndefined(writing.pollUnsafe())
      events.finished()
      yield* Fiber.join(writing)
      yield* Fiber.join(ending)
    }))

  it.effect("takes no more behind a write that was interrupted until there is room, for which an empty one waits", () =>
    Effect.gen(function* () {
      const { events, socket, told } = yield* opened()
      const writing = yield* Effect.forkChild(socket.write(full), { startImmediately: true })
      yield* Fiber.interrupt(writing)
      assert.strictEqual((yield* Effect.flip(socket.write(piece(1))))._tag, "SocketBusy")
      const waiting = yield* Effect.forkChild(socket.write([]), { startImmediately: true })
      assert.strictEqual((yield* Effect.flip(socket.write([])))._tag, "SocketBusy")
      assert.isUndefined(waiting.pollUnsafe())
      events.drained()
      yield* Fiber.join(waiting)
      yield* socket.write(piece(1))
      assert.deepStrictEqual(told, ["resume", "write 2", "write 1"])
    }))

  it.effect("is given nothing of a write that is not all bytes", () =>
    Effect.gen(function* () {
      const { socket, told } = yield* opened()
      const holey: Array<Uint8Array> = [piece(1)]
      holey[2] = piece(1)
      const detached = piece(1)
      structuredClone(detached.buffer, { transfer: [detached.buffer as ArrayBuffer] })
      const wrongs = [undefined, null, "text", {}, [piece(1), "text"], [piece(1), null], holey]
      for (const wrong of [...wrongs, detached, [piece(1), detached]]) {
        const exit = yield* Effect.exit(socket.write(wrong as never))
        assert.isTrue(Exit.hasDies(exit))
        assert.include(JSON.stringify(exit), '"bytes must be a Uint8Array, or an array of them"')
      }
      assert.deepStrictEqual(told, ["resume"])
    }))

  it.effect("is given no piece that is empty, and nothing where all of them are", () =>
    Effect.gen(function* () {
      const { socket, told } = yield* opened()
      yield* socket.write([piece(0), piece(1), piece(0)])
      yield* socket.write(piece(0))
      yield* socket.write([piece(0), piece(0)])
      assert.deepStrictEqual(told, ["resume", "write 1"])
    }))

  it.effect("is given nothing of a write whose bytes were handed over before it began", () =>
    Effect.gen(function* () {
      const { socket, told } = yield* opened()
      const late = piece(1)
      const write = socket.write([piece(1), late])
      structuredClone(late.buffer, { transfer: [late.buffer as ArrayBuffer] })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(write)))
      assert.deepStrictEqual(told, ["resume"])
    }))

  it.effect("that failed has not ended, though its runtime tells of the close as an end", () =>
    Effect.gen(function* () {
      const { events, socket } = yield* opened()
      events.received(piece(1))
      events.failed(refused)
      events.ended()
      assert.strictEqual((yield* socket.read)?.length, 1)
      assert.strictEqual(yield* Effect.flip(socket.read), refused)
    }))

  it.effect("keeps no more than 1,024 pieces, however small they are", () =>
    Effect.gen(function* () {
      const { events, socket, told } = yield* opened()
      for (let i = 1; i < 1_024; i++) events.received(piece(1))
      assert.deepStrictEqual(told, ["resume"])
      events.received(piece(1))
      assert.deepStrictEqual(told, ["resume", "pause"])
      for (let i = 0; i < 1_024; i++) yield* socket.read
      assert.deepStrictEqual(told, ["resume", "pause", "resume"])
    }))

  it.effect("that the peer has let go of tells everybody who waits", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({ keeps: true })
      const dialing = yield* Effect.forkChild(sockets.dial(held), { startImmediately: true })
      const { events, told } = handles[0]!
      events.opened()
      const socket = yield* Fiber.join(dialing)
      const reading = yield* Effect.forkChild(Effect.flip(socket.read), { startImmediately: true })
      const ending = yield* Effect.forkChild(Effect.flip(socket.end), { startImmediately: true })
      const closing = yield* Effect.forkChild(socket.closed, { startImmediately: true })
      const aborting = yield* Effect.forkChild(socket.abort, { startImmediately: true })
      assert.deepStrictEqual(told, ["resume", "end", "reset"])
      events.gone()
      yield* Fiber.join(closing)
      yield* Fiber.join(aborting)
      assert.deepStrictEqual([(yield* Fiber.join(reading))._tag, (yield* Fiber.join(ending))._tag], [
        "SocketClosed",
        "SocketClosed",
      ])
      const early = yield* Effect.forkChild(Effect.flip(sockets.dial(held)), { startImmediately: true })
      handles[1]!.events.gone()
      assert.strictEqual((yield* Fiber.join(early))._tag, "SocketFailed")
    }))

  it.effect("goes through TLS before it is the caller's, and is closed where that fails", () =>
    Effect.gen(function* () {
      const { handles, sockets } = platform({})
      const dialing = yield* Effect.forkChild(Effect.flip(sockets.dial({ ...held, tls: {} })), {
        startImmediately: true,
      })
      const { events, told } = handles[0]!
      events.opened()
      assert.deepStrictEqual([told, yield* sockets.snapshot], [["secure 10.0.0.1"], { ...none, dialing: 1 }])
      events.failed(new SocketFault.TlsUntrusted({ phase: "tls", code: "CERT_HAS_EXPIRED" }))
      assert.strictEqual((yield* Fiber.join(dialing))._tag, "TlsUntrusted")
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))
})

describe("a target", () => {
  const field = (target: unknown): string | undefined => {
    const decoded = decode(target as Target)
    return Result.isFailure(decoded) ? decoded.failure.field : undefined
  }
  const pem = "-----BEGIN CERTIFICATE-----"
  const host = { host: "a.test", port: 1 }

  it("is refused at the door with the field that breaks its rule", () => {
    const wrong: ReadonlyArray<readonly [string, unknown]> = [
      ["target", undefined],
      ["target", { ...host, path: "/a" }],
      ...[
        "",
        "a b",
        "a/b",
        "-a",
        "a..b",
        "1.2.3",
        "1.2.3.4.",
        "256.1.1.1",
        "a.test.1",
        ...["0x7f.1", "0x7f000001", "0X7F.0x1", "127.0.0x1", "a.0x", "0x7F."],
        "1::2::3",
        ":::",
        "g::",
        "1:2:3:4:5:6:7:8:9",
        "g::1.2.3.4",
        "x".repeat(254),
        7,
      ]
        .map((bad) => ["host", { ...host, host: bad }] as const),
      ...[0, 65_536, 1.5, NaN, "80", undefined].map((port) => ["port", { ...host, port }] as const),
      ...["localhost", "", 1, "::ffff:10.0.0.1", "::FFFF:a00:1", "0:0:0:0:0:ffff:a00:1"].map((localAddress) =>
        ["localAddress", { ...host, localAddress }] as const
      ),
      ["localAddress", { host: "::1", port: 1, localAddress: "10.0.0.1" }],
      ["noDelay", { ...host, noDelay: 1 }],
      ...[0, "999 millis", "25 hours", NaN].map((keepAlive) => ["keepAlive", { ...host, keepAlive }] as const),
      ...[0, 16_777_217, 1.5].map((maxReadBytes) => ["maxReadBytes", { ...host, maxReadBytes }] as const),
      ...["", "a\0b", "x".repeat(104), "ä".repeat(52)].map((path) => ["path", { path }] as const),
      ...["hostname", "servername", "signal"].map((name) => [name, { ...host, [name]: undefined }] as const),
      ...["port", "localAddress", "noDelay", "keepAlive"].map((name) => [name, { path: "/a", [name]: 1 }] as const),
      ["tls.rejectUnauthorized", { ...host, tls: { rejectUnauthorized: false } }],
      ["tls.certificate.passphrase", { ...host, tls: { certificate: { chain: pem, passphrase: "x" } } }],
      ["tls", { ...host, tls: null }],
      ["tls.serverName", { path: "/a", tls: {} }],
      ["tls.serverName", { ...host, tls: { serverName: "a b" } }],
      ...["", [], [pem, "x"], 1].map((ca) => ["tls.ca", { ...host, tls: { ca } }] as const),
      ["tls.certificate.chain", { ...host, tls: { certificate: { chain: "x" } } }],
      ["tls.certificate.key", { ...host, tls: { certificate: { chain: pem, key: "plain" } } }],
      ["tls.certificate.key", { ...host, tls: { certificate: { chain: pem, key: Redacted.make("x") } } }],
      ["tls.certificate.passPhrase", {
        ...host,
        tls: { certificate: { chain: pem, key: Redacted.make(pem), passPhrase: "plain" } },
      }],
      ...[[], ["a b"], [""], Array(17).fill("h2"), "h2"].map((protocols) =>
        ["tls.protocols", { ...host, tls: { protocols } }] as const
      ),
    ]
    assert.deepStrictEqual(wrong.map(([, target]) => field(target)), wrong.map(([name]) => name))
  })

  it("is taken where it keeps the rules", () => {
    const right = [
      host,
      ...[
        "a",
        "a.test.",
        "1.0xg",
        "0x7f.test",
        "_srv.a-b.test",
        "127.0.0.1",
        "::",
        "::1",
        "fe80::1%eth0",
        "1:2:3:4:5:6:7:8",
        "::ffff:1.2.3.4",
      ]
        .map((host) => ({ host, port: 65_535 })),
      { host: "::1", port: 1, localAddress: "::2", keepAlive: "1 second", noDelay: false, maxReadBytes: 1 },
      ...["::ffff:1", "ffff::a00:1", "1::ffff:a00:1"].map((localAddress) => ({ ...host, localAddress })),
      { path: "x".repeat(103) },
      { path: "/a", tls: { serverName: "a.test", ca: [pem], protocols: ["h2", "http/1.1"] } },
    ]
    assert.deepStrictEqual(right.map(field), right.map(() => undefined))
  })

  it("shows nothing that is secret in what is refused", () => {
    const secret = "-----BEGIN SECRET"
    for (
      const certificate of [{ chain: pem, key: secret }, { chain: pem, key: Redacted.make("x"), passPhrase: secret }]
    ) {
      const decoded = decode({ ...host, tls: { certificate: certificate as never } })
      assert.isTrue(Result.isFailure(decoded))
      if (Result.isFailure(decoded)) {
        assert.notInclude(JSON.stringify(decoded.failure) + String(decoded.failure), "SECRET")
      }
    }
  })
})
