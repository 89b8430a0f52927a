/** One connection over a handle that does as the test says: what each of its states answers, and what it tells the handle. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Scheduler from "effect/Scheduler"
import * as Scope from "effect/Scope"
import { InvalidRequest } from "../../core/Refusal.ts"
import { SocketConnection } from "../../core/SocketConnection.ts"
import type { SocketEvents } from "../../core/SocketDriver.ts"
import * as SocketFault from "../../core/SocketFault.ts"
import * as Sockets from "../../core/Sockets.ts"
import type { Target } from "../../core/SocketTarget.ts"
import * as Explorer from "../../core/testing/Explorer.ts"
import { facts, none, type Options, piece, platform, refused } from "../support/Handles.ts"

const target: Target = { host: "10.0.0.1", port: 80, maxReadBytes: 10 }
const full = [piece(1), piece(1)]
const reset = new SocketFault.PeerReset({ phase: "read", code: "ECONNRESET" })

/** A connection that is being dialled. */
const dialled = (options: Options = {}) => {
  const { driver, handles } = platform(options)
  const census = { ...none }
  const point = { path: "/a" }
  const scope = Scope.makeUnsafe()
  const connection = new SocketConnection({ driver, point, census, maxReadBytes: 10, scope })
  return { ...handles[0]!, census, connection, scope }
}

/** A socket, which is told to flow. */
const opened = (options: Options = {}) =>
  Effect.gen(function* () {
    const { handles, sockets } = platform(options)
    const dialling = yield* begun(sockets.dial(target))
    handles[0]!.events.opened()
    return { ...handles[0]!, sockets, socket: yield* Fiber.join(dialling) }
  })

/** What whoever begins to wait for the connection is told. */
const wait = ({ connection }: { readonly connection: SocketConnection }) =>
  Effect.callback<SocketConnection, SocketFault.DialFault>((resume) => connection.whenOpened(resume))

const begun = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ _tag, ...rest }) => "phase" in rest ? `${_tag} ${rest.phase}` : _tag)
/** As a failure, so that it is told of as one. */
const nothing = (read: Uint8Array | undefined) => Effect.fail({ _tag: String(read) })

describe("a connection that is being dialled", () => {
  it.effect("answers whoever begins to wait for what it has come to", () =>
    Effect.gen(function* () {
      const there = dialled()
      there.events.opened()
      assert.strictEqual(yield* wait(there), there.connection)
      const failed = dialled({ keeps: true })
      failed.events.failed(refused)
      assert.strictEqual(yield* Effect.flip(wait(failed)), refused)
      const left = dialled()
      yield* left.connection.leave
      assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(wait(left))))
    }))

  it.effect("is told nothing of TLS once it has failed or was left", () =>
    Effect.gen(function* () {
      const how = { serverName: "a.test", protocols: [], credentials: undefined }
      const failed = dialled({ keeps: true })
      failed.events.failed(refused)
      assert.strictEqual(yield* Effect.flip(failed.connection.secured(how)), refused)
      const left = dialled()
      yield* left.connection.leave
      assert.isTrue(Exit.hasInterrupts(yield* Effect.exit(left.connection.secured(how))))
      assert.deepStrictEqual([failed.told, left.told], [["destroy"], ["destroy"]])
    }))

  it.effect("is told nothing and counted nowhere once it is gone, whatever else its runtime tells", () =>
    Effect.gen(function* () {
      const { census, connection, events, scope, told } = dialled()
      events.gone()
      assert.strictEqual(yield* tagOf(wait({ connection })), "SocketFailed connect")
      connection.begin()
      assert.deepStrictEqual(census, none)
      for (const tell of [events.opened, events.drained, events.finished, events.ended, events.gone]) tell()
      events.failed(refused)
      events.received(piece(1))
      assert.deepStrictEqual([told, census, scope.state._tag], [[], none, "Closed"])
      const late = Scope.makeUnsafe()
      connection.belong(late)
      assert.strictEqual(late.state._tag, "Closed")
    }))

  it.effect("that has failed is not abandoned, as it closes by itself", () =>
    Effect.gen(function* () {
      const { census, connection, events, told } = dialled({ abandons: true, keeps: true })
      events.failed(refused)
      const leaving = yield* begun(connection.leave)
      assert.deepStrictEqual([leaving.pollUnsafe(), census, told], [undefined, { ...none, closing: 1 }, ["destroy"]])
      events.gone()
      yield* Fiber.join(leaving)
    }))
})

