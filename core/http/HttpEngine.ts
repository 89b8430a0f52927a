/**
 * The port that the pool drives HTTP through: a connection as a state machine over bytes, without socket, clock or task.
 *
 * An engine gives an {@link EngineConnection} to each transport. Whoever owns the transport feeds it what came in, writes
 * what {@link EngineConnection.takeOutput} hands out, and does what the events say; no step runs foreign code, waits or
 * throws. What it certifies is what the peer's bytes prove and what was taken to be written, never a guess:
 *
 * - unsent: {@link Unsent} hands the very request back, and no byte of it came out
 * - accepted: {@link Accepted}; from here on the request is never sent again
 * - boundary: {@link End}, the whole response and nothing more has been read
 * - reusable: {@link EngineConnection.room} is above zero
 * - send side ended: {@link EngineConnection.isSendEnded}, told by {@link SendEnded} where its owner cannot know of it
 * - drained or cut: what {@link EngineConnection.cancel} says of an exchange whose reader left
 * - closed cleanly or cut: the `why` of {@link Retired}
 * - there: {@link Pong}, the answer to {@link EngineConnection.ping}
 */
import type * as Result from "effect/Result"
import type { InvalidRequest } from "../Refusal.ts"
import type { GoneAway, StreamReset } from "./Http2Fault.ts"
import type { ExchangeOver, MessageCut, ProtocolFault } from "./HttpFault.ts"
import type { Fields, HttpRequest, ResponseHead } from "./HttpMessage.ts"

export interface HttpEngine {
  readonly protocol: "h1" | "h2"
  /** The state of one connection, for the transport that has just been opened; asked once a transport. */
  readonly open: (opening?: Opening) => EngineConnection
}

export interface Opening {
  /** True: the transport ends at a cleartext proxy, which wants absolute targets. */
  readonly proxied?: boolean | undefined
}

/** An exchange by the number that its connection gave it; never used again on that connection. */
export type Exchange = number

/** The engine has the request now: its head is in the output, and with it a body that was given as bytes. */
export interface Accepted {
  readonly _tag: "Accepted"
  readonly exchange: Exchange
}

/** No byte of the request came out, and nothing has changed: it may go to another connection. */
export interface Unsent {
  readonly _tag: "Unsent"
  readonly request: HttpRequest
  /** `busy`: there is no room now; `retired`: there never will be; `unsupported`: its peer does not do this. */
  readonly why: "busy" | "retired" | "unsupported"
}

/**
 * The request breaks a rule, so no connection would take it; or its head is larger than this peer has said that it reads.
 * No byte came out, and nothing has changed.
 */
export interface Malformed {
  readonly _tag: "Malformed"
  readonly error: InvalidRequest
}

export type Sent = Accepted | Unsent | Malformed

/** 1xx but 101: the exchange goes on. */
export interface Informational {
  readonly _tag: "Informational"
  readonly exchange: Exchange
  readonly status: number
  readonly fields: Fields
}

/** The final head. Data and an end follow, even of an empty body; behind a switch of protocols, `Switched` does. */
export interface Head {
  readonly _tag: "Head"
  readonly exchange: Exchange
  readonly head: ResponseHead
  /** Bytes that will follow, 0 where there can be none; undefined where only the end will tell. */
  readonly length: number | undefined
}

/** Bytes of the body, at least one. They may be a view of what was fed, so copy what is kept when that is used again. */
export interface Data {
  readonly _tag: "Data"
  readonly exchange: Exchange
  readonly bytes: Uint8Array
}

/** The response is whole: its boundary was reached. */
export interface End {
  readonly _tag: "End"
  readonly exchange: Exchange
  readonly trailers: Fields
}

/**
 * `whole`: the last byte was taken of a body that was given as bytes and had to wait for the peer's window. Of all else its
 * owner knows: the `takeOutput` behind the call that gave the last byte has it.
 *
 * `stopped`: no more of the request comes out, behind a whole response, which stands: the peer wants no more of it, in HTTP/1.1
 * by the end of the connection, or it ended before all was taken; or the peer opened no tunnel.
 */
export interface SendEnded {
  readonly _tag: "SendEnded"
  readonly exchange: Exchange
  readonly how: "whole" | "stopped"
}

/**
 * The peer's window is open again for an upload of which less was taken than was given. As much of the connection's window
 * as it was short of, if there is as much, is kept for it until it goes on, ends or is cancelled.
 */
export interface Writable {
  readonly _tag: "Writable"
  readonly exchange: Exchange
}

/**
 * 101, or a 2xx to CONNECT: the transport is its user's now, with `surplus` to be read first, which is a copy and his own.
 * Nothing is fed any more.
 *
 * Not so in HTTP/2, where it is one stream of many: behind the head, its data and its upload are the tunnel's two ways.
 */
export interface Switched {
  readonly _tag: "Switched"
  readonly exchange: Exchange
  readonly surplus: Uint8Array
}

/**
 * The exchange is over without an end: its response, as far as it was told, is cut. An `InvalidRequest` is the caller's own:
 * bytes of a body that he transferred, or whose buffer he made smaller, before they were taken; or what he fed was no bytes.
 */
export interface Failed {
  readonly _tag: "Failed"
  readonly exchange: Exchange
  readonly error: ProtocolFault | MessageCut | StreamReset | GoneAway | InvalidRequest
}

