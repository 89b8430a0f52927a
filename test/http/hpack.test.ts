/** HPACK: the byte strings of RFC 7541, appendix C; what breaks a rule; and that what was encoded is what is decoded. */
import { assert, describe, it, vi } from "vitest"
import * as fc from "fast-check"
import { HpackDecoder } from "../../core/http/HpackDecoder.ts"
import { HpackEncoder, mostBytes } from "../../core/http/HpackEncoder.ts"
import * as Huffman from "../../core/http/HpackHuffman.ts"
import { statics } from "../../core/http/HpackTable.ts"
import type { Fields } from "../../core/http/HttpMessage.ts"
import * as Latin1 from "../../core/http/Latin1.ts"
import * as Lab from "../support/http/Lab.ts"

const hex = (text: string): Uint8Array =>
  Uint8Array.from(text.replaceAll(" ", "").match(/../g) ?? [], (byte) => parseInt(byte, 16))
const decoder = (tableBytes = 4_096): HpackDecoder => new HpackDecoder(tableBytes, Latin1.portable)

/** The fields of a block, or the rule that it breaks. */
const read = (from: HpackDecoder, bytes: Uint8Array): ReadonlyArray<string> | string => {
  const fields: Array<string> = []
  const rule = from.decode(bytes, 0, bytes.length, {
    add: ({ field: [name, value] }) => void fields.push(`${name}: ${value}`),
  })
  return rule ?? fields
}

const target = (
  authority: string,
): ReadonlyArray<string> => [":method: GET", ":scheme: http", ":path: /", `:authority: ${authority}`]
const cookie = "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"
const first = ["cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", "location: https://www.example.com"]

/** A section of the appendix: blocks that one decoder reads in turn, with their fields and the size of the table behind each. */
const appendix: Readonly<Record<string, ReadonlyArray<readonly [string, ReadonlyArray<string>, number]>>> = {
  "C.2.1 a literal that is kept": [
    ["400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572", ["custom-key: custom-header"], 55],
  ],
  "C.2.2 a literal that is not": [["040c 2f73 616d 706c 652f 7061 7468", [":path: /sample/path"], 0]],
  "C.2.3 a literal that never is": [["1008 7061 7373 776f 7264 0673 6563 7265 74", ["password: secret"], 0]],
  "C.2.4 an indexed field": [["82", [":method: GET"], 0]],
  "C.3 requests without Huffman": [
    ["8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d", target("www.example.com"), 57],
    ["8286 84be 5808 6e6f 2d63 6163 6865", [...target("www.example.com"), "cache-control: no-cache"], 110],
    ["8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65", [
      ":method: GET",
      ":scheme: https",
      ":path: /index.html",
      ":authority: www.example.com",
      "custom-key: custom-value",
    ], 164],
  ],
  "C.4 requests with Huffman": [
    ["8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff", target("www.example.com"), 57],
    ["8286 84be 5886 a8eb 1064 9cbf", [...target("www.example.com"), "cache-control: no-cache"], 110],
    ["8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf", [
      ":method: GET",
      ":scheme: https",
      ":path: /index.html",
      ":authority: www.example.com",
      "custom-key: custom-value",
    ], 164],
  ],
  "C.5 responses without Huffman, in a table of 256": [
    [
      "3fe1 0148 0333 3032 5807 7072 6976 6174 6561 1d4d 6f6e 2c20 3231 204f 6374 2032 3031 3320 3230 3a31 333a 3231 " +
      "2047 4d54 6e17 6874 7470 733a 2f2f 7777 772e 6578 616d 706c 652e 636f 6d",
      [":status: 302", ...first],
      222,
    ],
    ["4803 3330 37c1 c0bf", [":status: 307", ...first], 222],
    [
      "88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970 7738 666f " +
      "6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b " +
      "2076 6572 7369 6f6e 3d31",
      [
        ":status: 200",
        "cache-control: private",
        "date: Mon, 21 Oct 2013 20:13:22 GMT",
        "location: https://www.example.com",
        "content-encoding: gzip",
        cookie,
      ],
      215,
    ],
  ],
  "C.6 responses with Huffman, in a table of 256": [
    [
      "3fe1 0148 8264 0258 85ae c377 1a4b 6196 d07a be94 1054 d444 a820 0595 040b 8166 e082 a62d 1bff 6e91 9d29 ad17 " +
      "1863 c78f 0b97 c8e9 ae82 ae43 d3",
      [":status: 302", ...first],
      222,
    ],
    ["4883 640e ffc1 c0bf", [":status: 307", ...first], 222],
    [
      "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 " +
      "dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
      [
        ":status: 200",
        "cache-control: private",
        "date: Mon, 21 Oct 2013 20:13:22 GMT",
        "location: https://www.example.com",
        "content-encoding: gzip",
        cookie,
      ],
      215,
    ],
  ],
}

