/** What was thrown, as plain data: whatever it is, and though it may throw when it is looked at. Owns nothing. */
import type { JobError } from "../../core/JobFault.ts"

const maxText = 4_096
const maxCauses = 8

export const errorOf = (thrown: unknown, causes: number = maxCauses): JobError => {
  if (typeof thrown !== "object" || thrown === null) return plain("Error", told(() => String(thrown), unreadable))
  const name = told(() => Reflect.get(thrown, "name"))
  const message = told(() => Reflect.get(thrown, "message"), unreadable)
  const code = told(() => Reflect.get(thrown, "code"))
  const cause = causes === 0 ? undefined : told(() => Reflect.get(thrown, "cause"))
  return {
    name: text(name, "Error"),
    message: text(message, ""),
    code: typeof code === "number" ? code : typeof code === "string" ? text(code, "") : undefined,
    cause: cause === undefined ? undefined : errorOf(cause, causes - 1),
  }
}

const unreadable = "what was thrown cannot be read"

/** A part of what was thrown. One that throws in its turn takes no other with it. */
const told = (part: () => unknown, otherwise?: string): unknown => {
  try {
    return part()
  } catch {
    return otherwise
  }
}

const plain = (name: string, message: unknown): JobError => (
  { name, message: text(message, ""), code: undefined, cause: undefined }
)

const text = (value: unknown, otherwise: string): string =>
  typeof value !== "string" ? otherwise : value.length > maxText ? `${value.slice(0, maxText)}…` : value
