/** Bytes as text on Node: `node:buffer`, as on all three. */
export { latin1 } from "../shared/Latin1.ts"
