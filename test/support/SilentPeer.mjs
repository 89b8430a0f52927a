// The far machine of SilentPeer.ts, in a network namespace of its own: it takes the addresses and listens at the ports that it
// is told, and takes an address away when it is told so. Plain JavaScript, for whatever Node is there. Ends with its standard
// input, and the namespace, its end of the link and with that the link end with it.
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync, writeSync } from "node:fs"
import * as net from "node:net"
import process from "node:process"
import { createInterface } from "node:readline"
import * as tls from "node:tls"

const { addresses, certificates, far, near, ports } = JSON.parse(process.argv[2])
const say = (line) => void writeSync(1, `${line}\n`)
const ip = (...lines) => void execFileSync("ip", ["-batch", "-"], { input: `${lines.join("\n")}\n` })

// From now on what comes for the address is dropped, and nothing can be sent from it: no end, no reset, no word of a router.
const vanish = (address) => {
  ip(`address del ${address}/32 dev ${far.name}`)
  say(`vanished ${address}`)
}

const echo = (socket) => socket.on("error", () => {}).on("data", (bytes) => void socket.write(bytes))
const key = readFileSync(`${certificates}server.key`)
const cert = readFileSync(`${certificates}server.pem`)
const servers = {
  echo: () => net.createServer(echo),
  tls: () => tls.createServer({ key, cert }, echo),
  leaves: () => net.createServer((socket) => vanish(socket.on("error", () => {}).localAddress)),
}

// One that passes things on would send what comes for an address that is gone back, with a word.
const link = () => {
  writeFileSync("/proc/sys/net/ipv4/ip_forward", "0")
  ip(
    `link set ${far.name} up`,
    ...addresses.map((address) => `address add ${address}/32 dev ${far.name}`),
    `route add ${near.address}/32 dev ${far.name}`,
    `neighbour replace ${near.address} lladdr ${near.hardware} nud permanent dev ${far.name}`,
  )
}

const listen = async () => {
  for (const [kind, all] of Object.entries(ports)) {
    for (const port of all) await new Promise((resolve) => servers[kind]().listen(port, "0.0.0.0", resolve))
  }
}

const input = createInterface({ input: process.stdin })
input.on("close", () => process.exit(0))
input.on("line", (line) => {
  const [word, address] = line.split(" ")
  if (word === "vanish") return vanish(address)
  link()
  void listen().then(() => say("listening"))
})
say("here")
