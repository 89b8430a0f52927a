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

/** A string, a bracket or a comma; all else of a JSON text says nothing of keys. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\],]/g

/** The paths, such as `$.tenants.acme`, of the keys that repeat an earlier one. The text is known to be JSON. */
export const find = (text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const levels: Array<Level> = []
  let awaitsKey = false
  for (const [mark] of text.matchAll(token)) {
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

const pathIn = ({ index, key, keys, path }: Level): string =>
  keys === undefined ? `${path}[${index}]` : `${path}.${key}`
