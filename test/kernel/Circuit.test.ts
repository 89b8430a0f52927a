/** The circuit alone, over every state and event, with instants written out. */
import { assert, describe, it } from "vitest"
import { Circuit, type CircuitRules, type Pass } from "../../core/kernel/Circuit.ts"
import { Chance } from "../model/Chance.ts"

const rules: CircuitRules = { failureThreshold: 2, recoveryNanos: 100, probeNanos: 50, applyStale: false }
const circuitOf = (given: Partial<CircuitRules> = {}): Circuit => new Circuit({ ...rules, ...given })

/** What of a circuit can be seen at `now`. */
const seen = (circuit: Circuit, now: number) => ({
  state: circuit.state,
  failures: circuit.failures,
  generation: circuit.generation,
  shut: circuit.shut(now),
})

/** Opened at 1,000 by its threshold; `before` was let by while it was closed. */
const opened = (given: Partial<CircuitRules> = {}): { readonly circuit: Circuit; readonly before: Pass } => {
  const circuit = circuitOf(given)
  const before = circuit.pass(0)
  for (let i = 0; i < circuit.rules.failureThreshold; i++) circuit.fail(circuit.pass(0), 1_000)
  return { circuit, before }
}
const halfOpen = (given: Partial<CircuitRules> = {}) => {
  const { before, circuit } = opened(given)
  return { circuit, before, probe: circuit.pass(1_100) }
}

