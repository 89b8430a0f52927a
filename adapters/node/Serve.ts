/** HTTP serving on Node: `node:http`, for the reasons told in `adapters/shared/HttpServe.ts`. */
export type { Handler, Info } from "../shared/HttpAnswer.ts"
export { type Options, serve, type Served, ServeFailed } from "../shared/HttpServe.ts"
