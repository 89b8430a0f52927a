/**
 * Keys that an object of a JSON text names twice. A parser keeps the last and says nothing, so a limit or a tenant that
 * stands in a configuration twice would be dropped in silence. It owns nothing.
 */

/** An object or list that the text is inside of, and where. */
interface Level {
  readonly path: string
  /** The keys seen so far; undefined in a list. */
  readonly keys: Set<string> | undefined
  key: string
  index: number
}

/** A string's beginning, a bracket or a comma; all else of a JSON text says nothing of keys. */
const token = /["{}[\],]/g

/** Strings are skipped by hand, since a repeated group of a regular expression runs out of stack on a long one. */
function* marksOf(text: string): Generator<string> {
  const marks = new RegExp(token)
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    if (found[0] !== '"') yield found[0]
    else {
      marks.lastIndex = endOf(text, found.index)
      yield text.slice(found.index, marks.lastIndex)
    }
  }
}

/** Behind the quote that ends the string: the first one with an even number of backslashes before it. */
const endOf = (text: string, start: number): number => {
  for (let quote = text.indexOf('"', start + 1);; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0
    while (text[quote - 1 - slashes] === "\\") slashes++
    if (slashes % 2 === 0) return quote + 1
  }
}

/** The paths, such as `$.tenants.acme`, of the keys that repeat an earlier one. The text is known to be JSON. */
export const find = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const levels: Array<Level> = []
  let awaitsKey = false
  for (const mark of marksOf(text)) {
    const level = levels.at(-1)
    if (mark === "{" || mark === "[") {
      const path = level === undefined ? "$" : pathIn(level)
      levels.push({ path, keys: mark === "{" ? new Set() : undefined, key: "", index: 0 })
      awaitsKey = mark === "{"
    } else if (mark === "}" || mark === "]") {
      levels.pop()
      awaitsKey = false
    } else if (mark === ",") {
      level!.index++
      awaitsKey = level!.keys !== undefined
    } else if (awaitsKey) {
      // The first string after an opening brace or a comma of an object is a key; the next one is its value.
      awaitsKey = false
      level!.key = JSON.parse(mark)
      if (level!.keys!.has(level!.key)) found.push(pathIn(level!))
      level!.keys!.add(level!.key)
    }
  }
  return found
}

const pathIn = ({ index, key, keys, path }: Level): string => keys === undefined ? `${path}.${index}` : `${path}.${key}`
