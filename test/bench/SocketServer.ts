/**
 * The far sides of group K, in a process of their own: `echo`, and `source`, which answers each byte with 16 MiB. Prints their
 * ports; ends with its standard input.
 *
 * `echo` listens on many: who closes first keeps a port of its own taken for a minute (TIME_WAIT), and once thousands are taken
 * towards one port, the system's search for a free one costs each dial more than all the rest.
 */
import * as net from "node:net"
import process from "node:process"

const long = Buffer.alloc(16_777_216, "holdfast")

const serve = (heard: (socket: net.Socket, piece: Uint8Array) => void): Promise<number> =>
  new Promise((resolve) => {
    const server = net.createServer((socket) => {
      socket.setNoDelay(true)
      socket.on("error", () => {})
      socket.on("data", (piece) => heard(socket, piece as Uint8Array))
    })
    server.listen(0, "127.0.0.1", () => resolve((server.address() as net.AddressInfo).port))
  })

const echo = await Promise.all(Array.from({ length: 64 }, () => serve((socket, piece) => void socket.write(piece))))
const source = await serve((socket) => void socket.write(long))
console.log(JSON.stringify({ echo, source }))
process.stdin.resume()
process.stdin.on("end", () => process.exit(0))
