/**
 * Another reader of responses and of requests, written from the grammar alone: over the whole text, by expressions, without
 * a state that outlives a line. It is slow and plain, and what the codec says is held against it.
 */
import type { Complete } from "../../../core/http/HttpLimits.ts"
import type { Options } from "../../../core/http/Http1.ts"
import type { Field, HttpRequest } from "../../../core/http/HttpMessage.ts"

export type Limits = Omit<Complete<Options>, "latin1">

export const limits: Limits = {
  maxHeadBytes: 65_536,
  maxFields: 256,
  maxTrailerBytes: 8_192,
  maxInformational: 32,
  maxLineBytes: 32_768,
  maxChunkLineBytes: 256,
  maxChunkOverheadBytes: 16_384,
}

const tchar = "!#$%&'*+\\-.^_`|~0-9A-Za-z"
const vchar = "\\t\\x20-\\x7e\\x80-\\xff"
const statusLine = new RegExp(`^HTTP/1\\.([01]) ([1-9][0-9][0-9])(?: [${vchar}]*)?$`)
const fieldLine = new RegExp(`^([${tchar}]+):([${vchar}]*)$`)
const chunkLine = new RegExp(`^([0-9A-Fa-f]{1,16})(?:[\\t ]*;[${vchar}]*)?$`)

/** Whether more text could make a line of it. */
const mayBecome = {
  status: (tail: string): boolean =>
    tail.endsWith("\r")
      ? statusLine.test(tail.slice(0, -1))
      : statusLine.test(tail + "HTTP/1.1 200".slice(tail.length)),
  field: (tail: string): boolean =>
    tail === "" || tail === "\r" || new RegExp(`^[${tchar}]+$`).test(tail) || fieldLine.test(tail.replace(/\r$/, "")),
}

const sizeOf = (line: string): number | undefined => {
  const [, digits] = chunkLine.exec(line) ?? []
  return digits === undefined || BigInt(`0x${digits}`) > 2n ** 53n - 1n ? undefined : Number(BigInt(`0x${digits}`))
}

/** Lines up to the empty one; `more` where it may still come, `refused` where it cannot. */
type Section = { readonly lines: ReadonlyArray<string>; readonly rest: string } | "more" | "refused"

const section = (
  input: string,
  withStatus: boolean,
  bytes: number,
  { maxFields, maxLineBytes }: Limits,
): Section => {
  const lines: Array<string> = []
  let rest = input
  for (;;) {
    const end = rest.indexOf("\r\n")
    const isStatus = withStatus && lines.length === 0
    const used = input.length - rest.length
    if (end < 0) {
      const fits = rest.length <= maxLineBytes && used + rest.length <= bytes
      const crowded = !isStatus && !/^\r?$/.test(rest) && lines.length - (withStatus ? 1 : 0) >= maxFields
      return fits && !crowded && mayBecome[isStatus ? "status" : "field"](rest) ? "more" : "refused"
    }
    const line = rest.slice(0, end)
    if (end + 2 > maxLineBytes || used + end + 2 > bytes) return "refused"
    rest = rest.slice(end + 2)
    if (line === "" && !isStatus) return { lines, rest }
    if (!(isStatus ? statusLine : fieldLine).test(line)) return "refused"
    lines.push(line)
    if (lines.length - (withStatus ? 1 : 0) > maxFields) return "refused"
  }
}

const fieldsOf = (lines: ReadonlyArray<string>): ReadonlyArray<Field> =>
  lines.map((line) => {
    const [, name = "", value = ""] = fieldLine.exec(line) ?? []
    return [name.toLowerCase(), value.replace(/^[\t ]+|[\t ]+$/g, "")]
  })

const list = (fields: ReadonlyArray<Field>, name: string): ReadonlyArray<string> =>
  fields.filter(([one]) => one === name).flatMap(([, value]) =>
    value.toLowerCase().split(",").map((part) => part.replace(/^[\t ]+|[\t ]+$/g, "")).filter((part) => part !== "")
  )

type Framing = { readonly kind: "none" | "length" | "chunked" | "close" | "switch"; readonly length: number }

