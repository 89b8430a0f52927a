/**
 * Both engines answer alike where the port says nothing else: every call, early, late, twice, of exchanges that there are not,
 * and with arguments that no type would let through. A row is a story, told to both; what it comes to is written once.
 */
import { assert, describe, it } from "vitest"
import * as fc from "fast-check"
import * as Result from "effect/Result"
import type { EngineConnection, Event, Exchange } from "../../core/http/HttpEngine.ts"
import type { Fields, HttpRequest } from "../../core/http/HttpMessage.ts"
import * as Lab from "../support/http/Lab.ts"
import * as Lab2 from "../support/http/Lab2.ts"

/** What a peer may say, as both protocols say it. */
type Word = "whole" | "half" | "rest" | "fault" | "nothing"

const nothing = new Uint8Array(0)
const http1: Readonly<Record<Word, (exchange: Exchange) => Uint8Array>> = {
  whole: () => Lab.bytes("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
  half: () => Lab.bytes("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf"),
  rest: () => Lab.bytes(" more"),
  fault: () => Lab.bytes("\0"),
  nothing: () => nothing,
}
const http2: typeof http1 = {
  whole: (exchange) => Lab2.response(exchange, 200, [["content-length", "0"]], Lab2.endStream),
  half: (exchange) => Lab2.join(Lab2.response(exchange, 200, [["content-length", "9"]]), Lab2.data(exchange, "half")),
  rest: (exchange) => Lab2.data(exchange, " more", Lab2.endStream),
  fault: () => Lab2.data(0, ""),
  nothing: () => nothing,
}

/** Windows that nothing here fills, since HTTP/1.1 has none. */
const wide = Lab2.join(Lab2.settings([4, 10_000_000]), Lab2.windowUpdate(0, 10_000_000))

const line = (event: Event): string =>
  Lab.said(event).replace(/^(retired \w+).*/, "$1").replace(/^failed (?!ended|reset|lost).*/, "failed fault")

/** A connection with one exchange, and what came of each call. */
class Story {
  readonly connection: EngineConnection
  readonly #words: typeof http1
  readonly #told: Array<unknown> = []
  /** The last that was accepted. */
  exchange: Exchange = 0

  constructor(connection: EngineConnection, words: typeof http1) {
    this.connection = connection
    this.#words = words
  }

  tell(what: unknown): this {
    this.#told.push(what)
    return this
  }

  send(request: object = {}): this {
    const asked: HttpRequest = Object.defineProperties({ ...Lab.get }, Object.getOwnPropertyDescriptors(request))
    const sent = this.connection.trySend(asked)
    if (sent._tag === "Accepted") this.exchange = sent.exchange
    return this.tell(
      sent._tag === "Unsent" ? sent.why : sent._tag === "Malformed" ? `refused ${sent.error.field}` : "accepted",
    )
  }

  give(bytes: unknown, exchange: unknown = this.exchange): this {
    const given = typeof bytes === "string" ? Lab.bytes(bytes) : bytes
    return this.#answer(this.connection.upload(exchange as Exchange, given as Uint8Array))
  }

  finish(trailers?: unknown, exchange: unknown = this.exchange): this {
    const answer = this.connection.finish(exchange as Exchange, trailers as Fields)
    return this.#answer(Result.map(answer, () => "finished"))
  }

  cancel(code?: unknown, exchange: unknown = this.exchange): this {
    return this.#answer(this.connection.cancel(exchange as Exchange, code as number))
  }

  sent(exchange: unknown = this.exchange): this {
    return this.tell(this.connection.isSendEnded(exchange as Exchange) ? "sent" : "not sent")
  }

  /** Whether anything came out. */
  take(): this {
    const length = this.connection.takeOutput().reduce((sum, piece) => sum + piece.length, 0)
    return this.tell(length > 0 ? "out" : "nothing out")
  }

  hear(word: Word): this {
    return this.#hear(this.connection.receive(this.#words[word](this.exchange)))
  }

  closed(how: "ended" | "reset"): this {
    return this.#hear(this.connection.closed(how))
  }

  get told(): ReadonlyArray<unknown> {
    return this.#told
  }

  #answer(answer: Result.Result<unknown, object>): this {
    if (Result.isSuccess(answer)) return this.tell(answer.success)
    const { field, rule, value, _tag } = answer.failure as Record<string, unknown>
    const refused = "value" in answer.failure ? [field, rule, value] : [field, rule]
    return this.tell(_tag === "ExchangeOver" ? "over" : refused)
  }

  #hear(events: ReadonlyArray<Event>): this {
    return this.tell(events.map(line).join(", "))
  }
}

