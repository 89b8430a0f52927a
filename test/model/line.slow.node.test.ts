/** Many and long lives of the line, judged like those of `line.test.ts`. */
import { describe, it } from "vitest"
import { runLives } from "../support/kernel/LineCommands.ts"

describe("the line over random lives", () => {
  it(
    "AD-1 AD-2 AD-3 AD-4 AD-5 AD-6 AD-7 AD-11 AD-14 AD-15 AD-16 AD-17 AD-18 AD-19 AD-20 AD-21 AD-22 AD-27 AD-28 AD-29 AD-36 K-1 K-2 K-3 K-4 K-5 K-6 K-7: does what plain arithmetic over its asks allows and demands, for longer",
    () => {
      runLives({ runs: 12_000, length: 60, seed: 1 })
      runLives({ runs: 2_500, length: 200, seed: 2 })
    },
  )
})
