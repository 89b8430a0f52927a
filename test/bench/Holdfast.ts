/** The subjects' names, and an Admission with room for every waiter that a group sends. Owns the scope that it lives in. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Admission from "../../core/Admission.ts"
import type { OpenEffect } from "./Peers.ts"

export const name = "holdfast Admission"
export const gate = "holdfast ProviderGate"
export const explorer = "holdfast Explorer"
export const http1 = "holdfast http1"
export const http1Codec = "holdfast http1, reader and writer"
export const http2 = "holdfast http2"
export const all = "holdfast, all but HTTP"

const most = 1_048_576

export const make = (
  options: Partial<Parameters<typeof Admission.make>[0]> = {},
): Promise<Admission.Admission> =>
  Admission.make({
    maxRunning: 64,
    maxQueued: most,
    maxQueuedPerTenant: most,
    maxWait: "1 hour",
    ...options,
  })
    .pipe(Scope.provide(Scope.makeUnsafe()), Effect.runPromise)

export const open: OpenEffect = async (permits) => {
  const admission = await make({ maxRunning: permits })
  return {
    run: (key, work) => admission.run(key)(work),
    free: async () => (await Effect.runPromise(admission.snapshot)).free,
  }
}
