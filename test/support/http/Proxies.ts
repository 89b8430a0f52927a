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
  /** Keeps an idle connection longer than any test takes. */
  readonly port: number
  /** Ends one soon. */
  readonly hastyPort: number
  readonly stop: () => Promise<void>
}

/** Where the program is; undefined where it is not installed. Debian puts both where only the PATH of root leads. */
export const find = (name: Name | "nghttpd"): string | undefined =>
  [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/usr/local/sbin"].map((folder) => join(folder, name))
    .find((path) => existsSync(path))

/** After how many requests nginx ends a connection. */
export const nginxRequests = 4

const longIdle = "60s"
const shortIdle = "100ms"

interface Setup {
  readonly config: (ports: readonly [number, hasty: number], upstream: number, folder: string) => string
  readonly args: (config: string, folder: string) => ReadonlyArray<string>
  /** A part of the line that it writes when it listens. */
  readonly ready: string
}

const setups: Readonly<Record<Name, Setup>> = {
  nginx: {
    config: ([port, hastyPort], upstream, folder) =>
      `daemon off; master_process off; pid ${folder}/pid; error_log stderr notice;
events { worker_connections 64; }
http {
  access_log off;
  ${
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join(
          " ",
        )
      }
  keepalive_requests ${nginxRequests};
${
        [[port, longIdle], [hastyPort, shortIdle]].map(([port, idle]) =>
          `  server {
    listen 127.0.0.1:${port}; keepalive_timeout ${idle};
    location / {
      proxy_pass http://127.0.0.1:${upstream}; proxy_http_version 1.1;
      proxy_set_header connection $http_connection; proxy_set_header upgrade $http_upgrade;
    }
  }
`
        ).join("")
      }}
`,
    args: (config, folder) => ["-p", folder, "-c", config],
    ready: "event method",
  },
  haproxy: {
    config: ([port, hastyPort], upstream) =>
      `defaults
  mode http
  timeout client 60s
  timeout server 60s
  timeout connect 60s
` + [[port, longIdle], [hastyPort, shortIdle]].map(([port, idle]) =>
        `listen on${port}
  timeout http-keep-alive ${idle}
  bind 127.0.0.1:${port}
  server one 127.0.0.1:${upstream}
`
      ).join(""),
    args: (config) => ["-W", "-db", "-f", config],
    ready: "Loading success",
  },
}

export const start = async (name: Name, path: string, upstream: number): Promise<Proxy> => {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${name}-`))
  mkdirSync(join(folder, "logs"))
  const ports = await freePorts()
  const [port, hastyPort] = ports
  const { args, config, ready } = setups[name]
  const file = join(folder, "proxy.conf")
  writeFileSync(file, config(ports, upstream, folder))
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
  return { port, hastyPort, stop }
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

/** Two ports that nobody listens on now. */
const freePorts = async (): Promise<readonly [number, number]> => {
  const listening = (): Promise<net.Server> =>
    new Promise((resolve) => {
      const server = net.createServer().listen(0, "127.0.0.1", () => resolve(server))
    })
  const [one, other] = [await listening(), await listening()]
  const port = (server: net.Server): number => (server.address() as net.AddressInfo).port
  const ports = [port(one), port(other)] as const
  for (const server of [one, other]) await new Promise((resolve) => server.close(resolve))
  return ports
}
