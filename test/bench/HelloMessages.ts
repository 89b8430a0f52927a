/** The one request and the one response of group H: fields as an API sends them, a head of 318 bytes and a small body. */
import type { Fields } from "../../core/http/HttpMessage.ts"

export const path = "/v1/items/42?fields=name"
export const fields: Fields = [
  ["accept", "application/json"],
  ["user-agent", "holdfast-bench"],
  ["authorization", "Bearer 0123456789abcdef0123456789abcdef"],
]

export const body = "hello world\n"

export const head: string = [
  "HTTP/1.1 200 OK",
  "Date: Sun, 29 Nov 2026 10:00:00 GMT",
  "Server: nginx/1.22.1",
  "Content-Type: application/json; charset=utf-8",
  `Content-Length: ${body.length}`,
  "Connection: keep-alive",
  "Cache-Control: no-cache, no-store",
  "X-Request-Id: 0123456789abcdef0123456789abcde",
  "Strict-Transport-Security: max-age=3153600",
  "Vary: Accept-Encoding",
  "",
  "",
].join("\r\n")

export const response: string = head + body
