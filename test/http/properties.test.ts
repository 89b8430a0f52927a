/** Laws over responses and requests of every form: what was put in comes out, however it is cut. */
import { assert, describe, it } from "vitest"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import type { Event } from "../../core/http/HttpEngine.ts"
import type { Field, HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Reference from "../support/http/Reference.ts"

const seed = 20_261_129
const holds = <T>(property: fc.IProperty<T>, numRuns = 300): void => fc.assert(property, { seed, numRuns })

const letters = (allowed: (code: number) => boolean): fc.Arbitrary<string> =>
  fc.constantFrom(
    ...Array.from({ length: 256 }, (_, code) => code).filter(allowed).map((code) => String.fromCharCode(code)),
  )
const token = fc.string({
  unit: letters((code) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(code))),
  minLength: 1,
  maxLength: 20,
})
const plain = fc.string({ unit: letters((code) => code === 9 || (code >= 32 && code !== 127)), maxLength: 40 })
const value = plain.map((text) => text.replace(/^[\t ]+|[\t ]+$/g, ""))
const steers =
  /^(connection|content-length|expect|host|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/i
const name = token.filter((text) => !steers.test(text))
const fields = fc.array(fc.tuple(name, value), { maxLength: 8 })
const body = fc.string({ unit: letters(() => true), maxLength: 200 })
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })

/** A response, and the bytes that a server may send for it. */
interface Sent {
  readonly status: number
  readonly fields: ReadonlyArray<Field>
  readonly body: string
  readonly trailers: ReadonlyArray<Field>
  readonly framing: "length" | "chunked" | "close"
  readonly bytes: string
}

const lines = (all: ReadonlyArray<Field>, blank: string): string =>
  all.map(([name, value]) => `${name}:${blank}${value}${blank}\r\n`).join("")

const response: fc.Arbitrary<Sent> = fc.record({
  status: fc.integer({ min: 200, max: 999 }).filter((status) => status !== 204 && status !== 304),
  reason: plain,
  fields,
  body,
  trailers: fields,
  framing: fc.constantFrom("length", "chunked", "close"),
  cuts: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 4 }),
  extension: fc.constantFrom("", ";a", " \t;a=b", `;c="d;e"`),
  blank: fc.constantFrom("", " ", "\t "),
}).map(({ blank, cuts, extension, reason, ...sent }) => {
  const head = `HTTP/1.1 ${sent.status} ${reason}\r\n${lines(sent.fields, blank)}`
  const chunk = (text: string): string => `${text.length.toString(16).toUpperCase()}${extension}\r\n${text}\r\n`
  let chunks = ""
  for (let at = 0, i = 0; at < sent.body.length; at += cuts[i++ % cuts.length]!) {
    chunks += chunk(sent.body.slice(at, at + cuts[i % cuts.length]!))
  }
  const bytes = sent.framing === "length"
    ? `${head}Content-Length:${blank}${sent.body.length}\r\n\r\n${sent.body}`
    : sent.framing === "close"
    ? `${head}\r\n${sent.body}`
    : `${head}transfer-encoding: chunked\r\n\r\n${chunks}00${extension}\r\n${lines(sent.trailers, blank)}\r\n`
  return { ...sent, trailers: sent.framing === "chunked" ? sent.trailers : [], bytes }
})

const lower = (all: ReadonlyArray<Field>): ReadonlyArray<Field> =>
  all.map(([name, value]) => [name.toLowerCase(), value])
const without = (all: ReadonlyArray<Field>): ReadonlyArray<Field> =>
  all.filter(([name]) => !/^(content-length|transfer-encoding|host)$/i.test(name))

