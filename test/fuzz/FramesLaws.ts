/** What must hold of every execution on HTTP/2, whatever the input is. */
import { latin1 } from "../../adapters/shared/Latin1.ts"
import type { EngineConnection, Event, HttpEngine } from "../../core/http/HttpEngine.ts"
import type * as Http2 from "../../core/http/Http2.ts"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"
import type { Act, FramesCase } from "./FramesCase.ts"
import { must, same } from "./Law.ts"
import { type Limits, listed, ReferenceFrames } from "./ReferenceFrames.ts"

/** So small that inputs of a few hundred bytes pass them. */
export const small: Http2.Options & Limits = {
  maxHeadBytes: 256,
  maxFields: 2,
  maxTrailerBytes: 80,
  maxInformational: 1,
  maxContinuations: 0,
  maxStreams: 4,
  maxResets: 16,
  maxIdleFrames: 100,
  maxStreamWindowBytes: 65_535,
  maxConnectionWindowBytes: 65_535,
}

/** Twice a frame and a block at most, since room is doubled, and a table. */
const mostKept = (isSmall: boolean): number => 2 * (16_384 + (isSmall ? 256 : 65_536)) + 4_096

interface Said {
  readonly told: ReadonlyArray<string>
  readonly output: string
  /** What was told before the transport ended, less what is of the sending side. */
  readonly read: ReadonlyArray<string>
  readonly heads: ReadonlyArray<string>
}

export const broken = (one: FramesCase, on: HttpEngine): void => {
  const whole = run(one, on, [Infinity])
  const book = new ReferenceFrames({ ...usual, ...one.small && small })
  const bytewise = run(one, on, [1], book)
  const pieces = run(one, on, one.sizes)
  must(same(pieces.told, whole.told), `pieces say ${JSON.stringify(pieces.told)}, one ${JSON.stringify(whole.told)}`)
  must(pieces.output === whole.output, "pieces make another output")
  // Output that is taken earlier counts as sent earlier.
  const [early, late] = [unsent(bytewise.told), unsent(whole.told)]
  must(same(early, late), `bytes say ${JSON.stringify(early)}, one piece ${JSON.stringify(late)}`)
  must(isSame(bytewise.output, whole.output), "bytes make another output")
  agree(bytewise, book)
}

/** Less what says that something was sent, and with data as one that this stood between. */
const unsent = (told: ReadonlyArray<string>): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const line of told) {
    const [, begin, data] = /^(\d+: data )([^]*)$/.exec(line) ?? []
    if (begin !== undefined && lines.at(-1)?.startsWith(begin) === true) lines.push(lines.pop() + data!)
    else if (!/^\d+: sent /.test(line)) lines.push(line)
  }
  return lines
}

/** Whether output is the same; what was taken late may lack what a fault dropped ahead of its GOAWAY, the last frame. */
const isSame = (early: string, late: string): boolean => {
  const [before, last] = [late.slice(0, -17), late.slice(-17)]
  const isGoAway = last.startsWith("\0\0\x08\x07\0\0\0\0\0")
  return early === late || (isGoAway && early.startsWith(before) && early.endsWith(last))
}

/** What the codec reads and answers is what the book says. */
const agree = ({ heads, output, read }: Said, book: ReferenceFrames): void => {
  must(same(read, book.told), `the codec says ${JSON.stringify(read)}, the book ${JSON.stringify(book.told)}`)
  must(same(heads, book.heads), `the codec reads ${heads.join()}, the book ${book.heads.join()}`)
  const answers = new Lab2.Written().say(Lab.bytes(output)).filter((line) =>
    /^(reset|settings ack|ping 1|goaway)/.test(line)
  )
  const { written } = book
  must(same(answers, written), `the codec answers ${JSON.stringify(answers)}, the book ${JSON.stringify(written)}`)
}

const usual: Limits = {
  maxHeadBytes: 65_536,
  maxFields: 256,
  maxTrailerBytes: 8_192,
  maxInformational: 32,
  maxContinuations: 32,
}

const large = new Uint8Array(70_000)

