/**
 * HTTP as bytes on loopback: a client that may send anything, and a provider that answers as it is told. Each wait is for
 * an event and has a bound; nothing sleeps.
 */
import * as http from "node:http"
import * as net from "node:net"

const bound = 30_000
/** Of each of the two parts of a text. */
const kept = 32_768

/** One end of a connection. The first and the last that came in is kept as latin1 text, one character a byte. */
export interface Wire {
  readonly socket: net.Socket
  readonly text: () => string
  /** Bytes that came in. */
  readonly bytes: () => number
  readonly isClosed: () => boolean
  readonly send: (data: string | Uint8Array) => void
  /** Resolves with all the text once it matches; rejects when the connection closes or time is up before. */
  readonly reads: (wanted: string | RegExp) => Promise<string>
  /** Resolves with all the text when the connection is over. */
  readonly closed: Promise<string>
  /** Leaves: without a word, or with a reset. */
  readonly leave: () => void
  readonly reset: () => void
}

const wireOf = (socket: net.Socket): Wire => {
  let first = ""
  let last = ""
  let text = ""
  let bytes = 0
  let over = false
  const heard = new Set<() => void>()
  const hear = (): void => heard.forEach((listener) => listener())
  socket.on("error", () => {})
  socket.on("data", (chunk: Uint8Array) => {
    const more = Buffer.from(chunk).toString("latin1")
    const room = Math.max(0, kept - first.length)
    first += more.slice(0, room)
    last = (last + more.slice(room)).slice(-kept)
    text = first + last
    bytes += chunk.byteLength
    hear()
  })
  const closed = new Promise<string>((resolve) =>
    socket.once("close", () => {
      over = true
      hear()
      resolve(text)
    })
  )
  const matches = (wanted: string | RegExp): boolean =>
    typeof wanted === "string" ? text.includes(wanted) : wanted.test(text)
  const reads = (wanted: string | RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        clearTimeout(timer)
        heard.delete(look)
        then()
      }
      const look = (): void => {
        if (matches(wanted)) settle(() => resolve(text))
        else if (over) settle(() => reject(new Error(`closed before ${wanted}: ${JSON.stringify(text.slice(0, 400))}`)))
      }
      const timer = setTimeout(
        () => settle(() => reject(new Error(`no ${wanted} in time: ${JSON.stringify(text.slice(0, 400))}`))),
        bound,
      )
      heard.add(look)
      look()
    })
  return {
    socket,
    text: () => text,
    bytes: () => bytes,
    isClosed: () => over,
    send: (data) => void socket.write(typeof data === "string" ? Buffer.from(data, "latin1") : data),
    reads,
    closed: within(closed, "a connection to close"),
    leave: () => void socket.destroy(),
    reset: () => void socket.resetAndDestroy(),
  }
}

/** A promise, or an error after the bound. */
export const within = <A>(promise: Promise<A>, what: string): Promise<A> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), 2 * bound)
  })
  const result = Promise.race([promise, late]).finally(() => clearTimeout(timer))
  result.catch(() => {})
  return result
}

/** Connects to a port on loopback. */
export const connect = (port: number): Promise<Wire> =>
  new Promise((resolve, reject) => {
    const socket = net.connect(port, "127.0.0.1")
    const wire = wireOf(socket)
    socket.once("error", reject)
    socket.once("connect", () => resolve(wire))
  })

/** Sends bytes on a connection of their own and resolves with all that came until the other side closed it. */
export const talk = async (port: number, data: string | Uint8Array): Promise<string> => {
  const wire = await connect(port)
  wire.send(data)
  return wire.closed
}

export interface Answer {
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly raw: readonly string[]
  readonly body: string
  readonly json: () => Record<string, unknown>
}

export interface Asking {
  readonly method?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** An ordinary request of an ordinary client, on a connection of its own. */
export const ask = (port: number, path: string, asking: Asking = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const request = http.request({
      host: "127.0.0.1",
      port,
      path,
      method: asking.method ?? "GET",
      agent: false,
      headers: {
        ...(asking.token === undefined ? {} : { authorization: `Bearer ${asking.token}` }),
        ...(asking.body === undefined ? {} : { "content-length": String(Buffer.byteLength(asking.body)) }),
        ...asking.headers,
      },
    }, (response) => {
      const chunks: Uint8Array[] = []
      response.on("data", (chunk) => chunks.push(chunk))
      response.on("error", reject)
      response.on("end", () => {
        const body = Buffer.concat(chunks).toString("latin1")
        const { statusCode = 0, headers, rawHeaders } = response
        resolve({ status: statusCode, headers, raw: rawHeaders, body, json: () => JSON.parse(body) })
      })
    })
    request.on("error", reject)
    request.end(asking.body)
  })

