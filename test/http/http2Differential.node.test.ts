/**
 * The HTTP/2 codec beside another reader, over sockets: the client of `node:http2` gets the same frames, and what differs is
 * written down here. undici stands on it, so it is no third one.
 */
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as http2 from "node:http2"
import * as net from "node:net"
import { connections, type Sent, streams } from "../support/http/Broken2.ts"
import { Driver2 } from "../support/http/Driver2.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"
import { within } from "../support/Wire.ts"

const { data, endStream, frame, headers, response } = Lab2
const refused = "refused"

/** What is behind the frames, so that whoever answers it has read them. */
const last = frame(Lab2.Type.ping, 0, 0, "the last")

/** Whether a client's preface and frames have a whole HEADERS among them. */
const asks = (text: string): boolean => {
  for (let at = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".length; at + 9 <= text.length;) {
    const [high, middle, low] = Lab.bytes(text.slice(at, at + 3))
    const end = at + 9 + high! * 65_536 + middle! * 256 + low!
    if (end <= text.length && text.charCodeAt(at + 3) === Lab2.Type.headers) return true
    at = end
  }
  return false
}

/** Answers the first request of each connection with frames, and severs it when all of them were read. */
class Script {
  readonly #server: net.Server
  readonly #sockets = new Set<net.Socket>()
  frames: Sent = []

  constructor() {
    this.#server = net.createServer((socket) => this.#serve(socket))
  }

  get port(): number {
    return (this.#server.address() as net.AddressInfo).port
  }

  start(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, "127.0.0.1", resolve))
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #serve(socket: net.Socket): void {
    this.#sockets.add(socket)
    socket.on("error", () => {})
    socket.on("close", () => this.#sockets.delete(socket))
    socket.write(Lab2.settings())
    let text = ""
    let isAnswered = false
    socket.on("data", (piece) => {
      text += piece.toString("latin1")
      if (!isAnswered && asks(text)) {
        isAnswered = true
        socket.write(Lab2.join(...this.frames, last))
      }
      if (text.includes("the last")) socket.destroy()
    })
  }
}

const script = new Script()
beforeAll(() => script.start())
afterAll(() => script.stop())

/** What a client makes of an answer to a GET: the status, the body and the trailers, or that it refused or lost it. */
const holdfast = async (): Promise<string> => {
  const driver = await Driver2.connect(script.port)
  const request = { ...Lab2.get, scheme: "http" } as const
  const answer = await driver.ask(request).then(
    ({ body, status, trailers }) => [status, body, ...trailers.map((pair) => pair.join("="))].join(" "),
    () => refused,
  )
  await driver.leave()
  return answer
}

const nodeHttp2 = (): Promise<string> =>
  new Promise((resolve) => {
    const session = http2.connect(`http://127.0.0.1:${script.port}`)
    session.on("error", () => {})
    const stream = session.request({ ":path": "/" })
    const seen = { status: 0, body: "", trailers: "", isWhole: false }
    stream.on("error", () => {})
    stream.on("response", (head) => void (seen.status = head[":status"] ?? 0))
    stream.on("data", (piece: Buffer) => void (seen.body += piece.toString("latin1")))
    stream.on("trailers", (fields) => {
      seen.trailers = Object.entries(fields).map(([name, value]) => ` ${name}=${value}`).join("")
    })
    // What comes behind an end of its own making is no end of the peer's.
    stream.on("end", () => void (seen.isWhole = !session.destroyed && !stream.aborted))
    // Not in its own callback, and awaited: destroyed under way, a session of Node 24 has aborted the whole process.
    stream.on("close", () => setImmediate(() => session.destroy()))
    session.on("close", () =>
      resolve(seen.isWhole && stream.rstCode === 0 ? `${seen.status} ${seen.body}${seen.trailers}` : refused))
  })

const both = async (frames: Sent): Promise<readonly [string, string]> => {
  script.frames = frames
  return [await within(holdfast(), "holdfast"), await within(nodeHttp2(), "node:http2")]
}