/**
 * The connection takes no request from now on; told once at most, and never after `Switched`. With no exchange left, its
 * transport is to be closed; `announced` lets those that are left go on, in HTTP/1.1 the upload of a request that said
 * `close` itself, whose response has ended.
 *
 * - `announced`: one side said that it would close, or the end of a body was the end of the connection
 * - `closed`: the peer closed it cleanly between two exchanges
 * - `cut`: it ended otherwise
 * - `fault`: the peer broke the protocol, in the way that `error` tells
 */
export interface Retired {
  readonly _tag: "Retired"
  readonly why: "announced" | "closed" | "cut" | "fault"
  readonly error: ProtocolFault | MessageCut | GoneAway | InvalidRequest | undefined
}

/** The peer has answered `ping`, so it is there and reads what comes. */
export interface Pong {
  readonly _tag: "Pong"
}

export type Event = Informational | Head | Data | End | SendEnded | Writable | Switched | Failed | Retired | Pong

export interface EngineConnection {
  /** How many exchanges may begin now. HTTP/1.1: one, or none until its last exchange was answered and all of it was taken. */
  readonly room: number
  /** Whether it will never take another request. */
  readonly isRetired: boolean
  /**
   * Whether nothing more of an exchange's request is to come out: all of it was taken, or it was stopped, cut or cancelled.
   * Of an exchange that has not begun, nothing did, so this is false. What HTTP/2 has in its output of one that is cut comes
   * out all the same, ahead of its reset; but not of one that the peer went away from before it was taken.
   */
  readonly isSendEnded: (exchange: Exchange) => boolean
  /** Bytes kept of what the peer has sent, which its limits bound. */
  readonly retainedBytes: number
  /** Begins an exchange, if there is room and the request keeps the rules. */
  readonly trySend: (request: HttpRequest) => Sent
  /**
   * Takes bytes of an upload, as many as the peer's window allows (HTTP/1.1: all), and says how many. They are not copied
   * where that would cost more than it saves, so they must not change until they are written. Bytes that were transferred are
   * refused, as is an array of none on a resizable buffer, which cannot be told from one that lost its bytes; what is lost
   * later, and before it was taken, fails the exchange, and with it the connection where frames or a length promised it. Of an
   * exchange that is over in HTTP/2, it only does not come out, and no other of its data does.
   */
  readonly upload: (exchange: Exchange, bytes: Uint8Array) => Result.Result<number, ExchangeOver | InvalidRequest>
  /** Ends an upload of unknown length, with trailers if there are any. One of an announced length ends with its last byte. */
  readonly finish: (exchange: Exchange, trailers?: Fields) => Result.Result<void, ExchangeOver | InvalidRequest>
  /**
   * The reader is through with so many bytes of data, of an exchange that is over, too. HTTP/2 opens its windows again by
   * this alone, and by `cancel` for what nobody will read; the `takeOutput` that follows tells the peer.
   */
  readonly consumed: (exchange: Exchange, bytes: number) => void
  /**
   * Nobody wants the rest of an exchange. `cut`: it was under way and is over by this call, without a further event; in
   * HTTP/1.1 the connection is retired with it, and its transport to be closed, and in HTTP/2 the stream is reset, with a
   * code of RFC 9113, 7: CANCEL if none is given. `drained`: nothing of it was under way, and nothing has changed, nor is
   * anything that was still to be told of it forgotten. Both of its messages had ended, or its end was told otherwise: it
   * failed, was stopped, has switched or was cancelled before. Whether the connection goes on is for `room` to say.
   *
   * Refused, with nothing changed: a code that is no whole number from 0 to 2^32 - 1, also in HTTP/1.1, which has none.
   */
  readonly cancel: (exchange: Exchange, code?: number) => Result.Result<"drained" | "cut", InvalidRequest>
  /**
   * Asks the peer whether it is there, for whoever has a clock to give up on it; whether that came out. It does not where
   * an answer is due already, where the connection has ended, and in HTTP/1.1, which cannot ask.
   */
  readonly ping: () => boolean
  /**
   * No exchange begins from now on, which is no event by itself; those that are under way go on, and with none of them
   * left the transport is to be closed. HTTP/2 tells the peer so, by GOAWAY.
   */
  readonly leave: () => void
  /**
   * Bytes came from the peer, all of which are looked at before it returns. With none it only tells what own calls have
   * brought about: output that was taken may be the end of a body, and in HTTP/2 an upload that ends or is cancelled may leave
   * its share of the window to others.
   *
   * What is no Uint8Array, or was transferred, ends the connection: nobody knows what the peer said there.
   */
  readonly receive: (bytes: Uint8Array) => ReadonlyArray<Event>
  /** The peer has closed its side (`ended`), or the transport is gone in any other way (`reset`); nothing comes out any more. */
  readonly closed: (how: "ended" | "reset") => ReadonlyArray<Event>
  /**
   * What is to be written, in this order, after any step; handed out once, and from then on it counts as sent. What ends by
   * that, if it is an event, is told by the next `receive`. Pieces share their memory with others, also with those of other
   * connections, and bodies are the caller's own bytes: whoever wants to transfer one transfers a copy.
   */
  readonly takeOutput: () => ReadonlyArray<Uint8Array>
}
