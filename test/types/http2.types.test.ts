/** The types of the HTTP/2 engine and of the port that it is behind, exactly. The compiler is the test. */
import { assert, it } from "vitest"
import type * as Result from "effect/Result"
import type * as Http2 from "../../core/http/Http2.ts"
import type { GoneAway, Reset, StreamReset } from "../../core/http/Http2Fault.ts"
import type {
  EngineConnection,
  Event,
  Failed,
  HttpEngine,
  Retired,
  SendEnded,
  Sent,
} from "../../core/http/HttpEngine.ts"
import type { ExchangeOver, MessageCut, ProtocolFault } from "../../core/http/HttpFault.ts"
import type { HttpLimits } from "../../core/http/HttpLimits.ts"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"

/** `true` only where both are the same type; unions, optional and readonly count. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Accepts no type but `true`. */
type Law<_ extends true> = never

type Unsent = Extract<Sent, { readonly _tag: "Unsent" }>

export type Laws = [
  Law<Equal<ReturnType<typeof Http2.make>, Result.Result<HttpEngine, InvalidLimits>>>,
  Law<
    Equal<
      Exclude<keyof Http2.Options, keyof HttpLimits>,
      | "maxStreams"
      | "maxStreamsAtFirst"
      | "maxStreamWindowBytes"
      | "maxConnectionWindowBytes"
      | "maxFrameBytes"
      | "maxTableBytes"
      | "maxContinuations"
      | "maxResets"
      | "maxIdleFrames"
      | "latin1"
    >
  >,
  Law<Equal<HttpEngine["protocol"], "h1" | "h2">>,
  Law<Equal<Failed["error"], ProtocolFault | MessageCut | StreamReset | GoneAway | InvalidRequest>>,
  Law<Equal<Retired["error"], ProtocolFault | MessageCut | GoneAway | InvalidRequest | undefined>>,
  Law<Equal<SendEnded["how"], "whole" | "stopped">>,
  Law<Equal<ProtocolFault["scope"], "connection" | "stream" | undefined>>,
  Law<Equal<Unsent["request"], HttpRequest>>,
  Law<Equal<Unsent["why"], "busy" | "retired" | "unsupported">>,
  Law<Equal<ReturnType<EngineConnection["isSendEnded"]>, boolean>>,
  Law<Equal<ReturnType<EngineConnection["upload"]>, Result.Result<number, ExchangeOver | InvalidRequest>>>,
  Law<Equal<Exclude<Event, { readonly exchange: number }>["_tag"], "Retired" | "Pong">>,
  Law<Equal<keyof Reset, "code" | "part" | "received" | "expected" | "unprocessed">>,
]

it("an engine has these types, and no option has another name", () => {
  // @ts-expect-error a slip
  const slip: Http2.Options = { maxStrems: 1 }
  assert.strictEqual(Object.keys(slip).length, 1)
})