const requestOf = (kind: FramesCase["requests"][number]): HttpRequest => {
  if (kind === "CONNECT") return { ...Lab2.get, method: "CONNECT", authority: "example.com:443", path: "" }
  if (kind === "short") return { ...Lab2.get, method: "POST", body: large.subarray(0, 12) }
  if (kind === "POST") return { ...Lab2.get, method: "POST", body: large }
  return kind === "upload" ? { ...Lab2.get, method: "POST", body: { bytes: undefined } } : { ...Lab2.get, method: kind }
}

/** With a book, that hears all that goes in and out, so byte by byte alone. */
const run = (one: FramesCase, on: HttpEngine, sizes: ReadonlyArray<number>, book?: ReferenceFrames): Said => {
  const bench = new Bench(one, on.open(), book)
  bench.begin()
  for (const kind of one.requests) bench.send(requestOf(kind))
  const bytes = Lab.bytes(one.input)
  let turn = 0
  let at = 0
  const feed = (end: number): void => {
    for (; at < end; turn++) {
      const to = Math.min(end, at + sizes[turn % sizes.length]!)
      bench.feed(bytes.slice(at, to))
      at = to
    }
  }
  for (const act of one.acts) {
    feed(act.at)
    bench.act(act)
  }
  feed(bytes.length)
  return bench.end()
}

/** A line without which rule was broken. */
const bare = (line: string): string =>
  line.replace(/(failed|retired fault) (?!reset|gone).*/, (_, what) => what === "failed" ? "failed fault" : what)

const headOf = (event: Event): ReadonlyArray<string> => {
  if (event._tag === "Informational") return [listed(event.exchange, event.fields)]
  return event._tag === "Head" ? [listed(event.exchange, event.head.fields)] : []
}

/** The order of an exchange's events, but for those of its sending side. */
const order = /^(Informational )*(Head (Data )?(End )?)?(Failed )?$/

class Bench {
  readonly #one: FramesCase
  readonly #connection: EngineConnection
  readonly #book: ReferenceFrames | undefined
  readonly #events: Array<Event> = []
  readonly #tags = new Map<number, string>()
  readonly #gone = new Set<number>()
  readonly #unread = new Map<number, number>()
  #output = ""
  #retired = 0
  #asked = 0
  #answered = 0

  constructor(one: FramesCase, connection: EngineConnection, book: ReferenceFrames | undefined) {
    this.#one = one
    this.#connection = connection
    this.#book = book
  }

  /** Nobody acknowledges settings that are not written. */
  begin(): void {
    this.#listen()
    this.#take()
  }

  send(request: HttpRequest): void {
    const { room } = this.#connection
    const sent = this.#connection.trySend(request)
    must((sent._tag === "Accepted") === room > 0 || sent._tag === "Malformed", `${sent._tag} with room for ${room}`)
    if (sent._tag !== "Accepted") return
    this.#tags.set(sent.exchange, "")
    this.#book?.asked(sent.exchange, request.method)
    this.#listen()
    // Nobody answers what is not written.
    this.#take()
  }