const post = (body: unknown): object => ({ method: "POST", body })
const open = post({ bytes: undefined })
const sized = post({ bytes: 3 })
/** None of them is a number of an exchange. */
const noExchange: ReadonlyArray<unknown> = [0, -1, 2, 99, 1.5, NaN, Infinity, "1", null, undefined, {}, 1n]
const transfer = ({ buffer }: Uint8Array): unknown => structuredClone(buffer, { transfer: [buffer as ArrayBuffer] })
const resizable = (length: number): readonly [Uint8Array, () => void] => {
  const buffer = new ArrayBuffer(length, { maxByteLength: 2 * length })
  return [new Uint8Array(buffer, 0, length), () => buffer.resize(0)]
}
/** A property that does something when it is looked at. */
const trap = (target: object, name: string, value: unknown, act: () => void): object =>
  Object.defineProperty(target, name, {
    get: () => {
      act()
      return value
    },
  })
const all = (story: Story): Story => story.give("x").finish().cancel().sent().take().hear("whole").closed("reset")

/** What an error keeps of a value. */
const printable = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? "<object>" : typeof value === "bigint" ? `${value}n` : value

type Row = readonly [title: string, story: (on: Story) => unknown, comesTo: ReadonlyArray<unknown>]

const rows: ReadonlyArray<Row> = [
  [
    "an upload of a length takes that and no more, and ends with its last byte",
    (on) => on.send(sized).give("abcd").give("").finish().give("ab").give("c").give("").give("d").finish(),
    [
      "accepted",
      ["upload", "at most 3 bytes", 4],
      0,
      ["upload", "3 bytes longer"],
      2,
      1,
      "over",
      "over",
      "over",
    ],
  ],
  [
    "an upload of no length ends once, with trailers that keep the rules",
    (on) =>
      on.send(open).finish([["Content-Length", "1"]]).finish([["a", "b\r\nc: d"]]).finish({ a: "b" })
        .finish([["x-sum", "1"]]).finish().give("late"),
    [
      "accepted",
      ["trailer Content-Length", "left out"],
      ["field a", "latin1 without control characters"],
      ["trailers", "a list of names and values", "<object>"],
      "finished",
      "over",
      "over",
    ],
  ],
  [
    "a length among the fields is what the body says, and of a body that says none there is none",
    (on) => {
      const length = (value: string): object => ({ fields: [["content-length", value]] })
      on.send({ ...open, ...length("undefined") }).send({ ...sized, ...length("03") }).send(length("1"))
      on.send({ ...length("0"), method: "CONNECT", authority: "example.com:443", path: "" })
    },
    ["refused content-length", "refused content-length", "refused content-length", "accepted"],
  ],
  [
    "a request that was given whole takes no upload, and no end",
    (on) => on.send().give("x").finish().take().hear("whole").send(post(Lab.bytes("whole"))).give("x").finish(),
    [
      "accepted",
      "over",
      "over",
      "out",
      "200 0, end",
      "accepted",
      "over",
      "over",
    ],
  ],
  ["what was given is sent when it was taken: a request", (on) => on.send().sent().take().sent(), [
    "accepted",
    "not sent",
    "out",
    "sent",
  ]],
  ["what was given is sent when it was taken: a body", (on) => on.send(post(Lab.bytes("whole"))).sent().take().sent(), [
    "accepted",
    "not sent",
    "out",
    "sent",
  ]],
  [
    "what was given is sent when it was taken: an upload of a length",
    (on) => on.send(sized).take().give("abc").sent().take().sent(),
    ["accepted", "out", 3, "not sent", "out", "sent"],
  ],
  [
    "what was given is sent when it was taken: an upload's end",
    (on) => on.send(open).take().finish().sent().take().sent(),
    ["accepted", "out", "finished", "not sent", "out", "sent"],
  ],
  ...(["ended", "reset"] as const).flatMap((how): ReadonlyArray<Row> => [
    [
      `an end that nobody took is stopped behind a whole response, where the connection ${how}`,
      (on) => on.send(open).take().hear("whole").finish().closed(how).sent().take(),
      [
        "accepted",
        "out",
        "200 0, end",
        "finished",
        "sent stopped, retired cut",
        "sent",
        "nothing out",
      ],
    ],
    [
      `as is the last byte of a length, where the connection ${how}`,
      (on) => on.send(sized).take().give("abc").hear("whole").closed(how).take(),
      [
        "accepted",
        "out",
        3,
        "200 0, end",
        "sent stopped, retired cut",
        "nothing out",
      ],
    ],
    [
      `an end that was taken is not, where the connection ${how}`,
      (on) => on.send(open).take().hear("whole").finish().take().closed(how),
      [
        "accepted",
        "out",
        "200 0, end",
        "finished",
        "out",
        how === "ended" ? "retired closed" : "retired cut",
      ],
    ],
    [
      `nothing comes out, and nothing goes on, of a connection that ${how}`,
      (on) => all(on.send(post(new Uint8Array(60_000))).closed(how)),
      [
        "accepted",
        `failed ${how} head 0, retired cut`,
        "over",
        "over",
        "drained",
        "sent",
        "nothing out",
        "",
        "",
      ],
    ],
    [
      `nor of one that ${how} within a body that had begun to come out`,
      (on) => all(on.send(open).take().give("x".repeat(40_000)).hear("half").closed(how)),
      [
        "accepted",
        "out",
        40_000,
        "200 9, data half",
        `failed ${how} body 4 9, retired cut`,
        "over",
        "over",
        "drained",
        "sent",
        "nothing out",
        "",
        "",
      ],
    ],
  ]),
  ["a connection that is over asks nobody, tells nobody, and takes no request", (on) => {
    on.closed("ended").tell(on.connection.ping())
    on.connection.leave()
    on.connection.consumed(1, 5)
    on.send().take().hear("fault").closed("reset").tell([on.connection.room, on.connection.retainedBytes])
  }, ["retired closed", false, "retired", "nothing out", "", "", [0, 0]]],
  ["leaving twice is leaving once, and what is under way goes on", (on) => {
    on.send(open)
    on.connection.leave()
    on.connection.leave()
    on.send().hear("nothing").take().hear("whole").give("x").finish().take().sent().closed("ended")
  }, ["accepted", "retired", "", "out", "200 0, end", 1, "finished", "out", "sent", "retired closed"]],
  ["cancelling cuts once", (on) => on.send().take().cancel().cancel().sent().hear("nothing"), [
    "accepted",
    "out",
    "cut",
    "drained",
    "sent",
    "",
  ]],
  [
    "cancelling cuts an upload whose response has ended",
    (on) => on.send(open).take().hear("whole").cancel().cancel().give("x"),
    [
      "accepted",
      "out",
      "200 0, end",
      "cut",
      "drained",
      "over",
    ],
  ],
  [
    "cancelling changes nothing behind both ends, though nobody took the second: it comes out",
    (on) => on.send(open).take().hear("whole").finish().cancel().sent().take().sent().closed("ended"),
    [
      "accepted",
      "out",
      "200 0, end",
      "finished",
      "drained",
      "not sent",
      "out",
      "sent",
      "retired closed",
    ],
  ],
  ["nor behind a fault", (on) => on.send().take().hear("fault").cancel().cancel(), [
    "accepted",
    "out",
    "failed fault, retired fault",
    "drained",
    "drained",
  ]],
  ["nor behind an upload that was stopped", (on) => on.send(open).take().hear("whole").closed("ended").cancel(), [
    "accepted",
    "out",
    "200 0, end",
    "sent stopped, retired cut",
    "drained",
  ]],
  ...[NaN, -1, 1.5, 2 ** 32, 2 ** 33, Infinity, "8", 8n, null, {}].map((code): Row => [
    `a code that is none is refused, and nothing is lost: ${String(code)} as a ${typeof code}`,
    (on) => on.send().take().cancel(code).cancel(code, 99).sent().take().hear("half").cancel(),
    [
      "accepted",
      "out",
      ["code", "a whole number from 0 to 4294967295", printable(code)],
      ["code", "a whole number from 0 to 4294967295", printable(code)],
      "sent",
      "nothing out",
      "200 9, data half",
      "cut",
    ],
  ]),
  ...[undefined, 0, 8, 2 ** 32 - 1].map((code): Row => [
    `a code that is one is taken: ${code}`,
    (on) => on.send().cancel(code),
    ["accepted", "cut"],
  ]),
  ["an exchange that there is not takes nothing, was not sent, and has nothing under way", (on) => {
    on.send(open).take()
    for (const exchange of noExchange) {
      const { connection } = on
      connection.consumed(exchange as Exchange, 1)
      assert.isFalse(connection.isSendEnded(exchange as Exchange), String(exchange))
      for (
        const answer of [
          connection.upload(exchange as Exchange, Lab.bytes("x")),
          connection.finish(exchange as Exchange),
        ]
      ) {
        assert.isTrue(Result.isFailure<unknown, object>(answer), String(exchange))
      }
      assert.strictEqual(Lab.cancel(connection, exchange as Exchange), "drained", String(exchange))
    }
    on.take().give("still").hear("whole").finish().take().sent().closed("ended")
  }, ["accepted", "out", "nothing out", 5, "200 0, end", "finished", "out", "sent", "retired closed"]],
  ["nothing that is no number of bytes, or more than were told, is consumed", (on) => {
    on.send().take().hear("half")
    for (const bytes of [NaN, -1, -Infinity, 0.5, "9", 10n, null, {}, undefined]) {
      on.connection.consumed(on.exchange, bytes as number)
    }
    for (const bytes of [Infinity, 9, 1e300]) on.connection.consumed(on.exchange, bytes)
    on.take().hear("nothing").cancel()
  }, ["accepted", "out", "200 9, data half", "nothing out", "", "cut"]],
  [
    "bytes that were transferred are no body, and no part of one",
    (on) => on.send(post(Lab.lost("gone"))).take().send(open).give(Lab.lost("gone")).give("").finish(),
    [
      "refused body",
      "nothing out",
      "accepted",
      ["upload", "a Uint8Array that was not transferred", "<object>"],
      0,
      "finished",
    ],
  ],
  ["nor are those whose buffer was made smaller, nor none on one that may be", (on) => {
    const [bytes, shrink] = resizable(8)
    shrink()
    const [empty] = resizable(0)
    on.send(post(bytes)).send(open).give(bytes).give(empty).give(new Uint8Array(resizable(4)[0].buffer))
  }, [
    "refused body",
    "accepted",
    ["upload", "a Uint8Array that was not transferred", "<object>"],
    ["upload", "a Uint8Array that was not transferred", "<object>"],
    4,
  ]],
  ["bytes that are transferred before they were taken never come out as others: a body", (on) => {
    const body = new Uint8Array(40_000)
    on.send(post(body))
    transfer(body)
    on.take().tell(on.connection.isRetired).hear("nothing").take().sent().cancel().closed("reset")
  }, ["accepted", "nothing out", true, "failed lost body, retired cut", "nothing out", "sent", "drained", ""]],
  ["bytes that are transferred before they were taken never come out as others: part of an upload", (on) => {
    const part = new Uint8Array(40_000)
    on.send(post({ bytes: 40_001 })).take().give(part)
    transfer(part)
    on.take().give("x").take().hear("whole").sent().take()
  }, [
    "accepted",
    "out",
    40_000,
    "nothing out",
    "over",
    "nothing out",
    "failed lost body, retired cut",
    "sent",
    "nothing out",
  ]],
  ["bytes that are lost behind a whole response stop what is left of the request", (on) => {
    const [part, shrink] = resizable(40_000)
    on.send(open).take().hear("whole").give(part)
    shrink()
    on.take().hear("nothing").sent().cancel()
  }, ["accepted", "out", "200 0, end", 40_000, "nothing out", "sent stopped, retired cut", "sent", "drained"]],
  ["whoever is called while a request is read has had his way before it is sent", (on) => {
    on.send(trap({}, "path", "/", () => void on.closed("ended"))).take()
    assert.strictEqual(on.connection.room, 0)
  }, ["retired closed", "retired", "nothing out"]],
  ["whoever is called while trailers are read has had his way before they are sent", (on) => {
    on.send(open).take()
    on.finish(trap([["x", "1"]], "0", ["x", "1"], () => void on.cancel())).hear("nothing")
  }, ["accepted", "out", "cut", "over", ""]],
  ["whoever is called while bytes are read has had his way before they are sent", (on) => {
    const empty = new Uint8Array(0)
    trap(empty.buffer, "detached", false, () => void on.cancel())
    on.send(open).take().give(empty).hear("nothing")
  }, ["accepted", "out", "cut", "over", ""]],
]

