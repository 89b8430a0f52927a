// Says in one line what to do when the tools are missing. Plain JavaScript: it has to run on a Node too old for the rest.
import { existsSync } from "node:fs"
import process from "node:process"

const has = (path) => existsSync(new URL(`../../node_modules/${path}`, import.meta.url))
const [major, minor] = process.versions.node.split(".").map(Number)
const tooOld = major < 22 || (major === 22 && minor < 19)

const advice = !has("effect/package.json")
  ? "The dependencies are not installed. Run: npm ci"
  : !tooOld
  ? undefined
  : has(".bin/node")
  ? `This is Node ${process.versions.node}; 22.19 or later is needed. Run it through npm, which takes the installed Node 24.`
  : `This is Node ${process.versions.node}, and install scripts were switched off, so that npm could not install Node 24. ` +
    "Run: npm ci --ignore-scripts=false"

if (advice !== undefined) {
  console.error(`holdfast: ${advice}`)
  process.exit(1)
}
