/**
 * What must hold beside a peer that keeps every rule: no fault is found in it, no window is passed on either side, every
 * exchange is told to its one end, nothing counts as sent before it came out, nothing is told of what is over, and nothing
 * stands still that could go on.
 */
import type { EngineConnection, Event, HttpEngine } from "../../core/http/HttpEngine.ts"
import type * as Http2 from "../../core/http/Http2.ts"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Result from "effect/Result"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"
import { must } from "./Law.ts"
import type { PeerCase, Step, What } from "./PeerCase.ts"
import { ReferenceHpack } from "./ReferenceHpack.ts"

const first = 65_535
export const limits: Http2.Options = { maxStreamWindowBytes: first, maxConnectionWindowBytes: 100_000 }

/** An exchange as both sides have it. */
interface Shared {
  readonly id: number
  readonly kind: What
  /** A field of its request that the table holds, and its trailers as well. */
  readonly agent: string
  /** What this side may send, and what the peer may. */
  out: number
  in: number
  local: "open" | "ended"
  peer: "head" | "body" | "ended"
  /** Whether the peer may send a body, and whether it is a tunnel's. */
  bodied: boolean
  tunnel: boolean
  unread: number
  /** Whether its head came out, so that the peer can speak of it; and whether it has answered it. */
  seen: boolean
  answered: boolean
  /** Whether it was told, or can be known, that nothing more of it comes out; and whether its owner has given all of it. */
  sendEnded: boolean
  given: boolean
  /** Bytes of an upload that are still to be given. */
  left: number
  /** Whether a body that was given whole did not come out at once, so that its end is told. */
  held: boolean
  /** Whether it was cut, and what was written before that may still come out. */
  late: boolean
  short: boolean
  over: "" | "End" | "Failed" | "cancelled"
}

const { Type, endHeaders, endStream, frame, padded } = Lab2
const uploads: ReadonlySet<What> = new Set(["sized", "open", "tunnel"])
const large = new Uint8Array(70_000)

const requestOf = (what: What, agent: string, bytes: number): HttpRequest | undefined => {
  const get = { ...Lab2.get, fields: [["user-agent", agent]] } as const
  switch (what) {
    case "get":
      return get
    case "head":
      return { ...get, method: "HEAD" }
    case "post":
      return { ...get, method: "POST", body: large.subarray(0, bytes) }
    case "sized":
      return { ...get, method: "POST", body: { bytes: bytes + 1 } }
    case "open":
      return { ...get, method: "POST", body: { bytes: undefined } }
    case "tunnel":
      return { ...get, method: "CONNECT", authority: "example.com:443", path: "" }
    default:
      return undefined
  }
}

export const broken = ({ steps }: PeerCase, on: HttpEngine): void => {
  const both = new Both(on.open())
  for (const step of steps) both.step(step)
  both.end()
}

class Both {
  readonly #connection: EngineConnection
  readonly #all = new Map<number, Shared>()
  #out = first
  #in = 100_000
  #window = first
  #frame = 16_384
  #last = Infinity
  readonly #hpack = new ReferenceHpack(4_096)
  /** The table's size in each SETTINGS that is not acknowledged, the one that holds now, and the least since the last block. */
  readonly #asked: Array<number | undefined> = []
  #table = 4_096
  #least = Infinity

  constructor(connection: EngineConnection) {
    this.#connection = connection
    this.#look()
    this.#set()
  }

