/** The register and what it takes to prove it, as laws; each is shown to notice what is planted against it. */
import { describe, expect, it } from "vitest"
import type * as Suite from "../support/Suite.ts"
import * as Matrix from "./Matrix.ts"
import * as Register from "./Register.ts"

const entry = (id: string, fields: object = {}): object => ({
  id,
  kind: "S",
  text: "A law.",
  profile: "single",
  ...fields,
})
const planted = (fields: Register.Files = {}): Register.Files => ({
  "XY.json": [entry("XY-1"), entry("XY-2"), entry("XY-3", { kind: "L", profile: "fleet" })],
  "Z.json": [entry("Z-S1"), entry("Z-L1"), entry("Z-S2")],
  "built.json": { built: ["XY", "Z-L1"], later: [{ id: "XY-3", why: "It comes with the fleet." }] },
  ...fields,
})
const { register } = Register.parse(planted())

const test = (title: string, status: Suite.Test["status"] = "passed"): Suite.Test => ({
  file: "a.test.ts",
  within: ["Z-S2: the title around it"],
  title,
  status,
})
const proved = (...tests: readonly Suite.Test[]): readonly string[] =>
  Matrix.make(register, register.obligations.map(({ id }) => id), tests)
    .rows.filter(({ standing }) => standing === "proved").map(({ id }) => id)
const all = [test("XY-1 XY-2: both"), test("Z-L1: one")]

describe("the register of this repository", () => {
  const { register, faults } = Register.parse(Register.read())
  it("is well-formed", () => expect(faults).toEqual([]))
  it("holds every obligation of the seven systems", () => {
    const counts = { AD: 40, HP: 118, IS: 82, K: 16, PG: 55, PP: 103, TP: 79 }
    const count = (prefix: string): number => Register.select(register.obligations, [prefix]).ids.length
    expect(Object.keys(counts).map((prefix) => [prefix, count(prefix)])).toEqual(Object.entries(counts))
    expect(register.obligations.length).toBe(Object.values(counts).reduce((sum, each) => sum + each))
  })
  it("declares something built that does not come later", () => {
    expect(register.built.some((id) => !register.later.has(id))).toBe(true)
  })
})

describe("a register is well-formed", () => {
  const faults = (fields: Register.Files): readonly string[] => Register.parse(planted(fields)).faults
  const built = (built: unknown, later: unknown): Register.Files => ({ "built.json": { built, later } })

  it("without a fault where there is none", () => expect(faults({})).toEqual([]))
  it("when each series counts from one, in order, without a hole", () => {
    expect(faults({ "Z.json": [entry("Z-S1"), entry("Z-S1"), entry("Z-L1")] })).toEqual([
      "Z.json: Z-S1 stands where Z-S2 is due",
    ])
    expect(faults({ "Z.json": [entry("Z-L1"), entry("Z-S1"), entry("Z-S3")] })).toEqual([
      "Z.json: Z-S3 stands where Z-S2 is due",
    ])
    expect(faults({ "Z.json": [entry("Z-S2"), entry("Z-S3"), entry("Z-L1")] })).toEqual([
      "Z.json: Z-S2 stands where Z-S1 is due",
    ])
  })
  it("when a file holds ids of its own prefix alone", () => {
    expect(faults({ "W.json": [entry("XY-1")] })).toEqual(["W.json: XY-1 is in the wrong file"])
  })
  it("when id, kind, text and profile are there, right, and all", () => {
    const plants: readonly [string, object][] = [
      ["id", { id: "W1" }],
      ["id", { id: "W-01" }],
      ["kind", { kind: "Z" }],
      ["kind", { kind: "toString" }],
      ["text", { text: " " }],
      ["text", { text: 1 }],
      ["profile", { profile: "double" }],
      ["profile", { profile: undefined }],
      ["note", { note: "" }],
      ["kind, profile", { kind: 1, profile: 1 }],
    ]
    for (const [wrong, fields] of plants) {
      const bad = entry("W-1", fields)
      expect(faults({ "W.json": [bad] })).toEqual([`W.json: wrong ${wrong} in ${JSON.stringify(bad)}`])
    }
    expect(faults({ "W.json": [null] })).toEqual(["W.json: wrong id, kind, text, profile in null"])
    expect(faults({ "W.json": {} })).toEqual(["W.json is no array"])
  })
  it("when what is declared built is known", () => {
    const unknown = (word: string): string => `built.json: built names ${word}, which is no id and no prefix`
    expect(faults(built(["XY", "W", "XY-4", "X", "Z-S"], []))).toEqual(["W", "XY-4", "X", "Z-S"].map(unknown))
    expect(faults(built("XY", []))).toEqual(["built.json: built is no array"])
    expect(faults({ "built.json": null })).toEqual(["built.json is no object"])
  })
  it("when what comes later is declared built, once, with a reason", () => {
    const good = { id: "XY-3", why: "Later." }
    for (const bad of [{ id: "Z-S1", why: "No." }, { id: "XY-2", why: "" }, { id: "XY", why: "No." }, "XY-2", good]) {
      expect(faults(built(["XY"], [good, bad]))).toEqual([
        `built.json: not one id that is declared built and why it comes later: ${JSON.stringify(bad)}`,
      ])
    }
    expect(faults(built(["XY"], undefined))).toEqual(["built.json: later is no array"])
  })
})