describe("every state and event", () => {
  it("PG-8 PG-11: closed, a success clears the count, a failure counts, a release changes nothing", () => {
    const circuit = circuitOf({ failureThreshold: 3 })
    const fail = () => circuit.fail(circuit.pass(0), 7)
    assert.isUndefined(fail())
    assert.isUndefined(fail())
    const before = seen(circuit, 8)
    circuit.release(circuit.pass(8))
    assert.deepStrictEqual(seen(circuit, 8), before)
    assert.deepStrictEqual(before, { state: "closed", failures: 2, generation: 0, shut: undefined })
    assert.isUndefined(circuit.succeed(circuit.pass(8)))
    assert.deepStrictEqual(seen(circuit, 8), { ...before, failures: 0 })
    assert.isUndefined(fail())
    assert.isUndefined(fail())
    assert.strictEqual(fail(), "opened")
    assert.deepStrictEqual(seen(circuit, 7), {
      state: "open",
      failures: 3,
      generation: 1,
      shut: { retryNanos: 100, probing: false },
    })
  })

  it("PG-8: a threshold of one opens at the first failure", () => {
    const circuit = circuitOf({ failureThreshold: 1 })
    circuit.succeed(circuit.pass(0))
    assert.strictEqual(circuit.fail(circuit.pass(0), 5), "opened")
    assert.strictEqual(circuit.state, "open")
  })

  it("PG-5 PG-30: open until the very nanosecond at which its time is over", () => {
    const { circuit } = opened()
    assert.deepStrictEqual(circuit.shut(1_000), { retryNanos: 100, probing: false })
    assert.deepStrictEqual(circuit.shut(1_099), { retryNanos: 1, probing: false })
    assert.isUndefined(circuit.shut(1_100))
    assert.isUndefined(circuit.shut(1_101))
    assert.strictEqual(circuit.state, "open")
    assert.deepStrictEqual(circuit.pass(1_100), { generation: 1, probe: true })
  })

  it("PG-6 PG-54: half-open lets nobody else by, until the very nanosecond at which its probe is lost", () => {
    const { circuit, probe } = halfOpen()
    assert.deepStrictEqual(circuit.shut(1_100), { retryNanos: 0, probing: true })
    assert.deepStrictEqual(circuit.shut(1_149), { retryNanos: 0, probing: true })
    assert.strictEqual(circuit.generation, 1)
    assert.isUndefined(circuit.shut(1_150))
    assert.isUndefined(circuit.shut(1_151))
    const next = circuit.pass(1_150)
    assert.deepStrictEqual(next, { generation: 2, probe: true })
    for (const tell of [() => circuit.succeed(probe), () => circuit.fail(probe, 1_160), () => circuit.release(probe)]) {
      const before = seen(circuit, 1_160)
      assert.isUndefined(tell())
      assert.deepStrictEqual(seen(circuit, 1_160), before)
    }
    assert.deepStrictEqual(circuit.shut(1_199), { retryNanos: 0, probing: true })
    assert.strictEqual(circuit.succeed(next), "closed")
  })

  it("PG-10 PG-32: half-open, the probe's success closes and clears the count", () => {
    const { circuit, probe } = halfOpen()
    assert.strictEqual(circuit.succeed(probe), "closed")
    assert.deepStrictEqual(seen(circuit, 1_101), { state: "closed", failures: 0, generation: 2, shut: undefined })
  })

  it("PG-9: half-open, the probe's failure reopens for the full time, whatever the threshold", () => {
    const { circuit, probe } = halfOpen({ failureThreshold: 1_000 })
    assert.strictEqual(circuit.fail(probe, 1_130), "reopened")
    assert.deepStrictEqual(seen(circuit, 1_130), {
      state: "open",
      failures: 1_001,
      generation: 2,
      shut: { retryNanos: 100, probing: false },
    })
  })

  it("PG-11 PG-13 PG-31: half-open, a probe that is released leaves the opening as it was and the next may probe", () => {
    const { circuit, probe } = halfOpen()
    circuit.release(probe)
    assert.deepStrictEqual(seen(circuit, 1_101), { state: "open", failures: 2, generation: 1, shut: undefined })
    assert.deepStrictEqual(circuit.shut(1_099), { retryNanos: 1, probing: false })
    const next = circuit.pass(1_101)
    assert.isTrue(next.probe)
    // The first one's mark is gone for good.
    circuit.release(probe)
    assert.deepStrictEqual(circuit.shut(1_102), { retryNanos: 0, probing: true })
  })

  it("PG-18 PG-34: outcomes of an older generation change nothing, in any state", () => {
    const states = {
      open: () => opened(),
      "half-open": () => halfOpen(),
      closed: () => {
        const { before, circuit, probe } = halfOpen()
        circuit.succeed(probe)
        return { before, circuit }
      },
      "closed with a failure": () => {
        const { before, circuit, probe } = halfOpen()
        circuit.succeed(probe)
        circuit.fail(circuit.pass(1_101), 1_101)
        return { before, circuit }
      },
      "open again": () => {
        const { before, circuit, probe } = halfOpen()
        circuit.fail(probe, 1_101)
        return { before, circuit }
      },
    }
    for (const make of Object.values(states)) {
      for (const verdict of ["success", "failure", "release"] as const) {
        const { before, circuit } = make()
        const was = seen(circuit, 1_120)
        if (verdict === "success") assert.isUndefined(circuit.succeed(before))
        else if (verdict === "failure") assert.isUndefined(circuit.fail(before, 1_120))
        else circuit.release(before)
        assert.deepStrictEqual(seen(circuit, 1_120), was)
        assert.isFalse(circuit.isCurrent(before))
      }
    }
  })

  it("PG-40: the count of failures ends where numbers do", () => {
    const circuit = circuitOf({ failureThreshold: 1_000 })
    circuit.failures = 2 ** 32 - 2
    circuit.isClosed = false
    for (let i = 0; i < 12; i++) circuit.fail(circuit.pass(0), 0)
    assert.strictEqual(circuit.failures, 2 ** 32 + 10)
    circuit.failures = Number.MAX_SAFE_INTEGER - 1
    for (let i = 0; i < 3; i++) circuit.fail(circuit.pass(0), 0)
    assert.strictEqual(circuit.failures, Number.MAX_SAFE_INTEGER)
    assert.strictEqual(circuit.state, "open")
    circuit.succeed(circuit.pass(100))
    assert.strictEqual(circuit.failures, 0)
  })
})

describe("time that goes back", () => {
  it("PG-20 PG-36: opens no door early, and nobody is told of more than the whole opening", () => {
    const { circuit } = opened()
    for (const now of [-1e15, 0, 999, 1_000]) {
      assert.deepStrictEqual(circuit.shut(now), { retryNanos: 100, probing: false })
    }
    assert.isDefined(circuit.shut(1_099))
    assert.isUndefined(circuit.shut(1_100))
  })

  it("PG-20 PG-6: does not lose a probe early", () => {
    const { circuit, probe } = halfOpen()
    for (const now of [0, 1_000, 1_099]) assert.isTrue(circuit.shut(now)?.probing)
    assert.deepStrictEqual(circuit.shut(500), { retryNanos: 100, probing: true })
    assert.strictEqual(circuit.fail(probe, 500), "reopened")
    assert.deepStrictEqual(circuit.shut(400), { retryNanos: 100, probing: false })
    assert.deepStrictEqual(circuit.shut(599), { retryNanos: 1, probing: false })
    assert.isUndefined(circuit.shut(600))
  })
})

