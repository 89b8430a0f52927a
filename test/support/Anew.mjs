// A peer over TLS 1.2 that begins its handshake anew when something comes, and says so once that is over. Plain JavaScript, for
// whatever Node is there, since no other runtime does so. Ends with its first connection.
import { readFileSync, writeSync } from "node:fs"
import * as tls from "node:tls"

const file = (name) => readFileSync(new URL(`./certificates/${name}`, import.meta.url))
const options = { key: file("server.key"), cert: file("server.pem"), maxVersion: "TLSv1.2" }
const server = tls.createServer(options, (socket) => {
  server.close()
  socket.on("error", () => {})
  socket.once("data", () => socket.renegotiate({}, (error) => error === null && socket.end("anew")))
})
server.listen({ host: "127.0.0.1", port: 0 }, () => writeSync(1, `${server.address().port}\n`))