describe("of RFC 7541, appendix C,", () => {
  for (const [title, blocks] of Object.entries(appendix)) {
    it(title, () => {
      const from = decoder()
      for (const [bytes, fields, size] of blocks) {
        assert.deepStrictEqual(read(from, hex(bytes)), fields)
        assert.strictEqual(from.tableBytes, size)
      }
    })
  }

  it("every code of the table goes both ways", () => {
    for (
      const [text, code] of [["www.example.com", "f1e3c2e5f23a6ba0ab90f4ff"], ["no-cache", "a8eb10649cbf"]] as const
    ) {
      const into = new Uint8Array(64)
      assert.deepStrictEqual(into.slice(0, Huffman.encode(text, into, 0, into.length)), hex(code))
    }
    for (let byte = 0; byte < 256; byte++) {
      const text = String.fromCharCode(byte).repeat(9)
      const [coded, into] = [new Uint8Array(64), new Uint8Array(64)]
      const to = Huffman.encode(text, coded, 0, coded.length)
      assert.strictEqual(to, Huffman.encodedBytes(text))
      assert.strictEqual(Lab.text(into.subarray(0, Huffman.decode(coded, 0, to, into))), text)
    }
  })

  it("the static table has its first, last and middle entries where they belong", () => {
    const at = (index: number): string => statics[index - 1]!.field.join(": ")
    assert.strictEqual(statics.length, 61)
    assert.deepStrictEqual([1, 8, 14, 16, 28, 32, 54, 58, 61].map(at), [
      ":authority: ",
      ":status: 200",
      ":status: 500",
      "accept-encoding: gzip, deflate",
      "content-length: ",
      "cookie: ",
      "server: ",
      "user-agent: ",
      "www-authenticate: ",
    ])
  })
})

describe("a block is refused", () => {
  const rows: ReadonlyArray<readonly [string, string, string]> = [
    ["with index 0", "80", "hpack-index"],
    ["with an index behind both tables", "be", "hpack-index"],
    ["with a name behind both tables", "7e 01 61", "hpack-index"],
    ["with a large index behind both tables", "ff ff ff ff 7f", "hpack-index"],
    ["with an integer beyond 2^28", "ff ff ff ff ff 01", "hpack-integer"],
    ["with an integer of zeros without an end", "ff 80 80 80 80 80 80 80 00", "hpack-integer"],
    ["with a length beyond 2^28", "00 7f 80 80 80 80 10", "hpack-integer"],
    ["that ends in an integer", "ff 80", "hpack-cut"],
    ["that ends behind a pattern", "40", "hpack-cut"],
    ["that ends in a name", "40 03 61 62", "hpack-cut"],
    ["that ends behind a name", "40 01 61", "hpack-cut"],
    ["that ends in a value", "40 01 61 02 62", "hpack-cut"],
    ["with the end symbol", "40 01 61 84 ff ff ff ff", "hpack-huffman"],
    ["with the end symbol behind another", "40 01 61 85 1f ff ff ff ff", "hpack-huffman"],
    ["with padding of eight ones", "40 01 61 82 f8 ff", "hpack-huffman"],
    ["with padding of eleven ones", "40 01 61 82 1f ff", "hpack-huffman"],
    ["with padding of zeros", "40 01 61 81 18", "hpack-huffman"],
    ["with a cut code", "40 01 61 81 fe", "hpack-huffman"],
    ["with a table beyond what was announced", "3f e2 1f", "hpack-table-size"],
    ["with a size of the table behind a field", "82 20", "hpack-table-size"],
    ["with three sizes of the table", "20 20 20 82", "hpack-table-size"],
  ]
  for (const [title, bytes, rule] of rows) {
    it(`${title}: ${rule}`, () => assert.strictEqual(read(decoder(), hex(bytes)), rule))
  }

  it("but not for a text of no bytes, coded or not", () => {
    for (const length of ["00", "80"]) assert.deepStrictEqual(read(decoder(), hex(`40 01 61 ${length}`)), ["a: "])
  })
})

