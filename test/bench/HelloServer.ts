/**
 * The server of group H, in a process of its own: on each piece that ends a request it writes one and the same response, so
 * that the client is what takes the time. Prints its port; ends with its standard input.
 */
import * as net from "node:net"
import process from "node:process"
import { response } from "./HelloMessages.ts"

const bytes = Buffer.from(response, "latin1")
const server = net.createServer((socket) => {
  socket.setNoDelay(true)
  socket.on("error", () => {})
  socket.on("data", (piece) => {
    // No client pipelines, and every request here fits a piece.
    if (piece.at(-1) === 0x0a) socket.write(bytes)
  })
})
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as net.AddressInfo).port}`))
process.stdin.resume()
process.stdin.on("end", () => process.exit(0))
