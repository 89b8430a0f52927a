/**
 * A longer hunt than the tests have time for, by hand: of the programs of the seeds from the first number to the second,
 * all whose known states are a doubt or a difference. `node --conditions=holdfast-source test/testing/hunt.ts 1000 2000`
 */
import process from "node:process"
import { compared } from "./RandomProgram.ts"

const [from = 0, to = 1_000] = process.argv.slice(2).map(Number)
let [whole, wrong] = [0, 0]
for (let seed = from; seed < to; seed++) {
  const { difference, isWhole } = compared(seed, 2_000)
  if (isWhole) whole++
  if (seed % 100 === 99) console.log(`up to ${seed}: ${whole} compared to their ends, ${wrong} wrong`)
  if (difference === undefined) continue
  wrong++
  console.log(`${seed}: ${difference}`)
}
console.log(`${to - from} programs, ${whole} of them compared to their ends, ${wrong} wrong`)
