/**
 * The provider `flaky` that `--demo` runs beside the gateway: it answers 200, or 500 while it is told to fail. It owns its
 * listener until the scope closes.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as ConfigFile from "./ConfigFile.ts"
import type { Platform } from "./Platform.ts"

export interface DemoOutage {
  /** Its entry in a configuration. */
  readonly provider: ConfigFile.Provider
  readonly begin: Effect.Effect<void>
  /** Waits until as many calls have failed as open its circuit. */
  readonly felt: Effect.Effect<void>
  readonly end: Effect.Effect<void>
}

type ServeFailed = Effect.Error<ReturnType<Platform["serve"]>>

const limits = { maxHeaderBytes: 16_384, maxConnections: 64, headerTimeoutMillis: 10_000, keepAliveMillis: 5_000 }
const delayMillis = 20
const failureThreshold = 5

export const start = (platform: Platform): Effect.Effect<DemoOutage, ServeFailed, Scope.Scope> =>
  Effect.gen(function* () {
    let failing = false
    let failed = 0
    const felt = Deferred.makeUnsafe<void>()
    const answer = Effect.sync(() => {
      if (!failing) return new Response("ok\n")
      if (++failed === failureThreshold) Deferred.doneUnsafe(felt, Effect.void)
      return new Response("down\n", { status: 500 })
    })
    const handler = (): Promise<Response> => Effect.runPromise(Effect.delay(answer, delayMillis))
    const { host, port } = yield* platform.serve({ ...limits, host: "127.0.0.1", port: 0, handler })
    return {
      provider: { url: `http://${host}:${port}`, gate: { failureThreshold, recoveryAfter: "700 millis" } },
      begin: Effect.sync(() => void (failing = true)),
      felt: Deferred.await(felt),
      end: Effect.sync(() => void (failing = false)),
    }
  })
