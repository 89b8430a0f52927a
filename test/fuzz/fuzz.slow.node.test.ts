/** A short, seeded run of the fuzzer, and faults that are planted for it to find. */
import { assert, describe, it } from "vitest"
import type { EngineConnection, Event } from "../../core/http/HttpEngine.ts"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"
import { readFileSync } from "node:fs"
import * as Case from "./Case.ts"
import * as Coverage from "./Coverage.ts"
import * as Laws from "./Laws.ts"
import { shrink } from "./Shrink.ts"

type Protocol = "HTTP/1.1" | "HTTP/2"

/** The first of so many cases of a protocol that breaks a law, with it. */
const find = (
  on: Laws.Engines,
  protocol: Protocol,
  seed: number,
  executions: number,
): readonly [Case.Case, string] | undefined => {
  for (let index = 0, left = executions; left > 0; index++) {
    const one = Case.make(seed, index)
    if ((one.kind === "frames" || one.kind === "peer") !== (protocol === "HTTP/2")) continue
    left--
    const law = Laws.broken(one, on)
    if (law !== undefined) return [one, law]
  }
  return undefined
}

/** The rules of a union of literals. */
const rulesOf = (union: string, file: string): ReadonlyArray<string> => {
  const source = readFileSync(`${Runtime.root}core/http/${file}.ts`, "utf8")
  const [, members = ""] = new RegExp(`^export type ${union} =\n((?: {2}\\|.*\n)+)`, "m").exec(source) ?? []
  return [...members.matchAll(/"([\w-]+)"/g)].map(([, rule]) => rule!)
}
const ofBoth = [
  "control",
  "field-name",
  "head-bytes",
  "trailers-bytes",
  "fields",
  "informational",
  "content-length",
  "framed-without-body",
  "trailer-field",
]
const rules = { h1: rulesOf("Rule", "HttpFault"), h2: [...ofBoth, ...rulesOf("Http2Rule", "Http2Fault")] }

for (
  const [protocol, executions, engine, missed] of [
    ["HTTP/1.1", 30_000, "h1", []],
    // The book that every input is compared with counts no frames; floods have tests of their own in http2Limits.test.ts.
    ["HTTP/2", 4_000, "h2", ["flood"]],
  ] as const
) {
  it(`every law of the codec of ${protocol} holds over ${executions} executions, and they break every rule`, {
    timeout: 300_000,
  }, () => {
    const coverage = new Coverage.Coverage()
    const found = find(Laws.engines(coverage.watch), protocol, 20_261_129, executions)
    assert.isUndefined(found, found === undefined ? "" : `${found[1]}\n${Case.print(found[0])}`)
    assert.isAbove(rules[engine].length, 23)
    assert.deepStrictEqual(coverage.missed(engine, rules[engine]), missed)
    const ways = [
      "Head",
      "Data",
      "End",
      "Failed",
      "SendEnded",
      "Retired-announced",
      "Retired-closed",
      "Retired-cut",
      "Retired-fault",
    ]
    for (const way of ways) assert.isTrue(coverage.counts.has(`${engine} told ${way}`), way)
  })
}