  step([what, which, bytes]: Step): void {
    const agent = `agent ${which % 7}`
    const request = requestOf(what, agent, bytes)
    const all = [...this.#all.values()]
    if (request !== undefined) this.#send(request, what, agent)
    else if (
      what === "connection" || what === "windows" || what === "frames" || what === "table" || what === "ping" ||
      what === "go"
    ) {
      this.#connectionWide(what, which, bytes, all)
    } else if (all.length > 0) {
      const one = all[which % all.length]!
      if (what === "upload" || what === "finish" || what === "cancel" || what === "consume") this.#own(one, what, bytes)
      else this.#peer(one, what, which, bytes)
    }
    // Now and then nobody takes what is written, and the peer does not see it.
    if (which % 5 > 0) this.#look()
  }

  /** All windows are opened and all that came is consumed: whoever waits goes on. Then the transport ends. */
  end(): void {
    for (const one of this.#all.values()) {
      this.#connection.consumed(one.id, one.unread)
      one.unread = 0
    }
    this.#look()
    must(this.#in > 0, "all was consumed, and the connection's window stays shut")
    for (const one of this.#live()) {
      must(one.peer === "ended" || one.in > 0, `all was consumed, and the window of ${one.id} stays shut`)
    }
    this.#out += 10_000_000
    this.#feed(Lab2.windowUpdate(0, 10_000_000))
    for (const one of this.#live()) {
      if (one.local === "ended") continue
      one.out += 10_000_000
      this.#feed(Lab2.windowUpdate(one.id, 10_000_000))
    }
    this.#look()
    for (const one of this.#live()) {
      must(one.kind !== "post" || one.local === "ended", `the body of ${one.id} is held though its windows are open`)
      must(!one.short || (one.tunnel && one.peer === "head"), `nobody told ${one.id} that its windows are open`)
    }
    this.#hear(this.#connection.closed("reset"))
    for (const { held, id, over, sendEnded } of this.#all.values()) {
      must(over !== "End" || !held || sendEnded, `nobody told ${id} what became of its body`)
      must(over !== "", `${id} came to no end`)
      must(this.#connection.isSendEnded(id), `${id} still sends behind the end of the connection`)
    }
    must(this.#connection.retainedBytes === 0, "something is kept behind the end")
  }

  #live(): ReadonlyArray<Shared> {
    return [...this.#all.values()].filter(({ over }) => over === "" || over === "End")
      .filter(({ local, over, peer }) => over === "" || local === "open" || peer !== "ended")
  }

  #send(request: HttpRequest, kind: What, agent: string): void {
    const sent = this.#connection.trySend(request)
    must(sent._tag !== "Malformed", "a request that is right was refused")
    if (sent._tag !== "Accepted") return
    const id = sent.exchange
    must(!this.#all.has(id), `${id} was used before`)
    must(!this.#connection.isSendEnded(id), `${id} is sent, and nothing of it came out`)
    const tunnel = kind === "tunnel"
    const at = {
      id,
      kind,
      agent,
      out: this.#window,
      in: first,
      local: "open",
      peer: "head",
      bodied: true,
      tunnel,
    } as const
    const body = request.body !== undefined && "bytes" in request.body ? request.body.bytes : undefined
    const left = body ?? Infinity
    const sending = {
      left,
      sendEnded: false,
      given: !uploads.has(kind),
      held: false,
      late: false,
      seen: false,
      answered: false,
      short: false,
    } as const
    this.#all.set(id, { ...at, ...sending, unread: 0, over: "" })
    // What did not come out at once is held.
    if (kind === "post") this.#look()
  }

  #own(one: Shared, what: "upload" | "finish" | "cancel" | "consume", bytes: number): void {
    const connection = this.#connection
    const { id } = one
    if (what === "upload") {
      const taken = connection.upload(id, large.subarray(0, bytes))
      if (Result.isFailure(taken)) return
      must(!one.given && !one.sendEnded, `${id} took an upload`)
      // One of nothing changes nothing.
      if (bytes > 0) one.short = taken.success < bytes
      one.left -= taken.success
      one.given = one.left === 0
      must(!connection.isSendEnded(id), `${id} is sent, and its end did not come out`)
    } else if (what === "finish") {
      if (Result.isFailure(connection.finish(id, one.tunnel || bytes === 0 ? [] : [["user-agent", one.agent]]))) return
      must(!one.given && !connection.isSendEnded(id), `${id} was finished twice, or is sent before its end came out`)
      one.given = true
      one.short = false
    } else if (what === "cancel") {
      // Of what was given whole, and answered, what is left comes out all the same.
      const isOver = one.over === "End" && (connection.isSendEnded(id) || one.given)
      if (Lab.cancel(connection, id) === "drained") {
        must(isOver || one.over === "Failed" || one.over === "cancelled", `${id} is not drained`)
      } else [one.over, one.late] = ["cancelled", true]
      one.unread = 0
      if (one.over === "cancelled") one.sendEnded = true
    } else {
      const consumed = Math.min(bytes, one.unread)
      connection.consumed(id, consumed)
      one.unread -= consumed
    }
  }

  #connectionWide(
    what: "connection" | "windows" | "frames" | "table" | "ping" | "go",
    which: number,
    bytes: number,
    all: ReadonlyArray<Shared>,
  ): void {
    // What is written already is as the settings were.
    if (what === "windows" || what === "frames") this.#look()
    if (what === "ping") this.#feed(Lab2.ping)
    else if (what === "connection") {
      this.#out += bytes + 1
      this.#feed(Lab2.windowUpdate(0, bytes + 1))
    } else if (what === "windows") {
      for (const one of all) one.out += bytes - this.#window
      this.#window = bytes
      this.#set([4, bytes])
    } else if (what === "frames") {
      this.#frame = 16_384 + bytes
      this.#set([5, this.#frame])
    } else if (what === "table") {
      this.#set([1, bytes])
    } else if (which % 4 === 0 && all.length > 0) {
      // What it has answered it served.
      const least = Math.max(0, ...all.filter(({ answered }) => answered).map(({ id }) => id))
      this.#last = Math.min(this.#last, Math.max(least, all[which % all.length]!.id))
      for (const one of all) if (one.id > this.#last) [one.local, one.peer, one.late] = ["ended", "ended", true]
      this.#feed(Lab2.goAway(this.#last, 0))
    }
  }

  /** What the peer does on a stream, as far as it may. */
  #peer(one: Shared, what: What, which: number, bytes: number): void {
    const { bodied, id, peer } = one
    if (!one.seen) return
    // What was reset is spoken of no more.
    if (one.over === "cancelled" || one.over === "Failed") return
    const last = which % 3 === 0 ? endStream : 0
    if (what === "inform") {
      if (peer !== "head") return
      one.answered = true
      this.#feed(Lab2.response(id, 103))
    } else if (what === "answer") {
      if (peer !== "head") return
      const status = [200, 204, 304, 404, 407][which % 5]!
      one.peer = last > 0 ? "ended" : "body"
      one.answered = true
      // There is nothing to send where it opens no tunnel, and its owner is told when that came out.
      if (one.tunnel && status >= 300 && !one.given) one.held = true
      one.tunnel &&= status < 300
      one.bodied = one.tunnel || (status !== 204 && status !== 304 && one.kind !== "head")
      this.#feed(Lab2.response(id, status, [], last))
    } else if (what === "data") {
      const padding = which % 5
      const size = bodied ? Math.min(bytes, 16_000) : 0
      const all = size + (padding > 0 ? padding + 1 : 0)
      if (peer !== "body" || all > one.in || all > this.#in) return
      one.in -= all
      this.#in -= all
      if (last > 0) one.peer = "ended"
      const payload = new Uint8Array(all)
      payload[0] = padding
      this.#feed(frame(Type.data, last | (padding > 0 ? padded : 0), id, payload))
    } else if (what === "trailers") {
      if (peer !== "body" || one.tunnel) return
      one.peer = "ended"
      this.#feed(frame(Type.headers, endHeaders | endStream, id, Lab2.block(["x", "y"])))
    } else if (what === "reset") {
      if (peer === "ended" && one.local === "ended") return
      ;[one.local, one.peer, one.late] = ["ended", "ended", true]
      this.#feed(Lab2.reset(id, [0, 2, 7, 8][which % 4]!))
    } else if (one.local === "open") {
      one.out += bytes + 1
      this.#feed(Lab2.windowUpdate(id, bytes + 1))
    }
  }

  #set(...values: ReadonlyArray<readonly [id: number, value: number]>): void {
    this.#asked.push(values.find(([id]) => id === 1)?.[1])
    this.#feed(Lab2.settings(...values))
  }

  /** In two pieces, so that frames are cut. */
  #feed(bytes: Uint8Array): void {
    const at = bytes.length % 11
    for (const piece of [bytes.subarray(0, at), bytes.subarray(at)]) this.#hear(this.#connection.receive(piece))
  }

  #hear(events: ReadonlyArray<Event>): void {
    for (const event of events) {
      if (event._tag === "Retired") must(event.error?._tag !== "ProtocolFault", "a fault was found in a sound peer")
      if (event._tag === "Retired" || event._tag === "Pong") continue
      const one = this.#all.get(event.exchange)
      must(one !== undefined, `${event._tag} of nothing`)
      this.#heard(one!, event)
    }
  }

  #heard(one: Shared, event: Exclude<Event, { readonly _tag: "Retired" | "Pong" }>): void {
    const what = `${event._tag} of ${one.id}`
    must(one.over !== "cancelled", `${what} behind its cancellation`)
    if (event._tag === "Writable") {
      must(one.short && !one.sendEnded, `${what}, which does not wait`)
      one.short = false
    } else if (event._tag === "SendEnded") {
      must(event.how === "stopped" || (one.held && one.local === "ended"), `${what}, whose end did not come out`)
      must(!one.sendEnded && this.#connection.isSendEnded(one.id), `${what}, which had ended, or has not`)
      one.sendEnded = true
      one.short = false
    } else {
      must(one.over === "", `${what} behind its end`)
      if (event._tag === "Data") one.unread += event.bytes.length
      if (event._tag === "End") one.over = "End"
      if (event._tag === "Failed") {
        must(event.error._tag !== "ProtocolFault", `a fault was found in a sound peer, at ${one.id}`)
        ;[one.over, one.sendEnded, one.short] = ["Failed", true, false]
      }
    }
  }

  /** Takes what came out, frame by frame, against the windows and the states that the peer knows. */
  #look(): void {
    const bytes = Lab2.join(...this.#connection.takeOutput())
    const view = new DataView(bytes.buffer)
    for (let at = Lab.text(bytes.subarray(0, 3)) === "PRI" ? 24 : 0; at < bytes.length;) {
      const length = view.getUint32(at) >>> 8
      const [type, flags, id] = [bytes[at + 3]!, bytes[at + 4]!, view.getUint32(at + 5)]
      must(length <= this.#frame, `a frame of ${length} bytes came out`)
      if (type === Type.settings && flags === 1) this.#acknowledged()
      if (id > 0) this.#came(this.#all.get(id), type, flags, length, view, at + 9)
      else if (type === Type.windowUpdate) {
        this.#in += view.getUint32(at + 9)
        // What it begins with is the sum of two.
        must(this.#in <= 2 * 100_000, "the connection's window was opened further than it is")
      }
      must(type !== Type.goAway, "a sound peer was sent away")
      at += 9 + length
    }
    for (const one of this.#all.values()) this.#looked(one)
  }

  /** What counts as sent is what came out, of whatever is not over otherwise. */
  #looked(one: Shared): void {
    const { id, kind, local, over } = one
    one.late = false
    if (kind === "post" && local === "open" && over === "") one.held = true
    if (over === "cancelled" || over === "Failed" || one.sendEnded) return
    const isSent = this.#connection.isSendEnded(id)
    must(isSent === (local === "ended"), `${id} is ${isSent ? "" : "not "}sent, and its end is ${local}`)
    if (!one.held) one.sendEnded = isSent
  }

  /** From here on a table smaller than the one in use holds, and the next block has to say so (RFC 7541, 4.2). */
  #acknowledged(): void {
    const size = this.#asked.shift()
    if (size === undefined) return
    if (size < this.#hpack.size) this.#least = Math.min(this.#least, size)
    this.#table = size
  }

  #block(one: Shared, block: Uint8Array): void {
    const fields = this.#hpack.read(Lab.text(block))
    must(fields !== undefined, `a block of ${one.id} cannot be read`)
    const { size, sizes } = this.#hpack
    must(this.#least === Infinity || sizes[0]! <= this.#least, `a block of ${one.id} says nothing of a smaller table`)
    must(size <= this.#table, `a block of ${one.id} uses more than the table that it has`)
    this.#least = Infinity
    must(fields!.some(([, value]) => value === one.agent), `a block of ${one.id} has fields of another`)
  }

  #came(one: Shared | undefined, type: number, flags: number, length: number, view: DataView, at: number): void {
    must(one !== undefined, "a stream came out that was not begun")
    one!.seen = true
    const { id, local } = one!
    if (type === Type.headers) this.#block(one!, new Uint8Array(view.buffer, at, length))
    if (type === Type.windowUpdate) {
      one!.in += view.getUint32(at)
      must(one!.in <= first, `the window of ${id} was opened further than it is`)
      return
    }
    must(local === "open" || type === Type.reset || one!.late, `type ${type} came out for ${id} behind its end`)
    if (type === Type.data) {
      one!.out -= length
      this.#out -= length
      must(length === 0 || (one!.out >= 0 && this.#out >= 0), `data of ${id} passed a window`)
    }
    if (type === Type.reset || (flags & endStream) !== 0) one!.local = "ended"
  }
}
