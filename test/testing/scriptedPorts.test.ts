/** The ports of the systems to come: what each of their peers knows, refuses and holds, by itself and by its calls. */
import { assert, describe, it } from "vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Hear, Order, WorkerThread } from "../../core/WorkerThreads.ts"
import * as Script from "../../core/testing/Script.ts"
import * as ScriptedPorts from "../../core/testing/ScriptedPorts.ts"
import { World } from "../../core/testing/World.ts"

/** A script, and how an effect ends in its world: what it makes, or its error. */
const stage = () => {
  const world = new World("oldest")
  const ran = <A, E>(effect: Effect.Effect<A, E>): A | E =>
    Exit.match(world.run(effect), {
      onFailure: (cause) => Cause.squash(cause) as E,
      onSuccess: (value): A | E => value,
    })
  return { world, ran, script: ran(Script.make) }
}

describe("a socket", () => {
  it("is open until it is closed, which goes on by itself, and is asked for once", () => {
    const { ran, script, world } = stage()
    script.plan("socket.close", Script.hold)
    const scope = Scope.makeUnsafe()
    const socket = ran(Scope.provide(ScriptedPorts.sockets<string>(script).dial("peer"), scope))
    assert.deepStrictEqual([socket.target, socket.isOpen, script.left], ["peer", true, ["socket 1"]])
    assert.deepStrictEqual(script.calls[0]?.input, ["peer"])
    assert.strictEqual(ran(socket.destroy), undefined)
    assert.strictEqual(ran(socket.destroy), undefined)
    const closed = world.fork(socket.closed)
    const over = world.fork(Scope.close(scope, Exit.void))
    world.settle()
    assert.deepStrictEqual([closed.pollUnsafe(), over.pollUnsafe(), socket.isOpen], [undefined, undefined, true])
    assert.deepStrictEqual(script.log, ["sockets.dial 1 answered", "socket.close 1 held"])
    ran(script.release("socket.close"))
    assert.deepStrictEqual([closed.pollUnsafe(), over.pollUnsafe(), socket.isOpen], [Exit.void, Exit.void, false])
    assert.deepStrictEqual([script.left, world.fibers.size], [[], 0])
  })
})

it("a socket has begun to close once it was told to", () => {
  const log = Effect.gen(function* () {
    const script = yield* Script.make
    script.plan("socket.close", Script.hold)
    const socket = yield* Scope.provide(ScriptedPorts.sockets(script).dial("peer"), Scope.makeUnsafe())
    yield* socket.destroy
    return script.log
  })
  assert.deepStrictEqual(Effect.runSync(log), ["sockets.dial 1 answered", "socket.close 1 held"])
})

describe("a directory", () => {
  it("knows what it was told, as often as it was", () => {
    const { ran, script } = stage()
    const { port, state } = ScriptedPorts.directory(script)
    for (const grant of ["a", "b", "b"]) ran(port.issue(grant))
    ran(port.revoke("a"))
    assert.strictEqual(ran(port.readStamp("alias")), undefined)
    ran(port.stamp("alias", "mine"))
    assert.strictEqual(ran(port.readStamp("alias")), "mine")
    for (const principal of ["p", "p", "q"]) ran(port.rotate(principal))
    assert.deepStrictEqual([[...state.grants], [...state.stamps], [...state.rotations]], [["b"], [["alias", "mine"]], [
      ["p", 2],
      ["q", 1],
    ]])
    assert.deepStrictEqual(script.log.at(-1), "directory.rotate 3 answered")
  })
})

describe("a store", () => {
  it("compares versions from 0 on, and fences all writers but the last", () => {
    const { ran, script } = stage()
    const { port, records } = ScriptedPorts.store<string>(script)
    assert.strictEqual(ran(port.claimFence), 1)
    assert.strictEqual(ran(port.compareAndPut("key", "first", 0, 1)), 1)
    const loaded = ran(port.load)
    assert.strictEqual(ran(port.compareAndPut("key", "second", 1, 1)), 2)
    assert.deepStrictEqual([loaded.get("key"), records.get("key")], [
      { record: "first", version: 1 },
      { record: "second", version: 2 },
    ])
    const conflict = ran(port.compareAndPut("key", "third", 1, 1)) as ScriptedPorts.Conflict
    assert.deepInclude(conflict, { _tag: "Conflict", key: "key", expected: 1, found: 2 })
    assert.strictEqual(ran(port.claimFence), 2)
    for (const fence of [1, 3]) {
      const fenced = ran(port.compareAndPut("key", "third", 2, fence)) as ScriptedPorts.Fenced
      assert.deepInclude(fenced, { _tag: "Fenced", fence, current: 2 })
    }
    assert.strictEqual(ran(port.compareAndPut("key", "third", 2, 2)), 3)
  })
})

describe("a driver", () => {
  it("opens a pool that is open until its scope or its close, and connections in it", () => {
    const { ran, script } = stage()
    const scope = Scope.makeUnsafe()
    const pool = ran(Scope.provide(ScriptedPorts.databaseDriver<string>(script).open("dsn"), scope))
    const connection = ran(Effect.scoped(Effect.map(pool.connect, (made) => [made, made.isOpen] as const)))
    assert.deepStrictEqual([connection[1], connection[0].isOpen, script.left], [true, false, ["pool 1"]])
    ran(pool.close)
    assert.deepStrictEqual(script.left, [])
    ran(Scope.close(scope, Exit.void))
    assert.deepStrictEqual([script.log, script.calls[0]?.input], [
      ["driver.open 1 answered", "pool.connect 1 answered", "connection.close 1 answered", "pool.close 1 answered"],
      ["dsn"],
    ])
  })
})