const engines = [["HTTP/1.1", () => new Story(Lab.open(), http1)], [
  "HTTP/2",
  () => new Story(Lab2.open({}, wide), http2),
]] as const

for (const [protocol, begin] of engines) {
  describe(protocol, () => {
    for (const [title, story, comesTo] of rows) {
      it(title, () => {
        const on = begin()
        story(on)
        assert.deepStrictEqual(on.told, comesTo)
      })
    }
  })
}

const calls: Readonly<Record<string, (on: Story) => unknown>> = {
  get: (on) => on.send(),
  post: (on) => on.send(post(Lab.bytes("whole"))),
  empty: (on) => on.send(post({ bytes: 0 })),
  sized: (on) => on.send(sized),
  open: (on) => on.send(open),
  nothing: (on) => on.give(""),
  one: (on) => on.give("a"),
  three: (on) => on.give("abc"),
  large: (on) => on.give(new Uint8Array(20_000)),
  lost: (on) => {
    const bytes = new Uint8Array(20_000)
    on.give(bytes)
    transfer(bytes)
  },
  finish: (on) => on.finish(),
  trailers: (on) => on.finish([["x-sum", "1"]]),
  "bad trailers": (on) => on.finish([["host", "a"]]),
  "bad code": (on) => on.cancel(-1),
  unknown: (on) => on.cancel(8, 77).finish([], 77).sent(77),
  cancel: (on) => on.cancel(),
  take: (on) => on.connection.takeOutput(),
  whole: (on) => on.hear("whole"),
  half: (on) => on.hear("half"),
  rest: (on) => on.hear("rest"),
  unasked: (on) => on.hear("whole"),
  fault: (on) => on.hear("fault"),
  tell: (on) => on.hear("nothing"),
  leave: (on) => on.connection.leave(),
  ended: (on) => on.closed("ended"),
  reset: (on) => on.closed("reset"),
}

