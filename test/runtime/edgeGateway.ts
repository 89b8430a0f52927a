/** The gateway in a Durable Object: one for all requests, which is what they share its line by. */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Edge from "../../adapters/edge/mod.ts"
import { Config, Worker } from "../../adapters/gateway/mod.ts"

interface Environment {
  /** JSON. */
  readonly CONFIG: string
  readonly GATEWAY: {
    readonly idFromName: (name: string) => unknown
    readonly get: (id: unknown) => { readonly fetch: (request: Request) => Promise<Response> }
  }
}

export class Gateway {
  readonly #worker: Promise<Worker.Worker>

  constructor(_state: unknown, { CONFIG }: Environment) {
    this.#worker = Effect.runPromise(
      Effect.flatMap(
        Config.parse(CONFIG, () => undefined),
        (config) =>
          Scope.provide(
            Worker.make(config, { exchange: Edge.Exchange.exchange, fixedLength: Edge.FixedLength.of }),
            Scope.makeUnsafe(),
          ),
      ),
    )
  }

  async fetch(request: Request): Promise<Response> {
    const worker = await this.#worker
    return new URL(request.url).hostname === "operator" ? worker.operator(request) : worker.fetch(request)
  }
}

export default {
  fetch: (request: Request, { GATEWAY }: Environment): Promise<Response> =>
    GATEWAY.get(GATEWAY.idFromName("the one")).fetch(request),
}