describe("a scripted thread", () => {
  /** A thread of jobs, and what its executor hears, once all that is ready has run. */
  const thread = (jobs: ScriptedPorts.Jobs, joins?: boolean) => {
    const { ran, script, world } = stage()
    const [heard, flag]: [Array<unknown>, Int32Array] = [[], new Int32Array(1)]
    const hear = {
      answered: (answer: unknown) => heard.push(answer),
      gone: (end: unknown) => heard.push(end),
    } as unknown as Hear
    const threads = ScriptedPorts.workerThreads(script, jobs, joins)
    const spawned = ran(Effect.sync(() => threads.spawn(flag, hear) as WorkerThread))
    const does = (what: () => unknown): ReadonlyArray<unknown> => {
      ran(Effect.sync(what))
      world.settle()
      return heard
    }
    const send = (name: string, input?: unknown) =>
      does(() => spawned.send({ module: "test:jobs", name, input, number: 7 } as Order, []))
    return { ...{ does, flag, heard, joins: threads.joins, ran, script, send }, thread: spawned }
  }
  const jobs: ScriptedPorts.Jobs = {
    twice: (input: number) => 2 * input,
    throws: () => {
      throw Object.assign(new TypeError("no number"), { code: 1 })
    },
    throwsText: () => {
      throw "text"
    },
    throwsNull: () => {
      throw null
    },
    isCancelled: (_: never, { cancelled, pause }) => [cancelled(), pause(0)],
  }

  it("answers with what a job makes, or with what it throws, once the job is closed", () => {
    const { flag, heard, script, send } = thread(jobs)
    send("twice", 21)
    assert.deepStrictEqual(heard.splice(0), [{ number: 7, kind: "value", value: 42 }])
    assert.deepStrictEqual([script.left, script.calls[0]?.input], [["thread 1"], ["twice", 21]])
    send("throws")
    const error = { name: "TypeError", message: "no number", code: undefined, cause: undefined }
    assert.deepStrictEqual(heard.splice(0), [{ number: 7, kind: "threw", error }])
    send("throwsText")
    const text = { name: "Error", message: "text", code: undefined, cause: undefined }
    assert.deepStrictEqual(heard.splice(0), [{ number: 7, kind: "threw", error: text }])
    send("throwsNull")
    assert.deepStrictEqual(heard.splice(0), [{ number: 7, kind: "threw", error: { ...text, message: "null" } }])
    for (const number of [7, 8]) {
      Atomics.store(flag, 0, number)
      const value = [number === 7, number === 7]
      assert.deepStrictEqual(send("isCancelled").at(-1), { number: 7, kind: "value", value })
    }
    assert.deepStrictEqual(script.left, ["thread 1"])
  })

  it("that is planned to fail has thrown, and one that is planned to die is gone with its thread", () => {
    const failing = thread(jobs)
    failing.script.plan("executor.job", Script.fail(new RangeError("down")))
    const error = { name: "RangeError", message: "down", code: undefined, cause: undefined }
    assert.deepStrictEqual(failing.send("twice", 1), [{ number: 7, kind: "threw", error }])
    const dying = thread(jobs)
    dying.script.plan("executor.job", Script.die(new RangeError("down")))
    assert.deepStrictEqual(dying.send("twice", 1), [{ code: 1, error }])
    assert.deepStrictEqual(dying.script.left, [])
  })

  it("is gone when it leaves or is terminated, with its job, which says nothing more", () => {
    for (const [end, code] of [["leave", 0], ["terminate", 1]] as const) {
      const { does, heard, ran, script, send, thread: spawned } = thread(jobs)
      script.plan("executor.job", Script.hold)
      send("twice", 1)
      assert.deepStrictEqual([heard, script.left], [[], ["thread 1", "job 2"]])
      does(() => spawned.hold(true))
      assert.deepStrictEqual(does(() => spawned[end]()), [{ code, error: undefined }])
      assert.deepStrictEqual(script.left, [])
      ran(script.release("executor.job"))
      assert.strictEqual(heard.length, 1)
    }
  })

  it("that is answered for, or answered twice, answers once", () => {
    for (const [plan, value] of [[Script.pretend(5), 5], [Script.twice, 42]] as const) {
      const { heard, script, send } = thread(jobs)
      script.plan("executor.job", plan)
      send("twice", 21)
      assert.deepStrictEqual([heard, script.left], [[{ number: 7, kind: "value", value }], ["thread 1"]])
    }
  })

  it("is spawned by whoever is no fiber, too", () => {
    const { script } = stage()
    const hear = { gone: () => {} } as unknown as Hear
    const spawned = ScriptedPorts.workerThreads(script, jobs).spawn(new Int32Array(1), hear) as WorkerThread
    assert.deepStrictEqual(script.left, ["thread 1"])
    spawned.leave()
    assert.deepStrictEqual(script.left, [])
  })

  it("that cannot be joined is never gone by being terminated", () => {
    const { does, joins, script, thread: spawned } = thread(jobs, false)
    assert.deepStrictEqual([joins, thread(jobs).joins], [false, true])
    assert.deepStrictEqual(does(() => spawned.terminate()), [])
    assert.deepStrictEqual(script.left, ["thread 1"])
    assert.deepStrictEqual(does(() => spawned.leave()), [{ code: 0, error: undefined }])
  })
})