it("both answer alike whatever is called in whatever order, one exchange at a time", () => {
  const names = Object.keys(calls)
  // Most stories are to come to an end of their messages, not of their connection.
  const often = ["open", "take", "take", "take", "half", "rest", "finish", "one", "whole"]
  const begins = new Set(["get", "post", "empty", "sized", "open"])
  const step = fc.constantFrom(...names, ...Array(10).fill(often).flat() as ReadonlyArray<string>)
  /** Stories in which a second exchange began, and those of them in which it came to its end. */
  const reached = [0, 0]
  fc.assert(
    fc.property(fc.array(step, { minLength: 20, maxLength: 60 }), (steps) => {
      const [one, other] = engines.map(([, begin]) => begin()) as [Story, Story]
      let part: "ended" | "asked" | "begun" = "ended"
      let isNew = false
      for (const name of steps) {
        const isBusy = one.connection.room === 0 && !one.connection.isRetired
        if (begins.has(name) && isBusy) continue
        // A peer answers what it was asked, and but for words of their own this says nothing amiss.
        if ((name === "half" || name === "whole") && part !== "asked") continue
        if (name === "rest" && part !== "begun") continue
        if ((name === "unasked" || name === "fault") && part === "begun") continue
        const before = one.exchange
        for (const story of [one, other]) {
          calls[name]!(story)
          story.sent()
          // An exchange that is cut takes its connection with it in HTTP/1.1 alone.
          story.tell(story.told.at(-2) === "cut" || story.connection.isRetired)
        }
        if (one.exchange !== before) isNew = true
        if (name === "take" && isNew) [isNew, part] = [false, "asked"]
        if (name === "half") part = "begun"
        if (name === "rest" || name === "whole") part = "ended"
        if (one.told.at(-3) === "cut") break
      }
      assert.deepStrictEqual(other.told, one.told)
      const of = (what: RegExp): number => one.told.filter((each) => what.test(String(each))).length
      if (of(/^accepted$/) > 1) reached[0]!++
      if (of(/end$/) > 1) reached[1]!++
    }),
    { seed: 20_261_130, numRuns: 1_000 },
  )
  for (const count of reached) assert.isAbove(count, 50)
})
