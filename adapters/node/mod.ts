/** holdfast on Node: what the platform supplies. */
export * as Exchange from "./Exchange.ts"
export * as Serve from "./Serve.ts"
