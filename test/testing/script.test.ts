/** A scripted port does what its plan says; and small consumers of ports, each with a fault that one plan brings to light. */
import { assert, describe, it } from "vitest"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Deadline from "../../core/Deadline.ts"
import * as FaultSweep from "../../core/testing/FaultSweep.ts"
import * as Script from "../../core/testing/Script.ts"
import type * as BlockingExecutor from "../../core/BlockingExecutor.ts"
import type { Job } from "../../core/Job.ts"
import * as ScriptedPorts from "../../core/testing/ScriptedPorts.ts"
import type * as Sweep from "../../core/testing/Sweep.ts"
import { World } from "../../core/testing/World.ts"

class Down extends Data.TaggedError("Down") {}

/** Runs a body with a script and a world to run the rest in. */
const scripted = (body: (script: Script.Script, world: World) => void, order: "oldest" | "newest" = "oldest"): void => {
  const world = new World(order)
  const made = world.run(Script.make)
  assert.isTrue(Exit.isSuccess(made))
  if (Exit.isSuccess(made)) body(made.value, world)
  assert.deepStrictEqual([world.fibers.size, world.clock.sleeping], [0, 0])
}
const answered = <A, E>(world: World, effect: Effect.Effect<A, E>): A | Cause.Cause<E> =>
  Exit.match(world.run(effect), { onFailure: (cause) => cause, onSuccess: (value) => value })

describe("a plan", () => {
  /** A port that counts, and what a call of it comes to by a plan: its answer, and how often it was done. */
  const by = (plan: Script.Plan): readonly [unknown, number] => {
    let [done, answer]: [number, unknown] = [0, undefined]
    scripted((script, world) => {
      script.plan("port.call", plan)
      const port = script.port("port", { call: Effect.sync(() => ++done) })
      const exit = world.run(port.call)
      answer = Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause)
    })
    return [answer, done]
  }

  it("says how often a call is done, and what is answered", () => {
    assert.deepStrictEqual(by(Script.pass), [1, 1])
    assert.deepStrictEqual(by(Script.twice), [2, 2])
    assert.deepStrictEqual(by(Script.fail("down")), ["down", 0])
    assert.deepStrictEqual(by(Script.die("bug")), ["bug", 0])
    assert.deepStrictEqual(by(Script.lost("no answer")), ["no answer", 1])
    assert.deepStrictEqual(by(Script.pretend(7)), [7, 0])
    assert.deepStrictEqual(by(Script.late("1 second")), [1, 1])
    assert.deepStrictEqual(by(Script.slow("1 second")), [1, 1])
    assert.deepStrictEqual(by(Script.at("port.other", Script.fail("down"))), [1, 1])
  })

  it("lets time pass before it is done, or before it is answered", () => {
    for (const [plan, early] of [[Script.slow("1 second"), 0], [Script.late("1 second"), 1]] as const) {
      scripted((script, world) => {
        let done = 0
        script.plan("call", plan)
        const fiber = world.fork(script.effect("call", Effect.sync(() => ++done)))
        world.pass(999)
        assert.deepStrictEqual([done, fiber.pollUnsafe()], [early, undefined])
        world.pass(1)
        assert.deepStrictEqual([done, fiber.pollUnsafe()], [1, Exit.succeed(1)])
      })
    }
  })

  it("holds a call before or after it is done, until it is released or ended", () => {
    for (const [plan, before] of [[Script.hold, 0], [Script.silent, 1]] as const) {
      for (const [how, answer, after] of [["release", 1, 1], ["end", "theirs", before]] as const) {
        scripted((script, world) => {
          let done = 0
          script.plan(1, plan)
          const port = script.port("port", { call: () => Effect.sync(() => ++done) })
          const fiber = world.fork<unknown, unknown>(port.call())
          world.settle()
          assert.deepStrictEqual([done, script.calls[0]?.state], [before, before === 0 ? "held" : "silent"])
          world.run(how === "release" ? script.release("port.call 1") : script.end(1, Exit.succeed("theirs")))
          assert.deepStrictEqual(answered(world, Fiber.join(fiber)), answer)
          assert.deepStrictEqual([done, script.log], [after, ["port.call 1 answered"]])
        })
      }
    }
  })

  it("answers in the tick of the caller's deadline, before it or behind it", () => {
    const ends = (["oldest", "newest"] as const).map((order) => {
      let end: unknown
      scripted((script, world) => {
        script.plan("call", Script.inDeadlineTick)
        const call = script.effect("call", Effect.succeed("in time"))
        end = answered(
          world,
          call.pipe(Deadline.enforce, Deadline.within("1 second"), Effect.catch(({ _tag }) => Effect.succeed(_tag))),
        )
      }, order)
      return end
    })
    assert.deepStrictEqual(ends.toSorted(), ["DeadlineExceeded", "in time"])
    scripted((script, world) => {
      script.plan("call", Script.inDeadlineTick)
      assert.include(String(answered(world, script.effect("call", Effect.void))), "carries no deadline")
    })
  })

  it("that is deaf keeps its caller until it is answered", () => {
    for (const deaf of [false, true]) {
      scripted((script, world) => {
        script.plan("call", deaf ? Script.deaf(Script.hold) : Script.hold)
        const fiber = world.fork(script.effect("call", Effect.void))
        world.settle()
        fiber.interruptUnsafe()
        world.settle()
        assert.strictEqual(fiber.pollUnsafe() === undefined, deaf)
        assert.strictEqual(script.calls[0]?.state, deaf ? "held" : "dropped")
        const released = world.run(script.release("call"))
        assert.strictEqual(Exit.isSuccess(released), deaf)
        assert.isDefined(fiber.pollUnsafe())
      })
    }
  })

  it("for a number goes before one for a place, and that before one for a label", () =>
    scripted((script, world) => {
      script.plan("port.a", Script.fail("each"))
      script.plan("port.a 2", Script.fail("the second"))
      script.plan(4, Script.fail("the fourth"))
      const { a, b } = script.port("port", { a: Effect.succeed("a"), b: (n: number) => Effect.succeed(n) })
      const answers = [a, a, b(7), a, b(8)].map((call) => {
        const exit = world.run(call as Effect.Effect<unknown, unknown>)
        return Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause)
      })
      assert.deepStrictEqual(answers, ["each", "the second", 7, "the fourth", 8])
      assert.deepStrictEqual(script.calls.map(({ input, label, nth, number }) => [number, label, nth, input]), [
        [1, "port.a", 1, []],
        [2, "port.a", 2, []],
        [3, "port.b", 1, [7]],
        [4, "port.a", 3, []],
        [5, "port.b", 2, [8]],
      ])
    }))

  it("is not for a call that is not held, which is an error that tells what there was", () =>
    scripted((script, world) => {
      world.run(script.effect("call", Effect.void))
      const failed = answered(world, Effect.flip(script.release("call"))) as Script.NoSuchCall
      assert.strictEqual(failed.message, "no call call is held; there were: call 1 answered")
    }))

  it("reaches a port of a class, with its own state, and leaves all else of it alone", () =>
    scripted((script, world) => {
      class Counter {
        #count = 0
        readonly limit = 9
        up(by: number): Effect.Effect<number> {
          return Effect.sync(() => this.#count += by)
        }
        get name(): string {
          return "counter"
        }
        plain(): number {
          return this.#count
        }
      }
      const counter = script.port("counter", new Counter())
      assert.strictEqual(answered(world, counter.up(2)), 2)
      assert.deepStrictEqual([counter.limit, counter.name, counter.plain()], [9, "counter", 2])
      assert.instanceOf(counter, Counter)
      assert.deepStrictEqual(Object.keys(script.port("frozen", Object.freeze({ a: 1 }))), ["a"])
      assert.deepStrictEqual(script.log, ["counter.up 1 answered"])
    }))
})