const framing = (
  version: string,
  status: number,
  fields: ReadonlyArray<Field>,
  request: HttpRequest,
  isSent: boolean,
): Framing | "refused" => {
  if (request.method === "CONNECT" && status >= 200 && status <= 299) return { kind: "switch", length: 0 }
  const lengths = fields.filter(([name]) => name === "content-length").map(([, value]) => value)
  const codings = fields.filter(([name]) => name === "transfer-encoding").map(([, value]) => value.toLowerCase())
  const [length, ...more] = lengths
  if (more.length > 0 || (length !== undefined && codings.length > 0)) return "refused"
  if (length !== undefined && !/^(0|[1-9][0-9]*)$/.test(length)) return "refused"
  if (length !== undefined && BigInt(length) > 2n ** 53n - 1n) return "refused"
  if (codings.length > 0 && (version === "0" || codings.join("+") !== "chunked")) return "refused"
  const bare = (status >= 100 && status <= 199) || status === 204
  if (bare && (codings.length > 0 || (length !== undefined && length !== "0"))) return "refused"
  if (status === 101) {
    const asked = list(request.fields.map(([name, value]) => [name.toLowerCase(), value]), "upgrade")
    const given = list(fields, "upgrade")
    const good = isSent && version === "1" && list(fields, "connection").includes("upgrade") && given.length > 0 &&
      given.every((protocol) => asked.includes(protocol))
    return good ? { kind: "switch", length: 0 } : "refused"
  }
  if (bare || status === 304 || request.method === "HEAD") return { kind: "none", length: 0 }
  if (codings.length > 0) return { kind: "chunked", length: 0 }
  return length === undefined ? { kind: "close", length: 0 } : { kind: "length", length: Number(length) }
}

const keeps = (version: string, fields: ReadonlyArray<Field>): boolean => {
  const options = list(fields, "connection")
  const readable = options.every((option) => new RegExp(`^[${tchar}]+$`).test(option))
  return readable && !options.includes("close") && (version === "1" || options.includes("keep-alive"))
}

/** What the bytes of one exchange say, in the lines of `Lab.told` less all that is behind `failed` and `retired`. */
export const read = (input: string, request: HttpRequest, isSent: boolean, limits: Limits): ReadonlyArray<string> => {
  const told: Array<string> = []
  const refused = (): ReadonlyArray<string> => [...told, "failed fault"]
  let rest = input
  let persists = !list(request.fields.map(([name, value]) => [name.toLowerCase(), value]), "connection").includes(
    "close",
  )
  for (let informational = 0;;) {
    const head = section(rest, true, limits.maxHeadBytes, limits)
    if (typeof head === "string") return head === "more" ? told : refused()
    const [, version = "", digits = ""] = statusLine.exec(head.lines[0]!)!
    const fields = fieldsOf(head.lines.slice(1))
    const status = Number(digits)
    const how = framing(version, status, fields, request, isSent)
    if (how === "refused") return refused()
    rest = head.rest
    persists &&= keeps(version, fields)
    if (status < 200 && how.kind !== "switch") {
      if (++informational > limits.maxInformational) return refused()
      told.push(String(status))
      continue
    }
    const isOpen = how.kind === "chunked" || how.kind === "close"
    told.push(`${status} ${isOpen ? "?" : how.length}`)
    const said = body(rest, how, limits, persists)
    // What is not sent when the connection retires behind a whole response never will be.
    return [...told, ...said.flatMap((line) => !isSent && line.startsWith("retired") ? ["sent stopped", line] : [line])]
  }
}

const data = (text: string): ReadonlyArray<string> => text === "" ? [] : [`data ${text}`]

/** Behind an end: nothing more may come, unless the end was announced, when nobody looks any more. */
const ended = (rest: string, persists: boolean, trailers = ""): ReadonlyArray<string> => {
  if (!persists) return [`end${trailers}`, "retired announced"]
  return rest === "" ? [`end${trailers}`] : [`end${trailers}`, "retired fault"]
}

