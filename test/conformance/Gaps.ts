/** What a platform cannot do, by the law that does not hold there. Any other gap is a fault. */
import type { Gaps } from "./Law.ts"

export const sockets: Readonly<Record<"node" | "deno" | "bun", Gaps>> = {
  node: {},
  deno: {
    "TLS: a key that cannot be opened is refused before anything is dialled":
      "it takes any text for a key, and the peer refuses the certificate",
    "an abort is a reset to the peer, over TLS": "it closes what is below TLS in the ordinary way",
  },
  bun: {
    "an address that there is no way to": "it says that nobody listens there",
  },
}