describe("a platform that calls back", () => {
  const platform = (
    plan: Script.Plan,
    stopped: boolean,
  ): { readonly heard: ReadonlyArray<unknown>; readonly made: number } => {
    const heard: Array<unknown> = []
    let made = 0
    scripted((script, world) => {
      script.plan("open", plan)
      const stop = script.callback("open", () => ++made)((exit) =>
        heard.push(Exit.isSuccess(exit) ? exit.value : Cause.squash(exit.cause))
      )
      if (stopped) stop()
      world.settle()
      if (script.calls[0]?.state === "held") world.run(script.release("open"))
      world.pass(5_000)
    })
    return { heard, made }
  }

  it("calls back once, twice, late, or with a failure", () => {
    assert.deepStrictEqual(platform(Script.pass, false), { heard: [1], made: 1 })
    assert.deepStrictEqual(platform(Script.twice, false), { heard: [1, 2], made: 2 })
    assert.deepStrictEqual(platform(Script.late("1 second"), false), { heard: [1], made: 1 })
    assert.deepStrictEqual(platform(Script.fail("down"), false), { heard: ["down"], made: 0 })
    assert.deepStrictEqual(platform(Script.lost("down"), false), { heard: ["down"], made: 1 })
  })

  it("stops before it has begun, and calls back all the same once it has, or where it is deaf", () => {
    assert.deepStrictEqual(platform(Script.hold, true), { heard: [], made: 0 })
    assert.deepStrictEqual(platform(Script.late("1 second"), true), { heard: [1], made: 1 })
    assert.deepStrictEqual(platform(Script.deaf(Script.hold), true), { heard: [1], made: 1 })
  })
})

