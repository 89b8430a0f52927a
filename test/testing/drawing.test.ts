/** What is shared as text: each value by its content or its name, and what is told of what cannot be seen. */
import { assert, describe, it } from "vitest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as Redacted from "effect/Redacted"
import * as Scheduler from "effect/Scheduler"
import { World } from "../../core/testing/ExplorerWorld.ts"
import { Words } from "../../core/testing/Schedule.ts"
import { Drawing, Kinds, type Known, type Thing } from "../../core/testing/SharedState.ts"

/** A drawing that names what it meets from 1 on; what is known before goes by a name from 100 on. */
const drawing = (...known: ReadonlyArray<Thing>): Drawing =>
  new Drawing(
    new Map(known.map((thing, i): readonly [Thing, Known] => [thing, { name: 100 + i, since: 0, holders: undefined }])),
    (ordinal) => ({ name: 1 + ordinal, since: 0, holders: undefined }),
  )
/** Without the numbers of classes, which are a matter of who was met first. */
const told = (value: unknown, ...known: ReadonlyArray<Thing>): string =>
  drawing(...known).tell(value).replaceAll(/~\d* /g, "")

describe("a value is drawn", () => {
  it("as itself where it is none of those that are told apart from others of the same content", () => {
    const values = [1, -0, 0, NaN, 10n, "a", 'say "a"', "back\\", "", true, null, undefined]
    const texts = [
      "1",
      "-0",
      "0",
      "NaN",
      "10n",
      '"a"',
      '"say \\"a\\""',
      '"back\\\\"',
      '""',
      "true",
      "null",
      "undefined",
    ]
    assert.deepStrictEqual(values.map((value) => told(value)), texts)
  })

  it("by its properties, elements and entries, each thing by its name, and once by its content", () => {
    const shared = { n: 1 }
    assert.strictEqual(told({ a: shared, b: [shared, 2] }), '{"a":#1{"n":1,},"b":#2[#1,2],}')
    assert.strictEqual(told({ a: shared }, shared), '{"a":#100{"n":1,},}')
    assert.strictEqual(told([]), "[]")
    assert.strictEqual(told(Object.assign([1, 2], { x: 3 })), '{"0":1,"1":2,"length":2,"x":3,}')
    const hole = [1, 2]
    delete hole[0]
    assert.strictEqual(told(hole), '{"1":2,"length":2,}')
    assert.strictEqual(told(Object.assign(hole, { x: 3 })), '{"1":2,"length":2,"x":3,}')
    assert.strictEqual(
      told({ m: new Map([[shared, "x"]]), s: new Set([shared, 1]) }),
      [
        '{"m":#1{#2{"n":1,}>"x";},',
        '"s":#3{#2;1;},}',
      ].join(""),
    )
    const key = Symbol("key")
    assert.strictEqual(told({ [key]: 1, again: key }), '{"again":#1,#1:1,}')
    const loop: { self?: object } = {}
    loop.self = loop
    assert.strictEqual(drawing().draw(loop), '#1{"self":#1,}')
    assert.strictEqual(told(Object.assign(Object.create(null), { n: 1 })), '{"n":1,}')
  })

  it("by what those of the platform hold that can be read", () => {
    assert.strictEqual(told(new Date(5)), "{5}")
    assert.strictEqual(told(/a/g), '{/a/g"lastIndex":0,}')
    assert.strictEqual(told(new Uint8Array([1, 2]).buffer), "{1,2}")
    assert.strictEqual(told(new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 2)), "{1 2 #1{1,2,3}}")
    assert.strictEqual(told(new Uint8Array([7, 8])), '{"0":7,"1":8,}')
  })

  it("of an error by its class, name and message, and not by where it was made", () => {
    class Down extends Error {
      readonly code = 5
    }
    assert.strictEqual(told(new TypeError("no")), '{TypeError "TypeError" "no" "message":"no",}')
    assert.strictEqual(told(new Down("no")), '{Down "Error" "no" "message":"no","code":5,}')
  })

  it("by its class, and by whether it can still be changed", () => {
    const of = <A>(all: ReadonlyArray<A>): number => {
      const kinds = new Kinds()
      const meet = (ordinal: number) => ({ name: ordinal, since: 0, holders: undefined })
      return new Set(all.map((each) => new Drawing(new Map(), meet, kinds).draw(each))).size
    }
    const bare = Object.create(null)
    const fixed = [Object.preventExtensions({ n: 1 }), Object.freeze({ n: 1 })]
    const alike: ReadonlyArray<ReadonlyArray<unknown>> = [
      [{}, bare, Option.none(), new Map(), new Set(), [], Object.freeze({})],
      [{ value: 1 }, Option.some(1)],
      [Uint8Array.of(1), Int8Array.of(1), Uint16Array.of(1), { 0: 1 }],
      [{ n: 1 }, ...fixed],
      [[1], Object.freeze([1])],
    ]
    for (const values of alike) {
      assert.strictEqual(of(values), values.length)
      for (const value of values) assert.strictEqual(of([value, value]), 1)
    }
    assert.strictEqual(of([Option.some(1), Option.some(1)]), 1)
  })

  it("of a function by what was put on it", () => {
    const counts = Object.assign(() => {}, { calls: 1, of: { n: 2 } })
    assert.strictEqual(told({ counts }), '{"counts":#1{"calls":1,"of":#2{"n":2,},},}')
    assert.strictEqual(told({ f() {} }), '{"f":#1,}')
    const got = Object.defineProperty(() => {}, "calls", { get: () => assert.fail("called") })
    assert.strictEqual(told({ got }), '{"got":#1,}')
  })

  it("of a prototype that belongs to no class by what it leads to", () =>
    assert.strictEqual(told(Object.create({ inner: 1 })), '{^#1{"inner":1,} }'))

  it("of a fiber by how it has ended", () => {
    const fiber = Effect.runFork(Effect.never)
    assert.strictEqual(told({ fiber }), '{"fiber":#1(undefined),}')
    fiber.interruptUnsafe()
    assert.notStrictEqual(told({ fiber }), '{"fiber":#1(undefined),}')
  })

  it("of a context by its services, but for those that a world has given", () => {
    const Pool = Context.Service<{ free: number }>("Pool")
    const world = new World(new Words(), {
      preemptions: 0,
      interruptions: 0,
      maxSteps: 10,
      targets: "own",
      alike: new Set(),
    })
    const inWorld = Context.make(Scheduler.Scheduler, world)
    const pool = { free: 1 }
    const context = Context.add(inWorld, Pool, pool)
    assert.strictEqual(told({ context }), '{"context":#1("Pool":#2{"free":1,},),}')
    pool.free = 0
    assert.strictEqual(told({ context }), '{"context":#1("Pool":#2{"free":0,},),}')
    assert.strictEqual(told({ context: inWorld }), '{"context":#1(),}')
  })
})

