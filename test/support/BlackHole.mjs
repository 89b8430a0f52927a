// A listener that takes no connection: its queue of one is soon full, and then nothing answers a dial. Plain JavaScript, for
// whatever Node is there. Ends when it is killed, or after ten minutes.
import { writeSync } from "node:fs"
import * as net from "node:net"

const server = net.createServer()
server.listen({ host: "127.0.0.1", port: 0, backlog: 1 }, () => {
  writeSync(1, `${server.address().port}\n`)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600_000)
})