describe("a platform that is told to stop", () => {
  /** What becomes of a call that is told so, twice, after so long: what was heard, how it stands, and who sleeps still. */
  const stopped = (
    plan: Script.Plan,
    after: number,
  ): readonly [ReadonlyArray<unknown>, ReadonlyArray<string>, number] => {
    const heard: Array<unknown> = []
    let [log, sleeping]: [ReadonlyArray<string>, number] = [[], 0]
    scripted((script, world) => {
      script.plan("open", plan)
      const open = script.callback("open", () => "made")
      const stop = answered(world, Effect.sync(() => open((exit) => heard.push(exit)))) as () => void
      if (after > 0) world.pass(after)
      stop()
      stop()
      assert.isTrue(Exit.isFailure(world.run(script.release("open"))))
      world.settle()
      ;[log, sleeping] = [script.log, world.clock.sleeping]
      world.pass(5_000)
      assert.deepStrictEqual(script.log, log)
    })
    return [heard, log, sleeping]
  }

  it("drops the call before it is done, in its own tick too, and sleeps no longer for it", () => {
    for (const plan of [Script.hold, Script.slow("1 second")]) {
      for (const after of [0, 1]) assert.deepStrictEqual(stopped(plan, after), [[], ["open 1 dropped"], 0])
    }
  })

  it("in the tick in which it was asked drops the call", () => {
    for (const plan of [Script.hold, Script.slow("1 second")]) {
      scripted((script, world) => {
        script.plan("open", plan)
        world.run(Effect.sync(() => script.callback("open", () => assert.fail("made"))(() => assert.fail("told"))()))
        assert.deepStrictEqual([script.log, world.clock.sleeping], [["open 1 dropped"], 0])
      })
    }
  })

  it("between its release and its being done drops the call, and after that it hears nothing", () =>
    scripted((script, world) => {
      script.plan("open", Script.hold)
      let made = 0
      const stop = script.callback("open", () => ++made)(() => {})
      world.settle()
      Effect.runSync(script.release("open"))
      stop()
      world.settle()
      assert.deepStrictEqual([made, script.log], [0, ["open 1 dropped"]])
      const late = script.callback("open 2", () => ++made)(() => {})
      world.settle()
      late()
      assert.deepStrictEqual([made, script.log], [1, ["open 1 dropped", "open 2 1 answered"]])
    }))
})

describe("a handle", () => {
  it("is left until it is closed, which is a call of its own", () =>
    scripted((script, world) => {
      script.plan("socket.close", Script.hold)
      const handle = answered(world, script.open("socket")) as Script.Handle
      assert.deepStrictEqual([script.left, handle.isOpen, handle.name], [["socket 1"], true, "socket 1"])
      const closing = world.fork(handle.close)
      world.settle()
      assert.deepStrictEqual(script.left, ["socket 1"])
      world.run(script.release("socket.close"))
      assert.isDefined(closing.pollUnsafe())
      assert.deepStrictEqual([script.left, handle.isOpen], [[], false])
      world.run(handle.close)
      assert.deepStrictEqual(script.log, ["socket.close 1 answered"])
    }))

  it("is closed once, also by whoever asks while it is being closed, and again where that came to nothing", () =>
    scripted((script, world) => {
      script.plan("socket.close 1", Script.hold)
      script.plan("socket.close 2", Script.hold)
      const handle = answered(world, script.open("socket")) as Script.Handle
      const first = world.fork(handle.close)
      const second = world.fork(handle.close)
      world.settle()
      assert.deepStrictEqual([first.pollUnsafe(), second.pollUnsafe()], [undefined, Exit.void])
      assert.deepStrictEqual(script.log, ["socket.close 1 held"])
      first.interruptUnsafe()
      world.settle()
      const third = world.fork(handle.close)
      world.settle()
      world.run(handle.close)
      assert.deepStrictEqual([script.log, script.left], [["socket.close 1 dropped", "socket.close 2 held"], [
        "socket 1",
      ]])
      world.run(script.release("socket.close 2"))
      assert.deepStrictEqual([third.pollUnsafe(), script.left], [Exit.void, []])
    }))
})

