/** The collector of whatever runtime this is, called by hand. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

const made = (): () => void => {
  const bun: unknown = Reflect.get(globalThis, "Bun")
  if (bun !== undefined) return () => Reflect.get(Object(bun), "gc")(true)
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc")
}
let collector: (() => void) | undefined

/** Collects all garbage there is; what the last turns of the loop still hold is not garbage yet. */
export const collect = (): void => (collector ??= made())()