describe("a fault is found that is planted:", () => {
  const plants: Readonly<Record<string, (connection: EngineConnection) => Partial<EngineConnection>>> = {
    "it throws at a bell": (own) => ({
      receive: (bytes) => {
        if (bytes.includes(7)) throw new Error("bell")
        return own.receive(bytes)
      },
    }),
    "it takes LF for CR LF": (own) => ({
      receive: (bytes) =>
        own.receive(
          Uint8Array.from(
            [...bytes].flatMap((byte, i) => byte === 10 && i > 0 && bytes[i - 1] !== 13 ? [13, 10] : [byte]),
          ),
        ),
    }),
    "it forgets a piece of one byte": (own) => ({ receive: (bytes) => bytes.length === 1 ? [] : own.receive(bytes) }),
    "it has room behind a fault": (own) => ({
      get room() {
        return own.isRetired ? 1 : own.room
      },
    }),
    "it keeps what it was sent": (own) => ({
      get retainedBytes() {
        return own.isRetired ? 1 : own.retainedBytes
      },
    }),
    "it writes a line too much": (own) => ({
      takeOutput: () => [...own.takeOutput(), Uint8Array.of(13, 10)],
    }),
    "it loses the end of an upload": (own) => ({
      upload: (exchange, bytes) => own.upload(exchange, bytes.subarray(1)),
    }),
  }

  const framePlants: typeof plants = {
    "it throws at a bell": plants["it throws at a bell"]!,
    "it forgets a piece of one byte": plants["it forgets a piece of one byte"]!,
    "it has room behind its end": plants["it has room behind a fault"]!,
    "it keeps what it was sent": plants["it keeps what it was sent"]!,
    "it cuts a body by a byte": (own) => ({
      receive: (bytes) => own.receive(bytes).filter((event) => event._tag !== "Data" || event.bytes.length > 1),
    }),
    "it loses an end": (own) => ({ receive: (bytes) => own.receive(bytes).filter(({ _tag }) => _tag !== "End") }),
    "it tells of what was cancelled": (own) => {
      let told: Event | undefined
      return {
        receive: (bytes) => {
          const events = own.receive(bytes)
          told ??= events.find(({ _tag }) => _tag === "Head")
          return events
        },
        closed: (how) => [...own.closed(how), ...told === undefined ? [] : [told]],
      }
    },
    "it reads another status": (own) => ({
      receive: (bytes) =>
        own.receive(bytes).map((event) =>
          event._tag === "Head" ? { ...event, head: { ...event.head, status: event.head.status + 1 } } : event
        ),
    }),
    "it loses a field": (own) => ({
      receive: (bytes) =>
        own.receive(bytes).map((event) =>
          event._tag === "Head" ? { ...event, head: { ...event.head, fields: event.head.fields.slice(1) } } : event
        ),
    }),
    "it resets with another code": (own) => ({
      takeOutput: () =>
        own.takeOutput().map((piece) => {
          const at = piece.findLastIndex((byte, at) => byte === 3 && piece[at - 1] === 4 && piece[at + 1] === 0)
          return at < 0 ? piece : piece.with(at + 9, 99)
        }),
    }),
    "it retires twice": (own) => ({
      closed: (how) => [...own.closed(how), { _tag: "Retired", why: "cut", error: undefined }],
    }),
    "it writes behind its end": (own) => ({
      takeOutput: () => [...own.takeOutput(), ...own.isRetired ? [Uint8Array.of(0)] : []],
    }),
  }

  for (const [protocol, all] of [["HTTP/1.1", plants], ["HTTP/2", framePlants]] as const) {
    for (const [title, plant] of Object.entries(all)) {
      it(`${title} (${protocol})`, () => {
        const on = Laws.engines(Coverage.changed(plant))
        const [one, law] = find(on, protocol, 1, 5_000) ?? []
        assert.isString(law)
        const least = shrink(one!, (smaller) => Laws.broken(smaller, on) !== undefined)
        assert.isString(Laws.broken(Case.parse(Case.print(least)), on))
        assert.isUndefined(Laws.broken(one!, Laws.engines()))
      })
    }
  }
})

it("as a command it counts what it ran, and plays a find again", async () => {
  const command = (...args: ReadonlyArray<string>): Promise<Command.Ended> =>
    Command.run([...Runtime.command("node"), "test/fuzz/run.ts", ...args], { cwd: Runtime.root })
  const ran = await command("--seconds", "1", "--seed", "7")
  assert.match(
    ran.output,
    /^fuzz: seed 7, [1-9]\d* executions, [1-9]\d* bytes in 1 s at most\nfuzz: reached .*\n[^]*\nfuzz: every law held\n$/,
  )
  assert.strictEqual(ran.status, 0)
  const sound = Case.make(1, 1)
  assert.strictEqual((await command("--replay", Case.print(sound))).status, 0)
  const wrong = { ...sound, kind: "response", request: { method: "no method" } } as unknown as Case.Case
  const again = await command("--replay", Case.print(wrong))
  assert.deepStrictEqual([again.status, again.output], [1, "fuzz: BROKEN: a request of the corpus was not accepted\n"])
  assert.strictEqual((await command("--seconds", "none")).status, 2)
})
