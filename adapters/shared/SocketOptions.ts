/** Where to connect to as `node:net` takes it. It owns nothing. */
import type * as net from "node:net"
import type { Point } from "../../core/SocketDriver.ts"

/** What `connect` is given. */
export const optionsOf = (point: Point): net.NetConnectOpts => {
  if (point.path !== undefined) return { path: point.path, allowHalfOpen: true }
  const options: net.TcpNetConnectOpts = {
    host: point.address.ip,
    port: point.port,
    noDelay: point.noDelay,
    keepAlive: point.keepAliveMillis > 0,
    keepAliveInitialDelay: point.keepAliveMillis,
    // The core tries addresses itself, one socket each.
    autoSelectFamily: false,
    allowHalfOpen: true,
  }
  if (point.local !== undefined) options.localAddress = point.local.ip
  return options
}
