/** A short, seeded run of the fuzzer, and faults that are planted for it to find. */
import { assert, describe, it } from "vitest"
import type { EngineConnection, HttpEngine } from "../../core/http/HttpEngine.ts"
import * as Command from "../support/Command.ts"
import * as Runtime from "../support/Runtime.ts"
import * as Case from "./Case.ts"
import * as Laws from "./Laws.ts"
import { shrink } from "./Shrink.ts"

/** The first of so many cases that breaks a law, with it. */
const find = (on: Laws.Engines, seed: number, executions: number): readonly [Case.Case, string] | undefined => {
  for (let index = 0; index < executions; index++) {
    const one = Case.make(seed, index)
    const law = Laws.broken(one, on)
    if (law !== undefined) return [one, law]
  }
  return undefined
}

it("every law of the codec holds over 40,000 executions", { timeout: 120_000 }, () => {
  const found = find(Laws.engines(), 20_261_129, 40_000)
  assert.isUndefined(found, found === undefined ? "" : `${found[1]}\n${Case.print(found[0])}`)
})

describe("a fault is found that is planted:", () => {
  /** An engine whose connections are changed. */
  const changed =
    (change: (connection: EngineConnection) => Partial<EngineConnection>) => (engine: HttpEngine): HttpEngine => ({
      ...engine,
      open: (opening) => {
        const own = engine.open(opening)
        const whole: EngineConnection = {
          get room() {
            return own.room
          },
          get isRetired() {
            return own.isRetired
          },
          get retainedBytes() {
            return own.retainedBytes
          },
          isSent: (exchange) => own.isSent(exchange),
          trySend: (request) => own.trySend(request),
          upload: (exchange, bytes) => own.upload(exchange, bytes),
          finish: (exchange, trailers) => own.finish(exchange, trailers),
          consumed: (exchange, bytes) => own.consumed(exchange, bytes),
          cancel: (exchange) => own.cancel(exchange),
          receive: (bytes) => own.receive(bytes),
          closed: (how) => own.closed(how),
          takeOutput: () => own.takeOutput(),
        }
        return Object.defineProperties(whole, Object.getOwnPropertyDescriptors(change(own)))
      },
    })

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

  for (const [title, plant] of Object.entries(plants)) {
    it(title, () => {
      const on = Laws.engines(changed(plant))
      const [one, law] = find(on, 1, 5_000) ?? []
      assert.isString(law)
      const least = shrink(one!, (smaller) => Laws.broken(smaller, on) !== undefined)
      assert.isString(Laws.broken(Case.parse(Case.print(least)), on))
      assert.isUndefined(Laws.broken(one!, Laws.engines()))
    })
  }
})

it("as a command it counts what it ran, and plays a find again", { timeout: 60_000 }, async () => {
  const command = (...args: ReadonlyArray<string>): Promise<Command.Ended> =>
    Command.run([...Runtime.command("node"), "test/fuzz/run.ts", ...args], { cwd: Runtime.root })
  const ran = await command("--seconds", "1", "--seed", "7")
  assert.match(ran.output, /^fuzz: seed 7, [1-9]\d* executions, [1-9]\d* bytes in 1 s at most\nfuzz: every law held\n$/)
  assert.strictEqual(ran.status, 0)
  const sound = Case.make(1, 1)
  assert.strictEqual((await command("--replay", Case.print(sound))).status, 0)
  const wrong = { ...sound, kind: "response", request: { method: "no method" } } as unknown as Case.Case
  const again = await command("--replay", Case.print(wrong))
  assert.deepStrictEqual([again.status, again.output], [1, "fuzz: BROKEN: a request of the corpus was not accepted\n"])
  assert.strictEqual((await command("--seconds", "none")).status, 2)
})
