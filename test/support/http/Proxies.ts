/**
 * nginx and haproxy in front of an upstream, where they are installed. Each owns its process and its folder, which end with
 * `stop`. A proxy is ready when it says so; nobody asks it again and again.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import * as net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { within } from "../Wire.ts"

export type Name = "nginx" | "haproxy"

export interface Proxy {
  readonly port: number
  readonly stop: () => Promise<void>
}

/** Where the program is; undefined where it is not installed. Debian puts both where only the PATH of root leads. */
export const find = (name: Name | "nghttpd"): string | undefined =>
  [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/usr/local/sbin"].map((folder) => join(folder, name))
    .find((path) => existsSync(path))

/** How long a proxy keeps an idle connection, and after how many requests nginx ends one. */
export const idleMillis = 100
export const nginxRequests = 4

interface Setup {
  readonly config: (port: number, upstream: number, folder: string) => string
  readonly args: (config: string, folder: string) => ReadonlyArray<string>
  /** A part of the line that it writes when it listens. */
  readonly ready: string
}

const setups: Readonly<Record<Name, Setup>> = {
  nginx: {
    config: (port, upstream, folder) =>
      `daemon off; master_process off; pid ${folder}/pid; error_log stderr notice;
events { worker_connections 64; }
http {
  access_log off;
  ${
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(
          " ",
        )
      }
  keepalive_requests ${nginxRequests}; keepalive_timeout ${idleMillis}ms;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${upstream}; proxy_http_version 1.1;
      proxy_set_header connection $http_connection; proxy_set_header upgrade $http_upgrade;
    }
  }
}
`,
    args: (config, folder) => ["-p", folder, "-c", config],
    ready: "event method",
  },
  haproxy: {
    config: (port, upstream) =>
      `defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
  timeout http-keep-alive ${idleMillis}ms
listen all
  bind 127.0.0.1:${port}
  server one 127.0.0.1:${upstream}
`,
    args: (config) => ["-W", "-db", "-f", config],
    ready: "Loading success",
  },
}

export const start = async (name: Name, path: string, upstream: number): Promise<Proxy> => {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${name}-`))
  mkdirSync(join(folder, "logs"))
  const port = await freePort()
  const { args, config, ready } = setups[name]
  const file = join(folder, "proxy.conf")
  writeFileSync(file, config(port, upstream, folder))
  const child = spawn(path, args(file, folder), { stdio: ["ignore", "ignore", "pipe"] })
  const stop = async (): Promise<void> => {
    await ended(child)
    rmSync(folder, { recursive: true })
  }
  try {
    await within(said(child, ready), `${name} to listen`)
  } catch (error) {
    await stop()
    throw error
  }
  return { port, stop }
}

const said = (child: ChildProcess, wanted: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let text = ""
    child.stderr!.on("data", (piece: Uint8Array) => {
      text += Buffer.from(piece).toString()
      if (text.includes(wanted)) resolve()
    })
    child.once("error", reject)
    child.once("close", () => reject(new Error(`it ended: ${text}`)))
  })

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("close", () => resolve())
    child.kill("SIGTERM")
  })

/** A port that nobody listens on now. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as net.AddressInfo
      server.close(() => resolve(port))
    })
  })
