/**
 * One request of `node:http` answered by a WHATWG handler. It owns the response until it has ended or is cut.
 *
 * Bytes are asked of the handler's body only when the last ones fitted into the socket's buffer. A client that leaves is
 * noticed at once, with one exception that lies in TCP: while more than 64 KiB of its upload wait unread, nothing after
 * them is seen, so it is noticed when somebody reads on or the handler gives up.
 */
import type * as http from "node:http"
import { fromReadable, writeTo } from "./ByteStream.ts"

/** What a WHATWG Request cannot say. */
export interface Info {
  /** The request target as it was sent. */
  readonly target: string
  /** Of HTTP, as `1.1`. */
  readonly version: string
  /** Header lines in their order, names as sent. */
  readonly fields: ReadonlyArray<readonly [name: string, value: string]>
  /** The address at the other end of the connection. */
  readonly peer: string
  /** Aborted when the client leaves before the last byte of its response; a half-closed connection counts as gone. */
  readonly gone: AbortSignal
}

/** Answers each request, and never rejects: a rejection is answered 500 and says nothing. */
export type Handler = (request: Request, info: Info) => Promise<Response>

/** How long an upload that nobody wants is read on after its answer, so that the client gets to see the answer. */
const lingerMillis = 1_000

/**
 * A listener for `request`, `checkContinue` and `checkExpectation` that answers with the handler's responses. Whoever calls
 * it calls what it returns when the response or its connection has closed.
 */
export const answerer =
  (handler: Handler) =>
  (request: http.IncomingMessage, response: http.ServerResponse, expectsContinue: boolean): () => void => {
    const gone = new AbortController()
    const over = (): void => {
      if (!response.writableFinished) gone.abort()
    }
    // WHATWG has no name for it, and the header alone says so: a Request of this method cannot be made.
    if (request.method === "TRACE") {
      response.writeHead(405, { connection: "close" }).end()
      return over
    }
    response.on("error", () => gone.abort())
    Promise.resolve()
      .then(() => handler(requestOf(request, response, expectsContinue), infoOf(request, gone.signal)))
      .catch(() => new Response(null, { status: 500 }))
      .then((answer) => send(request, response, answer))
      // The body failed after the head was sent: only a cut connection tells the client that it is not whole.
      .catch(() => response.destroy())
    return over
  }

const carriesBody = (request: http.IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) !== 0

const requestOf = (request: http.IncomingMessage, response: http.ServerResponse, expectsContinue: boolean): Request => {
  const method = request.method ?? "GET"
  const headers = new Headers()
  for (const [name, value] of fieldsOf(request)) headers.append(name, value)
  const target = request.url ?? "/"
  const url = URL.parse(target.startsWith("/") ? `http://gateway${target}` : "http://gateway/") ?? "http://gateway/"
  if (method === "GET" || method === "HEAD" || !carriesBody(request)) return new Request(url, { method, headers })
  const body = fromReadable(request, {
    complete: () => request.complete,
    // "100 Continue" waits until somebody wants the body, so a refused upload is never sent.
    onFirstPull: () => {
      if (expectsContinue) response.writeContinue()
    },
  })
  return new Request(url, { method, headers, body, duplex: "half" } as RequestInit)
}

const infoOf = (request: http.IncomingMessage, gone: AbortSignal): Info => ({
  target: request.url ?? "",
  version: request.httpVersion,
  fields: fieldsOf(request),
  peer: request.socket.remoteAddress ?? "",
  gone,
})

const fieldsOf = (request: http.IncomingMessage): ReadonlyArray<readonly [string, string]> => {
  const fields: Array<readonly [string, string]> = []
  const raw = request.rawHeaders
  for (let i = 0; i + 1 < raw.length; i += 2) fields.push([raw[i]!, raw[i + 1]!])
  return fields
}

const send = async (request: http.IncomingMessage, response: http.ServerResponse, answer: Response): Promise<void> => {
  const headers: Record<string, string | Array<string>> = Object.create(null)
  answer.headers.forEach((value, name) => {
    headers[name] = name === "set-cookie" ? answer.headers.getSetCookie() : value
  })
  const unread = carriesBody(request) && !request.complete
  if (unread && answer.status >= 400) headers["connection"] = "close"
  response.writeHead(answer.status, headers)
  if (answer.body !== null) {
    response.flushHeaders()
    if (!await writeTo(response, answer.body)) return
  }
  if (carriesBody(request) && !request.complete) await lingered(request, response)
  response.end()
}

/** Reads on, and throws away, until the upload is over, the client leaves or the time is up. Then the connection ends. */
const lingered = (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer)
      if (!request.complete) response.once("finish", () => request.socket.destroy())
      resolve()
    }
    const timer = setTimeout(over, lingerMillis)
    request.once("end", over)
    response.once("close", over)
    request.resume()
  })
