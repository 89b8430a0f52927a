/** A table for the test of the program: of its two breaks one is caught, and one changes nothing that a test could see. */
import type { Break } from "./Breaks.ts"

const [file, testFile] = ["core/kernel/Epoch.ts", "test/kernel/Epoch.test.ts"]
const test = "K-9: has no current number again once it is retired"

export const breaks: readonly Break[] = [
  { file, testFile, test, find: "!epoch.retired && ", replace: "", why: "what was retired is current" },
  { file, testFile, test, find: "epoch.current++", replace: "epoch.current += 1", why: "nothing" },
]
