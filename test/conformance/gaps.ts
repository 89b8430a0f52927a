/**
 * What a runtime may be unable to do, and why. Whatever else it cannot do is a fault of its adapter.
 *
 * Of a peer that is gone without a word, as a machine without power is, the laws of the table have only what looks alike from
 * here: one that never reads, and one that does not answer a dial. What else there is to it takes a network of one's own, which
 * is not to be had everywhere: those laws, and their gaps, are in `SilenceLaws.ts` and at the end of this file.
 */
import type * as BlockingExecutor from "./BlockingExecutor.ts"
import type { Name } from "../support/Runtime.ts"
import type * as Law from "./Law.ts"

export const blockingExecutorGaps: Readonly<Record<Name, BlockingExecutor.Gaps>> = {
  node: {},
  deno: {
    "terminate is a join":
      "Worker.terminate() of Deno 2.9 is over at once, and a thread in a loop or a native call goes on",
    "a transfer that fails moves nothing":
      "postMessage of Deno 2.9 detaches what is to be transferred before it clones",
  },
  bun: {},
}

const noLocal = "local addresses are neither told nor given"
const noReason = "it says that a dial has failed, and not why"
const lateTls = "a handshake is told of with the first read or write"
const abandons = "a dial cannot be cancelled, so it is abandoned and counted"

export const socketGaps: Readonly<Record<"node" | "deno" | "bun" | "edge", Law.Gaps>> = {
  node: {},
  deno: {
    "a peer that cuts the connection off behind our end is a fault of its own, not an end, over TLS":
      "it tells of an end, and the system has let go of the peer behind two ends as behind a reset",
  },
  bun: {
    "an address that there is no way to": "it says that nobody listens there",
    "a path below what is no folder": "it says that nobody listens there",
  },
  edge: {
    "an echo over TCP, and its two addresses": noLocal,
    "a local address": noLocal,
    "an echo over a path": "there are no paths",
    "a path that is not there": "there are no paths",
    "a path below what is no folder": "there are no paths",
    "keep-alive, and writes that are gathered": "neither can be asked for",
    "a port that nobody listens at": noReason,
    "a name that is not there": noReason,
    "an address that there is no way to": noReason,
    "an echo over TLS of an own authority, with a protocol agreed on":
      "no protocols can be offered, nor an authority given",
    "an echo over TLS with a certificate of one's own, its key locked": "no certificate can be given",
    "TLS: a key that cannot be opened is refused before anything is dialled": "no certificate can be given",
    "TLS: a key of another certificate is refused before anything is dialled": "no certificate can be given",
    "TLS: authorities one of which cannot be read are refused before anything is dialled": "no authority can be given",
    "TLS: an authority that is not trusted": "no authority can be given",
    "TLS: no protocol in common": "no protocols can be offered",
    "TLS: a peer that wants a certificate and gets none is a fault, also for whoever reads later":
      "it is told as an orderly close",
    "TLS: a certificate that is over": lateTls,
    "TLS: a certificate for another name": lateTls,
    "TLS: a peer that speaks none": lateTls,
    "TLS: a peer that leaves amid the handshake": lateTls,
    "TLS: a peer that cuts the handshake off": lateTls,
    "TLS: a handshake that stalls ends when the dial is interrupted, and nothing is left": lateTls,
    "an abort is a reset to the peer": "there is no reset, only a close",
    "an abort is a reset to the peer, over TLS": "there is no reset, only a close",
    "a peer that sends no more still hears us, over TLS": "the end of TLS closes it both ways",
    "a peer that cuts the connection off is a fault of its own, not an end": "it is told as an orderly close",
    "a peer that cuts the connection off is a fault of its own, not an end, over TLS": "it is told as an orderly close",
    "a peer that cuts the connection off behind our end is a fault of its own, not an end":
      "it is told as an orderly close",
    "a peer that cuts the connection off behind our end is a fault of its own, not an end, over TLS":
      "it is told as an orderly close",
    "1,000 dials interrupted while a name is looked up": abandons,
    "1,000 dials interrupted while they connect": abandons,
    "1,000 dials interrupted while nothing answers": abandons,
    "1,000 dials interrupted in a handshake that stalls": abandons,
    "1,000 dials interrupted in a handshake": abandons,
    "of several addresses the first that answers wins, and no other attempt is left": abandons,
    "of several addresses none of which answers the first fault counts, and an interruption leaves none of them":
      noReason,
  },
}

export const silenceGaps: Readonly<Record<Name, Law.Gaps>> = {
  node: {},
  deno: {
    "TLS: whoever writes is told that the peer has timed out": "it says that the connection was cut off",
    "TLS: whoever reads is told that the peer has timed out": "it says that the connection was cut off",
  },
  bun: {
    "a dial is told that the peer has timed out": "it says that nobody listens there",
  },
}