describe("the table of the decoder", () => {
  const kept = (name: string, value: string): Uint8Array =>
    Uint8Array.from([0x40, name.length, ...Lab.bytes(name), value.length, ...Lab.bytes(value)])

  it("lets go of the oldest first, and of all for one that is larger than it", () => {
    const from = decoder()
    read(from, hex("3f 45")) // a table of 100
    for (const name of ["a", "b", "c"]) read(from, kept(name, "x"))
    assert.deepStrictEqual([read(from, hex("be")), read(from, hex("bf")), read(from, hex("c0"))], [
      ["c: x"],
      ["b: x"],
      "hpack-index",
    ])
    read(from, kept("d", "y".repeat(80)))
    assert.deepStrictEqual([from.tableBytes, read(from, hex("be"))], [0, "hpack-index"])
  })

  it("has the oldest that it still holds, however many it let go of", () => {
    const from = decoder()
    read(from, hex("3f 45")) // a table of 100
    for (let i = 10; i < 60; i++) {
      read(from, kept(`${i}`, ""))
      if (i > 10) assert.deepStrictEqual(read(from, hex("be bf")), [`${i}: `, `${i - 1}: `])
      assert.strictEqual(read(from, hex("c0")), "hpack-index")
    }
  })

  it("is of 4,096 bytes until the peer says that it uses more of what was announced", () => {
    const large = (lowByte: number): Uint8Array =>
      Uint8Array.from([0x40, 1, 97, 0x7f, 0x80 | lowByte, 0x1e, ...new Uint8Array(127 + 30 * 128 + lowByte).fill(98)])
    const from = decoder(8_192)
    read(from, large(96))
    assert.strictEqual(from.tableBytes, 4_096)
    read(from, large(97))
    assert.strictEqual(from.tableBytes, 0)
    read(from, hex("3f e1 3f"))
    read(from, large(97))
    assert.strictEqual(from.tableBytes, 4_097)
  })

  it("keeps the name that an entry takes from one that it drives out", () => {
    const from = decoder()
    read(from, hex("3f 09")) // a table of 40
    read(from, kept("name", "1"))
    assert.deepStrictEqual(read(from, hex("7e 01 32 be")), ["name: 2", "name: 2"])
  })

  it("judges a name once, however many fields take it from one entry", () => {
    const from = decoder()
    read(from, Uint8Array.from([0x40, 127, 0xc1, 30, ...new Uint8Array(4_032).fill(97), 0]))
    let judged = 0
    const { test } = RegExp.prototype
    vi.spyOn(RegExp.prototype, "test").mockImplementation(function (this: RegExp, text) {
      judged += text.length
      return test.call(this, text)
    })
    const fields = read(from, hex("0f 2f 01 76".repeat(1_000)))
    vi.restoreAllMocks()
    assert.deepStrictEqual([fields.length, fields[999]?.length], [1_000, 4_035])
    assert.isAtMost(judged, 4_000)
    assert.isAtLeast(judged, 1_000)
  })

  it("never takes more than was announced, however much is put in", () => {
    const from = decoder(8_192)
    read(from, hex("3f e1 3f"))
    for (let i = 0; i < 1_000; i++) {
      read(from, kept(`n${i}`, "v".repeat(i % 100)))
      assert.isAtMost(from.tableBytes, 8_192)
    }
    assert.isAbove(from.tableBytes, 8_000)
  })
})

