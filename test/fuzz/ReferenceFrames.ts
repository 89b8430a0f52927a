/**
 * Another reader of HTTP/2, written from RFC 9113 alone: a byte at a time, over frames that are kept whole. It is slow and
 * plain, and what the codec says and answers is held against it.
 *
 * It sends nothing itself: it hears what the codec sends, so that it knows the windows and which requests are out.
 */
import type { Field } from "../../core/http/HttpMessage.ts"
import { must } from "./Law.ts"
import { ReferenceHpack } from "./ReferenceHpack.ts"

export interface Limits {
  readonly maxHeadBytes: number
  readonly maxFields: number
  readonly maxTrailerBytes: number
  readonly maxInformational: number
  readonly maxContinuations: number
}

interface Stream {
  readonly id: number
  readonly method: string
  isSent: boolean
  isRefused: boolean
  part: "head" | "body" | "ended"
  informational: number
  expected: number | undefined
  received: number
  window: number
}

interface Frame {
  readonly length: number
  readonly type: number
  readonly flags: number
  readonly stream: number
}

type Scope = "stream" | "connection"

/** A rule that is broken, and the code that it is answered with. */
class Fault extends Error {
  readonly code: number
  readonly scope: Scope
  constructor(scope: Scope, code: number) {
    super(`${scope} ${code}`)
    this.scope = scope
    this.code = code
  }
}

const prefaceBytes = 24
const largest = 2 ** 31 - 1

const number = (text: string): number => Array.from(text).reduce((sum, letter) => sum * 256 + letter.charCodeAt(0), 0)

export class ReferenceFrames {
  /** What is told, as by `Lab2.told`, with `fault` in place of what is wrong. */
  readonly told: Array<string> = []
  /** The fields of heads, in order. */
  readonly heads: Array<string> = []
  /** Resets, answers and what is said in the end: type, stream, code. */
  readonly written: Array<string> = []
  readonly #limits: Limits
  readonly #hpack = new ReferenceHpack(4_096)
  #last = -1
  #isSpeaking = false
  #hasLeft = false
  /** Of a PING whose answer is due. */
  #due: string | undefined = undefined
  #settled: "held" | "out" | "acknowledged" = "held"
  #streams: Array<Stream> = []
  #resets: Array<number> = []
  #raw = ""
  #isFirst = true
  #isOver = false
  #isRetired = false
  #gone = largest
  #window = 65_535
  #streamWindow = 65_535
  #settings: ReadonlyMap<number, number> = new Map()
  #block: { readonly stream: number; readonly isLast: boolean; bytes: string; more: number } | undefined = undefined

  constructor(limits: Limits) {
    this.#limits = limits
  }

  asked(id: number, method: string): void {
    this.#last = id
    const window = this.#streamWindow
    const progress = {
      isSent: false,
      isRefused: false,
      part: "head",
      informational: 0,
      expected: undefined,
      received: 0,
    } as const
    this.#streams.push({ ...progress, id, method, window })
  }

