/** Every program of README and of the doc comments runs on this runtime and prints what it says. */
import { afterAll, describe, expect, it } from "vitest"
import * as Documents from "./Documents.ts"
import * as Example from "./Example.ts"
import type * as Markdown from "./Markdown.ts"

const project = Example.project()
afterAll(() => project.remove())

describe.concurrent("an example runs and prints what it says", () => {
  it.each(Documents.programs.map((block) => [`${block.path}:${block.line}`, block] as const))(
    "%s",
    async (_, block) => {
      expect(await Example.faults(project, block)).toEqual([])
    },
  )
})

describe.concurrent("a planted example is found out", () => {
  let planted = 0
  const plant = (text: string): Markdown.Block => ({ path: "planted", line: ++planted, kind: "ts", text })
  it.each([
    ["that prints something else", "console.log(1 + 1) // 3\n", 'planted:1 printed ["2"] and says ["3"]'],
    ["that prints more", "console.log(`1\n2`) // 1\n", "planted:2 prints something and does not say what"],
    ["that prints what it does not say", "console.log(1)\n", "planted:3 prints something and does not say what"],
    ["that prints nothing", "export const one = 1\n", "planted:4 prints nothing, so it shows nothing"],
    ["that fails", 'console.log(1) // 1\nthrow new Error("oh")\n', "planted:5 ended with status 1"],
    [
      "that imports what is not exported",
      'import "holdfast/kernel/Line"\nconsole.log(1) // 1\n',
      "planted:6 ended with",
    ],
  ].map(([what, text, fault]) => [what!, plant(text!), fault!] as const))("%s", async (_, block, fault) => {
    const [first = "", ...rest] = await Example.faults(project, block)
    expect([first.slice(0, fault.length), rest]).toEqual([fault, []])
  })
})