describe("a socket", () => {
  it.effect("is looked up once for what is known of it, and has one read for all pieces", () =>
    Effect.gen(function* () {
      const { socket, told } = yield* opened()
      assert.deepStrictEqual([socket.facts, socket.facts], [facts, facts])
      assert.deepStrictEqual(told, ["resume", "facts"])
      assert.strictEqual(socket.read, socket.read)
    }))

  it.effect("is read by one at a time, who waits for each piece and then for the end", () =>
    Effect.gen(function* () {
      const { events, socket } = yield* opened()
      const reading = yield* begun(Effect.all([socket.read, socket.read, socket.read, socket.read]))
      assert.strictEqual(yield* tagOf(socket.read), "SocketBusy read")
      events.received(piece(3))
      events.received(piece(4))
      events.ended()
      const lengths = (yield* Fiber.join(reading)).map((each) => each?.length)
      assert.deepStrictEqual(lengths, [3, 4, undefined, undefined])
      yield* socket.close
      assert.strictEqual(yield* tagOf(socket.read), "SocketClosed read")
    }))

  /** An effect that makes room for others after eight steps, so many of which are before it. */
  const paused = <A, E, R>(before: number, effect: Effect.Effect<A, E, R>) =>
    Effect.provideService(
      Effect.gen(function* () {
        for (let step = 0; step < before; step++) yield* Effect.sync(() => {})
        return yield* effect
      }),
      Scheduler.MaxOpsBeforeYield,
      8,
    )
  const moments = Array.from({ length: 24 }, (_, before) => before)

  it.effect("loses no piece to whoever is interrupted as it reads, at whichever step", () =>
    Effect.gen(function* () {
      const all = [0, 1, 2, 3, 4, 5]
      for (const before of moments) {
        const { events, socket } = yield* opened()
        const got: Array<number> = []
        const reading = Effect.gen(function* () {
          for (;;) {
            const read = yield* socket.read
            if (read === undefined) return
            got.push(...read)
          }
        })
        for (const each of all.slice(0, 4)) events.received(Uint8Array.of(each))
        const first = yield* begun(paused(before, reading))
        events.received(Uint8Array.of(4))
        yield* Fiber.interrupt(first)
        events.received(Uint8Array.of(5))
        events.ended()
        yield* reading
        assert.deepStrictEqual(got, all, `after ${before} other steps`)
      }
    }))

  /** What reads come to which something happens to before they are over, at one step or another. */
  const amid = (happens: (socket: Sockets.Socket, events: SocketEvents) => Effect.Effect<unknown, unknown>) =>
    Effect.map(
      Effect.forEach(moments, (before) =>
        Effect.gen(function* () {
          const { events, socket } = yield* opened()
          events.received(piece(1))
          const reading = yield* begun(paused(before, socket.read))
          if (reading.pollUnsafe() !== undefined) return []
          yield* happens(socket, events)
          const exit = yield* Fiber.await(reading)
          if (Exit.isSuccess(exit)) return [exit.value?.length]
          return [yield* tagOf(exit)]
        })),
      (told) => new Set(told.flat()),
    )

  it.effect("that is closed between two steps of whoever reads answers that", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* amid((socket) => socket.close), new Set([1, "SocketClosed read"]))
    }))

  it.effect("whose piece another fiber took between two steps of whoever reads is told so", () =>
    Effect.gen(function* () {
      const told = yield* amid((socket, events) =>
        Effect.gen(function* () {
          yield* Effect.forkDetach(socket.read, { startImmediately: true })
          // Whoever reads has seen what is left, and waits where it had seen nothing before.
          for (let turns = 0; turns < 10; turns++) yield* Effect.yieldNow
          events.received(piece(2))
        })
      )
      assert.deepStrictEqual(told, new Set([1, "SocketBusy read", 2]))
    }))

  it.effect("has room for what was read, and is told once that it is full and once that it is not", () =>
    Effect.gen(function* () {
      const { events, socket, told } = yield* opened()
      for (let i = 0; i < 3; i++) {
        events.received(piece(9))
        assert.strictEqual((yield* socket.read)?.length, 9)
      }
      assert.deepStrictEqual(told, ["resume"])
      events.received(piece(10))
      events.received(piece(1))
      assert.deepStrictEqual(told, ["resume", "pause"])
      yield* socket.read
      yield* socket.read
      assert.deepStrictEqual(told, ["resume", "pause", "resume"])
    }))

  it.effect("that has ended, failed or gone hands over what came before, and is not told to go on", () =>
    Effect.gen(function* () {
      const ends = {
        ended: ["undefined", undefined],
        failed: ["PeerReset read", "PeerReset read"],
        gone: ["SocketClosed read", "SocketClosed write"],
      } as const
      for (const [how, [rest, shut]] of Object.entries(ends)) {
        const { events, socket, told } = yield* opened({ keeps: true })
        events.received(piece(10))
        if (how === "failed") events.failed(reset)
        else events[how as "ended" | "gone"]()
        assert.strictEqual((yield* socket.read)?.length, 10)
        assert.strictEqual(yield* tagOf(Effect.flatMap(socket.read, nothing)), rest)
        if (shut !== undefined) {
          assert.strictEqual(yield* tagOf(socket.write(piece(1))), shut)
          assert.strictEqual(yield* tagOf(socket.end), shut)
        }
        assert.deepStrictEqual(told, ["resume", "pause", ...how === "failed" ? ["destroy"] : []])
        events.gone()
      }
    }))

  it.effect("tells the first fault to all who wait, and closes the handle once", () =>
    Effect.gen(function* () {
      const { events, socket, sockets, told } = yield* opened({ keeps: true })
      const waits = [socket.read, socket.write(full), socket.end, socket.end] as const
      const waiting = yield* Effect.forEach(waits, (wait) => begun(Effect.flip<unknown, unknown, never>(wait)))
      events.failed(reset)
      events.failed(refused)
      for (const each of waiting) assert.strictEqual(yield* Fiber.join(each), reset)
      const closing = yield* begun(socket.close)
      assert.deepStrictEqual(told, ["resume", "write 2", "end", "destroy"])
      events.gone()
      yield* Fiber.join(closing)
      assert.deepStrictEqual(yield* sockets.snapshot, none)
    }))

  it.effect("that is gone without a word tells all who wait", () =>
    Effect.gen(function* () {
      const { events, socket, told } = yield* opened()
      const waits = [socket.read, socket.write(full), socket.end] as const
      const waiting = yield* Effect.forEach(waits, (wait) => begun(tagOf<unknown, SocketFault.IoFault, never>(wait)))
      events.gone()
      const tags = yield* Effect.forEach(waiting, Fiber.join)
      assert.deepStrictEqual(tags, ["SocketClosed read", "SocketClosed write", "SocketClosed write"])
      assert.deepStrictEqual(told, ["resume", "write 2", "end"])
    }))

  it.effect("that was closed here stays so, though its runtime tells of a fault then", () =>
    Effect.gen(function* () {
      const { events, socket, told } = yield* opened({ keeps: true })
      const closing = yield* begun(socket.close)
      events.failed(reset)
      events.received(piece(1))
      assert.strictEqual(yield* tagOf(socket.read), "SocketClosed read")
      assert.strictEqual(yield* tagOf(socket.write(piece(1))), "SocketClosed write")
      assert.deepStrictEqual(told, ["resume", "destroy"])
      events.gone()
      yield* Fiber.join(closing)
    }))

  it.effect("is ended once, and whoever ends it waits for that", () =>
    Effect.gen(function* () {
      const { events, socket, told } = yield* opened()
      const ending = yield* Effect.forEach([1, 2], () => begun(socket.end))
      assert.deepStrictEqual([told, ending.map((each) => each.pollUnsafe())], [["resume", "end"], [
        undefined,
        undefined,
      ]])
      events.finished()
      yield* Effect.forEach(ending, Fiber.join)
    }))

  it.effect("whose close cannot be cancelled is abandoned behind a write that is under way alone, and left twice", () =>
    Effect.gen(function* () {
      const options = { abandons: true, keeps: true }
      const stuck = yield* opened(options)
      yield* begun(stuck.socket.write(full))
      yield* stuck.socket.close
      yield* stuck.socket.close
      assert.deepStrictEqual(yield* stuck.sockets.snapshot, { ...none, abandoned: 1 })
      const idle = yield* opened(options)
      const ended = yield* opened(options)
      yield* begun(ended.socket.write(full))
      yield* begun(ended.socket.end)
      ended.events.finished()
      for (const { events, socket, sockets } of [idle, ended]) {
        const closing = yield* begun(socket.close)
        assert.deepStrictEqual([closing.pollUnsafe(), yield* sockets.snapshot], [undefined, { ...none, closing: 1 }])
        events.gone()
        yield* Fiber.join(closing)
      }
    }))

  it.effect("misses nothing that is told between two steps of whoever begins to wait", () =>
    Effect.gen(function* () {
      type Events = ReturnType<typeof dialled>["events"]
      type Wait = (own: SocketConnection) => Effect.Effect<unknown, unknown>
      /** One that has no room, and nobody waits for any. */
      const prepare = Effect.gen(function* () {
        const own = dialled()
        own.events.opened()
        own.connection.begin()
        yield* Fiber.interrupt(yield* begun(own.connection.write(full)))
        return own
      })
      const explored = (tell: (events: Events) => void, wait: Wait, ends: ReadonlyArray<Exit.Exit<unknown, unknown>>) =>
        Explorer.explore({
          prepare,
          fibers: ({ connection, events }: ReturnType<typeof dialled>) => ({
            a: wait(connection),
            ...ends.length > 1 ? { b: wait(connection) } : {},
            telling: Effect.sync(() => tell(events)),
          }),
          oracle: (_, exits) => assert.includeDeepMembers([...ends], [exits.a, exits.b ?? exits.a]),
        }, { preemptions: 9 })
      const closed = Exit.fail(new SocketFault.SocketClosed({ phase: "write" }))
      const busy = Exit.fail(new SocketFault.SocketBusy({ phase: "write" }))
      const all = [
        yield* explored((events) => events.received(piece(1)), (own) => own.read, [Exit.succeed(piece(1))]),
        yield* explored((events) => events.drained(), (own) => own.write([]), [Exit.void]),
        yield* explored((events) => events.failed(reset), (own) => own.write([]), [Exit.fail(reset)]),
        yield* explored((events) => events.gone(), (own) => own.write([]), [closed, busy]),
      ]
      for (const { cutBy } of all) assert.deepStrictEqual(cutBy, [])
    }))
})