  /** Whole frames that the codec sends. */
  hear(output: string): void {
    let at = this.#isSpeaking || output === "" ? 0 : prefaceBytes
    if (!this.#isSpeaking && output !== "") [this.#isSpeaking, this.#settled] = [true, "out"]
    while (at < output.length) {
      const length = number(output.slice(at, at + 3))
      const [type, flags] = [number(output[at + 3]!), number(output[at + 4]!)]
      const stream = this.#find(number(output.slice(at + 5, at + 9)))
      must(length <= (this.#settings.get(5) ?? 16_384), "it sends a frame that is larger than the peer takes")
      if (type === 0) this.#spend(stream, length)
      if (type === 6 && flags === 0) this.#due = output.slice(at + 9, at + 17)
      if (type < 2 && flags % 2 === 1 && stream !== undefined) {
        stream.isSent = true
        this.#leave(stream)
      }
      at += 9 + length
    }
  }

  /** DATA goes out, for which there has to be a stream and room in both windows; but an end is for nothing. */
  #spend(stream: Stream | undefined, length: number): void {
    if (length === 0) return
    must(stream !== undefined && !stream.isSent, "it sends of a request that is over")
    stream!.window -= length
    this.#window -= length
    must(stream!.window >= 0 && this.#window >= 0, "it sends more than the windows allow")
  }

  cancel(id: number): void {
    const stream = this.#find(id)
    if (stream !== undefined) this.#reset(stream, 8)
  }

  leave(): void {
    if (this.#isOver || this.#hasLeft) return
    this.#hasLeft = true
    this.written.push("goaway 0 0")
  }

  feed(text: string): void {
    for (const byte of text) {
      if (this.#isOver) return
      this.#raw += byte
      try {
        this.#step(byte)
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        this.#break(error)
      }
    }
  }

  #find(id: number): Stream | undefined {
    return this.#streams.find((stream) => stream.id === id)
  }

  #step(byte: string): void {
    if (this.#raw.length < 9) return
    const frame: Frame = {
      length: number(this.#raw.slice(0, 3)),
      type: number(this.#raw[3]!),
      flags: number(this.#raw[4]!),
      stream: number(this.#raw.slice(5, 9)) % 2 ** 31,
    }
    const place = this.#raw.length - 10
    this.#inStream(frame.stream, () => {
      if (place < 0) this.#begin(frame)
      else if (frame.type === 0) this.#data(frame, place, byte)
    })
    if (place + 1 < frame.length) return
    const payload = this.#raw.slice(9)
    this.#raw = ""
    this.#inStream(frame.stream, () => this.#end(frame, payload))
  }

  /** Runs it; a fault of the stream resets that alone. */
  #inStream(id: number, run: () => void): void {
    try {
      run()
    } catch (error) {
      if (!(error instanceof Fault) || error.scope === "connection") throw error
      const stream = this.#find(id)!
      this.#reset(stream, error.code)
      this.#fail(stream, "fault")
    }
  }

  #begin({ flags, length, stream, type }: Frame): void {
    const fail = (holds: boolean, code: number): void => {
      if (holds) throw new Fault("connection", code)
    }
    fail(this.#isFirst && (type !== 4 || flags % 2 === 1), 1)
    this.#isFirst = false
    fail(length > 16_384, 6)
    fail(this.#block === undefined ? type === 9 : type !== 9 || stream !== this.#block.stream, 1)
    fail(type === 5 || type === 16, 1)
    fail([4, 6, 7].includes(type) && stream !== 0, 1)
    fail([0, 1, 2, 3].includes(type) && stream === 0, 1)
    const isPadded = has(flags, 8)
    const lengths: Readonly<Record<number, boolean>> = {
      1: length >= (isPadded ? 1 : 0) + (has(flags, 32) ? 5 : 0),
      2: length === 5,
      3: length === 4,
      4: flags % 2 === 1 ? length === 0 : length % 6 === 0,
      6: length === 8,
      7: length >= 8,
      8: length === 4,
    }
    fail(lengths[type] === false, 6)
    if ([0, 1, 3, 8].includes(type) && stream !== 0) {
      fail(stream > this.#last || stream % 2 === 0, 1)
      const isResponse = type < 2
      const own = this.#find(stream)
      fail(isResponse && (own === undefined ? !this.#resets.includes(stream) : own.part === "ended"), 5)
    }
    if (type !== 0) return
    fail(isPadded && length === 0, 6)
    if (!isPadded) this.#size(stream, length)
  }

  /** So many bytes of a body are in the frame. */
  #size(id: number, bytes: number): void {
    const stream = this.#find(id)
    if (stream === undefined) return
    const { expected, part, received } = stream
    if (part === "head" || (expected !== undefined && received + bytes > expected)) throw new Fault("stream", 1)
  }

  #data({ flags, length, stream: id }: Frame, place: number, byte: string): void {
    const padding = has(flags, 8) ? number(this.#raw[9]!) : 0
    const from = has(flags, 8) ? 1 : 0
    if (place < from) {
      if (padding > length - 1) throw new Fault("connection", 1)
      return this.#size(id, length - 1 - padding)
    }
    const stream = this.#find(id)
    if (place >= length - padding || stream === undefined) return
    stream.received++
    this.#tell(`${id}: data `, byte)
  }

  /** Data that follows data of the same stream goes on with its line. */
  #tell(line: string, byte: string): void {
    const last = this.told.at(-1)
    if (last?.startsWith(line) === true) this.told[this.told.length - 1] = last + byte
    else this.told.push(line + byte)
  }

  #end(frame: Frame, payload: string): void {
    const { flags, stream: id, type } = frame
    const stream = this.#find(id)
    if (type === 0 && flags % 2 === 1 && stream !== undefined) this.#ended(stream, [])
    else if (type === 1) this.#headers(frame, payload)
    else if (type === 3 && stream !== undefined) this.#wasReset(stream, number(payload))
    else if (type === 4) this.#setting(flags, payload)
    else if (type === 6) {
      if (flags % 2 === 0) this.written.push(`ping 1 ${payload}`)
      else this.#pong(payload)
    } else if (type === 7) this.#goAway(number(payload.slice(0, 4)) % 2 ** 31, number(payload.slice(4, 8)))
    else if (type === 8) this.#windowUpdate(id, number(payload) % 2 ** 31)
    else if (type === 9) this.#continue(payload, has(flags, 4))
  }

  #pong(payload: string): void {
    if (payload !== this.#due) throw new Fault("connection", 1)
    this.#due = undefined
    this.told.push("pong")
  }

  #headers({ flags, stream }: Frame, payload: string): void {
    const padding = has(flags, 8) ? number(payload[0]!) : 0
    const from = (has(flags, 8) ? 1 : 0) + (has(flags, 32) ? 5 : 0)
    if (from + padding > payload.length) throw new Fault("connection", 1)
    this.#block = { stream, isLast: flags % 2 === 1, bytes: "", more: -1 }
    this.#continue(payload.slice(from, payload.length - padding), has(flags, 4))
  }

  #continue(part: string, isWhole: boolean): void {
    const block = this.#block!
    block.bytes += part
    if (block.bytes.length > this.#limits.maxHeadBytes) throw new Fault("connection", 11)
    if (++block.more > this.#limits.maxContinuations) throw new Fault("connection", 11)
    if (!isWhole) return
    this.#block = undefined
    const fields = this.#hpack.read(block.bytes)
    if (fields === undefined) throw new Fault("connection", 9)
    const stream = this.#find(block.stream)
    if (stream === undefined) return
    if (stream.part === "body") this.#trailers(stream, fields, block.isLast)
    else this.#head(stream, fields, block.isLast)
  }

  #head(stream: Stream, fields: ReadonlyArray<Field>, isLast: boolean): void {
    const need = (holds: boolean): void => {
      if (!holds) throw new Fault("stream", 1)
    }
    const [first, ...others] = fields
    need(first?.[0] === ":status" && /^[1-9][0-9]{2}$/.test(first[1]))
    need(bytesOf(fields) <= this.#limits.maxHeadBytes && others.length <= this.#limits.maxFields)
    need(others.every(isField))
    const status = Number(first![1])
    const [length, ...more] = others.filter(([name]) => name === "content-length").map(([, value]) => value)
    const opens = stream.method === "CONNECT" && status >= 200 && status < 300
    need(opens || more.length === 0 && (length === undefined || /^(0|[1-9][0-9]{0,15})$/.test(length)))
    if (status < 200) {
      need(status !== 101 && !isLast && (length ?? "0") === "0")
      need(++stream.informational <= this.#limits.maxInformational)
      this.heads.push(listed(stream.id, others))
      this.told.push(`${stream.id}: ${status}`)
      return
    }
    const isBare = status === 204 || status === 304 || stream.method === "HEAD"
    need(opens || !(status === 204 || (isLast && !isBare)) || (length ?? "0") === "0")
    if (!opens) stream.expected = isBare || isLast ? 0 : length === undefined ? undefined : Number(length)
    stream.part = "body"
    this.heads.push(listed(stream.id, others))
    this.told.push(`${stream.id}: ${status} ${isLast ? 0 : stream.expected ?? "?"}`)
    if (isLast) this.#ended(stream, [])
    // There is nothing to send in a tunnel that is none.
    if (stream.method === "CONNECT" && !opens) {
      stream.isSent = true
      stream.isRefused = true
    }
    this.#leave(stream)
  }

  #trailers(stream: Stream, fields: ReadonlyArray<Field>, isLast: boolean): void {
    const steering = ["content-length", "expect", "host", "te", "trailer"]
    const fits = isLast && (stream.method !== "CONNECT" || stream.isRefused) &&
      bytesOf(fields) <= this.#limits.maxTrailerBytes &&
      fields.length <= this.#limits.maxFields && fields.every(isField) &&
      !fields.some(([name]) => steering.includes(name))
    if (!fits) throw new Fault("stream", 1)
    this.#ended(stream, fields)
  }

  #ended(stream: Stream, trailers: ReadonlyArray<Field>): void {
    if (stream.received < (stream.expected ?? 0)) throw new Fault("stream", 1)
    if (stream.part === "head") throw new Fault("stream", 1)
    stream.part = "ended"
    this.told.push([`${stream.id}: end`, ...trailers.map(([name, value]) => `${name}=${value}`)].join(" "))
    this.#leave(stream)
  }

  /** Both sides have ended. */
  #leave(stream: Stream): void {
    if (stream.isSent && stream.part === "ended") this.#streams = this.#streams.filter((one) => one !== stream)
  }

  #fail(stream: Stream, why: string): void {
    this.#streams = this.#streams.filter((one) => one !== stream)
    if (stream.part !== "ended") this.told.push(`${stream.id}: failed ${why}`)
  }

  /** By this side. */
  #reset(stream: Stream, code: number): void {
    this.written.push(`reset ${stream.id} ${code}`)
    this.#streams = this.#streams.filter((one) => one !== stream)
    this.#resets = [...this.#resets, stream.id]
  }

  /** By the peer. */
  #wasReset(stream: Stream, code: number): void {
    const part = stream.part === "head" ? "head" : "body"
    const isUnprocessed = code === 7 && !this.#isAnswered(stream)
    this.#fail(stream, `reset ${code} ${part} ${stream.received}${isUnprocessed ? " unprocessed" : ""}`)
  }

  #isAnswered({ informational, part }: Stream): boolean {
    return part !== "head" || informational > 0
  }

