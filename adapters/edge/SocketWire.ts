/**
 * One socket of `cloudflare:sockets`: its promises and streams one way, events the other. The handle is its own until it
 * closes.
 */
import type { Point, Securing, SocketEvents, SocketFacts, SocketWire } from "../../core/SocketDriver.ts"
import type { DialFault, Phase } from "../../core/SocketFault.ts"
import { type Connect, type EdgeInfo, type EdgeSocket, factsOf, translate, unsupported } from "./SocketCodes.ts"

export class EdgeWire implements SocketWire {
  readonly #events: SocketEvents
  #socket: EdgeSocket | undefined
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined
  #writer: WritableStreamDefaultWriter<Uint8Array> | undefined
  #phase: Phase = "connect"
  #isOpen = false
  #isSecure = false
  #isClosing = false
  #isFlowing = false
  #isReading = false
  #writing = 0
  #info: EdgeInfo | undefined
  readonly #settled = new Set<string>()

  constructor(connect: Connect, point: Point, events: SocketEvents) {
    this.#events = events
    const fault = unsupported(point)
    if (fault !== undefined || point.path !== undefined) {
      queueMicrotask(() => this.#over(fault))
      return
    }
    const address = { hostname: point.address.ip, port: point.port }
    this.#begin(() => connect(address, { secureTransport: "starttls", allowHalfOpen: true }))
  }

  secure({ serverName }: Securing): void {
    this.#phase = "tls"
    this.#isSecure = true
    this.#isOpen = false
    this.#begin(() => this.#socket!.startTls({ expectedServerHostname: serverName }))
  }

  facts(): SocketFacts {
    return factsOf(this.#info ?? {}, this.#isSecure)
  }

  resume(): void {
    this.#isFlowing = true
    this.#phase = "read"
    if (!this.#isReading) void this.#read()
  }

  pause(): void {
    this.#isFlowing = false
  }

  /** There is room once all of it has been taken: what the stream says of its room is not to be relied on. */
  write(pieces: ReadonlyArray<Uint8Array>): boolean {
    this.#writer ??= this.#socket!.writable.getWriter()
    for (const piece of pieces) {
      this.#writing++
      this.#writer.write(piece).then(() => {
        if (--this.#writing === 0) this.#events.drained()
      }, (error) => this.#over(translate("write", error)))
    }
    return pieces.length === 0
  }

  end(): void {
    this.#writer ??= this.#socket!.writable.getWriter()
    this.#writer.close().then(() => {
      this.#events.finished()
      this.#settle("sent")
    }, (error) => this.#over(translate("write", error)))
  }

  /** A dial that is under way goes on, and is closed when it is over. */
  destroy(): void {
    if (this.#isClosing || !this.#isOpen) return
    this.#isClosing = true
    this.#socket!.close().then(() => this.#events.gone(), () => this.#events.gone())
  }

  reset(): void {
    this.destroy()
  }

  /** What the edge refuses there and then is told of as everything else is. */
  #begin(begin: () => EdgeSocket): void {
    try {
      this.#socket = begin()
      this.#open(this.#socket)
    } catch (error) {
      // What TLS was to go over is there still.
      this.#isOpen = this.#isSecure
      queueMicrotask(() => this.#over(translate(this.#phase, error)))
    }
  }

  #open(socket: EdgeSocket): void {
    const stays = (): boolean => this.#socket === socket
    socket.opened.then((info) => {
      if (!stays()) return
      this.#isOpen = true
      this.#info = info
      this.#events.opened()
    }, (error) => stays() && this.#over(translate(this.#phase, error)))
    socket.closed.then(
      () => stays() && this.#settle("closed"),
      (error) => stays() && this.#over(translate(this.#phase, error)),
    )
  }

  /** Reads while somebody wants it, one piece at a time, which is what makes the peer wait. */
  async #read(): Promise<void> {
    this.#isReading = true
    try {
      this.#reader ??= this.#socket!.readable.getReader()
      while (this.#isFlowing) {
        const { done, value } = await this.#reader.read()
        if (done) {
          this.#events.ended()
          return this.#settle("read")
        }
        this.#events.received(value)
      }
      this.#isReading = false
      this.#settle("paused")
    } catch (error) {
      this.#over(translate("read", error))
    }
  }

  /** Once both sides have ended it is closed; and gone, but not before what came is read. */
  #settle(what: "read" | "sent" | "closed" | "paused"): void {
    if (what === "read") this.#isReading = false
    this.#settled.add(what)
    if (this.#settled.has("closed") && !this.#isReading) this.#over(undefined)
    else if (this.#settled.has("read") && this.#settled.has("sent")) this.destroy()
  }

  /** One that is open is closed for a fault, and gone when that is over. */
  #over(fault: DialFault | undefined): void {
    if (fault !== undefined) this.#events.failed(fault)
    if (!this.#isClosing) this.#events.gone()
  }
}
