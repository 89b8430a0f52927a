/**
 * An old cleanup that hits a new entry under the same key.
 *
 * An entry is made when its key is asked for, and taken out when it is over. The faulty one takes out whatever has its key
 * by then, which may be the entry that somebody made since.
 */
import * as Effect from "effect/Effect"

interface Entry {
  closed: boolean
}
interface Entries {
  readonly byKey: Map<string, Entry>
  /** Entries that are closed or can be found, as all should be. */
  readonly made: Array<Entry>
}

const get = (entries: Entries): Effect.Effect<Entry> =>
  Effect.sync(() => {
    const known = entries.byKey.get("key")
    if (known !== undefined) return known
    const made = { closed: false }
    entries.byKey.set("key", made)
    entries.made.push(made)
    return made
  })

/** Takes the entry out at once, so that whoever asks from now on gets a new one, and closes it when that has been told. */
const program = (takeOut: (entries: Entries, entry: Entry) => void) => {
  const invalidate = (entries: Entries): Effect.Effect<void> =>
    Effect.flatMap(get(entries), (entry) =>
      Effect.andThen(
        Effect.sync(() => takeOut(entries, entry)),
        Effect.sync(() => {
          entry.closed = true
        }),
      ))
  return {
    prepare: Effect.sync((): Entries => ({ byKey: new Map(), made: [] })),
    fibers: (entries: Entries) => ({ a: invalidate(entries), b: invalidate(entries), c: get(entries) }),
    oracle: ({ byKey, made }: Entries) => {
      const lost = made.filter((entry) => !entry.closed && byKey.get("key") !== entry)
      return lost.length === 0 ? undefined : Effect.fail(`${lost.length} entries are lost`)
    },
    shared: (entries: Entries) => entries,
    alike: ["a", "b"] as const,
  }
}

export const faulty = program((entries) => entries.byKey.delete("key"))
export const right = program((entries, entry) => {
  if (entries.byKey.get("key") === entry) entries.byKey.delete("key")
})
export const bounds = {}
