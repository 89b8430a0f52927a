/**
 * One outgoing HTTP exchange by `fetch`, which is all that an edge runtime has. It owns the request until its scope closes.
 *
 * What `fetch` cannot do is left undone, and said here: a path is sent as `URL` writes it; a body that comes encoded arrives
 * decoded, without its encoding and length; a redirect is an answer like any other; the runtime adds header
 * lines of its own. `onClose` tells that the exchange is over: what becomes of its connection, the runtime keeps to itself.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type Call, ExchangeFailed, type Fields, type Reply, type Witness } from "../shared/HttpCall.ts"
import * as FixedLength from "./FixedLength.ts"

export { type Call, ExchangeFailed, type Fields, type Phase, type Reply, type Witness } from "../shared/HttpCall.ts"

/**
 * Sends the call and succeeds with the response's head. Waits for it without a limit of its own.
 *
 * Interruption before, and closing the scope after it, aborts the request and with it both bodies.
 */
export const exchange = (call: Call, witness: Witness): Effect.Effect<Reply, ExchangeFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      witness.onOpen()
      return new AbortController()
    }),
    (controller) =>
      Effect.sync(() => {
        controller.abort()
        witness.onClose()
      }),
  ).pipe(Effect.flatMap(({ signal }) => send(call, signal)))

const send = (call: Call, signal: AbortSignal): Effect.Effect<Reply, ExchangeFailed> =>
  Effect.callback<Reply, ExchangeFailed>((resume) => {
    const upload = call.body === null ? undefined : watched(call.body)
    requested(call, upload?.stream, signal).then(
      (response) => resume(Effect.succeed(replyOf(response))),
      () => {
        const failed = upload?.isBroken() === true
          ? { phase: "upload", code: "BODY" } as const
          : { phase: "head", code: "FETCH_FAILED" } as const
        resume(Effect.fail(new ExchangeFailed(failed)))
      },
    )
  })

const requested = async (
  call: Call,
  upload: ReadableStream<Uint8Array> | undefined,
  signal: AbortSignal,
): Promise<Response> => {
  const { method } = call
  const headers = new Headers()
  for (const [name, value] of call.fields) if (!own.has(name.toLowerCase())) headers.append(name, value)
  const init = { method, headers, signal, redirect: "manual", cache: "no-store" } as const
  if (upload === undefined) return await fetch(urlOf(call), init)
  const body = call.length === undefined ? upload : FixedLength.of(upload, call.length)
  return await fetch(urlOf(call), { ...init, body, duplex: "half" } as RequestInit)
}

/** Lines that the runtime writes itself, by what it sends and by what it can decode: asked for more, some decode nothing. */
const own = new Set(["accept-encoding", "connection", "content-length", "host", "transfer-encoding"])

const urlOf = ({ host, path, port, secure }: Call): string =>
  `${secure ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}${path}`

interface Watched {
  readonly stream: ReadableStream<Uint8Array>
  /** Whether the body ended in an error, which is what then ended the request. */
  readonly isBroken: () => boolean
}

const watched = (body: ReadableStream<Uint8Array>): Watched => {
  const reader = body.getReader()
  let broken = false
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      } catch (error) {
        broken = true
        controller.error(error)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  }, { highWaterMark: 0 })
  return { stream, isBroken: () => broken }
}

const replyOf = ({ body, headers, status }: Response): Reply => {
  const isDecoded = body !== null && (headers.get("content-encoding") ?? "identity") !== "identity"
  const fields: Fields = [...headers].filter(([name]) => !isDecoded || !ofBytes.has(name))
  return { status, fields, body: body as ReadableStream<Uint8Array> | null }
}

/** What is true of the bytes on the wire alone. */
const ofBytes = new Set(["content-encoding", "content-length"])
