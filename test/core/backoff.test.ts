/** The wait before another attempt: its formula, its bounds, and nothing else. */
import { assert, describe, it } from "vitest"
import * as Duration from "effect/Duration"
import { backoff, type BackoffLimits } from "../../core/Backoff.ts"
import { Chance } from "../model/Chance.ts"

const limits: BackoffLimits = { initialBackoff: "100 millis", maxBackoff: "1 second" }
const millis = (given: BackoffLimits, attempt: number, seed: number | bigint): number =>
  Duration.toMillis(backoff(given, attempt, seed))
const baseOf = (initial: number, max: number, attempt: number) => Math.min(initial * 2 ** Math.min(attempt, 20), max)

describe("backoff", () => {
  it("PG-37 PG-38 PG-39: is capped", () => {
    assert.strictEqual(millis(limits, 30, 99), 1_000)
    assert.strictEqual(millis(limits, 0, 0), 100)
    assert.strictEqual(millis(limits, 0, 24), 124)
    assert.strictEqual(millis(limits, 0, 25), 100)
    assert.strictEqual(millis(limits, 1, 49), 249)
    assert.strictEqual(millis(limits, 3, 199), 999)
    assert.strictEqual(millis(limits, 4, 249), 1_000)
  })

  it("PG-37 PG-38: lies between its base and a quarter more, and never above the cap", () => {
    const chance = new Chance(3)
    for (let attempt = 0; attempt <= 64; attempt++) {
      for (let i = 0; i < 50; i++) {
        const initial = chance.whole(1, 5_000)
        const max = initial + chance.whole(0, 295_000)
        const seed = chance.yes(0.5)
          ? chance.whole(0, 2 ** 32)
          : (BigInt(chance.whole(0, 2 ** 32 - 1)) << 32n) | BigInt(chance.whole(0, 2 ** 32 - 1))
        const base = baseOf(initial, max, attempt)
        const ceiling = Math.max(Math.floor(base / 4), 1)
        const got = millis({ initialBackoff: initial, maxBackoff: max }, attempt, seed)
        assert.strictEqual(got, Math.min(base + Number(BigInt(seed) % BigInt(ceiling)), max))
        assert.isAtLeast(got, base)
        assert.isAtMost(got, max)
        assert.isTrue(got < base + Math.max(base / 4, 1) || got === max)
        if (base === max) assert.strictEqual(got, max)
      }
    }
  })

  it("PG-37: without jitter it never falls from one attempt to the next", () => {
    for (let attempt = 0; attempt < 64; attempt++) {
      assert.isAtLeast(millis(limits, attempt + 1, 0), millis(limits, attempt, 0))
    }
  })

  it("PG-39: no attempt and no seed is too much or too little", () => {
    const most = { initialBackoff: 1, maxBackoff: "5 minutes" } as const
    for (const attempt of [20, 21, 64, 1e9, Infinity, Number.MAX_SAFE_INTEGER]) {
      assert.strictEqual(
        millis({ initialBackoff: "1 nano", maxBackoff: "5 minutes" }, attempt, 7),
        millis({ initialBackoff: "1 nano", maxBackoff: "5 minutes" }, 20, 7),
      )
      assert.strictEqual(millis(most, attempt, 7), 300_000)
    }
    for (const attempt of [-1, -Infinity, NaN, 0.9]) assert.strictEqual(millis(limits, attempt, 3), 103)
    assert.strictEqual(millis(limits, 1.9, 0), 200)
    assert.strictEqual(millis(limits, 0, 2n ** 64n - 1n), 100 + Number((2n ** 64n - 1n) % 25n))
    assert.strictEqual(millis(limits, 0, -7), 107)
    assert.strictEqual(millis(limits, 0, -7n), 107)
    // Rounded down first, and then without its sign.
    assert.strictEqual(millis(limits, 0, 7.9), 107)
    assert.strictEqual(millis(limits, 0, -7.1), 108)
    for (const seed of [NaN, Infinity, -Infinity]) assert.strictEqual(millis(limits, 0, seed), 100)
  })

  it("PG-26: is the same for the same arguments, in whatever order it is asked", () => {
    const asked = Array.from({ length: 200 }, (_, i) => [i % 40, BigInt(i) * 12_345_678_901n] as const)
    for (const jitter of ["seeded", "spread"] as const) {
      const given = { ...limits, jitter }
      const once = asked.map(([attempt, seed]) => millis(given, attempt, seed))
      const again = [...asked].reverse().map(([attempt, seed]) => millis(given, attempt, seed)).reverse()
      assert.deepStrictEqual(again, once)
    }
    // What any other machine gives.
    assert.deepStrictEqual([1, 2, 3].map((i) => millis(limits, i, 1_000_003)), [203, 403, 803])
  })

  it("PG-49: spread draws from the last quarter at the cap, and seeded does not", () => {
    const spread = { ...limits, jitter: "spread" } as const
    const drawn = Array.from({ length: 500 }, (_, seed) => millis(spread, 30, seed))
    assert.strictEqual(Math.min(...drawn), 750)
    assert.strictEqual(Math.max(...drawn), 1_000)
    assert.strictEqual(new Set(drawn).size, 251)
    for (const seed of [0, 7, 99]) {
      assert.strictEqual(millis({ ...limits, jitter: "seeded" }, 30, seed), 1_000)
      // Below the cap both are the same.
      assert.strictEqual(millis(spread, 1, seed), millis(limits, 1, seed))
    }
    for (const maxBackoff of [0.5, 1, 2, 3, 4, 5]) {
      for (let seed = 0; seed < 5; seed++) {
        const got = millis({ initialBackoff: 0.5, maxBackoff, jitter: "spread" }, 30, seed)
        assert.isAtLeast(got, maxBackoff * 3 / 4)
        assert.isAtMost(got, maxBackoff)
      }
    }
  })

  it("PG-37: takes a gate's options, and its defaults are the gate's", () => {
    assert.strictEqual(millis({}, 0, 0), 100)
    assert.strictEqual(millis({}, 30, 0), 30_000)
    assert.strictEqual(millis({ maxBackoff: 50 }, 0, 0), 50)
  })
})