describe("both read", () => {
  const rows: Readonly<Record<string, readonly [Sent, string]>> = {
    "a head alone": [[response(1, 204, [], endStream)], "204 "],
    "a body of a length": [[response(1, 200, [["content-length", "5"]]), data(1, "hello", endStream)], "200 hello"],
    "a body without a length": [[response(1, 200), data(1, "he"), data(1, "llo"), data(1, "", endStream)], "200 hello"],
    "trailers": [[response(1, 200), data(1, "x"), headers(1, [["x-sum", "1"]], endStream)], "200 x x-sum=1"],
    "informational heads": [
      [response(1, 100), response(1, 103, [["link", "</a>"]]), response(1, 200, [], endStream)],
      "200 ",
    ],
    "padding and priorities": [
      [
        frame(Lab2.Type.headers, Lab2.endHeaders | Lab2.padded | Lab2.priority, 1, [2, 0, 0, 0, 0, 7, 0x88, 0, 0]),
        frame(Lab2.Type.data, Lab2.padded | endStream, 1, "\x03body\0\0\0"),
      ],
      "200 body",
    ],
    "a block in several frames": [
      [
        frame(Lab2.Type.headers, endStream, 1, [0x88, 0x40]),
        frame(Lab2.Type.continuation, 0, 1),
        frame(Lab2.Type.continuation, Lab2.endHeaders, 1, [1, 0x78, 1, 0x79]),
      ],
      "200 ",
    ],
    "a table that is made smaller, and Huffman's code": [
      [frame(Lab2.Type.headers, Lab2.endHeaders | endStream, 1, [
        0x20,
        0x3f,
        0xe1,
        0x1f,
        0x88,
        0x40,
        0x82,
        0xf3,
        0xeb,
        0x82,
        0xf3,
        0xeb,
      ])],
      "200 ",
    ],
    "unknown frames and settings": [
      [frame(77, 255, 1, "what"), Lab2.settings([77, 1]), response(1, 404, [], endStream)],
      "404 ",
    ],
    "a graceful GOAWAY ahead": [[Lab2.goAway(1, 0), response(1, 200), data(1, "bye", endStream)], "200 bye"],
  }
  for (const [title, [sent, answer]] of Object.entries(rows)) {
    it(title, async () => assert.deepStrictEqual(await both(sent), [answer, answer]))
  }
})

/** What would make a response whole for whoever passes over what is wrong. */
const completed = (sent: Sent): Sent => {
  const hasHead = sent.some((each) => each[3] === Lab2.Type.headers && each[8] === 1)
  return [...sent, hasHead ? data(1, "", endStream) : response(1, 200, [], endStream)]
}

/** Of these fields `node:http2` tells nothing, and takes the rest of the message for whole. */
const omitted = [
  "no name",
  "a name with a blank",
  "a name with a colon",
  "a name beyond ASCII",
  "NUL in a name",
  "NUL in a value",
  "CR in a value",
  "LF in a value",
  "CR LF in a value",
  "DEL in a value",
  "a blank before a value",
  "a tab behind a value",
]

/** What `node:http2` reads all the same. */
const lenient: Readonly<Record<string, string>> = {
  ...Object.fromEntries(omitted.map((title) => [title, "200 "])),
  "a length among trailers": "200  content-length=0",
  "a host among trailers": "200  host=x",
  "PRIORITY of no stream": "200 ",
  "PUSH_PROMISE": "200 ",
  "PRIORITY_UPDATE": "200 ",
}

it("what is listed is a row", () => {
  const titles = [...streams, ...connections].map(([title]) => title)
  assert.deepStrictEqual(Object.keys(lenient).filter((title) => !titles.includes(title)), [])
})

describe("holdfast refuses, and node:http2 too unless it is listed", () => {
  // Behind an end there is nothing left to refuse but the connection.
  for (
    const [title, sent, rule] of [...streams, ...connections].filter(([title]) => !title.endsWith("behind an end"))
  ) {
    it(`${title}: ${rule}`, async () => {
      assert.deepStrictEqual(await both(completed(sent)), [refused, lenient[title] ?? refused])
    })
  }
})
