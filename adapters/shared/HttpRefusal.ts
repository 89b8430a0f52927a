/**
 * The answer of `node:http` itself to what was never a request: written to the bare connection, which it ends. It owns
 * nothing before, and the connection from the answer on.
 */
import * as http from "node:http"
import type { Duplex } from "node:stream"

/** The status for what the parser found wrong. */
export const statusOf = (error: NodeJS.ErrnoException): number => {
  if (error.code === "HPE_HEADER_OVERFLOW") return 431
  return error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400
}

/** Answers what was never a request. After it the connection is of no use: what follows cannot be told apart. */
export const refuse = (socket: Duplex, status: number): void => {
  if (!socket.writable) return void socket.destroy()
  const reason = http.STATUS_CODES[status] ?? "Error"
  const body = JSON.stringify({ error: "Refused", message: reason })
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n` +
      `holdfast-error: Refused\r\n` +
      `connection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
