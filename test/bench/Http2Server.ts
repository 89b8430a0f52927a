/**
 * The server of the rows of HTTP/2, in a process of its own: it walks over frames, and answers all requests of a piece in one
 * write, so that the client is what takes the time. Its fields are in the table from the first answer on, as `node:http2`
 * has it. Prints its port; ends with its standard input.
 */
import * as net from "node:net"
import process from "node:process"
import * as Lab2 from "../support/http/Lab2.ts"
import { body, head } from "./HelloMessages.ts"

const fields = head.split("\r\n").slice(1, -2).filter((line) => !line.startsWith("Connection")).map((line) => {
  const [name = "", value = ""] = line.split(": ")
  return [name.toLowerCase(), value] as const
})
const status = 0x88
/** Each is kept, so that the first one has the highest index of the table. */
const first = [status, ...fields.flatMap((field) => [0x40, ...Lab2.block(field).slice(1)])]
const again = [status, ...fields.map((_, at) => 0x80 | (61 + fields.length - at))]

const answer = (stream: number): Uint8Array =>
  Lab2.join(
    Lab2.frame(Lab2.Type.headers, Lab2.endHeaders, stream, stream === 1 ? first : again),
    Lab2.data(stream, body, Lab2.endStream),
  )

const server = net.createServer((socket) => {
  socket.setNoDelay(true)
  socket.on("error", () => {})
  socket.write(Lab2.settings([3, 2_000]))
  let kept = Buffer.alloc(0)
  let at = 24
  socket.on("data", (piece: Uint8Array) => {
    const bytes = Buffer.concat([kept, piece])
    const out: Array<Uint8Array> = []
    while (at + 9 <= bytes.length && at + 9 + bytes.readUIntBE(at, 3) <= bytes.length) {
      const [type, flags] = [bytes[at + 3]!, bytes[at + 4]!]
      if (type === Lab2.Type.headers) out.push(answer(bytes.readUInt32BE(at + 5)))
      if (type === Lab2.Type.settings && flags === 0) out.push(Lab2.settingsAck)
      at += 9 + bytes.readUIntBE(at, 3)
    }
    kept = bytes.subarray(Math.min(at, bytes.length))
    at -= Math.min(at, bytes.length)
    if (out.length > 0) socket.write(Lab2.join(...out))
  })
})
server.listen(0, "127.0.0.1", () => console.log((server.address() as net.AddressInfo).port))
process.stdin.resume()
process.stdin.on("end", () => process.exit(0))