const body = (input: string, { kind, length }: Framing, limits: Limits, persists: boolean): ReadonlyArray<string> => {
  if (kind === "switch") return [`switched ${input}`]
  if (kind === "close") return data(input)
  if (kind === "chunked") return chunks(input, limits, persists)
  if (input.length < length) return data(input)
  return [...data(input.slice(0, length)), ...ended(input.slice(length), persists)]
}

interface Chunks {
  readonly bytes: string
  /** What is behind the trailers, and they; or why there is none. */
  readonly end: { readonly trailers: ReadonlyArray<Field>; readonly rest: string } | "more" | "refused"
}

const chunksOf = (input: string, limits: Limits): Chunks => {
  let rest = input
  let bytes = ""
  let overhead = 0
  for (;;) {
    // The line of a chunk is judged when it is whole, and it is whole with the first LF.
    const at = rest.indexOf("\n")
    if (at < 0) return { bytes, end: rest.length <= limits.maxChunkLineBytes ? "more" : "refused" }
    const size = rest[at - 1] === "\r" ? sizeOf(rest.slice(0, at - 1)) : undefined
    if (size === undefined || at + 1 > limits.maxChunkLineBytes) return { bytes, end: "refused" }
    overhead = Math.max(0, overhead + at + 3 - 16 - 2 * size)
    if (overhead > limits.maxChunkOverheadBytes) return { bytes, end: "refused" }
    rest = rest.slice(at + 1)
    if (size === 0) break
    bytes += rest.slice(0, size)
    rest = rest.slice(size)
    if (!"\r\n".startsWith(rest.slice(0, 2))) return { bytes, end: "refused" }
    if (rest.length < 2) return { bytes, end: "more" }
    rest = rest.slice(2)
  }
  const read = section(rest, false, limits.maxTrailerBytes, limits)
  if (typeof read === "string") return { bytes, end: read }
  const trailers = fieldsOf(read.lines)
  const banned =
    /^(connection|content-length|expect|host|keep-alive|proxy-connection|te|trailer|transfer-encoding|upgrade)$/
  return { bytes, end: trailers.some(([name]) => banned.test(name)) ? "refused" : { trailers, rest: read.rest } }
}

const chunks = (input: string, limits: Limits, persists: boolean): ReadonlyArray<string> => {
  const { bytes, end } = chunksOf(input, limits)
  if (end === "more") return data(bytes)
  if (end === "refused") return [...data(bytes), "failed fault"]
  return [
    ...data(bytes),
    ...ended(end.rest, persists, end.trailers.map(([name, value]) => ` ${name}=${value}`).join("")),
  ]
}

/** A request as a server would take it apart. */
export interface ReadRequest {
  readonly method: string
  readonly target: string
  readonly fields: ReadonlyArray<Field>
  readonly body: string
  /** In lower case. */
  readonly trailers: ReadonlyArray<Field>
}

/** The parts of a request; undefined where the bytes are not exactly one. */
export const readRequest = (input: string): ReadRequest | undefined => {
  const form = `^([${tchar}]+) ([!-~]+) HTTP/1\\.1\\r\\n((?:[${tchar}]+: [${vchar}]*\\r\\n)+)\\r\\n([^]*)$`
  const [, method = "", target = "", lines = "", rest = ""] = new RegExp(form).exec(input) ?? []
  if (method === "") return undefined
  const fields = lines.split("\r\n").slice(0, -1).map((line): Field => {
    const at = line.indexOf(": ")
    return [line.slice(0, at), line.slice(at + 2)]
  })
  const said = (name: string): ReadonlyArray<string> =>
    fields.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value)
  const [length, coding] = [said("content-length"), said("transfer-encoding")]
  if (said("host").length !== 1 || length.length + coding.length > 1) return undefined
  if (coding.length === 0) {
    return rest.length === Number(length[0] ?? 0) ? { method, target, fields, body: rest, trailers: [] } : undefined
  }
  const read = chunksOf(rest, { ...limits, maxTrailerBytes: Infinity, maxFields: Infinity, maxLineBytes: Infinity })
  if (typeof read.end === "string" || read.end.rest !== "") return undefined
  return { method, target, fields, body: read.bytes, trailers: read.end.trailers }
}
