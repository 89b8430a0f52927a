/** The limits as the security policy and the docstrings state them are those of the code. */
import { assert, describe, it } from "vitest"
import { readFileSync } from "node:fs"
import { ranges as http1 } from "../../core/http/Http1Limits.ts"
import { ranges as http2 } from "../../core/http/Http2Limits.ts"
import { bytesAFrame, framesAnExchange, framesAPiece } from "../../core/http/Http2Quota.ts"
import { root } from "../support/Runtime.ts"

const textOf = (file: string): string => readFileSync(root + file, "utf8")
const numbers = (text: string): ReadonlyArray<number> => (text.match(/\d[\d,]*/g) ?? []).map(number)
const number = (text: string): number => Number(text.replaceAll(",", ""))

const policy = textOf("SECURITY.md")
/** The rows of tables under a heading, as cells. */
const rows = (heading: string, text: string = policy): ReadonlyArray<ReadonlyArray<string>> =>
  (text.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("| "))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))

/** Names in backticks of one cell, each once, with the numbers of another. */
const stated = (table: ReadonlyArray<ReadonlyArray<string>>, names: number, values: number): Record<string, number> =>
  Object.fromEntries(table.flatMap((cells) => {
    const own = [...new Set([...(cells[names] ?? "").matchAll(/`(max\w+)`/g)].map(([, name = ""]) => name))]
    const all = numbers(cells[values] ?? "")
    assert.strictEqual(own.length === 0 ? 0 : all.length, own.length, cells.join(" | "))
    return own.map((name, at) => [name, all[at]!] as const)
  }))

/** What docstrings say, a name each. */
const documented = (text: string): Record<string, number> =>
  Object.fromEntries(
    [...text.matchAll(/\/\*\*((?:(?!\*\/)[^])*?)\*\/\s+readonly (max\w+)\?: number/g)].map(
      ([, says = "", name = ""]) => {
        const [, value = ""] = /([\d,]+) by default/.exec(says) ?? []
        return [name, number(value)]
      },
    ),
  )

const defaults = (ranges: Readonly<Record<string, readonly [min: number, max: number, otherwise: number]>>) =>
  Object.fromEntries(Object.entries(ranges).map(([name, [, , otherwise]]) => [name, otherwise]))

describe("the limits of", () => {
  const shared = documented(textOf("core/http/HttpLimits.ts"))

  it("HTTP/1.1 are those of its docstrings and of the policy", () => {
    assert.deepStrictEqual({ ...shared, ...documented(textOf("core/http/Http1Limits.ts")) }, defaults(http1))
    assert.deepStrictEqual(stated(rows("The HTTP/1.1 codec"), 0, 1), defaults(http1))
  })

  it("HTTP/2 are those of its docstrings and of the policy", () => {
    assert.deepStrictEqual({ ...shared, ...documented(textOf("core/http/Http2Limits.ts")) }, defaults(http2))
    assert.deepStrictEqual(stated(rows("The HTTP/2 codec"), 1, 2), defaults(http2))
  })

  it("what pays for frames that carry nothing are those of its docstring and of the policy", () => {
    const paid = [framesAnExchange, framesAPiece, bytesAFrame]
    const flood = rows("The HTTP/2 codec").find(([attack]) => attack?.startsWith("floods of"))
    assert.deepStrictEqual(numbers(flood![1]!), paid)
    const [, says = ""] = /An exchange allows (.*)\n/.exec(textOf("core/http/Http2Limits.ts")) ?? []
    assert.deepStrictEqual(numbers(says), paid)
  })
})

it("a number that differs is noticed, and a row without one", () => {
  const text = policy.replaceAll("10,000 |", "10,001 |").replace("65,536 · 8,192 · 256", "65,536 · 8,192")
  assert.throws(() => stated(rows("The HTTP/2 codec", text), 1, 2))
  assert.strictEqual(stated(rows("The HTTP/2 codec", text).slice(3), 1, 2)["maxIdleFrames"], 10_001)
})
