/** What the gateway needs of the runtime that it runs on, chosen by the runtime's name. It owns nothing. */
import type { Exchange, Serve, Signals } from "../node/mod.ts"

export interface Platform {
  readonly serve: typeof Serve.serve
  readonly exchange: typeof Exchange.exchange
  readonly signal: typeof Signals.listen
}

/** The adapter of the running runtime; only that one is loaded. */
export const current = async (): Promise<Platform> => {
  const { Exchange, Serve, Signals } = "Deno" in globalThis
    ? await import("../deno/mod.ts")
    : "Bun" in globalThis
    ? await import("../bun/mod.ts")
    : await import("../node/mod.ts")
  return { serve: Serve.serve, exchange: Exchange.exchange, signal: Signals.listen }
}
