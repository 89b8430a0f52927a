/** What `node:net` and `node:tls` tell of a connection, in the words of the core. It owns nothing. */
import type * as net from "node:net"
import type * as tls from "node:tls"
import type { Point, SocketFacts, TlsFacts } from "../../core/SocketDriver.ts"

/** Both addresses; of one that is closed only that which was dialled. */
export const endsOf = (point: Point, raw: net.Socket): Pick<SocketFacts, "local" | "remote"> => {
  if (point.path !== undefined) {
    const both = { address: point.path, port: 0 }
    return { local: both, remote: both }
  }
  const { localAddress, localPort, remoteAddress = point.address.ip, remotePort = point.port } = raw
  const isKnown = localAddress !== undefined && localPort !== undefined
  return {
    local: isKnown ? { address: localAddress, port: localPort } : undefined,
    remote: { address: remoteAddress, port: remotePort },
  }
}

/** What TLS was agreed on; to be asked while it is open. */
export const tlsFactsOf = (socket: tls.TLSSocket): TlsFacts => ({
  version: socket.getProtocol() ?? undefined,
  cipher: socket.getCipher()?.name,
  fingerprint: socket.getPeerCertificate()?.fingerprint256,
})
