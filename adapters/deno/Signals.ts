/** The signals that ask the process to end, on Deno, and a drain that they begin. */
export { drain, listen } from "../shared/Signals.ts"
