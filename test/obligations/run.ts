/**
 * `npm run obligations`: runs the tests that name obligations, slow ones included, on Node, and says what they prove.
 * Prefixes and single ids as arguments (`-- AD K-1`) ask for these alone, none for all that `built.json` declares.
 * Status 0: no gap in what was asked for; 1: a gap, or no evidence; 2: an argument that names nothing.
 *
 * That a test can fail is what `npm run mutants` shows, which takes longer.
 *
 * Only files whose text holds an id are run, and with arguments only those that hold an id asked for. So an id has to
 * be written out in the file of its test, where one can also search for it.
 */
import { readdirSync, readFileSync } from "node:fs"
import process from "node:process"
import * as Runtime from "../support/Runtime.ts"
import * as Suite from "../support/Suite.ts"
import * as Matrix from "./Matrix.ts"
import * as Register from "./Register.ts"

const stop = (status: number, lines: readonly string[]): never => {
  for (const line of lines) console.error(line)
  process.exit(status)
}

const { register, faults } = Register.parse(Register.read())
if (faults.length > 0) stop(1, faults)

const words = process.argv.slice(2)
const { ids, unknown } = Register.select(register.obligations, words)
if (unknown.length > 0) {
  const prefixes = new Set(register.obligations.map(({ id }) => Register.prefix(id)))
  stop(2, [`The register has no ${unknown.join(", ")}. Ask for ids or for prefixes: ${[...prefixes].join(", ")}`])
}
const asked = words.length === 0 ? register.built : ids

const files = readdirSync(`${Runtime.root}test`, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts") && !file.includes("node_modules")).map((file) => `test/${file}`)
  .filter((file) => {
    const mentioned = Matrix.mentioned(readFileSync(Runtime.root + file, "utf8"))
    return words.length === 0 ? mentioned.length > 0 : mentioned.some((id) => asked.includes(id))
  })
const { tests, output } = files.length === 0 ? { tests: [], output: "" } : await Suite.run("node", files)
if (tests.some(({ status }) => status === "failed")) console.log(output.trimEnd())

const matrix = Matrix.make(register, asked, tests)
for (const line of Matrix.report(matrix)) console.log(line)
process.exit(Matrix.isProof(matrix) ? 0 : 1)
