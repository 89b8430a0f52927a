/** What must hold of every execution, whatever the input is; each law is one line of what it says when it is broken. */
import * as Result from "effect/Result"
import type { EngineConnection, Event, HttpEngine } from "../../core/http/HttpEngine.ts"
import * as Http1 from "../../core/http/Http1.ts"
import * as Http2 from "../../core/http/Http2.ts"
import type { Field, HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Reference from "../support/http/Reference.ts"
import type { Case, RequestCase, ResponseCase } from "./Case.ts"
import * as FramesLaws from "./FramesLaws.ts"
import { Broken, must, same } from "./Law.ts"
import * as PeerLaws from "./PeerLaws.ts"

/** So small that inputs of a few hundred bytes pass them. */
const small: Reference.Limits = {
  maxHeadBytes: 150,
  maxFields: 4,
  maxTrailerBytes: 30,
  maxInformational: 1,
  maxLineBytes: 64,
  maxChunkLineBytes: 40,
  maxChunkOverheadBytes: 8,
}

/** The engines that a case is run on: by default and with the small limits. */
export interface Engines {
  readonly usual: HttpEngine
  readonly small: HttpEngine
  /** The same of HTTP/2. */
  readonly frames: HttpEngine
  readonly smallFrames: HttpEngine
  /** What sound peers are beside. */
  readonly peers: HttpEngine
}

export const engines = (wrap: (engine: HttpEngine) => HttpEngine = (engine) => engine): Engines => ({
  usual: wrap(Result.getOrThrow(Http1.make())),
  small: wrap(Result.getOrThrow(Http1.make(small))),
  frames: wrap(Result.getOrThrow(Http2.make({ maxStreamsAtFirst: 1_024 }))),
  smallFrames: wrap(Result.getOrThrow(Http2.make(FramesLaws.small))),
  peers: wrap(Result.getOrThrow(Http2.make(PeerLaws.limits))),
})

/** The law that a case breaks; undefined where all hold. */
export const broken = (one: Case, on: Engines): string | undefined => {
  try {
    if (one.kind === "peer") PeerLaws.broken(one, on.peers)
    else if (one.kind === "frames") FramesLaws.broken(one, one.small ? on.smallFrames : on.frames)
    else if (one.kind === "response") response(one, on)
    else request(one, on)
    return undefined
  } catch (error) {
    return error instanceof Broken ? error.message : `it threw ${error}`
  }
}

/** Bytes that a case feeds, over all its runs. */
export const bytesOf = (one: Case): number =>
  one.kind === "peer"
    ? one.steps.reduce((sum, [, , bytes]) => sum + bytes, 0)
    : one.kind !== "request"
    ? one.input.length * 3
    : one.body.join("").length + one.request.path.length

const response = (one: ResponseCase, on: Engines): undefined => {
  const limits = one.small ? small : Reference.limits
  const whole = run(one, on, limits, [Infinity])
  for (const sizes of [one.sizes, [1]]) {
    const cut = run(one, on, limits, sizes)
    must(same(cut, whole), `pieces of ${sizes} say ${JSON.stringify(cut)}, one piece ${JSON.stringify(whole)}`)
  }
  const expected = Reference.read(one.input, one.request, !isUpload(one.request), limits)
  const seen = whole.slice(0, whole.indexOf("closing")).map((line) => /^(failed|retired fault)/.exec(line)?.[0] ?? line)
    .filter((line, i, all) => !(line === "retired fault" && all[i - 1] === "failed"))
    .map((line) => line === "failed" ? "failed fault" : line)
  must(same(seen, expected), `the codec says ${JSON.stringify(seen)}, the grammar ${JSON.stringify(expected)}`)
}

const isUpload = ({ body }: HttpRequest): boolean => body !== undefined && !(body instanceof Uint8Array)

/** What a connection says of the input in these pieces and of the end behind it. */
const run = (
  { end, input, request, small }: ResponseCase,
  on: Engines,
  limits: Reference.Limits,
  sizes: ReadonlyArray<number>,
): ReadonlyArray<string> => {
  const connection = (small ? on.small : on.usual).open()
  must(connection.trySend(request)._tag === "Accepted", "a request of the corpus was not accepted")
  connection.takeOutput()
  const events: Array<Event> = []
  const bytes = Lab.bytes(input)
  let tags = ""
  const most = 2 * Math.max(512, limits.maxHeadBytes, limits.maxTrailerBytes)
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const piece = bytes.slice(at, at + sizes[turn % sizes.length]!)
    const told = connection.receive(piece)
    must(told.length <= 8 + piece.length / 16, `${told.length} events of ${piece.length} bytes`)
    must(connection.retainedBytes <= most, `${connection.retainedBytes} bytes are kept`)
    must(connection.retainedBytes <= 2 * (at + piece.length) + 512, `more than was sent is kept`)
    events.push(...told)
    tags = standing(connection, tags, told)
    at += piece.length
  }
  const closing = connection.closed(end)
  standing(connection, tags, closing)
  must(connection.isRetired && connection.retainedBytes === 0, "it is open, or keeps something, though it was closed")
  must(connection.receive(bytes).every(({ _tag }) => _tag === "Data"), "it went on behind its end")
  return [...Lab.told(events), "closing", ...Lab.told(closing)]
}