  feed(piece: Uint8Array): void {
    const told = this.#connection.receive(piece)
    this.#book?.feed(Lab.text(piece))
    this.#listen()
    must(told.length <= 2 * this.#tags.size + 2 + piece.length, `${told.length} events of ${piece.length} bytes`)
    this.#hear(told)
    const { isRetired, retainedBytes, room } = this.#connection
    must(retainedBytes <= mostKept(this.#one.small), `${retainedBytes} bytes are kept`)
    must(room >= 0 && (!isRetired || room === 0), `room for ${room}`)
    must(this.#retired <= 1 && (this.#retired === 0 || isRetired), "it retired twice, or is not retired")
    // A place is given back with the end of a request, which counts as sent when it was taken.
    if (this.#book === undefined) return
    const live = [...this.#tags].filter(([exchange, tags]) =>
      !this.#gone.has(exchange) && !tags.endsWith("Failed ") &&
      !(tags.endsWith("End ") && this.#connection.isSendEnded(exchange))
    )
    must(isRetired || room <= (this.#one.small ? 4 : 1_024) - live.length, `room for ${room} beside ${live.length}`)
    // No peer that says nothing of its limit takes a place away.
    if (this.#one.limitless) must(isRetired || room === (this.#one.small ? 4 : 1_024) - live.length, "a place is lost")
  }

  act(act: Act): void {
    this.#act(act)
    this.#listen()
  }

  #act({ exchange, what }: Act): void {
    const connection = this.#connection
    switch (what) {
      case "send":
        return this.send(Lab2.get)
      case "post":
        return this.send(requestOf("upload"))
      case "upload":
        return void connection.upload(exchange, Lab.bytes("upload"))
      case "upload-much":
        return void connection.upload(exchange, new Uint8Array(66_000))
      case "finish":
        return void connection.finish(exchange, [["x-sum", "1"]])
      case "consume":
        return connection.consumed(exchange, this.#unread.get(exchange) ?? 7)
      case "cancel":
        if (Lab.cancel(connection, exchange) === "cut") this.#gone.add(exchange)
        this.#book?.cancel(exchange)
        must(Lab.cancel(connection, exchange) === "drained", "it was cut twice")
        return
      case "ping": {
        const isOut = connection.ping()
        must(!isOut || this.#asked === this.#answered, "it asked twice")
        must(isOut || this.#asked > this.#answered || connection.isRetired, "it did not ask")
        this.#asked += isOut ? 1 : 0
        // Nobody answers what is not written.
        this.#listen()
        this.#take()
        return
      }
      case "leave":
        connection.leave()
        this.#book?.leave()
        return must(connection.isRetired && connection.room === 0, "it takes requests though it has left")
      default:
        this.#take()
    }
  }

  end(): Said {
    const read = Lab2.told(this.#events.filter(({ _tag }) => _tag !== "SendEnded" && _tag !== "Writable"))
    this.#take()
    const closing = this.#connection.closed(this.#one.end)
    this.#hear(closing)
    const { isRetired, retainedBytes } = this.#connection
    must(this.#retired === 1, `it retired ${this.#retired} times`)
    must(isRetired && retainedBytes === 0, "it is open, or keeps something, though it was closed")
    for (const [exchange, tags] of this.#tags) {
      must(this.#connection.isSendEnded(exchange), `${exchange} still sends behind the end of the connection`)
      must(this.#gone.has(exchange) || /(End|Failed) $/.test(tags), `${exchange} did not come to an end: ${tags}`)
    }
    must(this.#connection.receive(Lab2.ping).length === 0, "it went on behind its end")
    must(this.#connection.takeOutput().length === 0, "it wrote behind its end")
    return {
      told: Lab2.told(this.#events),
      output: this.#output,
      read: read.map(bare),
      heads: this.#events.flatMap(headOf),
    }
  }

  /** Tells the book what came out. */
  #listen(): void {
    if (this.#book === undefined) return
    const before = this.#output.length
    this.#take()
    this.#book.hear(this.#output.slice(before))
  }

  #take(): void {
    for (const piece of this.#connection.takeOutput()) this.#output += latin1(piece, 0, piece.length)
  }

  #hear(told: ReadonlyArray<Event>): void {
    this.#events.push(...told)
    for (const event of told) {
      if (event._tag === "Retired") {
        this.#retired++
        continue
      }
      if (event._tag === "Pong") {
        must(++this.#answered === this.#asked, "an answer to nothing")
        continue
      }
      const { _tag, exchange } = event
      const before = this.#tags.get(exchange)
      must(before !== undefined && !this.#gone.has(exchange), `${_tag} of ${exchange}, which is not there`)
      if (_tag === "SendEnded" || _tag === "Writable") continue
      if (_tag === "Data") this.#unread.set(exchange, (this.#unread.get(exchange) ?? 0) + event.bytes.length)
      const tags = _tag === "Data" && before!.endsWith("Data ") ? before! : `${before}${_tag} `
      must(order.test(tags) && !/(End|Failed) \w/.test(tags), `events of ${exchange} out of order: ${tags}`)
      this.#tags.set(exchange, tags)
    }
  }
}