describe("what a drawing tells of itself", () => {
  it("is how many things were not known before, and which are in it", () => {
    const [old, fresh] = [{ n: 1 }, { n: 2 }]
    const made = drawing(old)
    made.tell({ old, fresh, again: fresh })
    assert.deepStrictEqual([made.news, [...made.things.keys()]], [1, [old, fresh]])
    assert.deepStrictEqual([made.unread, made.isDoubtful], [undefined, false])
  })

  it("is a function that is nobody else's, or a thing of a class of the program's own", () => {
    class Own {
      readonly n = 1
    }
    const known = () => {}
    const doubtful = (value: unknown): boolean => {
      const made = drawing(known)
      made.tell({ value })
      assert.isUndefined(made.unread)
      return made.isDoubtful
    }
    class Sub extends Own {}
    const own = [() => {}, new Own(), new Sub(), Object.create(new Own())]
    assert.deepStrictEqual(own.map(doubtful), [true, true, true, true])
    class Wrong extends Error {}
    class Tagged extends Data.TaggedError("Tagged") {}
    const others = [known, {}, [], new Map(), Deferred.makeUnsafe(), new Wrong("no"), new Tagged(), new Uint8Array(1)]
    assert.deepStrictEqual(others.map(doubtful), others.map(() => false))
    assert.deepStrictEqual([Object.create({}), Object.create(Object.create(null)), Object.create(null)].map(doubtful), [
      false,
      false,
      false,
    ])
  })

  it("is of a class by its source, its parents and Effect's mark, as it is met", () => {
    // A bound function says of itself that it is of the platform; each of these prototypes is met for the first time.
    const native = () => function () {}.bind(undefined)
    const above = (parent: object | null, own: object) => Object.create(Object.assign(Object.create(parent), own))
    const seen = (value: unknown) => {
      const made = drawing()
      const text = made.tell({ value })
      return [made.unread, made.isDoubtful, text.includes("^")]
    }
    const bytes = Object.getPrototypeOf(Uint8Array.prototype)
    const hidden = ["thing of the platform", false, false]
    const known = [undefined, false, false]
    const named = Object.defineProperty(native(), "name", { value: "Native" })
    assert.deepStrictEqual(seen(above(Object.prototype, { constructor: named })), ["Native", false, false])
    assert.deepStrictEqual(seen(above(Object.prototype, { constructor: 5 })), hidden)
    assert.deepStrictEqual(seen(above(Error.prototype, { constructor: native() })), known)
    assert.deepStrictEqual(seen(Object.create(above(bytes, { constructor: native() }))).slice(0, 1), [undefined])
    for (const mark of [{ "~effect/Mine": 1 }, { other: 1, "~effect/Mine": 1 }]) {
      assert.deepStrictEqual(seen(above(Object.prototype, mark)), known)
      assert.deepStrictEqual(seen(above(above(null, mark), {})), known)
    }
    assert.deepStrictEqual(seen(above(Object.prototype, { other: 1 })), [undefined, false, true])
    class Own {
      readonly n = 1
    }
    assert.deepStrictEqual(seen(new Own()), [undefined, true, false])
    assert.deepStrictEqual(seen(Object.create(new Own())), [undefined, true, false])
  })

  it("is the class of the first that hides something", () => {
    class Private {
      readonly #word = 1
      get word(): number {
        return this.#word
      }
    }
    class Below extends Private {}
    class Strange {}
    Object.assign(Strange.prototype, { constructor: 5 })
    const unread = (value: unknown): string | undefined => {
      const made = drawing()
      made.tell({ value })
      return made.unread
    }
    const hiding = [new Private(), new Below(), new WeakMap(), new URL("http://a"), Redacted.make("a"), new Strange()]
    assert.deepStrictEqual(hiding.map(unread), [
      "Private",
      "Below",
      "WeakMap",
      "URL",
      "Redacted",
      "thing of the platform",
    ])
    assert.strictEqual(unread(PartitionedSemaphore.makeUnsafe<string>({ permits: 1 })), "PartitionedSemaphore")
    const semaphore = PartitionedSemaphore.makeUnsafe<string>({ permits: 1 })
    for (const second of [new Private(), semaphore, Redacted.make("a")]) {
      assert.strictEqual(unread([new WeakSet(), second]), "WeakSet")
    }
    assert.deepStrictEqual([new Float64Array(1), new RangeError("a"), new Map()].map(unread), [
      undefined,
      undefined,
      undefined,
    ])
  })
})
