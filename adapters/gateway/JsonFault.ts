/**
 * Where a text stops being JSON (RFC 8259). What a parser says differs from runtime to runtime, names no place on one of
 * them, and quotes the text, which may be a token. It owns nothing.
 */

export interface Place {
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
}

/** The first place where the text is not JSON; its end, if more should come. Undefined where all of it is JSON. */
export const find = (text: string): Place | undefined => {
  const at = offsetOf(text)
  if (at === undefined) return undefined
  const before = text.slice(0, at)
  return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") }
}

const space = /[ \t\n\r]*/y
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** All but a quote, a backslash and the controls below the space. */
const plain = /[ !#-[\]-\uffff]*/y
const escape = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y

const after = (pattern: RegExp, text: string, at: number): number | undefined => {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

/** Where one part ends, or the place of its fault. */
type Part = { readonly end: number } | { readonly fault: number }

/** Piece by piece, since a repeated group of a regular expression runs out of stack on a long string. */
const stringFrom = (text: string, quote: number): Part => {
  for (let at = quote + 1;;) {
    at = after(plain, text, at)!
    if (text[at] === '"') return { end: at + 1 }
    const next = after(escape, text, at)
    if (next === undefined) return { fault: at }
    at = next
  }
}

const scalarFrom = (text: string, at: number): Part => {
  if (text[at] === '"') return stringFrom(text, at)
  const end = after(scalar, text, at)
  return end === undefined ? { fault: at } : { end }
}

/** What may come next; `first` is the place behind an opening bracket, which may be closed at once. */
type Awaits = "first" | "key" | "colon" | "value" | "end"

/** The part that is awaited, without brackets. */
const partFrom = (text: string, at: number, awaits: Awaits, closes: string | undefined): Part => {
  if (awaits === "value" || (awaits === "first" && closes === "]")) return scalarFrom(text, at)
  if (awaits === "colon") return text[at] === ":" ? { end: at + 1 } : { fault: at }
  if (awaits === "end") return text[at] === "," && closes !== undefined ? { end: at + 1 } : { fault: at }
  return text[at] === '"' ? stringFrom(text, at) : { fault: at }
}

const followers = {
  "}": { first: "colon", key: "colon", colon: "value", value: "end", end: "key" },
  "]": { first: "end", key: "end", colon: "end", value: "end", end: "value" },
} as const

const offsetOf = (text: string): number | undefined => {
  const brackets: Array<"}" | "]"> = []
  let awaits: Awaits = "value"
  for (let at = 0;;) {
    at = after(space, text, at)!
    const mark = text[at]
    const closes = brackets.at(-1)
    if (mark === undefined) return awaits === "end" && closes === undefined ? undefined : at
    if (mark === closes && (awaits === "end" || awaits === "first")) {
      brackets.pop()
      awaits = "end"
      at++
    } else if ((mark === "{" || mark === "[") && (awaits === "value" || (awaits === "first" && closes === "]"))) {
      brackets.push(mark === "{" ? "}" : "]")
      awaits = "first"
      at++
    } else {
      const part = partFrom(text, at, awaits, closes)
      if ("fault" in part) return part.fault
      awaits = followers[closes ?? "]"][awaits]
      at = part.end
    }
  }
}