describe("a response", () => {
  it("comes out as it was put in, in pieces of any sizes", () => {
    holds(fc.property(response, sizes, (sent, sizes) => {
      const connection = Lab.asked()
      const events = [...Lab.fed(connection, Lab.bytes(sent.bytes), sizes)]
      if (sent.framing === "close") events.push(...connection.closed("ended"))
      const [head] = events
      assert.strictEqual(head?._tag === "Head" && head.head.status, sent.status)
      assert.deepStrictEqual(head?._tag === "Head" ? without(head.head.fields) : [], lower(sent.fields))
      assert.strictEqual(dataOf(events), sent.body)
      const end = events.find(({ _tag }) => _tag === "End")
      assert.deepStrictEqual(end?._tag === "End" && end.trailers, lower(sent.trailers))
      assert.strictEqual(connection.room, sent.framing === "close" ? 0 : 1)
    }))
  })

  it("says the same in one piece, in any pieces and byte by byte, two of them after another too", () => {
    holds(fc.property(response, sizes, fc.constantFrom("", "x", "HTTP/1.1 200 OK\r\n\r\n"), (sent, sizes, surplus) => {
      const bytes = Lab.bytes(sent.bytes + surplus)
      const whole = Lab.told(Lab.asked().receive(bytes))
      assert.deepStrictEqual(Lab.told(Lab.fed(Lab.asked(), bytes, sizes)), whole)
      assert.deepStrictEqual(Lab.told(Lab.fed(Lab.asked(), bytes, [1])), whole)
    }))
  })

  it("is cut, or ended where that ends it, by the end of the connection at any byte", () => {
    holds(fc.property(response, fc.double({ min: 0, max: 1, noNaN: true }), (sent, share) => {
      const connection = Lab.asked()
      const at = Math.floor(share * (sent.bytes.length - 1))
      connection.receive(Lab.bytes(sent.bytes.slice(0, at)))
      const events = Lab.told(connection.closed("ended"))
      const isBody = sent.framing === "close" && at >= sent.bytes.length - sent.body.length
      assert.match(
        events.join(),
        isBody ? /^end,retired announced$/ : /^failed ended (head|body) \d+( \d+)?,retired cut /,
      )
      assert.isTrue(connection.isRetired)
    }))
  })

  it("is what a plain reader of the grammar makes of it, broken at any byte by any other", () => {
    const byte = letters(() => true)
    holds(
      fc.property(response, fc.double({ min: 0, max: 1, noNaN: true }), byte, (sent, share, put) => {
        const at = Math.floor(share * sent.bytes.length)
        const bytes = sent.bytes.slice(0, at) + put + sent.bytes.slice(at + 1)
        const told = Lab.answer(bytes).map((line) =>
          line.replace(/^(failed) .*/, "$1 fault").replace(/^(retired fault) .*/, "$1")
        )
        const seen = told.filter((line, i) => line !== "retired fault" || told[i - 1] !== "failed fault")
        assert.deepStrictEqual(seen, Reference.read(bytes, Lab.get, true, Reference.limits))
      }),
      600,
    )
  })
})

const dataOf = (events: ReadonlyArray<Event>): string =>
  Lab.text(...events.flatMap((event) => event._tag === "Data" ? [event.bytes] : []))

describe("a request", () => {
  const path = fc.string({
    unit: letters((code) => code > 32 && code < 127 && !'"#<>'.includes(String.fromCharCode(code))),
  })
  const request: fc.Arbitrary<HttpRequest> = fc.record({
    method: token.map((text) => text.toUpperCase()).filter((text) =>
      !/^(HEAD|CONNECT|TRACE|POST|PUT|PATCH)$/.test(text)
    ),
    scheme: fc.constant("http" as const),
    authority: fc.constantFrom("example.com", "a-b.c:8080", "127.0.0.1", "[::1]:1"),
    path: path.map((text) => `/${text}`),
    fields,
  })

  it("comes out as it was put in, with a body of bytes, of pieces, or of chunks with trailers", () => {
    const how = fc.constantFrom("none", "bytes", "length", "chunks")
    holds(fc.property(request, body, sizes, fields, how, (asked, text, sizes, trailers, how) => {
      const bytes = Lab.bytes(text)
      const connection = Lab.open()
      const length = how === "chunks" ? undefined : bytes.length
      const full = how === "none" ? asked : { ...asked, body: how === "bytes" ? bytes : { bytes: length } }
      assert.strictEqual(connection.trySend(full)._tag, "Accepted")
      if (how === "length" || how === "chunks") {
        for (let at = 0, i = 0; at < bytes.length;) {
          at += Result.getOrThrow(connection.upload(1, bytes.slice(at, at + sizes[i++ % sizes.length]!)))
        }
        if (how === "chunks") Result.getOrThrow(connection.finish(1, trailers))
      }
      const read = Reference.readRequest(Lab.text(...connection.takeOutput()))
      assert.deepStrictEqual(read && { ...read, fields: without(read.fields) }, {
        method: asked.method,
        target: asked.path,
        fields: [...asked.fields],
        body: how === "none" ? "" : text,
        trailers: how === "chunks" ? lower(trailers) : [],
      })
      assert.deepStrictEqual(read?.fields[0], ["host", asked.authority])
    }))
  })

  it("with any text in any place is refused, or is exactly one request with that text in that place", () => {
    const any = fc.string({ unit: "binary", maxLength: 6 })
    const place = fc.constantFrom("method", "authority", "path", "name", "value")
    holds(
      fc.property(any, place, (text, place) => {
        const connection = Lab.open()
        const own = { [place]: text } as Partial<Record<string, string>>
        const path = own["path"] === undefined ? "/" : `/${own["path"]}`
        const sent = connection.trySend({
          ...Lab.get,
          method: own["method"] ?? "GET",
          authority: own["authority"] ?? "a",
          path,
          fields: [[own["name"] ?? "x", own["value"] ?? "y"]],
        })
        const output = Lab.text(...connection.takeOutput())
        if (sent._tag !== "Accepted") return assert.strictEqual(output, "")
        const read = Reference.readRequest(output)
        assert.strictEqual(read?.method, own["method"] ?? "GET")
        assert.strictEqual(read?.target, path)
        const named = (own["name"] ?? "x").toLowerCase()
        if (named !== "host") assert.strictEqual(read?.fields.length, /^content-length$/.test(named) ? 1 : 2)
      }),
      2_000,
    )
  })
})
