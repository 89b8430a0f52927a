/** The tools of the generated mutants and the list of their survivors, as laws. */
import { describe, expect, it } from "vitest"
import { readdirSync, readFileSync } from "node:fs"
import * as Runtime from "../support/Runtime.ts"
import * as Operators from "./Operators.ts"
import * as Plan from "./Plan.ts"
import * as Schemata from "./Schemata.ts"
import * as Survivors from "./Survivors.ts"

const read = (file: string): string => readFileSync(Runtime.root + file, "utf8")
const core = readdirSync(`${Runtime.root}core`, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts")).map((file) => `core/${file}`)
const numbered = (file: string, text: string): readonly Schemata.Numbered[] =>
  Operators.mutants(file, text).map((mutant, i) => ({ ...mutant, id: i + 1 }))

const fixture = `
const most = 3
export class Fixture {
  left = 1
  get message() { return "left " + (this.left + 1) }
  run(a: number, b?: number): number | undefined {
    if (a > most && !b) return undefined
    this.left -= a ?? 2
    this.note(a < 2 ? true : 1n)
    for (let i = 0; i < 2; i++) this.list.push("text" + i)
    const all = { b }
    return [all].some((each) => each.b === 7) ? -a : Math.max(a, b as number)
  }
}
`

describe("the operators", () => {
  it("change comparisons, tests, arithmetic, literals, calls and assignments, and no type and no text", () => {
    const changes = Operators.mutants("f.ts", fixture).map(({ text, replacement, isStatic, isStatement }) =>
      `${text} -> ${replacement}${isStatic ? " (static)" : ""}${isStatement ? "(statement)" : ""}`
    )
    expect(changes).toEqual([
      "3 -> 4 (static)",
      "1 -> 0",
      "a > most && !b -> a > most || !b",
      "a > most && !b -> true",
      "a > most && !b -> false",
      "a > most -> a >= most",
      "a > most -> a <= most",
      "!b -> b",
      "this.left -= a ?? 2 -> (statement)",
      "this.left -= a ?? 2 -> this.left += a ?? 2",
      "a ?? 2 -> a",
      "a ?? 2 -> 2",
      "2 -> 3",
      "this.note(a < 2 ? true : 1n) -> (statement)",
      "a < 2 -> a <= 2",
      "a < 2 -> true",
      "a < 2 -> false",
      "2 -> 3",
      "true -> false",
      "1n -> 2n",
      "0 -> 1",
      "i < 2 -> i <= 2",
      "i < 2 -> false",
      "2 -> 3",
      "i++ -> i--",
      `this.list.push("text" + i) -> (statement)`,
      "[all].some((each) => each.b === 7) -> [all].every((each) => each.b === 7)",
      "[all].some((each) => each.b === 7) -> true",
      "[all].some((each) => each.b === 7) -> false",
      "each.b === 7 -> each.b !== 7",
      "7 -> 8",
      "-a -> a",
      "Math.max(a, b as number) -> Math.min(a, b as number)",
    ])
  })

  it("name a mutant by its line, so that it is known again when others move it", () => {
    const [before, after] = [fixture, `\n// A line.\n${fixture}`].map((text) =>
      Operators.mutants("f.ts", text).map(Operators.name)
    )
    expect(after).toEqual(before)
    expect(new Set(before).size).toBe(before?.length)
  })

  it("are woven in so that one that is on does what its edit does, and none does what there was", () => {
    const source = `globalThis.run = (a, b, log) => {
  let n = a > 2 && b !== 0 ? a - b : a * 2
  const c = b
  if (a === 1) log.push("one")
  else n += c ?? 1
  const last = log
  ++last.length
  for (let i = 0; i < a; i++) log.push(i)
  return { n, c, list: log.every((each) => each !== 1) }
}`
    const mutants = numbered("f.js", source)
    const outcomes = (text: string): string => {
      const scope: { run?: (a: number, b: number | undefined, log: unknown[]) => unknown } = {}
      const isOn = (globalThis as Readonly<Record<string, unknown>>)[Schemata.global]
      new Function("globalThis", text)(Object.assign(scope, { [Schemata.global]: isOn }))
      return JSON.stringify([0, 1, 2, 3, 4].flatMap((a) =>
        [0, 1, 2, undefined].map((b) => {
          const log: unknown[] = []
          try {
            return [scope.run?.(a, b, bounded(log)), log]
          } catch (error) {
            return String(error)
          }
        })
      ))
    }
    const woven = Schemata.weave("f.js", source, mutants)
    let on = 0
    Object.assign(globalThis, { [Schemata.global]: { isOn: (id: number) => id === on } })
    expect(mutants.length).toBeGreaterThan(20)
    expect(outcomes(woven)).toBe(outcomes(source))
    let different = 0
    for (const { end, id, isStatement, replacement, start } of mutants) {
      on = id
      const edited = source.slice(0, start) + (isStatement ? "{}" : replacement) + source.slice(end)
      expect(outcomes(woven), replacement).toBe(outcomes(edited))
      // So it is without the others, by which statements begin and end in other ways.
      const alone = Schemata.weave("f.js", source, mutants.filter((mutant) => mutant.id === id))
      expect(outcomes(alone), replacement).toBe(outcomes(edited))
      on = 0
      expect(outcomes(alone), replacement).toBe(outcomes(source))
      if (outcomes(edited) !== outcomes(source)) different++
    }
    expect(different).toBeGreaterThan(20)
    Reflect.deleteProperty(globalThis, Schemata.global)
  })

  it("find a place for each of their mutants in every file of core", () => {
    for (const file of core) {
      const text = read(file)
      const woven = Schemata.weave(file, text, numbered(file, text))
      expect(() => Operators.parse(file, woven), file).not.toThrow()
    }
  })
})

/** An array that throws where it grows without end: then a loop is as good an outcome as any other. */
const bounded = (log: unknown[]): unknown[] =>
  new Proxy(log, {
    set: (target, key, value) => {
      if (target.length > 50) throw new Error("a loop")
      return Reflect.set(target, key, value)
    },
  })

describe("the list of survivors", () => {
  it("names each mutant once and with its reason", () => {
    expect(Survivors.rot(Survivors.read(), [])).toEqual([])
    for (const { reason } of Survivors.read()) {
      const [kind = "", rest = ""] = reason.split(/: (.*)/)
      expect(Object.keys(Survivors.kinds)).toContain(kind)
      expect(rest).toMatch(/\S/)
    }
    expect(Survivors.read().length).toBeGreaterThan(0)
  })

  it("that is not true any more is told", () => {
    const mutants = Operators.mutants("f.ts", fixture)
    const { file, line, replacement, text } = mutants[0]!
    const sound: Survivors.Survivor = { file, line, text, replacement, reason: "equivalent" }
    const name = "f.ts: const most = 3 · 3 -> 4"
    expect(Survivors.rot([sound], mutants)).toEqual([])
    expect(Survivors.rot([sound, sound], mutants)).toEqual([`listed twice: ${name}`])
    expect(Survivors.rot([{ ...sound, reason: " " }], mutants)).toEqual([`listed without a reason: ${name}`])
    expect(Survivors.rot([{ ...sound, nth: 2 }], mutants)).toEqual([`listed, and not there: ${name} (2)`])
    expect(Survivors.rot([{ ...sound, file: "g.ts", nth: 2 }], mutants)).toEqual([])
  })
})

it("what a test says of mutants that it does not survive itself is void", () => {
  const by = { file: "a.test.ts", test: "t" }
  const found = Plan.findings([
    { kind: "loaded", file: "a.test.ts", reached: [9] },
    { kind: "ran", ...by, millis: 1, isSlow: true, reached: [1, 2] },
    { kind: "killed", id: 1, how: "failed", ...by },
    { kind: "killed", id: 2, how: "looped", file: "b.test.ts", test: "t" },
    { kind: "void", ids: [1], ...by },
  ])
  expect([[...found.killed.keys()], [...found.unsure], [...found.reached], [...found.loaded.keys()]])
    .toEqual([[2], [1], [1, 2], [9]])
  expect(found.slow.map(({ test }) => test)).toEqual(["t"])
})