describe("asking", () => {
  const select = (...words: readonly string[]): unknown => Register.select(register.obligations, words)
  it("takes prefixes and ids, each once, in the order of the register", () => {
    expect(select("Z-S2", "XY", "XY-1")).toEqual({ ids: ["XY-1", "XY-2", "XY-3", "Z-S2"], unknown: [] })
    expect(register.built).toEqual(["XY-1", "XY-2", "XY-3", "Z-L1"])
  })
  it("names every word that asks for nothing", () => {
    expect(select("Z-S", "XY", "xy", "XY-9", "XY-", "")).toEqual({
      ids: ["XY-1", "XY-2", "XY-3"],
      unknown: ["Z-S", "xy", "XY-9", "XY-", ""],
    })
  })
})

describe("an obligation is proved", () => {
  it("by a passed test whose own title starts with its full id", () => {
    expect(proved(test("XY-1: a law"), test("XY-2 Z-S1: a law of two"))).toEqual(["XY-1", "XY-2", "Z-S1"])
  })
  it("not by a title that names it elsewhere, in part, as a range or without a colon", () => {
    const titles = [
      "a law of XY-1: it",
      "XY-1",
      "XY-1:",
      "XY-1 a law",
      "XY-1:a law",
      " XY-1: a law",
      "XY-1, XY-2: a law",
    ]
    const more = [
      "XY-1 – XY-3: a law",
      "XY-1..3: a law",
      "XY-1-3: a law",
      "XY-11: a law",
      "XY-1  XY-2: a law",
      "[XY-1]: it",
    ]
    for (const title of [...titles, ...more]) expect([title, proved(test(title))]).toEqual([title, []])
  })
  it("not by a test that was skipped, but by another that passed", () => {
    expect(proved(test("XY-1: a law", "skipped"))).toEqual([])
    expect(proved(test("XY-1: a law", "skipped"), test("XY-1: again"))).toEqual(["XY-1"])
  })
  it("not when one test that names it failed, whatever else passed", () => {
    expect(proved(test("XY-1: a law"), test("XY-1 XY-2: a law", "failed"), test("XY-1: again"))).toEqual([])
  })
})

