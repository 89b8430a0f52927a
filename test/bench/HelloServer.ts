/**
 * The servers of group H, in a process of their own. `bare`: on each piece that ends a request it writes one and the same
 * response, so that the client is what takes the time. `http`: the same by `node:http`, which is what a server is. Prints
 * both ports; ends with its standard input.
 */
import * as http from "node:http"
import * as net from "node:net"
import process from "node:process"
import { body, fields, response } from "./HelloMessages.ts"

const bytes = Buffer.from(response, "latin1")
const bare = net.createServer((socket) => {
  socket.setNoDelay(true)
  socket.on("error", () => {})
  socket.on("data", (piece) => {
    // No client pipelines, and every request here fits a piece.
    if (piece.at(-1) === 0x0a) socket.write(bytes)
  })
})
const usual = http.createServer({ keepAliveTimeout: 600_000 }, (_, answer) => {
  answer.writeHead(200, {
    ...Object.fromEntries(fields),
    "content-length": body.length,
  }).end(body)
})
const listening = (server: net.Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(
      0,
      "127.0.0.1",
      () => resolve((server.address() as net.AddressInfo).port),
    )
  )

console.log(
  JSON.stringify({ bare: await listening(bare), http: await listening(usual) }),
)
process.stdin.resume()
process.stdin.on("end", () => process.exit(0))
