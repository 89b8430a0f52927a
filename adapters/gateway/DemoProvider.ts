/**
 * The provider `demo` that the gateway serves itself, so that it can be tried with no other server. It owns nothing.
 *
 * `/` says hello · `/echo` returns the body · `/delay/{ms}` waits, 60,000 at most · `/bytes/{n}` sends n zero bytes,
 * 1 GiB at most · `/status/{code}` answers 200 to 599 · anything else is 404.
 */
import * as Effect from "effect/Effect"
import type { Call, Reply } from "./Message.ts"

const maxDelayMillis = 60_000
const maxBytes = 1_073_741_824
const chunk = 65_536

/** Answers a call. Interruption ends a delay at once. */
export const respond = (call: Call): Effect.Effect<Reply> => {
  const [route = "", argument = ""] = call.path.split("?", 1)[0]!.split("/").slice(1)
  const count = /^\d{1,10}$/.test(argument) ? Number(argument) : NaN
  switch (route) {
    case "":
      return Effect.succeed(text(call, 200, "hello from the demo provider\n"))
    case "echo":
      return Effect.succeed(raw(call, 200, call.body, call.body === null ? 0 : call.bytes))
    case "delay":
      return count <= maxDelayMillis
        ? Effect.delay(Effect.succeed(text(call, 200, `waited ${count} ms\n`)), count)
        : Effect.succeed(text(call, 400, `a delay is 0 to ${maxDelayMillis} ms\n`))
    case "bytes":
      return count <= maxBytes
        ? Effect.succeed(raw(call, 200, zeros(count), count))
        : Effect.succeed(text(call, 400, `bytes are 0 to ${maxBytes}\n`))
    case "status":
      return count >= 200 && count <= 599
        ? Effect.succeed(text(call, count, `status ${count}\n`))
        : Effect.succeed(text(call, 400, "a status is 200 to 599\n"))
    default:
      return Effect.succeed(text(call, 404, "demo has /, /echo, /delay/{ms}, /bytes/{n}, /status/{code}\n"))
  }
}

const text = (call: Call, status: number, body: string): Reply => {
  const bytes = new TextEncoder().encode(body)
  const reply = raw(call, status, new Response(bytes).body, bytes.byteLength)
  return { ...reply, fields: [["content-type", "text/plain; charset=utf-8"], ...reply.fields] }
}

const raw = (call: Call, status: number, body: ReadableStream<Uint8Array> | null, bytes: number | undefined): Reply => {
  if (status === 204 || status === 205 || status === 304) return { status, fields: [], body: null }
  const fields = bytes === undefined ? [] : [["content-length", String(bytes)] as const]
  return { status, fields, body: call.method === "HEAD" ? null : body }
}

const zeros = (bytes: number): ReadableStream<Uint8Array> => {
  let left = bytes
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const take = Math.min(left, chunk)
      left -= take
      if (take > 0) controller.enqueue(new Uint8Array(take))
      if (left === 0) controller.close()
    },
  }, { highWaterMark: 0 })
}
