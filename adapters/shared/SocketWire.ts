/**
 * One socket of `node:net`, and TLS of `node:tls` over it: options one way, events the other, codes of errors to faults. The
 * handle is its own until 'close' has been heard of both.
 */
import * as net from "node:net"
import * as tls from "node:tls"
import type { Point, Securing, SocketEvents, SocketFacts, SocketWire, TlsFacts } from "../../core/SocketDriver.ts"
import type { Phase } from "../../core/SocketFault.ts"
import { cut, type Differences, type RuntimeError, translate } from "./SocketCodes.ts"
import { endsOf, tlsFactsOf } from "./SocketFacts.ts"
import { optionsOf } from "./SocketOptions.ts"

/** Without a permission for a path, Deno throws there and then: told of as everything else is. */
const begin = (point: Point): net.Socket => {
  try {
    return net.connect(optionsOf(point))
  } catch (error) {
    return new net.Socket().destroy(error as Error)
  }
}

export class Wire implements SocketWire {
  readonly #events: SocketEvents
  readonly #differences: Differences
  readonly #point: Point
  readonly #raw: net.Socket
  /** What is read and written: the raw socket, or TLS over it. */
  #socket: net.Socket
  #phase: Phase = "connect"
  /** Sockets that have not told 'close'. */
  #open = 0
  #isHeard = false
  #isWritten = false
  #protocol: string | undefined = undefined
  #tls: TlsFacts | undefined = undefined

  constructor(point: Point, events: SocketEvents, differences: Differences) {
    this.#events = events
    this.#differences = differences
    this.#point = point
    this.#raw = this.#socket = begin(point)
    this.#watch(this.#raw)
    // What a runtime reads before TLS is begun, an end also, it may keep from that, which then waits for ever (Node, Bun).
    this.#raw.pause()
    this.#raw.on("connect", events.opened)
  }

  secure({ credentials, protocols, serverName }: Securing): void {
    this.#phase = "tls"
    // Not every version of Node's types knows of the second one.
    const options: tls.ConnectionOptions & { readonly allowHalfOpen: true } = {
      socket: this.#raw,
      allowHalfOpen: true,
      // Or NODE_TLS_REJECT_UNAUTHORIZED in the environment would switch the check off.
      rejectUnauthorized: true,
      secureContext: credentials as tls.SecureContext,
      // An address is no server name (RFC 6066, section 3), and is what the certificate must have all the same.
      ...(net.isIP(serverName) === 0 ? { servername: serverName } : { host: serverName }),
      ...(protocols.length === 0 ? {} : { ALPNProtocols: [...protocols] }),
    }
    const socket = this.#socket = tls.connect(options)
    this.#watch(socket)
    socket.on("secureConnect", () => {
      // Bun does not know the option that says so, nor Node this; Deno begins no handshake anew.
      socket.disableRenegotiation()
      // Not to be had any more once it is closed.
      this.#tls = tlsFactsOf(socket)
      this.#protocol = typeof socket.alpnProtocol === "string" ? socket.alpnProtocol : undefined
      this.#events.opened()
    })
  }

  facts(): SocketFacts {
    return { protocol: this.#protocol, ...endsOf(this.#point, this.#raw), tls: this.#tls }
  }

  resume(): void {
    if (!this.#isHeard) this.#hear()
    if (this.#socket !== this.#raw) this.#differences.flow?.(this.#raw, true)
    this.#socket.resume()
  }

  pause(): void {
    this.#socket.pause()
    if (this.#socket !== this.#raw) this.#differences.flow?.(this.#raw, false)
  }

  write(pieces: ReadonlyArray<Uint8Array>): boolean {
    if (!this.#isWritten) this.#socket.on("drain", this.#events.drained)
    this.#isWritten = true
    if (pieces.length === 1) return this.#socket.write(pieces[0]!)
    this.#socket.cork()
    try {
      for (const piece of pieces) this.#socket.write(piece)
    } finally {
      // One that stayed corked would never send anything again.
      this.#socket.uncork()
    }
    return !this.#socket.writableNeedDrain
  }

  end(): void {
    this.#socket.on("finish", this.#events.finished)
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
    this.#raw.destroy()
  }

  reset(): void {
    const { reset } = this.#differences
    if (this.#point.path !== undefined || this.#isEnding) return this.destroy()
    if (this.#socket !== this.#raw && reset !== undefined) return reset(this.#raw, this.#socket)
    this.#raw.resetAndDestroy()
    this.#socket.destroy()
  }

  /**
   * Whether all that was written is the system's, and the end behind it is on its way there. Linux takes no reset then (EINVAL,
   * behind which Node never tells of 'close'), and nothing that was sent is missing.
   */
  get #isEnding(): boolean {
    const { writableEnded, writableFinished, writableLength } = this.#socket
    return writableEnded && !writableFinished && writableLength === 0
  }

  #watch(socket: net.Socket): void {
    this.#open++
    socket.on("error", (error: RuntimeError) => {
      const phase = this.#isHeard ? error.syscall === "write" ? "write" : "read" : this.#phase
      this.#events.failed(translate(error, phase, this.#point.path === undefined ? this.#point.local : undefined))
    })
    socket.on("close", () => {
      if (--this.#open === 0) this.#events.gone()
    })
  }

  #hear(): void {
    this.#isHeard = true
    const socket = this.#socket
    socket.on("data", this.#events.received)
    const { isCut } = this.#differences
    if (isCut === undefined) socket.on("end", this.#events.ended)
    else socket.on("end", () => isCut(this.#raw, socket) ? this.#events.failed(cut()) : this.#events.ended())
  }
}