/** The rules of a breaker that knows no generations, written down as they are told: one mark, one instant, one count. */
class Unnumbered {
  failures = 0
  openedAt: number | undefined = undefined
  mark: number | undefined = undefined
  readonly #threshold: number
  readonly #recovery: number

  constructor(threshold: number, recovery: number) {
    this.#threshold = threshold
    this.#recovery = recovery
  }

  /** Whether a permit is given, and whether as the probe; `id` names it. */
  acquire(id: number, now: number): "refused" | "let by" | "probe" {
    if (this.openedAt === undefined) return "let by"
    if (this.mark !== undefined || Math.max(0, now - this.openedAt) < this.#recovery) return "refused"
    this.mark = id
    return "probe"
  }

  settle(id: number, probe: boolean, verdict: "success" | "failure" | "release", now: number): void {
    if (this.mark === id) this.mark = undefined
    if (verdict === "success") {
      this.failures = 0
      this.openedAt = undefined
    } else if (verdict === "failure") {
      this.failures++
      if (probe || this.failures >= this.#threshold) this.openedAt = now
    }
  }
}

describe("with outcomes of an older generation applied", () => {
  const stale = (): { readonly circuit: Circuit; readonly before: Pass } => opened({ applyStale: true })

  it("PG-18: a late success closes an open circuit, and a late failure opens it anew", () => {
    const closing = stale()
    assert.strictEqual(closing.circuit.succeed(closing.before), "closed")
    assert.strictEqual(closing.circuit.failures, 0)
    const extending = stale()
    assert.strictEqual(extending.circuit.fail(extending.before, 1_050), "reopened")
    assert.deepStrictEqual(extending.circuit.shut(1_100), { retryNanos: 50, probing: false })
  })

  it("PG-6: a late failure beside a probe lets no second one out", () => {
    const { before, circuit, probe } = halfOpen({ applyStale: true, probeNanos: 1e6 })
    assert.strictEqual(circuit.fail(before, 1_120), "reopened")
    assert.isTrue(circuit.shut(1_220)?.probing)
    assert.strictEqual(circuit.succeed(probe), "closed")
  })

  it("PG-5: a late failure beside a probe that is lost keeps the door shut for the full time", () => {
    const { before, circuit } = halfOpen({ applyStale: true })
    circuit.fail(before, 1_120)
    assert.deepStrictEqual(circuit.shut(1_160), { retryNanos: 60, probing: false })
    assert.isUndefined(circuit.shut(1_220))
  })

  it("PG-18: does what the rules without generations do, over random lives", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const chance = new Chance(seed)
      const threshold = chance.whole(1, 3)
      const circuit = circuitOf({ applyStale: true, failureThreshold: threshold, probeNanos: Infinity })
      const plain = new Unnumbered(threshold, 100)
      const out: Array<{ readonly id: number; readonly pass: Pass }> = []
      let now = 1_000
      for (let step = 0; step < 400; step++) {
        now += chance.yes(0.1) ? -chance.whole(0, 50) : chance.whole(0, 60)
        if (out.length === 0 || chance.yes(0.5)) {
          const answer = plain.acquire(step, now)
          const shut = circuit.shut(now)
          assert.strictEqual(shut !== undefined, answer === "refused", `step ${step}`)
          if (shut !== undefined) {
            assert.strictEqual(shut.probing, plain.mark !== undefined)
            continue
          }
          const pass = circuit.pass(now)
          assert.strictEqual(pass.probe, answer === "probe")
          out.push({ id: step, pass })
        } else {
          const [held] = out.splice(chance.whole(0, out.length - 1), 1)
          const verdict = chance.pick(["success", "failure", "failure", "release"] as const)
          plain.settle(held!.id, held!.pass.probe, verdict, now)
          if (verdict === "success") circuit.succeed(held!.pass)
          else if (verdict === "failure") circuit.fail(held!.pass, now)
          else circuit.release(held!.pass)
        }
        assert.strictEqual(circuit.isClosed, plain.openedAt === undefined, `step ${step}`)
        assert.strictEqual(circuit.failures, plain.failures, `step ${step}`)
      }
    }
  })
})