describe("what a script tells of a call, and lets go", () => {
  it("is that it failed, where it did, and that it is asked once it is let go, until it is answered", () =>
    scripted((script, world) => {
      script.plan("down", Script.fail("down"))
      world.run(Effect.exit(script.effect("down", Effect.void)))
      script.plan("call", { ...Script.late("1 second"), before: "held" })
      const fiber = world.fork(script.effect("call", Effect.void))
      world.settle()
      assert.deepStrictEqual(script.log, ["down 1 failed", "call 1 held"])
      world.fork(script.release("call"))
      world.settle()
      assert.deepStrictEqual([script.calls[1]?.state, fiber.pollUnsafe()], ["asked", undefined])
      const again = Effect.runSync(Effect.flip(script.release("call")))
      assert.strictEqual(again.message, "no call call is held; there were: down 1 failed, call 1 asked")
      world.pass(1_000)
      assert.deepStrictEqual([script.calls[1]?.state, fiber.pollUnsafe()], ["answered", Exit.void])
    }))

  it("is the oldest that is held and of that name, whatever else is held or was answered", () =>
    scripted((script, world) => {
      world.run(script.effect("b", Effect.void))
      for (const point of ["a", "b"]) script.plan(point, Script.hold)
      for (const label of ["a", "b", "b"]) world.fork(script.effect(label, Effect.void))
      world.settle()
      const states: Array<string> = []
      for (const point of ["b", "a", "b"]) {
        world.run(script.release(point))
        states.push(script.calls.map(({ state }) => state[0]).join(""))
      }
      assert.deepStrictEqual(states, ["ahah", "aaah", "aaaa"])
    }))

  it("is of a platform that calls back the answer that it ends with, without being done", () =>
    scripted((script, world) => {
      script.plan("open", Script.hold)
      const heard: Array<unknown> = []
      script.callback("open", () => assert.fail("made"))((exit) => heard.push(exit))
      world.settle()
      world.run(script.end("open", Exit.succeed("theirs")))
      assert.deepStrictEqual([heard, script.log], [[Exit.succeed("theirs")], ["open 1 answered"]])
    }))

  it("is of a platform that calls back at the deadline of the fiber that calls it", () =>
    scripted((script, world) => {
      script.plan("open", Script.inDeadlineTick)
      const heard: Array<unknown> = []
      const open = Effect.sync(() => void script.callback("open", () => "made")((exit) => heard.push(exit)))
      assert.isTrue(Exit.isSuccess(world.run(Deadline.within("1 second")(open))))
      world.pass(999)
      assert.deepStrictEqual(heard, [])
      world.pass(1)
      assert.deepStrictEqual([heard, script.unfit], [[Exit.succeed("made")], undefined])
    }))

  it("is of those that could not go by their plan the first", () =>
    scripted((script, world) => {
      for (const label of ["a", "b"]) {
        script.plan(label, Script.inDeadlineTick)
        world.run(Effect.exit(script.effect(label, Effect.void)))
      }
      assert.strictEqual(script.unfit, "a: its caller carries no deadline")
    }))

  it("is no call of what every object has", () =>
    scripted((script) => {
      class Port {
        readonly ask = Effect.void
      }
      assert.deepStrictEqual(Reflect.ownKeys(script.port("port", new Port())), ["ask"])
    }))
})

describe("a handle that is being closed", () => {
  it("is closed by nobody else, also after one who asked meanwhile has gone", () =>
    scripted((script, world) => {
      script.plan("socket.close", Script.hold)
      const handle = answered(world, script.open("socket")) as Script.Handle
      world.fork(handle.close)
      for (const fiber of [1, 2].map(() => world.fork(handle.close))) {
        world.settle()
        assert.deepStrictEqual([fiber.pollUnsafe(), script.log], [Exit.void, ["socket.close 1 held"]])
      }
      assert.isTrue(Exit.isSuccess(world.run(handle.close)))
      assert.deepStrictEqual(script.log, ["socket.close 1 held"])
      world.run(script.release("socket.close"))
      assert.deepStrictEqual(script.left, [])
    }))
})

/** A scene that a right consumer passes with every plan and that a faulty one fails, as the message says. */
const contrast = <S, N extends string>(given: {
  readonly right: (script: Script.Script) => Effect.Effect<S, unknown, Scope.Scope>
  readonly faulty: (script: Script.Script) => Effect.Effect<S, unknown, Scope.Scope>
  readonly plans: ReadonlyArray<Script.Plan>
  readonly scene: Sweep.Scene<S, N>
  readonly fault: RegExp
}): FaultSweep.Swept<N> => {
  const swept = Effect.runSync(FaultSweep.on(given.right).sweep(given.plans, given.scene))
  const failed = Effect.runSync(Effect.flip(FaultSweep.on(given.faulty).sweep(given.plans, given.scene)))
  assert.match(failed.message, given.fault)
  const again = Effect.runSync(Effect.flip(FaultSweep.on(given.faulty).replay(given.plans, given.scene, failed.point)))
  assert.strictEqual(again.message, failed.message)
  return swept
}