describe("the encoder", () => {
  const write = (into: HpackEncoder, fields: Fields): Uint8Array => {
    const flat = fields.flat()
    const room = new Uint8Array(mostBytes(flat))
    return room.subarray(0, into.encode(flat, room, 0))
  }

  it("refers to what is the same in many requests, and never to a secret or to what it does not know", () => {
    const into = new HpackEncoder()
    const fields: Fields = [[":method", "GET"], [":authority", "a.example"], ["user-agent", "holdfast"]]
    write(into, fields)
    assert.strictEqual(write(into, fields).length, 3)
    const own: Fields = [["authorization", "Bearer 0123456789"], ["x-api-key", "0123456789"], [":path", "/0123456789"]]
    const [one, two] = [write(into, own), write(into, own)]
    assert.deepStrictEqual(one, two)
    assert.isAbove(one.length, 30)
    const marks = own.map((field) => write(into, [field])[0]! & 0xf0)
    assert.deepStrictEqual(marks, [0x10, 0, 0])
  })

  it("keeps no value that takes more than an eighth of the table, and refers to none", () => {
    for (const [name, length, head] of [["te", 479, [0, 2]], ["user-agent", 471, [0x0f, 43]]] as const) {
      const [into, from] = [new HpackEncoder(), decoder()]
      const fields: Fields = [[name, "x".repeat(length)]]
      const first = write(into, fields)
      assert.strictEqual([...first.subarray(0, 2)].join(), head.join())
      assert.deepStrictEqual(write(into, fields), first)
      for (let i = 0; i < 2; i++) assert.deepStrictEqual(read(from, first), [fields[0]!.join(": ")])
      assert.strictEqual(from.tableBytes, 0)
    }
    // One byte less is kept.
    const into = new HpackEncoder()
    write(into, [["te", "x".repeat(478)]])
    assert.strictEqual(write(into, [["te", "x".repeat(478)]]).length, 1)
  })

  it("says which table it uses when the peer's is smaller, the smallest one on the way too", () => {
    const into = new HpackEncoder()
    const fields: Fields = [[":authority", "a.example"]]
    write(into, fields)
    into.allow(0)
    into.allow(100)
    const block = write(into, fields)
    assert.deepStrictEqual([...block.subarray(0, 3)], [0x20, 0x3f, 69])
    const from = decoder()
    assert.deepStrictEqual(read(from, block), [":authority: a.example"])
    assert.strictEqual(from.tableBytes, 51)
    assert.strictEqual(write(into, fields).length, 1)
    into.allow(1_000_000)
    assert.deepStrictEqual([...write(into, fields).subarray(0, 3)], [0x3f, 0xe1, 0x1f])
    into.allow(0)
    assert.isAbove(write(into, fields).length, 8)
    assert.isAbove(write(into, fields).length, 8)
  })

  it("takes the code where it is shorter, and measures right where the length takes two bytes", () => {
    for (const length of [0, 1, 2, 3, 125, 126, 127, 128, 129, 200, 254, 255, 300, 1_000]) {
      for (const letter of ["a", "x", "\xff", "|"]) {
        const value = letter.repeat(length)
        const block = write(new HpackEncoder(), [["x", value]])
        assert.deepStrictEqual(read(decoder(), block), [`x: ${value}`])
        const coded = Math.min(length, Huffman.encodedBytes(value))
        assert.strictEqual(block.length, 3 + (coded < 127 ? 1 : coded < 255 ? 2 : 3) + coded)
      }
    }
  })

  it("writes what the decoder reads, whatever the fields and the sizes of the table are", () => {
    const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code))
    const text = fc.oneof(
      fc.string({ unit: byte, maxLength: 30 }),
      fc.constantFrom("gzip, deflate", "200", "/", "x".repeat(300)),
    )
    const name = fc.oneof(fc.constantFrom("accept", ":path", "user-agent", "te", "cookie", "x-own"), text)
    const step = fc.oneof(fc.array(fc.tuple(name, text), { maxLength: 6 }), fc.integer({ min: 0, max: 6_000 }))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const [into, from] = [new HpackEncoder(), decoder()]
        for (const step of steps) {
          if (typeof step === "number") into.allow(step)
          else {
            const read_ = read(from, write(into, step))
            assert.deepStrictEqual(read_, step.map(([name, value]) => `${name}: ${value}`))
          }
        }
      }),
      { seed: 20_261_129, numRuns: 500 },
    )
  })
})
