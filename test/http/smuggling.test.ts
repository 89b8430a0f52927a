/**
 * Responses that two readers take apart in two ways, written from RFC 9112 and RFC 9110, each with the two readings. One of
 * them sees a second response, with the status 299, that is hidden in the first one's body; the other one does not.
 *
 * The law: such a response has no end here. It fails, no request goes out behind it, and nothing of it answers another.
 */
import { assert, describe, it } from "vitest"
import type { HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"

const hidden = "HTTP/1.1 299 Hidden\r\ncontent-length: 0\r\n\r\n"
const size = hidden.length.toString(16)
const ok = (...lines: ReadonlyArray<string>): string => ["HTTP/1.1 200 OK", ...lines, "", ""].join("\r\n")
const chunked = "transfer-encoding: chunked"
const inChunk = `${size}\r\n${hidden}\r\n0\r\n\r\n`

interface Vector {
  readonly title: string
  readonly bytes: string
  readonly request?: HttpRequest
}
const vector = (title: string, bytes: string, request?: HttpRequest): Vector =>
  request === undefined ? { title, bytes } : { title, bytes, request }

const families: Readonly<Record<string, ReadonlyArray<Vector>>> = {
  "two lengths": [
    vector("the first or the last of two", ok("content-length: 0", `content-length: ${hidden.length}`) + hidden),
    vector("one line, or the first of its list", ok(`content-length: 0, ${hidden.length}`) + hidden),
    vector("a sum, or the first digits", ok(`content-length: 0+${hidden.length}`) + hidden),
    vector("decimal, or octal", ok(`content-length: 0${hidden.length}`) + hidden),
    vector("decimal, or hexadecimal", ok(`content-length: 0x${size}`) + hidden),
    vector("a number, or none because of the sign", ok(`content-length: +${hidden.length}`) + hidden),
    vector("64 bits that wrap, or a large number", ok(`content-length: ${2n ** 64n + 2n}`) + `ok${hidden}`),
    vector("a double that rounds, or a large number", ok("content-length: 9007199254740993") + hidden),
    vector("the length, or none because of the blank", ok(`content-length : ${hidden.length}`) + hidden),
    vector("the length, or a part of the line before", ok("x: y", ` content-length: ${hidden.length}`) + hidden),
    vector("the length, or a part of the value before", `HTTP/1.1 200 OK\r\nx: y\ncontent-length: 0\r\n\r\n${hidden}`),
    vector(
      "the length, or a part of the value before a CR",
      `HTTP/1.1 200 OK\r\nx: y\rcontent-length: 0\r\n\r\n${hidden}`,
    ),
    vector("the length, or a value cut at NUL", ok(`content-length: 0\0${hidden.length}`) + hidden),
    vector("the length, or a name cut at NUL", ok(`content-length\0: ${hidden.length}`) + hidden),
  ],
  "a length and a coding": [
    vector("the coding or the length", ok("content-length: 5", chunked) + `0\r\n\r\n${hidden}`),
    vector("the length or the coding", ok(chunked, `content-length: ${inChunk.length}`) + inChunk),
    vector("both, in HTTP/1.0", ok(chunked, "content-length: 0").replace("/1.1", "/1.0") + inChunk),
  ],
  "a coding that is one or is none": [
    ...[
      "chunked, identity",
      "identity",
      "identity, chunked",
      "chunked, chunked",
      "x, chunked",
      "chunked;x",
      '"chunked"',
      "chunke\u0064\x0b",
      "\x0cchunked",
      "chunked\0",
      ",chunked",
      "chunked,",
      "chunk\ted",
      "\xa0chunked",
    ].map((value) => vector(JSON.stringify(value), ok(`transfer-encoding: ${value}`) + inChunk)),
    vector("in two lines", ok("transfer-encoding: x", chunked) + inChunk),
    vector("in a name with a blank", ok("transfer-encoding : chunked") + inChunk),
    vector("in a folded line", ok("transfer-encoding:", " chunked") + inChunk),
    vector("in a line behind LF alone", `HTTP/1.1 200 OK\r\nx: y\n${chunked}\r\n\r\n${inChunk}`),
    vector("in HTTP/1.0", ok(chunked).replace("/1.1", "/1.0") + inChunk),
    vector("in a version that nobody knows", ok(chunked).replace("/1.1", "/1.9") + inChunk),
  ],
  "where a chunk ends": [
    vector("a size that wraps at 64 bits", ok(chunked) + `1000000000000000${size}\r\n${hidden}\r\n0\r\n\r\n`),
    vector("a size that rounds", ok(chunked) + "20000000000001\r\nx"),
    vector("a size with a prefix", ok(chunked) + `0x${size}\r\n${hidden}\r\n0\r\n\r\n`),
    vector("a size with a sign", ok(chunked) + `+${size}\r\n${hidden}\r\n0\r\n\r\n`),
    vector("a size behind a blank", ok(chunked) + ` ${size}\r\n${hidden}\r\n0\r\n\r\n`),
    vector("a size before a blank", ok(chunked) + `0 \r\n\r\n${hidden}`),
    vector("a size of two numbers", ok(chunked) + `0 ${size}\r\n${hidden}\r\n0\r\n\r\n`),
    vector("a line that ends in LF alone", ok(chunked) + `0\n\r\n${hidden}`),
    vector("an extension that ends in LF alone", ok(chunked) + `5;\nxxxxx\r\n${size}\r\n${hidden}\r\n0\r\n\r\n`),
    vector("an extension that ends in CR alone", ok(chunked) + `5;\rxxxxx\r\n${size}\r\n${hidden}\r\n0\r\n\r\n`),
    vector("an extension in quotes with a line end", ok(chunked) + `5;a="\n${size}"\r\nxxxxx\r\n0\r\n\r\n${hidden}`),
    vector("bytes behind the chunk up to its line end", ok(chunked) + `5\r\nxxxxxyy\r\n0\r\n\r\n${hidden}`),
    vector("a chunk with no line end behind it", ok(chunked) + `1\r\nx0\r\n\r\n${hidden}`),
    vector("two bytes of any kind behind the chunk", ok(chunked) + `1\r\nxZZ0\r\n\r\n${hidden}`),
    vector("LF alone behind the chunk", ok(chunked) + `1\r\nx\n0\r\n\r\n${hidden}`),
    vector("an empty size", ok(chunked) + `\r\n${hidden}`),
  ],
  "what trailers say": [
    vector(
      "a length of the message, afterwards",
      ok(chunked) + `0\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`,
    ),
    vector("a coding of the message, afterwards", ok(chunked) + `0\r\n${chunked}\r\n\r\n${inChunk}`),
    vector("an end in LF alone", ok(chunked) + `0\r\n\n${hidden}`),
    vector("an end in CR alone", ok(chunked) + `0\r\n\r${hidden}`),
    vector("a line that is no field", ok(chunked) + `0\r\nHTTP/1.1 299 Hidden\r\n\r\n${hidden}`),
  ],
  "whether there is a body": [
    vector("a 204 with a length", ok(`content-length: ${hidden.length}`).replace("200", "204") + hidden),
    vector("a 204 in chunks", ok(chunked).replace("200", "204") + inChunk),
    vector("a 100 with a length", ok(`content-length: ${hidden.length}`).replace("200", "100") + hidden),
    vector("a 101 that nobody asked for", ok("connection: upgrade", "upgrade: x").replace("200", "101") + hidden),
    vector(
      "a 101 to another protocol",
      ok("connection: upgrade", "upgrade: h2c").replace("200", "101") + hidden,
      Lab.upgrade,
    ),
    vector("a status of two digits", `HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n${hidden}`),
    vector("a status of four digits", `HTTP/1.1 2000 OK\r\ncontent-length: 0\r\n\r\n${hidden}`),
    vector("a status that counts as informational by its number", `HTTP/1.1 010 OK\r\n\r\n${hidden}`),
    vector("a line before the head", `\r\n${ok("content-length: 0")}${hidden}`),
    vector("a head that ends in LF LF", `HTTP/1.1 200 OK\r\ncontent-length: 0\n\n${hidden}`),
    vector("a head of HTTP/0.9", `ok${hidden}`),
  ],
}

for (const [family, vectors] of Object.entries(families)) {
  describe(family, () => {
    for (const { bytes, request, title } of vectors) {
      it(title, () => {
        for (const sizes of [[Infinity], [1], [7, 2]]) {
          const connection = Lab.asked(request)
          const told = Lab.told(Lab.fed(connection, Lab.bytes(bytes), sizes))
          assert.match(told.at(-1)!, /^retired fault /)
          assert.match(told.at(-2)!, /^failed /)
          assert.notMatch(told.join("\n"), /^(end|299)/m)
          assert.strictEqual(connection.trySend(Lab.get)._tag, "Unsent")
        }
      })
    }
  })
}

it("the hidden response itself is one that would be taken", () => {
  assert.deepStrictEqual(Lab.answer(hidden), ["299 0", "end"])
  assert.deepStrictEqual(Lab.answer(ok(chunked) + inChunk), ["200 ?", `data ${hidden}`, "end"])
})