describe("a dial", () => {
  it.effect("is refused before anything is opened where the target or its certificates are wrong, each time anew", () =>
    Effect.gen(function* () {
      const { driver, handles } = platform({})
      const wrong = new InvalidRequest({ field: "tls.ca", rule: "certificates", value: {} })
      let asked = 0
      const sockets = yield* Sockets.make({ ...driver, credentials: () => (asked++, Result.fail(wrong)) })
      assert.strictEqual(yield* tagOf(Effect.scoped(sockets.dial({ ...target, port: 0 }))), "InvalidRequest")
      const tls = {}
      assert.strictEqual(yield* Effect.flip(Effect.scoped(sockets.dial({ ...target, tls }))), wrong)
      assert.strictEqual(yield* Effect.flip(Effect.scoped(sockets.dial({ ...target, tls }))), wrong)
      assert.deepStrictEqual([asked, handles.length], [2, 0])
    }))

  it.effect("gives the handle what was read of the certificates, which is read once an object, and the protocols", () =>
    Effect.gen(function* () {
      const { driver, handles } = platform({})
      let asked = 0
      const sockets = yield* Sockets.make({ ...driver, credentials: () => Result.succeed(`credentials ${++asked}`) })
      const one = { serverName: "a.test" }
      for (const tls of [one, one, { serverName: "a.test", protocols: ["h2"] }]) {
        yield* begun(Effect.scoped(sockets.dial({ path: "/a", tls })))
        handles.at(-1)!.events.opened()
      }
      const secured = (protocols: ReadonlyArray<string>, credentials: string) => [
        "/a",
        [{ serverName: "a.test", protocols, credentials }],
      ]
      assert.deepStrictEqual(handles.map(({ ip, secured }) => [ip, secured]), [
        secured([], "credentials 1"),
        secured([], "credentials 1"),
        secured(["h2"], "credentials 2"),
      ])
    }))
})

describe("a fault", () => {
  it("tells what was going on, and the runtime's own word where that told of it", () => {
    const { SocketBusy, SocketClosed, ...told } = SocketFault
    for (const [name, Fault] of Object.entries(told)) {
      const { _tag, code, message, phase } = new Fault({ phase: "connect", code: "EXYZ" })
      assert.deepStrictEqual([_tag, phase, code], [name as typeof _tag, "connect", "EXYZ"])
      assert.match(message, / \(connect: EXYZ\)$/)
    }
    for (const Fault of [SocketBusy, SocketClosed]) {
      const { message, phase } = new Fault({ phase: "write" })
      assert.strictEqual(phase, "write")
      assert.match(message, / \(write\)$/)
    }
  })
})