/** The order of events: informational heads, a head, data, an end or a switch; a failure ends it anywhere, and its upload with a response that
 * is whole; retired is last. */
const order = /^(Informational )*(Head (Data )?(End )?|Head Switched (Data )?)?(Failed |SendEnded )?(Retired )?$/

/** What a connection may be behind such events; the tags so far, with those of data that follow each other as one. */
const standing = (connection: EngineConnection, before: string, told: ReadonlyArray<Event>): string => {
  let tags = before
  for (const { _tag } of told) if (_tag !== "Data" || !tags.endsWith("Data ")) tags += `${_tag} `
  if (tags !== before) must(order.test(tags), `events out of order: ${tags}`)
  must(!(tags.includes("End ") && tags.includes("Failed ")), "an exchange that ended failed")
  const { isRetired, room } = connection
  const isOver = tags.includes("Retired ") || tags.includes("Switched ")
  must(isRetired === isOver, `it is ${isRetired ? "" : "not "}retired behind ${tags}`)
  must(room === 0 || (room === 1 && !isRetired && tags.includes("End ")), `there is room for ${room} behind ${tags}`)
  must(connection.retainedBytes === 0 || (!isRetired && room === 0), "something is kept behind an end")
  return tags
}

const request = ({ body, proxied, request, trailers }: RequestCase, on: Engines): undefined => {
  const connection = on.usual.open({ proxied })
  const sent = connection.trySend(request)
  if (sent._tag !== "Accepted") {
    must(sent._tag === "Malformed", "a free connection handed a request back")
    must(connection.room === 1 && connection.takeOutput().length === 0, "a refused request left something behind")
    return
  }
  for (const piece of body) connection.upload(sent.exchange, Lab.bytes(piece))
  const length = isUpload(request) ? (request.body as { readonly bytes: number | undefined }).bytes : 0
  // It is of announced length, and lacks some of it.
  if (length !== undefined && length > body.join("").length) return
  const isFinished = length === undefined && Result.isSuccess(connection.finish(sent.exchange, trailers))
  // It has trailers that it cannot have.
  if (length === undefined && !isFinished && Result.isFailure(connection.finish(sent.exchange))) return
  const output = Lab.text(...connection.takeOutput())
  const read = Reference.readRequest(output)
  must(read !== undefined, `what came out is not one request: ${JSON.stringify(output)}`)
  const kept = request.fields.filter(([name]) => !/^(host|content-length)$/i.test(name))
  const framing = (fields: ReadonlyArray<Field>): ReadonlyArray<Field> =>
    fields.filter(([name]) => !/^(host|content-length|transfer-encoding)$/i.test(name))
  must(read!.method === request.method, "another method came out")
  must(same(framing(read!.fields).flat(), kept.flat()), `other fields came out: ${JSON.stringify(read!.fields)}`)
  must(read!.body === body.join("") || !isUpload(request), `another body came out: ${JSON.stringify(read!.body)}`)
  const target = request.method === "CONNECT"
    ? request.authority
    : proxied
    ? `${request.scheme}://${request.authority}${request.path === "*" ? "" : request.path}`
    : request.path
  must(read!.target === target, `another target came out: ${read!.target}`)
  const told = isFinished ? trailers : []
  const names = (fields: ReadonlyArray<Field>): ReadonlyArray<string> =>
    fields.map(([name, value]) => `${name.toLowerCase()}: ${value}`)
  must(same(names(read!.trailers), names(told)), `other trailers came out: ${JSON.stringify(read!.trailers)}`)
}
