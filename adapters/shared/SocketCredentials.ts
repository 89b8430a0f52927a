/**
 * Certificates and keys in PEM as `node:tls` takes them, all of them read first: some runtimes leave out what they cannot read,
 * or fail amid a handshake. It owns nothing.
 */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { constants, createPrivateKey, X509Certificate } from "node:crypto"
import * as tls from "node:tls"
import { InvalidRequest } from "../../core/Refusal.ts"
import type { ClientCertificate, Tls } from "../../core/SocketTarget.ts"
import type { RuntimeError } from "./SocketCodes.ts"

/** What `secure` is given, or what is wrong with it. */
export const read = ({ ca, certificate }: Tls): Result.Result<unknown, InvalidRequest> => {
  try {
    const authorities = ca === undefined ? undefined : typeof ca === "string" ? [ca] : [...ca]
    for (const each of authorities ?? []) certificatesIn(each)
    return Result.succeed(tls.createSecureContext({
      minVersion: "TLSv1.2",
      // A peer that began the handshake anew could show another certificate, at which nobody would look.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      ...(authorities === undefined ? {} : { ca: authorities }),
      ...(certificate === undefined ? {} : pairOf(certificate)),
    }))
  } catch (error) {
    // The code alone: a message may quote what it could not read.
    const value = (error as RuntimeError).code ?? "UNKNOWN"
    return Result.fail(new InvalidRequest({ field: "tls", rule: "certificates and a key that belong together", value }))
  }
}

/** A key that can be opened, and whose certificate is the first of the chain. */
const pairOf = ({ chain, key, passPhrase }: ClientCertificate): tls.SecureContextOptions => {
  const secret = {
    key: Redacted.value(key),
    ...(passPhrase === undefined ? {} : { passphrase: Redacted.value(passPhrase) }),
  }
  if (!certificatesIn(chain)[0]!.checkPrivateKey(createPrivateKey({ ...secret, format: "pem" }))) {
    throw wrong("OTHER_KEY")
  }
  return { cert: chain, ...secret }
}

const wrong = (code: string): Error => Object.assign(new Error(code), { code })

/** The certificates of a text, of which there is at least one, and none that is cut off. What else is in it is left alone. */
const certificatesIn = (pem: string): ReadonlyArray<X509Certificate> => {
  const whole: Array<X509Certificate> = []
  let begun: RegExpExecArray | undefined
  // From mark to mark, each looked at once, however many begin and never end.
  for (const mark of pem.matchAll(/-----(BEGIN|END) ((?:X509 |TRUSTED )?CERTIFICATE)-----/g)) {
    if (mark[1] === "BEGIN" ? begun !== undefined : begun !== undefined && begun[2] !== mark[2]) break
    if (mark[1] === "BEGIN") begun = mark
    else if (begun !== undefined) {
      whole.push(new X509Certificate(pem.slice(begun.index, mark.index + mark[0].length)))
      begun = undefined
    }
  }
  if (whole.length === 0 || begun !== undefined) throw wrong("NO_CERTIFICATE")
  return whole
}
