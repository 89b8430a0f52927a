/** One group on the runtime that runs this file: `measure.ts A`. run.ts starts it and reads its rows. */
import process from "node:process"
import * as Row from "./Row.ts"

type Measure = (emit: Row.Emit, onNode: boolean) => Promise<void>
const files: Readonly<
  Record<Row.Group, () => Promise<{ readonly measure: Measure }>>
> = {
  A: () => import("./groups/Uncontended.ts"),
  B: () => import("./groups/Contended.ts"),
  C: () => import("./groups/Keyed.ts"),
  D: () => import("./groups/Cancelled.ts"),
  E: () => import("./groups/Executed.ts"),
  F: () => import("./groups/Guarded.ts"),
  G: () => import("./groups/Fairness.ts"),
  H: async () => {
    const all = await Promise.all([
      import("./groups/Http1.ts"),
      import("./groups/Http2.ts"),
    ])
    return {
      measure: async (emit) => {
        for (const { measure } of all) await measure(emit)
      },
    }
  },
  I: () => import("./groups/Bundled.ts"),
  J: () => import("./groups/Explored.ts"),
  K: () => import("./groups/Dialled.ts"),
}

const group = Row.groups.find((name) => name === process.argv[2])
if (group === undefined) throw new Error(`no such group: ${process.argv[2]}`)

const runtime: Row.Runtime = process.versions["bun"] ? "bun" : process.versions["deno"] ? "deno" : "node"
const { measure } = await files[group]()
await measure(
  (result) => Row.print({ ...result, runtime }),
  runtime === "node",
)
process.exit(0)
