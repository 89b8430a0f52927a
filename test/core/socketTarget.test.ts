/** Where to dial and how: what is an address of which kind, and what breaks a rule in a target. */
import { assert, describe, it } from "vitest"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { decode, familyOf, type Target } from "../../core/SocketTarget.ts"

/** The field that is refused, or the plan. */
const decoded = (target: object): unknown => {
  const result = decode(target as Target)
  return Result.isSuccess(result) ? result.success : result.failure.field
}
const host = { host: "example.com", port: 80 }
const pem = "-----BEGIN CERTIFICATE-----"

describe("an address", () => {
  it("is of version 6 in each form that RFC 4291 has, with a zone or none", () => {
    const taken = ["::", "::1", "1::", "1:2:3:4:5:6:7:8", "1::3:4:5:6:7:8", "::2:3:4:5:6:7:8", "FE80::1%eth0"]
    const embedded = ["::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "::ffff:255.255.255.255", "1:2:3:4:5::1.2.3.4"]
    const zones = ["fe80::1%1", `fe80::1%${"z".repeat(32)}`]
    for (const ip of [...taken, ...embedded, ...zones]) assert.strictEqual(familyOf(ip), 6, ip)
  })

  it("is of none where a form has a group too many, too few, too long or in a wrong place", () => {
    const groups = [
      "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9",
      "1::2:3:4:5:6:7:8",
      "1:2:3:4:5:6:7:8::",
      "12345::",
      "g::",
      ":",
      ":1",
    ]
    const shapes = ["1::2::3", "1:2:3::4:5::6:7:8", "::1::", ":::", "1:2", "abc", "", "1234"]
    const embedded = [
      "::1.2.3",
      "::1.2.3.256",
      "1.2.3.4::",
      "::1.2.3.4:5",
      "1:2:3:4:5:6:7:1.2.3.4",
      "1:2:3:4:5:1.2.3.4",
    ]
    // The last two the runtimes take for names, and look up.
    const zones = ["fe80::1%", "fe80::1%a b", `fe80::1%${"z".repeat(33)}`, "fe80::1%wg_0", "fe80::1%a%b"]
    for (const ip of [...groups, ...shapes, ...embedded, ...zones]) assert.isUndefined(familyOf(ip), ip)
  })

  it("is of version 4 with four bytes in decimal", () => {
    for (const ip of ["0.0.0.0", "255.255.255.255", "192.0.2.1"]) assert.strictEqual(familyOf(ip), 4)
    for (const ip of ["256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4", "1.2.3.4%1"]) assert.isUndefined(familyOf(ip), ip)
  })
})

describe("a target", () => {
  it("has its defaults where it says nothing", () => {
    const plan = { tls: undefined, serverName: "example.com", maxReadBytes: 65_536 }
    const wire = { family: undefined, local: undefined, noDelay: true, keepAliveMillis: 0 }
    assert.deepStrictEqual(decoded(host), { ...plan, ...host, ...wire })
    assert.deepStrictEqual(decoded({ ...host, path: undefined }), { ...plan, ...host, ...wire })
    assert.deepStrictEqual(decoded({ path: "/run/a" }), { path: "/run/a", ...plan, serverName: "" })
    assert.deepStrictEqual(decoded({ path: "/run/a", host: undefined }), { path: "/run/a", ...plan, serverName: "" })
    const tls = { serverName: "example.com" }
    assert.deepStrictEqual(decoded({ path: "/run/a", tls }), { ...plan, path: "/run/a", tls })
    assert.strictEqual(decoded({ path: "/run/a", host: "example.com" }), "target")
  })

  it("may be at the end of each range, and not beyond", () => {
    const name = (length: number): string => `${"a".repeat(62)}.`.repeat(5).slice(0, length - 1) + "z"
    for (
      const [next, field] of [
        [{ host: name(253) }, undefined],
        [{ host: name(254) }, "host"],
        [{ port: 1 }, undefined],
        [{ port: 0 }, "port"],
        [{ port: 65_535 }, undefined],
        [{ port: 65_536 }, "port"],
        [{ keepAlive: "1 second" }, undefined],
        [{ keepAlive: 999 }, "keepAlive"],
        [{ keepAlive: "1 day" }, undefined],
        [{ keepAlive: 86_400_001 }, "keepAlive"],
        [{ tls: { protocols: [] } }, "tls.protocols"],
        [{ tls: { protocols: ["h2"] } }, undefined],
        [{ tls: { protocols: ["h2", ""] } }, "tls.protocols"],
        [{ tls: { protocols: Array.from({ length: 16 }, () => "h2") } }, undefined],
        [{ tls: { protocols: Array.from({ length: 17 }, () => "h2") } }, "tls.protocols"],
      ] as const
    ) {
      const plan = decoded({ ...host, ...next })
      assert.strictEqual(typeof plan === "string" ? plan : undefined, field, JSON.stringify(next).slice(0, 80))
    }
    for (const [length, field] of [[103, undefined], [104, "path"]] as const) {
      const plan = decoded({ path: "p".repeat(length) })
      assert.strictEqual(typeof plan === "string" ? plan : undefined, field)
    }
  })

  it("is told which part of its TLS breaks a rule", () => {
    const key = Redacted.make(`${pem} key`)
    const certificate = { chain: pem, key }
    for (
      const [tls, field] of [
        [{ ca: pem }, undefined],
        [{ ca: [pem, pem] }, undefined],
        [{ ca: [] }, "tls.ca"],
        [{ ca: "text" }, "tls.ca"],
        [{ ca: 5 }, "tls.ca"],
        [{ certificate }, undefined],
        [{ certificate: null }, "tls.certificate.chain"],
        [{ certificate: { ...certificate, passPhrase: Redacted.make("secret") } }, undefined],
        [{ certificate: { ...certificate, passPhrase: "secret" } }, "tls.certificate.passPhrase"],
        [{ certificate: { chain: pem, key: pem } }, "tls.certificate.key"],
      ] as const
    ) {
      const plan = decoded({ ...host, tls })
      assert.strictEqual(typeof plan === "string" ? plan : undefined, field, field)
    }
    assert.deepInclude(decoded({ ...host, tls: {} }) as object, { serverName: "example.com" })
    assert.deepInclude(decoded({ ...host, tls: { serverName: "other" } }) as object, { serverName: "other" })
    assert.strictEqual(decoded({ path: "/run/a", tls: {} }), "tls.serverName")
  })

  it("asks for a name of a certificate without the point that may end a host", () => {
    const tls = { serverName: "other." }
    assert.deepInclude(decoded({ ...host, host: "example.com." }) as object, { serverName: "example.com" })
    assert.deepInclude(decoded({ ...host, tls }) as object, { host: "example.com", serverName: "other" })
    assert.deepInclude(decoded({ path: "/run/a", tls }) as object, { serverName: "other" })
  })

  it("shows nothing of what may be secret where a URL or a key is in a wrong place", () => {
    const url = "https://canary:canary@peer.test"
    const wrong = [url, { ...host, host: url }, { ...host, localAddress: url }, { ...host, tls: { serverName: url } }]
    for (const target of [...wrong, { ...host, tls: `${pem}canary` }]) {
      const result = decode(target as never)
      assert.notInclude(JSON.stringify(result), "canary")
      assert.notInclude(String(Result.isFailure(result) && result.failure.message), "canary")
    }
    const shown = Result.getFailure(decode({ ...host, host: url }))
    assert.deepInclude(Option.getOrUndefined(shown), { field: "host", value: "peer.test" })
  })

  it("is said to be nothing where what it is is not shown, and undefined where it is that", () => {
    const told = (target: unknown): string => String(Result.getOrThrow(Result.flip(decode(target as never))).message)
    const hidden: ReadonlyArray<readonly [unknown, string]> = [
      [{ ...host, tls: true }, "tls must be an object"],
      [{ ...host, tls: { ca: "garbage" } }, "tls.ca must be certificates in PEM"],
      [{ ...host, tls: { ac: pem } }, "tls.ac must be one of the fields serverName, ca, certificate, protocols"],
      [{ ...host, path: "/a" }, "target must be an object with a host or a path, not both"],
    ]
    for (const [target, message] of hidden) assert.strictEqual(told(target), message)
    assert.match(told({ ...host, tsl: {} }), /^tsl must be one of the fields host, [^"]*, maxReadBytes$/)
    assert.strictEqual(told(undefined), "target must be an object with a host or a path, got undefined")
    assert.match(told({ ...host, port: undefined }), /^port must be [^,]*, got undefined$/)
    assert.strictEqual(
      told({ path: "/a", tls: {} }),
      "tls.serverName must be given where there is no host, got undefined",
    )
  })
})
