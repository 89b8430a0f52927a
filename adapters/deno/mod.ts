/** holdfast on Deno: what the platform supplies. */
export * as BlockingExecutor from "./BlockingExecutor.ts"
export * as Exchange from "./Exchange.ts"
export * as Latin1 from "./Latin1.ts"
export * as Serve from "./Serve.ts"
export * as Signals from "./Signals.ts"
