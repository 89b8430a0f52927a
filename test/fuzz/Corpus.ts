/** What the fuzzer starts from: responses of every kind, written from the RFCs, and the pieces that hostile ones are made of. */
import type { HttpRequest } from "../../core/http/HttpMessage.ts"

const get: HttpRequest = { method: "GET", scheme: "http", authority: "example.com", path: "/", fields: [] }

export const requests: ReadonlyArray<HttpRequest> = [
  get,
  get,
  { ...get, method: "HEAD" },
  { ...get, method: "CONNECT", authority: "example.com:443", path: "" },
  { ...get, fields: [["Connection", "Upgrade, x"], ["Upgrade", "websocket, foo/2"]] },
  { ...get, fields: [["connection", "close"]] },
  { ...get, method: "POST", body: { bytes: 3 } },
]

/** Fields of requests; some of them are refused by themselves, some with others. */
export const fields: ReadonlyArray<readonly [string, string]> = [
  ["X", ""],
  ["accept", "*/*"],
  ["X-Y", "a b"],
  ["x", "\xe9"],
  ["Host", "example.com"],
  ["Connection", "close"],
  ["connection", "Upgrade, te"],
  ["upgrade", "websocket"],
  ["te", "trailers"],
  ["content-length", "3"],
  ["expect", "100-continue"],
  ["transfer-encoding", "chunked"],
]

const message = (status: string, lines: ReadonlyArray<string>, body = ""): string =>
  [`HTTP/1.1 ${status}`, ...lines, "", body].join("\r\n")
const chunked = "Transfer-Encoding: chunked"

export const responses: ReadonlyArray<string> = [
  message("200 OK", ["Content-Length: 5"], "hello"),
  message("200 OK", ["content-length:0"]),
  message("200", ["Content-Length: 2", "Connection: close"], "hi"),
  message("200 OK", [], "until the end"),
  message("200 OK", [chunked], "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"),
  message("200 OK", [chunked], '1;ext="a;b";c\r\nx\r\n00A \t;y\r\n0123456789\r\n0;z\r\nX-Sum: 1\r\nX-Sum:\t2 \r\n\r\n'),
  message("200 OK", [chunked], `${"1\r\nx\r\n".repeat(40)}0\r\n\r\n`),
  message("200 OK", [chunked], `${`1;${"e".repeat(20)}\r\nx\r\n`.repeat(3)}0\r\nx: ${"y".repeat(20)}\r\n\r\n`),
  message("200 OK", ["x: 1", `y: ${"2".repeat(40)}`, `z: ${"3".repeat(40)}`, "content-length: 1"], "x"),
  message("200 OK", [chunked], `258\r\n${"y".repeat(600)}\r\n3\r\nabc\r\n258\r\n${"z".repeat(600)}\r\n0\r\n\r\n`),
  message("100 Continue", []) + message("200 OK", ["Content-Length: 1"], "x"),
  message("103 Early Hints", ["Link: </a>"]) + message("102", []) + message("204 No Content", []),
  message("204 No Content", ["Content-Length: 0"]),
  message("304 Not Modified", ["Content-Length: 100", 'ETag: "x"']),
  message("304 Not Modified", [chunked]),
  message("101 Switching Protocols", ["Connection: Upgrade", "Upgrade: websocket"], "\x81\x05hello"),
  message("101 Switching Protocols", ["Connection: x,upgrade", "Upgrade: foo/2,WebSocket"]),
  message("407 Proxy Authentication Required", ["Content-Length: 3"], "who"),
  message("200 Connection established", ["Content-Length: 5"], "tunnel"),
  message("200 OK", ["Content-Length: 1"], "a") + message("200 OK", ["Content-Length: 1"], "b"),
  message("999 What", ["X: \xff\x80", "Y:", "content-length: 3"], "abc"),
  message("200 OK", Array.from({ length: 6 }, (_, i) => `X-${i}: ${"v".repeat(i * 9)}`), "x"),
  "HTTP/1.0 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok",
  "HTTP/1.0 200 OK\r\n\r\nold",
]

/** What the fuzzer starts from besides, and no two clients read alike. */
export const disputed: ReadonlyArray<string> = [`HTTP/1.0 200 OK\r\n${chunked}\r\n\r\n0\r\n\r\n`]

/** Pieces that are put in, byte by byte or whole. */
export const pieces: ReadonlyArray<string> = [
  ...'\r\n\0\t :;,"-+_0189aAfFgxX\x0b\x7f\x80\xa0\xff',
  "\r\n",
  "\r\n\r\n",
  "\n\n",
  "\r\r\n",
  "\n\r\n",
  "HTTP/1.1 200 OK\r\n",
  "HTTP/1.0 ",
  "HTTP/1.1 100\r\n\r\n",
  "0\r\n\r\n",
  "5\r\nhello\r\n",
  "\r\n0\r\n",
  "Content-Length: 5\r\n",
  "content-length: 0\r\n",
  "Content-Length : 5\r\n",
  "Content-Length: +5\r\n",
  "Content-Length: 05\r\n",
  "Content-Length: 5, 5\r\n",
  "Content-Length: 18446744073709551617\r\n",
  "9007199254740991",
  "9007199254740992",
  "1fffffffffffff",
  "20000000000000",
  "0000000000000005",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: gzip, chunked\r\n",
  "Transfer-Encoding: chunked, chunked\r\n",
  "Transfer-Encoding: identity\r\n",
  "transfer-encoding:\x0bchunked\r\n",
  "Connection: close\r\n",
  "Connection: upgrade\r\n",
  "Upgrade: websocket\r\n",
  "Trailer: x\r\n",
  " folded: line\r\n",
  ";ext=1",
  " ;ext",
  '; "',
  "x".repeat(70),
  `X: ${"y".repeat(300)}\r\n`,
]
