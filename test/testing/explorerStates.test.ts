/**
 * Known states and the bounds: what was left of them when a state was first come to decides what it spares. In these
 * programs a state is come to twice by the order of two steps that only read, with more left the second time.
 */
import { expect, it } from "vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { type Bounds, tell, type Told } from "./Worlds.ts"

const read = <A>(look: () => A): Effect.Effect<A> => Effect.sync(look)
const write = (change: () => void): Effect.Effect<void> => Effect.sync(change)

/** What pruning finds within one forced switch, which must be what is found without it. */
const pruned = <S>(
  prepare: () => S,
  fibers: (state: S) => Readonly<Record<string, Effect.Effect<void>>>,
  bounds: Bounds = {},
): Told => {
  const program = {
    prepare: Effect.sync(prepare),
    fibers: (state: unknown) => fibers(state as S),
    oracle: () => {},
    shared: (state: unknown) => state,
  }
  const [some, all] = (["pruned", undefined] as const).map((how) =>
    tell(program, { preemptions: 1, ...bounds, ...(how && { how }) }, (state) => JSON.stringify(state))
  )
  expect([...some!.ends].sort()).toEqual([...all!.ends].sort())
  return some!
}

const comesTo = ({ ends }: Told, end: object): boolean => [...ends].some((told) => told.endsWith(JSON.stringify(end)))

it("a state that was come to by a switch is gone on from by a way that has spared it", () => {
  // `b` has to look before `a` writes and again at the end, for which it need not be forced in; so `c` can be.
  const told = pruned(() => ({ n: 0, b: "", c: -1 }), (s) => ({
    a: Effect.flatMap(
      read(() => s.n),
      (n) =>
        Effect.andThen(
          write(() => {
            s.n = n + 1
          }),
          write(() => {
            s.n = n + 10
          }),
        ),
    ),
    b: Effect.flatMap(read(() => s.n), (n) =>
      Effect.andThen(
        Effect.yieldNow,
        write(() => {
          s.b = `${n}, then ${s.n}`
        }),
      )),
    c: write(() => {
      s.c = s.n
    }),
  }))
  expect(comesTo(told, { n: 10, b: "0, then 10", c: 1 })).toBe(true)
})

it("states are apart by the order in which the fibers of a race failed, which is told only once all have", () => {
  const told = pruned(() => ({ why: "", seen: "" }), (s) => ({
    a: Effect.raceAll([1, 2].map((n) => Effect.andThen(Effect.yieldNow, Effect.fail(n)))).pipe(
      Effect.catchCause(({ reasons }) => write(() => void (s.why = reasons.map((each) => String(each)).join()))),
      Effect.andThen(write(() => void (s.why = ""))),
    ),
    b: write(() => void (s.seen = s.why)),
  }))
  const seen = [...told.ends].map((end) => /"seen":"(.*)"/.exec(end)?.[1])
  expect(new Set(seen).size).toBe(3)
})

it("states are apart by an interruption of a fiber that has not begun", () => {
  const told = pruned(() => ({ free: 1, seen: -1 }), (s) => ({
    a: Effect.suspend(() => {
      s.free--
      return Effect.flatMap(Effect.forkChild(Effect.ensuring(Effect.void, write(() => void s.free++))), Fiber.await)
    }),
    b: write(() => void (s.seen = s.free)),
  }), { interruptions: 1, interrupt: ["a.1"] })
  for (const end of [{ free: 0, seen: 0 }, { free: 0, seen: 1 }, { free: 1, seen: 0 }, { free: 1, seen: 1 }]) {
    expect([end, comesTo(told, end)]).toEqual([end, true])
  }
})

it("a state in which one fiber runs does not spare the one in which another does, to whom it costs a switch", () => {
  const told = pruned(() => ({ reads: "", last: "" }), (s) => {
    const fiber = (name: string): Effect.Effect<void> =>
      Effect.flatMap(read(() => s.last), (last) =>
        write(() => {
          s.reads += `${name}${last} `
          s.last = name
        }))
    return { a: fiber("a"), c: fiber("c") }
  })
  expect(comesTo(told, { reads: "c a ", last: "a" })).toBe(true)
  expect(comesTo(told, { reads: "a c ", last: "c" })).toBe(true)
})