describe("a fault at every call", () => {
  it("of a driver: an opening that comes after its caller's time has an owner all the same", () => {
    interface Registry {
      readonly get: Effect.Effect<void, Deadline.DeadlineExceeded>
      readonly owned: Set<ScriptedPorts.DriverPool>
      readonly open: () => number
    }
    // One opening for all who ask; the faulty one leaves it to whoever asked to write down what was opened.
    const registry = (byCaller: boolean) => (script: Script.Script) =>
      Effect.gen(function* () {
        const driver = ScriptedPorts.databaseDriver<string>(script)
        const scope = yield* Effect.scope
        const owned = new Set<ScriptedPorts.DriverPool>()
        const own = (pool: ScriptedPorts.DriverPool) => Effect.sync(() => void owned.add(pool))
        const opened = Scope.provide(byCaller ? driver.open("dsn") : Effect.tap(driver.open("dsn"), own), scope)
        let flight: Fiber.Fiber<ScriptedPorts.DriverPool> | undefined
        const joined = Effect.suspend(() => flight === undefined ? begun : Fiber.join(flight))
        const begun = Effect.flatMap(Effect.forkDetach(opened), (fiber) => Fiber.join(flight = fiber))
        const asked = byCaller ? Effect.flatMap(joined, own) : Effect.asVoid(joined)
        const get = Effect.catchTag(Deadline.within("1 second")(Deadline.enforce(asked)), "InvalidRequest", Effect.die)
        return { get, owned, open: () => script.left.length } satisfies Registry
      })
    const may = ["Completed", "DeadlineExceeded"]
    const swept = contrast({
      right: registry(false),
      faulty: registry(true),
      plans: ["driver.open"].flatMap((label) =>
        [Script.late("2 seconds"), Script.inDeadlineTick, Script.pass].map((plan) => Script.at(label, plan))
      ),
      scene: {
        fibers: ({ get }) => ({ first: get, second: get }),
        disturb: "first",
        ends: { first: may, second: may },
        rest: Duration.seconds(3),
        oracle: ({ open, owned }) => Effect.sync(() => assert.strictEqual(open(), owned.size, "open, and nobody's")),
      },
      fault: /open, and nobody's/,
    })
    assert.includeMembers([...swept.endings.second], may)
  })

  it("of sockets: a place comes back when the socket is closed, and not when it is told to", () => {
    interface Dialler {
      free: number
      peak: number
      readonly use: Effect.Effect<void>
    }
    const dialler = (early: boolean) => (script: Script.Script): Effect.Effect<Dialler> =>
      Effect.sync(() => {
        const sockets = ScriptedPorts.sockets<string>(script)
        const watch = Effect.sync(() => void (self.peak = Math.max(self.peak, script.left.length)))
        const closed = Effect.scoped(Effect.andThen(sockets.dial("peer"), watch))
        const told = Effect.flatMap(Scope.make(), (scope) =>
          Effect.ensuring(
            Effect.andThen(Scope.provide(sockets.dial("peer"), scope), watch),
            Effect.forkDetach(Scope.close(scope, Exit.void)),
          ))
        const take = Effect.sync(() => self.free > 0 ? (self.free--, 1) : 0)
        const self: Dialler = {
          free: 1,
          peak: 0,
          use: Effect.acquireUseRelease(
            take,
            (places) => places === 0 ? Effect.void : early ? told : closed,
            (places) => Effect.sync(() => void (self.free += places)),
          ),
        }
        return self
      })
    contrast({
      right: dialler(false),
      faulty: dialler(true),
      plans: [Script.at("socket.close", Script.deaf(Script.slow("1 second")))],
      scene: {
        fibers: ({ use }) => ({ first: use, second: Effect.andThen(Effect.sleep("500 millis"), use) }),
        disturb: "first",
        prompt: false,
        rest: Duration.seconds(2),
        conserved: ({ free }) => Effect.succeed(free),
        oracle: ({ peak }) => Effect.sync(() => assert.isAtMost(peak, 1, "more sockets than places")),
      },
      fault: /more sockets than places/,
    })
  })

  it("of an executor: a job that has begun is joined, and never presumed dead", () => {
    interface Workers {
      readonly run: Effect.Effect<number, "busy">
      readonly working: () => number
      readonly free: () => number
    }
    const job: Job<number> = { module: "test:jobs", name: "answer" }
    const workers = (presumes: boolean) => (script: Script.Script) =>
      Effect.gen(function* () {
        const executor = yield* ScriptedPorts.blockingExecutor(script, { answer: () => 42 }, { threads: 2 })
        let free = 1
        const begun = Effect.suspend((): Effect.Effect<BlockingExecutor.Started<number>, "busy"> => {
          if (free === 0) return Effect.fail("busy" as const)
          free--
          return Effect.orDie(executor.start(job))
        })
        const join = ({ cancel, join }: BlockingExecutor.Started<number>) =>
          Effect.andThen(cancel, presumes ? Effect.void : Effect.asVoid(Effect.exit(join)))
        const run = Effect.acquireUseRelease(
          begun,
          (job) => Effect.catch(job.join, Effect.die),
          (job) => Effect.andThen(join(job), Effect.sync(() => void free++)),
        )
        const working = () => script.left.filter((name) => name.startsWith("job")).length
        return { run, working, free: () => free } satisfies Workers
      })
    const swept = contrast({
      right: workers(false),
      faulty: workers(true),
      plans: [Script.late("1 minute"), Script.die("bug")].map((plan) => Script.at("executor.job", plan)),
      scene: {
        fibers: ({ run }) => ({ caller: run }),
        disturb: "caller",
        ends: { caller: ["Completed", "Died"] },
        prompt: false,
        oracle: ({ free, working }) =>
          Effect.sync(() => assert.strictEqual(free() + working(), 1, "a worker that works is free")),
      },
      fault: /a worker that works is free/,
    })
    assert.deepStrictEqual(swept.endings.caller, ["Completed", "Died", "Interrupted"])
  })

  it("of a directory: a stamp is seen before anybody is told, and a grant is revoked by whoever fails", () => {
    interface Slots {
      readonly checkout: Effect.Effect<string, "not-visible" | Down>
      readonly state: ScriptedPorts.DirectoryState
    }
    const slots = (trusts: boolean) => (script: Script.Script): Effect.Effect<Slots> =>
      Effect.sync(() => {
        const { port, state } = ScriptedPorts.directory(script)
        const seen = Effect.flatMap(port.readStamp("alias"), (stamp) =>
          stamp === "mine" ? Effect.void : Effect.fail("not-visible" as const))
        const checkout = Effect.andThen(
          port.issue("grant"),
          Effect.andThen(port.stamp("alias", "mine"), trusts ? Effect.void : seen),
        )
        return {
          state,
          checkout: Effect.uninterruptible(
            Effect.as(checkout, "grant").pipe(Effect.onError(() =>
              Effect.andThen(port.revoke("grant"), Effect.void)
            )),
          ),
        }
      })
    contrast({
      right: slots(false),
      faulty: slots(true),
      plans: [Script.fail(new Down()), Script.pretend(undefined), Script.twice],
      scene: {
        fibers: ({ checkout }) => ({ occupant: checkout }),
        disturb: "occupant",
        ends: { occupant: ["Completed", "Down", "Failed"] },
        oracle: ({ state }, { occupant }) =>
          Effect.sync(() => {
            if (Exit.isSuccess(occupant)) assert.strictEqual(state.stamps.get("alias"), "mine", "told without a stamp")
            else if (Exit.hasFails(occupant)) assert.isFalse(state.grants.has("grant") && state.stamps.has("nobody"))
          }),
      },
      fault: /told without a stamp/,
    })
  })

  it("of a store: a write whose answer was lost is looked for, and not written again", () => {
    interface Journal {
      readonly add: Effect.Effect<void, ScriptedPorts.Conflict | ScriptedPorts.Fenced>
      readonly sum: () => number
    }
    const journal = (blind: boolean) => (script: Script.Script) =>
      Effect.gen(function* () {
        const store = ScriptedPorts.store<{ readonly sum: number; readonly by: ReadonlyArray<string> }>(script)
        const { claimFence, compareAndPut, load } = store.port
        const fence = yield* claimFence
        const nothing = { record: { sum: 0, by: [] }, version: 0 }
        const put = Effect.flatMap(load, (all) => {
          const { record, version } = all.get("sum") ?? nothing
          if (!blind && record.by.includes("me")) return Effect.void
          return Effect.asVoid(compareAndPut("sum", { sum: record.sum + 1, by: [...record.by, "me"] }, version, fence))
        })
        const again = (error: unknown) => error instanceof Down
        const add = Effect.uninterruptible(Effect.retry(put, { times: 1, while: again }))
        return { add, sum: () => store.records.get("sum")?.record.sum ?? 0 } satisfies Journal
      })
    contrast({
      right: journal(false),
      faulty: journal(true),
      plans: [
        Script.at("store.compareAndPut", Script.lost(new Down())),
        Script.at("store.load", Script.fail(new Down())),
      ],
      scene: {
        fibers: ({ add }) => ({ writer: add }),
        disturb: "writer",
        ends: { writer: ["Completed"] },
        prompt: false,
        oracle: ({ sum }, { writer }) =>
          Effect.sync(() => {
            if (Exit.isSuccess(writer)) assert.strictEqual(sum(), 1, "added once")
            else assert.isAtMost(sum(), 1, "added once")
          }),
      },
      fault: /added once: .*call 3 \(store.compareAndPut 1\): store.compareAndPut lost/,
    })
  })

  it("of a platform that calls back: one that calls twice gives back once, and one that is late is closed", () => {
    interface Lines {
      free: number
      open: number
      readonly call: Effect.Effect<void, unknown>
    }
    const lines = (naive: boolean) => (script: Script.Script): Effect.Effect<Lines> =>
      Effect.sync(() => {
        const dial = script.callback("dial", () => self.open++)
        const heard = (used: { over: boolean }) => (exit: Exit.Exit<number, unknown>): Exit.Exit<void, unknown> => {
          // Whatever the platform made is hung up, asked for or not; the place comes back once.
          if (Exit.isSuccess(exit) && !(naive && used.over)) self.open--
          if (naive || !used.over) self.free++
          used.over = true
          return Exit.asVoid(exit)
        }
        const take = Effect.sync(() => {
          self.free--
          return { over: false }
        })
        const call = (used: { over: boolean }) =>
          Effect.callback<void, unknown>((resume) => Effect.sync(dial((exit) => resume(heard(used)(exit)))))
        const leave = (used: { over: boolean }) =>
          Effect.sync(() => {
            if (!used.over) self.free++
            used.over = true
          })
        const self: Lines = { free: 1, open: 0, call: Effect.acquireUseRelease(take, call, leave) }
        return self
      })
    contrast({
      right: lines(false),
      faulty: lines(true),
      plans: [Script.twice, Script.late("1 second"), Script.fail(new Down())],
      scene: {
        fibers: ({ call }) => ({ caller: call }),
        disturb: "caller",
        ends: { caller: ["Completed", "Down"] },
        rest: Duration.seconds(2),
        conserved: ({ free, open }) => Effect.succeed([free, open]),
      },
      fault: /not conserved/,
    })
  })
})

