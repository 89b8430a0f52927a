/** The types of the HTTP engine, exactly: what each verb gives, what events carry, and what is no request. The compiler is the test. */
import { it } from "vitest"
import type * as Result from "effect/Result"
import type * as Http1 from "../../core/http/Http1.ts"
import type { GoneAway, StreamReset } from "../../core/http/Http2Fault.ts"
import type * as Engine from "../../core/http/HttpEngine.ts"
import type { ExchangeOver, MessageCut, ProtocolFault, Rule } from "../../core/http/HttpFault.ts"
import type { HttpLimits } from "../../core/http/HttpLimits.ts"
import type { Fields, HttpRequest, ResponseHead, Upload } from "../../core/http/HttpMessage.ts"
import type { InvalidLimits, InvalidRequest } from "../../core/Refusal.ts"

/** `true` only where both are the same type; unions, optional and readonly count. */
type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
/** Accepts no type but `true`. */
type Law<_ extends true> = never

type Verb<K extends keyof Engine.EngineConnection> = Engine.EngineConnection[K]
type EventOf<Tag extends Engine.Event["_tag"]> = Extract<Engine.Event, { readonly _tag: Tag }>

const get = { method: "GET", scheme: "http", authority: "example.com", path: "/", fields: [] } as const

export type Laws = [
  Law<Equal<ReturnType<typeof Http1.make>, Result.Result<Engine.HttpEngine, InvalidLimits>>>,
  Law<
    Equal<
      keyof Http1.Options,
      keyof HttpLimits | "maxLineBytes" | "maxChunkLineBytes" | "maxChunkOverheadBytes" | "latin1"
    >
  >,
  Law<
    Equal<
      keyof Engine.EngineConnection,
      | "room"
      | "isRetired"
      | "isSendEnded"
      | "retainedBytes"
      | "trySend"
      | "upload"
      | "finish"
      | "consumed"
      | "cancel"
      | "ping"
      | "leave"
      | "receive"
      | "closed"
      | "takeOutput"
    >
  >,
  Law<Equal<ReturnType<Verb<"trySend">>["_tag"], "Accepted" | "Unsent" | "Malformed">>,
  Law<Equal<Engine.Unsent["request"], HttpRequest>>,
  Law<Equal<ReturnType<Verb<"upload">>, Result.Result<number, ExchangeOver | InvalidRequest>>>,
  Law<Equal<ReturnType<Verb<"finish">>, Result.Result<void, ExchangeOver | InvalidRequest>>>,
  Law<Equal<ReturnType<Verb<"cancel">>, Result.Result<"drained" | "cut", InvalidRequest>>>,
  Law<Equal<ReturnType<Verb<"receive">>, ReadonlyArray<Engine.Event>>>,
  Law<Equal<Parameters<Verb<"closed">>, [how: "ended" | "reset"]>>,
  Law<
    Equal<
      Engine.Event["_tag"],
      "Informational" | "Head" | "Data" | "End" | "SendEnded" | "Writable" | "Switched" | "Failed" | "Retired" | "Pong"
    >
  >,
  Law<Equal<EventOf<"Head">["head"], ResponseHead>>,
  Law<Equal<EventOf<"Head">["length"], number | undefined>>,
  Law<Equal<EventOf<"End">["trailers"], Fields>>,
  Law<Equal<EventOf<"Failed">["error"], ProtocolFault | MessageCut | StreamReset | GoneAway | InvalidRequest>>,
  Law<Equal<EventOf<"Retired">["why"], "announced" | "closed" | "cut" | "fault">>,
  Law<Equal<ProtocolFault["rule"], Rule>>,
  Law<Equal<NonNullable<HttpRequest["body"]>, Uint8Array | Upload>>,
]

/** These are requests. */
export const requests: ReadonlyArray<HttpRequest> = [
  get,
  { ...get, body: undefined },
  { ...get, body: new Uint8Array(1) },
  { ...get, body: { bytes: 5 } },
  { ...get, body: { bytes: undefined }, fields: [["x", "y"]] },
]

/** These are none. */
export const mistakes: ReadonlyArray<HttpRequest> = [
  // @ts-expect-error: text is no body
  { ...get, body: "hello" },
  // @ts-expect-error: an upload says whether its length is known
  { ...get, body: {} },
  // @ts-expect-error: a field is a pair
  { ...get, fields: [["x"]] },
  // @ts-expect-error: fields are pairs, not a record
  { ...get, fields: { x: "y" } },
  // @ts-expect-error: no other scheme
  { ...get, scheme: "ftp" },
]

it("the types of the HTTP engine are checked by the compiler", () => {})