describe("a run is proof", () => {
  const matrix = (asked: readonly string[], ...tests: readonly Suite.Test[]): Matrix.Matrix =>
    Matrix.make(register, asked, tests)
  const errors = (...tests: readonly Suite.Test[]): readonly string[] => matrix(register.built, ...all, ...tests).errors

  it("when all that was asked for is proved or comes later", () => {
    expect(Matrix.isProof(matrix(register.built, ...all))).toBe(true)
    expect(Matrix.isProof(matrix(["XY-1"], ...all))).toBe(true)
    expect(Matrix.isProof(matrix(["XY-3"], test("XY-3: already")))).toBe(true)
  })
  it("unless there is a gap in what was asked for", () => {
    const gaps = matrix(
      register.built,
      test("XY-1: a law"),
      test("Z-L1: a law", "skipped"),
      test("XY-3: late", "failed"),
    )
    expect(Matrix.isProof(gaps)).toBe(false)
    expect(gaps.gaps.map(({ id, standing }) => [id, standing])).toEqual([
      ["XY-2", "no test names it"],
      ["Z-L1", "every test that names it was skipped"],
    ])
    expect(Matrix.isProof(matrix(["Z-S1"], ...all))).toBe(false)
  })
  it("unless nothing is declared built, or all that was asked for comes later", () => {
    expect(matrix([], ...all)).toEqual({ rows: [], gaps: [], errors: ["nothing is declared built"] })
    expect(Matrix.isProof(matrix([], ...all))).toBe(false)
    expect(matrix(["XY-3"], ...all).errors).toEqual(["all that was asked for comes later"])
  })
  it("unless a title names what the register does not know", () => {
    expect(errors(test("XY-4: a law"), test("XY-1 Q-1 ZZ-S1: a law", "skipped"))).toEqual([
      `a.test.ts: the register does not know XY-4 of "XY-4: a law"`,
      `a.test.ts: the register does not know Q-1, ZZ-S1 of "XY-1 Q-1 ZZ-S1: a law"`,
    ])
  })
  it("unless a title starts with an id in another form", () => {
    for (const title of ["XY-1 a law", "XY-1 – XY-3: a law", "XY-1, XY-2: a law", "xy-1: a law", "Z-S1 and more"]) {
      expect(errors(test(title))).toEqual([
        `a.test.ts: "${title}" does not start with full ids, one space between two, and a colon`,
      ])
    }
    expect(errors(test("UTF-8 counts bytes"), test("a law like XY-1"), test("XYZ-1 is a drug"))).toEqual([])
  })
  it("unless something failed that names no id, as a file that did not load", () => {
    expect(errors(test("the file did not load", "failed"))).toEqual([
      `a.test.ts: "the file did not load" failed, and nobody knows for which id`,
    ])
    expect(errors(test("Z-S1: nobody asked for it", "failed"), test("another law"))).toEqual([])
  })
})

describe("the report", () => {
  it("counts by prefix and profile, names what comes later and each gap with its text, and ends with the sum", () => {
    const tests = [test("XY-1: a law"), test("Z-L1: a law", "failed"), test("XY-8: a law")]
    expect(Matrix.report(Matrix.make(register, register.built, tests))).toEqual([
      "XY single: 1 of 2",
      "XY fleet: 0 of 1",
      "Z single: 0 of 1",
      "later XY-3: It comes with the fleet.",
      "GAP XY-2 (safety; no test names it): A law.",
      "GAP Z-L1 (safety; a test that names it failed): A law.",
      `ERROR a.test.ts: the register does not know XY-8 of "XY-8: a law"`,
      "1 of 4 obligations proved",
    ])
  })
  it("closes with the sum even where there is nothing", () => {
    expect(Matrix.report(Matrix.make(register, [], [])).at(-1)).toBe("0 of 0 obligations proved")
  })
})

it("a file is run for the ids that stand anywhere in its text", () => {
  expect(Matrix.mentioned("it(`XY-1 Z-S2: a law`); // not XY1, xy-1 or Y-")).toEqual(["XY-1", "Z-S2"])
  expect(Matrix.mentioned("no id")).toEqual([])
})