describe("a fault sweep", () => {
  it("says what a port has opened and nobody has closed, and by which fault", () => {
    // Hangs up after a call that was answered, and forgets to after one that failed.
    const stage = FaultSweep.on((script) =>
      Effect.succeed(Effect.flatMap(
        script.open("line"),
        (line) => Effect.andThen(script.effect("call", Effect.void), line.close),
      ))
    )
    const scene: Sweep.Scene<Effect.Effect<void>, "user"> = {
      fibers: (call) => ({ user: Effect.uninterruptible(call) }),
      prompt: false,
      disturb: "user",
    }
    const failed = Effect.runSync(Effect.flip(stage.sweep([Script.fail("down")], scene)))
    assert.strictEqual(
      failed.message,
      'left open: line 1 [oldest first, undisturbed, call 1 (call 1): fail; replay "1 fail: oldest"]',
    )
    assert.strictEqual(Effect.runSync(stage.sweep([Script.pass, Script.late(1), Script.twice], scene)).calls, 2)
  })
})

describe("the bound of a fault sweep", () => {
  /** Two calls, in the order in which their fibers run. */
  const two = (plans: ReadonlyArray<Script.Plan>) => {
    const stage = FaultSweep.on((script) => Effect.succeed(script))
    return Effect.runSync(stage.sweep(plans, {
      fibers: (script) => ({ a: script.effect("x", Effect.void), b: script.effect("y", Effect.void) }),
      disturb: "a",
    }))
  }

  it("is one sweep for each call and each plan that is for what was called there, in either order", () => {
    const sweeps = (...plans: ReadonlyArray<Script.Plan>): ReadonlyArray<number> => {
      const [whole, { runs, steps }] = [two([]), two(plans)]
      return [steps / whole.steps, runs / whole.runs]
    }
    assert.deepStrictEqual([two([]).calls, sweeps(Script.pass)], [2, [3, 3]])
    assert.deepStrictEqual(sweeps(Script.pass, Script.pass), [5, 5])
    // Each of them is the first in one of the orders.
    assert.deepStrictEqual(sweeps(Script.at("x", Script.pass)), [3, 3])
    assert.deepStrictEqual(sweeps(Script.at("z", Script.pass)), [1, 1])
  })

  it("leaves what the scene itself names as open, and says so of a call that was not made", () => {
    const stage = FaultSweep.on((script) => Effect.succeed(script.effect("call", Effect.void)))
    const scene: Sweep.Scene<Effect.Effect<void>, "user"> = { fibers: (call) => ({ user: call }), disturb: "user" }
    const open = Effect.runSync(Effect.flip(stage.sweep([], { ...scene, left: () => ["a file"] })))
    assert.strictEqual(open.why, "left open: a file")
    const wrong = { ...scene, oracle: () => Effect.fail("no") }
    const failed = Effect.runSync(Effect.flip(stage.replay([Script.pass], wrong, "9 pass: oldest 0")))
    assert.include(failed.message, 'call 9 (not made 0): pass; replay "9 pass: oldest"]')
  })
})

