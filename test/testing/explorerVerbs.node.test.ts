/** Every verb in every order, within one forced switch and one interruption; within two, on Node, in the slow file. */
import { describe, expect } from "vitest"
import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Explorer from "../../core/testing/Explorer.ts"
import type { AnyProgram } from "../../core/testing/ExplorerRun.ts"
import { admission, crowd, gates, set } from "./Verbs.ts"

const within = { preemptions: 1, interruptions: 1 }

describe("Admission", () => {
  it.effect.each(Object.entries(admission))(
    "AD-4 AD-5: %s settles the books in every order",
    ([, program]) =>
      Effect.gen(function* () {
        const { cutBy, exhaustive, schedules } = yield* Explorer.explore(program, within)
        expect({ cutBy, exhaustive }).toEqual({ cutBy: ["preemptions"], exhaustive: true })
        expect(schedules).toBeGreaterThan(1_000)
      }),
  )

  it.effect("AD-4 AD-5: all verbs at once settle the books in 2,000 orders that a seed draws", () =>
    Effect.gen(function* () {
      const drawn = yield* Explorer.sample(crowd, { seed: 20_261_129, schedules: 2_000, interruptions: 2 })
      expect(drawn).toMatchObject({ schedules: 2_000, exhaustive: false, cutBy: ["maxSchedules"] })
    }))
})

describe("gates", () => {
  it.effect.each(Object.entries({ ...gates, "gates: get, snapshotAll": set }))(
    "%s settles the books in every order",
    ([, program]) =>
      Effect.gen(function* () {
        const { cutBy, exhaustive, schedules } = yield* Explorer.explore(program, within)
        expect({ cutBy, exhaustive }).toEqual({ cutBy: ["preemptions"], exhaustive: true })
        expect(schedules).toBeGreaterThan(300)
      }),
  )
})

describe("the verbs that are explored", () => {
  /** All that a noun has, in the order of the alphabet. */
  const verbs = (noun: object): ReadonlyArray<string> => {
    const names = new Set<string>()
    for (let at = noun; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
      for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") names.add(name)
    }
    return [...names].sort()
  }

  /** The noun that notes whatever is asked of it. */
  const noted = <A extends object>(noun: A, asked: Set<string>): A =>
    new Proxy(noun, {
      get: (_, name) => {
        asked.add(String(name))
        const member: unknown = Reflect.get(noun, name)
        return typeof member === "function" ? member.bind(noun) : member
      },
    })

  /** What programs ask of the noun that `at` is called in their state, or that is the state itself, and all that it has. */
  const used = (programs: ReadonlyArray<AnyProgram>, at: string | undefined) =>
    Effect.gen(function* () {
      const asked = new Set<string>()
      let all: ReadonlyArray<string> = []
      for (const { fibers, prepare } of programs) {
        const watched = Effect.map(prepare, (state) => {
          const parts = state as Readonly<Record<string, object>>
          all = verbs(at === undefined ? parts : parts[at]!)
          return at === undefined ? noted(parts, asked) : { ...parts, [at]: noted(parts[at]!, asked) }
        })
        yield* Explorer.sample({ prepare: watched, fibers, oracle: () => {} }, { seed: 1, schedules: 50 })
      }
      return { asked: [...asked].sort(), all }
    })

  const of = (prefix: string): ReadonlyArray<AnyProgram> =>
    Object.entries(gates).filter(([name]) => name.startsWith(`${prefix}: `)).map(([, program]) => program)

  it.effect.each(
    [
      ["Admission", Object.values(admission), "admission", 9],
      ["ProviderGate", of("gate"), "gate", 6],
      ["GateLine", of("line"), "line", 2],
      ["CircuitBreaker", of("breaker"), undefined, 5],
      ["ProviderGates", [set], undefined, 2],
    ] as const,
  )("are all that %s has", ([, programs, at, count]) =>
    Effect.gen(function* () {
      const { all, asked } = yield* used(programs, at)
      expect(asked).toEqual(all)
      expect(all.length).toBe(count)
    }))
})
