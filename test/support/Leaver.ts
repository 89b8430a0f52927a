/** A program that leaves what its argument names, and is through. */
import * as net from "node:net"
import process from "node:process"
import { Worker } from "node:worker_threads"

const parts: Readonly<Record<string, () => void>> = {
  nothing: () => clearTimeout(setTimeout(() => {}, 60_000)),
  timer: () => void setTimeout(() => {}, 60_000),
  "unref timer": () => void setTimeout(() => {}, 60_000).unref(),
  socket: () => void net.createServer().listen(0, "127.0.0.1"),
  thread: () => void new Worker("setInterval(() => {}, 60_000)", { eval: true }),
  failure: () => process.exit(3),
}
parts[process.argv[2] ?? ""]?.()
console.log("through")