describe("a plan that a call cannot go by", () => {
  it("is a failure that says so, also where the program makes nothing of it", () => {
    const opened = (script: Script.Script) =>
      Effect.uninterruptible(Effect.flatMap(script.open("line"), (line) => line.close))
    const programs = [opened, (script: Script.Script) => Effect.exit(script.effect("call", Effect.void))]
    const told = programs.map((program) =>
      Effect.runSync(Effect.flip(
        FaultSweep.on(Effect.succeed).sweep([Script.inDeadlineTick], {
          fibers: (script) => ({ user: Effect.exit(program(script)) }),
          disturb: "user",
          ends: { user: ["Completed"] },
        }),
      ))
    )
    assert.deepStrictEqual(told.map(({ point, why }) => [point, why]), [
      ["1 inDeadlineTick: oldest", "line.close: its caller carries no deadline"],
      ["1 inDeadlineTick: oldest", "call: its caller carries no deadline"],
    ])
  })
})

describe("a fault sweep of fibers of any name", () => {
  it("says how each of them ended", () => {
    for (const name of ["constructor", "__proto__"]) {
      const { endings } = Effect.runSync(
        FaultSweep.on((script) => Effect.succeed(script.effect("call", Effect.void))).sweep([Script.fail("down")], {
          fibers: (call) => ({ [name]: call }),
          disturb: name,
          ends: { [name]: ["Completed", "down"] },
        }),
      )
      assert.deepStrictEqual(Object.entries(endings), [[name, ["Completed", "Interrupted", "down"]]])
    }
  })
})

