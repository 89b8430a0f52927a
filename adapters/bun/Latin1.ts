/** Bytes as text on Bun: `node:buffer`, as on all three. */
export { latin1 } from "../shared/Latin1.ts"