  #setting(flags: number, payload: string): void {
    if (flags % 2 === 1) {
      if (this.#settled !== "out") throw new Fault("connection", 1)
      this.#settled = "acknowledged"
      return
    }
    const before = this.#streamWindow
    const isKnown = this.#settings.has(-1)
    const settings = new Map(this.#settings).set(-1, 0)
    for (let at = 0; at < payload.length; at += 6) {
      const id = number(payload.slice(at, at + 2))
      const value = number(payload.slice(at + 2, at + 6))
      const was = settings.get(id)
      if (id === 4 && value > largest) throw new Fault("connection", 3)
      const wrong = (id === 2 && value !== 0) || (id === 5 && (value < 16_384 || value >= 2 ** 24)) ||
        (id === 8 && (value > 1 || (value === 0 && was === 1))) ||
        (id === 9 && (value > 1 || (isKnown && value !== (was ?? 0))))
      if (wrong) throw new Fault("connection", 1)
      settings.set(id, value)
    }
    this.#settings = settings
    this.#streamWindow = settings.get(4) ?? 65_535
    for (const stream of this.#streams) {
      stream.window += this.#streamWindow - before
      if (stream.window > largest) throw new Fault("connection", 3)
    }
    this.written.push("settings ack")
  }

  #goAway(last: number, code: number): void {
    if (last > this.#gone) throw new Fault("connection", 1)
    this.#gone = last
    const why = `gone ${code} ${last}`
    if (!this.#isRetired) this.told.push(code === 0 ? "retired announced" : `retired announced ${why}`)
    this.#isRetired = true
    for (const stream of this.#streams) {
      if (stream.id <= last) continue
      // It says that it did nothing with what it has answered.
      if (this.#isAnswered(stream)) {
        this.#reset(stream, 1)
        this.#fail(stream, "fault")
      } else {
        this.#fail(stream, why)
        // Whatever it answers all the same is passed over.
        this.#resets = [...this.#resets, stream.id]
      }
    }
  }

  #windowUpdate(id: number, more: number): void {
    const stream = this.#find(id)
    if (id === 0) {
      this.#window += more
      if (more === 0 || this.#window > largest) throw new Fault("connection", more === 0 ? 1 : 3)
    } else if (stream !== undefined) {
      stream.window += more
      if (more === 0 || stream.window > largest) throw new Fault("stream", more === 0 ? 1 : 3)
    }
  }

  #break({ code }: Fault): void {
    this.#isOver = true
    const left = this.#streams
    this.#streams = []
    this.written.push(`goaway 0 ${code}`)
    for (const stream of left) this.#fail(stream, "fault")
    if (!this.#isRetired) this.told.push("retired fault")
  }
}

export const listed = (stream: number, fields: ReadonlyArray<Field>): string => JSON.stringify([stream, fields])

const has = (flags: number, flag: number): boolean => Math.floor(flags / flag) % 2 === 1

const bytesOf = (fields: ReadonlyArray<Field>): number =>
  fields.reduce((sum, [name, value]) => sum + name.length + value.length + 32, 0)

const forbidden = ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]

const isField = ([name, value]: Field): boolean =>
  /^[-!#$%&'*+.^_`|~0-9a-z]+$/.test(name) &&
  /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/
    .test(value) &&
  !forbidden.includes(name)