describe("a point of a fault sweep", () => {
  const calls = FaultSweep.on((script) =>
    Effect.succeed(Effect.catch(
      script.effect<void, string, never>("call", Effect.void),
      (error) => error === "down" ? Effect.void : Effect.die(error),
    ))
  )
  const ofCalls: Sweep.Scene<Effect.Effect<void>, "user"> = {
    fibers: (call) => ({ user: call }),
    disturb: "user",
  }

  it("tells plans of one name apart, and plays the one that it was", () => {
    const died = "user ended Died (`ends` lists what else it may)"
    const plans = [Script.fail("down"), { ...Script.pass, name: "fail 3" }, Script.fail("busy"), Script.fail("gone")]
    const failed = Effect.runSync(Effect.flip(calls.sweep(plans, ofCalls)))
    assert.deepStrictEqual([failed.point, failed.why], ["1 fail 2: oldest", `${died}: busy`])
    const again = Effect.runSync(Effect.flip(calls.replay(plans, ofCalls, failed.point)))
    assert.strictEqual(again.message, failed.message)
    const last = Effect.runSync(Effect.flip(calls.replay(plans, ofCalls, "1 fail 4: oldest")))
    assert.strictEqual(last._tag === "SweepFailed" ? last.why : last._tag, `${died}: gone`)
    Effect.runSync(calls.replay(plans, ofCalls, "1 fail: oldest"))
    Effect.runSync(calls.replay(plans, ofCalls, "1 fail 3: oldest"))
  })

  it("that names a call which is not made, or not of the plan's label, is none", () => {
    const plans = [Script.pass, Script.at("other", Script.pass)]
    const why = (point: string) => Effect.runSync(Effect.flip(calls.replay(plans, ofCalls, point)))
    for (const point of ["0 pass: oldest", "2 pass: oldest", "9 pass: oldest 1", "1 other pass: oldest"]) {
      assert.strictEqual(why(point).message, `cannot play "${point}": no such call is made that goes by this plan`)
    }
    Effect.runSync(calls.replay(plans, ofCalls, "1 pass: oldest 1"))
  })

  it("that names no call, plan or step is none", () => {
    const stage = FaultSweep.on(() => Effect.void)
    const scene = { fibers: () => ({ user: Effect.void }), disturb: "user" } as const
    for (const point of ["", "1 no plan: oldest", "1 pass: middle", "nowhere", "oldest 99"]) {
      const failed = Effect.runSync(Effect.flip(stage.replay([Script.pass], scene, point)))
      assert.strictEqual(failed._tag, "InvalidPoint")
      assert.include(failed.message, `cannot play ${JSON.stringify(point)}: `)
    }
    Effect.runSync(stage.replay([Script.pass], scene, "oldest 1"))
  })
})