/** One connection that a provider got. `head` is the request's head as sent. */
export interface Visit extends Wire {
  readonly head: string
  readonly path: string
}

export interface Provider {
  readonly port: number
  /** Every connection whose head came, in order. */
  readonly visits: readonly Visit[]
  /** Resolves with the nth visit (from 0) to a path. */
  readonly visited: (path: string, nth?: number) => Promise<Visit>
  readonly stop: () => Promise<void>
}

/** A provider on loopback. `script` is told of each visit, once its head is whole. */
export const provide = (script: (visit: Visit) => void): Promise<Provider> =>
  new Promise((resolve) => {
    const visits: Visit[] = []
    const heard = new Set<() => void>()
    const open = new Set<net.Socket>()
    const server = net.createServer((socket) => {
      open.add(socket)
      socket.once("close", () => open.delete(socket))
      const wire = wireOf(socket)
      wire.reads("\r\n\r\n").then((text) => {
        const head = text.slice(0, text.indexOf("\r\n\r\n"))
        const visit = { ...wire, head, path: head.split(" ")[1] ?? "" }
        visits.push(visit)
        heard.forEach((listener) => listener())
        script(visit)
      }, () => {})
    })
    const visited = (path: string, nth = 0): Promise<Visit> =>
      within(
        new Promise((found) => {
          const look = (): void => {
            const visit = visits.filter((one) => one.path === path)[nth]
            if (visit === undefined) return
            heard.delete(look)
            found(visit)
          }
          heard.add(look)
          look()
        }),
        `visit ${nth} to ${path}`,
      )
    const stop = (): Promise<void> =>
      new Promise((done) => {
        server.close(() => done())
        for (const socket of open) socket.destroy()
      })
    server.listen(0, "127.0.0.1", () => {
      resolve({ port: (server.address() as net.AddressInfo).port, visits, visited, stop })
    })
  })

/** A response of a known length, as bytes. */
export const reply = (status: number, body: string, headers: string = ""): string =>
  `HTTP/1.1 ${status} Whatever\r\ncontent-length: ${body.length}\r\n${headers}\r\n${body}`

/** Asks again, a hundredth of a second apart, until the answer passes; rejects with the last one after the bound. */
export const eventually = async <A>(get: () => Promise<A>, passes: (answer: A) => boolean): Promise<A> => {
  const until = performance.now() + bound
  for (;;) {
    const answer = await get()
    if (passes(answer)) return answer
    if (performance.now() > until) throw new Error(`never came true: ${JSON.stringify(answer).slice(0, 2_000)}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A provider's gate, as the operator sees it. */
export interface Gate {
  readonly provider: string
  readonly circuit: "closed" | "open" | "half-open"
  readonly consecutiveFailures: number
  readonly retryAfterMillis: number
  readonly held: number
  readonly granted: number
  readonly successes: number
  readonly failures: number
  readonly neutral: number
  readonly stale: number
  readonly opened: number
}

/** What the operator's `/snapshot` says. */
export interface Overview {
  readonly admission: {
    readonly running: number
    readonly waiting: number
    readonly granted: number
    readonly released: number
  }
  readonly upstream: { readonly open: number }
  readonly bodies: { readonly live: number }
  readonly gates: readonly Gate[]
  readonly changes: readonly { readonly provider: string; readonly event: string; readonly atMillis: number }[]
  readonly requests: readonly {
    readonly tenant?: string
    readonly provider?: string
    readonly outcome: string
    readonly requests: number
  }[]
}

export const overview = async (operatorPort: number): Promise<Overview> =>
  JSON.parse((await ask(operatorPort, "/snapshot")).body)

/** Resolves when nothing is held, waiting or under way any more, and all that was granted came back. */
export const quiet = (operatorPort: number): Promise<Overview> =>
  eventually(
    () => overview(operatorPort),
    ({ admission, bodies, gates, upstream }) =>
      admission.running + admission.waiting + bodies.live + upstream.open === 0 &&
      gates.every(({ held }) => held === 0) &&
      admission.granted === admission.released,
  )
