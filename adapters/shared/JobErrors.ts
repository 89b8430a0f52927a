/** What was thrown, as plain data: whatever it is, and though it may throw when it is looked at. Owns nothing. */
import type { JobError } from "../../core/JobFault.ts"

const maxText = 4_096
const maxCauses = 8

export const errorOf = (thrown: unknown, causes: number = maxCauses): JobError => {
  try {
    if (typeof thrown !== "object" || thrown === null) return plain("Error", String(thrown))
    const { cause, code, message, name } = thrown as Readonly<Record<string, unknown>>
    return {
      name: text(name, "Error"),
      message: text(message, ""),
      code: typeof code === "number" ? code : typeof code === "string" ? text(code, "") : undefined,
      cause: cause === undefined || causes === 0 ? undefined : errorOf(cause, causes - 1),
    }
  } catch {
    return plain("Error", "what was thrown cannot be read")
  }
}

const plain = (name: string, message: string): JobError => (
  { name, message: text(message, ""), code: undefined, cause: undefined }
)

const text = (value: unknown, otherwise: string): string =>
  typeof value !== "string" ? otherwise : value.length > maxText ? `${value.slice(0, maxText)}…` : value
