/**
 * What may be shown of the URL of a job's module: where that is, and nothing in it that may be secret. Left out are a user
 * and a password, a query and a fragment, and of a `data:` URL all but its media type, for the rest is a program. Owns
 * nothing.
 */
import type { JobError } from "./JobFault.ts"

const maxShown = 256

/** The slashes before an authority, and all of that up to its last `@`. A parser of URLs takes a backslash for a slash. */
const user = /^((?:https?|wss?|ftp):[/\\]*|[^/\\]*[/\\]{2})[^/\\]*@/i

/** Cut at 256 characters. */
export const shown = (module: string): string => {
  // A parser of URLs passes over these, wherever they stand.
  const [bare = ""] = module.replace(/[\t\n\r]/g, "").split(/[?#]/, 1)
  const cut = /^\s*data:/i.test(bare) ? bare.split(/[;,]/, 1).join() : bare.replace(user, "$1")
  return cut.length > maxShown ? `${cut.slice(0, maxShown)}…` : cut
}

/**
 * Why a module could not be imported. A runtime says that in words of its own, with the URL or a piece of the program in
 * them: where part of the URL is not to be shown, only the name and the code of the error are kept. Elsewhere what
 * follows a path in its text is left out, as of a module that this one imports.
 */
export const shownError = (module: string, error: JobError): JobError => {
  const where = shown(module)
  if (where === module) return redacted(error)
  return { name: error.name, message: `${where} cannot be imported`, code: error.code, cause: undefined }
}

const redacted = ({ cause, message, ...rest }: JobError): JobError => ({
  ...rest,
  message: message.replace(/([/\\]{2})[^\s'"/\\]*@/g, "$1").replace(/([/\\][^\s'"?#]*)[?#][^\s'"]*/g, "$1"),
  cause: cause === undefined ? undefined : redacted(cause),
})
