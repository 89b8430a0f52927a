/** Limits: the rules of the door, one function a kind. */
import { assert, describe, it } from "vitest"
import { Buffer } from "node:buffer"
import type * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Limits from "../../core/Limits.ts"

const failure = <A, E>(result: Result.Result<A, E>): E => Result.getOrThrow(Result.flip(result))

describe("utf8Bytes", () => {
  const texts = ["", "a", "é", "日", "😀", "a\u07ff\u0800\uffff", "\uffffa", "\u{10000}a", "x😀y", "\u{10ffff}"]

  it("counts as an encoder would", () => {
    for (const text of texts) assert.strictEqual(Limits.utf8Bytes(text), Buffer.byteLength(text, "utf8"))
  })

  it("counts half a character as its replacement would count", () => {
    for (const text of ["\ud800", "\udc00", "\ud800a", "\udc00\ud800", "\ud83d"]) {
      assert.strictEqual(Limits.utf8Bytes(text), new TextEncoder().encode(text).length)
    }
  })

  it("counts every character there is", () => {
    for (let point = 0; point <= 0x10ffff; point += point < 0x3000 ? 1 : 97) {
      const text = String.fromCodePoint(point)
      assert.strictEqual(Limits.utf8Bytes(text), new TextEncoder().encode(text).length)
    }
  })
})

describe("key", () => {
  it("refuses each control character, wherever it is, and no other", () => {
    for (let unit = 0; unit <= 0x2100; unit++) {
      const control = unit < 0x20 || (unit >= 0x7f && unit <= 0x9f) || unit === 0x2028 || unit === 0x2029
      for (const text of [`${String.fromCharCode(unit)}a`, `a${String.fromCharCode(unit)}`]) {
        assert.strictEqual(Limits.key("tenant", text) !== undefined, control, unit.toString(16))
      }
    }
  })

  it("takes what is next to a range that is refused", () => {
    for (const refused of ["\x1f", "\x7f", "\x9f", "\u2028", "\u2029", "\ud800", "\udbff", "\udc00", "\udfff"]) {
      for (const key of [refused, `a${refused}`, `${refused}a`]) {
        assert.isDefined(Limits.key("tenant", key), JSON.stringify(key))
      }
    }
    for (const taken of ["\x20", "\x7e", "\xa0", "\u2027", "\u202a", "\ud7ff", "\ue000", "\uffff", "\u{10000}"]) {
      assert.isUndefined(Limits.key("tenant", taken), JSON.stringify(taken))
      assert.isDefined(Limits.key("tenant", `${taken}\x1f`), JSON.stringify(taken))
    }
  })

  it("has room for 256 bytes and no more", () => {
    for (const [char, most] of [["a", 256], ["é", 128], ["日", 85], ["😀", 64]] as const) {
      assert.isUndefined(Limits.key("tenant", char.repeat(most)))
      assert.isDefined(Limits.key("tenant", char.repeat(most + 1)))
    }
  })
})

describe("count, word and duration", () => {
  it("a count is a whole number within its bounds", () => {
    const bounds = { min: 2, max: 4 }
    for (const value of [2, 3, 4]) assert.strictEqual(Result.getOrThrow(Limits.count("S", "l", value, bounds)), value)
    for (const value of [1, 5, 2.5, "3", NaN, undefined, null]) {
      assert.deepInclude(failure(Limits.count("S", "l", value, bounds)), {
        system: "S",
        limit: "l",
        rule: "a whole number from 2 to 4",
        value,
      })
    }
  })

  it("a word is one of a few", () => {
    assert.strictEqual(Result.getOrThrow(Limits.word("S", "l", "on", ["on", "off"])), "on")
    assert.deepInclude(failure(Limits.word("S", "l", "ON", ["on", "off"])), { rule: "one of on, off", value: "ON" })
  })

  it("a duration is above zero and within its bound, and comes in milliseconds", () => {
    const of = (value: unknown) => Limits.duration("S", "l", value as Duration.Input, 1_000)
    for (const [value, millis] of [[1, 1], ["1 second", 1_000], ["1 nano", 1e-6], [{ milliseconds: 5 }, 5]] as const) {
      assert.strictEqual(Result.getOrThrow(of(value)), millis)
    }
    for (const value of [0, -1, "1001 millis", NaN, Infinity, "never", null]) {
      assert.deepInclude(failure(of(value)), {
        system: "S",
        limit: "l",
        rule: 'a duration such as "500 millis" or "5 seconds", above zero and at most 1s',
      })
    }
    for (const value of [NaN, "never", null]) assert.deepInclude(failure(of(value)), { value })
    assert.deepInclude(failure(of("1001 millis")), { value: "1s 1ms" })
  })
})
