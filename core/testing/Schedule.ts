/**
 * The order of one run as text: what was chosen at each step, from left to right, so that the same program can be run the
 * same way again. Owns nothing.
 *
 * - `a`: fiber `a` makes its next step; `a*3`: three of them. `a.1` is the first fiber that `a` started, or the first
 *   thing that it left to be run later.
 * - `-`: the fiber that runs is forced off, and another one is next though it could go on.
 * - `!a`: `a` is interrupted from outside.
 * - `~`: time goes on to the next instant for which somebody sleeps.
 * - `a:dial`: the outside event `dial` happens that `a` waits for; `a:dial/1`, with its second outcome, and so on.
 *
 * A text may end before its run does: after its last word everything takes its default, which is to go on, else whoever
 * has been ready longest, else time.
 */
import { InvalidSchedule } from "./ExplorerFailure.ts"

/** The words of schedules as small numbers, which a search compares millions of times. */
export class Words {
  readonly #ids = new Map<string, number>()
  readonly #words: Array<string> = []

  id(word: string): number {
    const known = this.#ids.get(word)
    if (known !== undefined) return known
    const id = this.#words.push(word) - 1
    this.#ids.set(word, id)
    return id
  }

  word(id: number): string {
    return this.#words[id]!
  }

  print(ids: ReadonlyArray<number>): string {
    return print(ids.map((id) => this.word(id)))
  }
}

/** What the names of fibers and of outside events look like. */
export const isName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
export const nameRule = "a name of letters, digits and _, not beginning with a digit"

/** A schedule as one line, each word with how often it follows itself. */
export const print = (words: ReadonlyArray<string>): string => {
  const parts: Array<string> = []
  for (let from = 0, to = 0; from < words.length; from = to) {
    while (to < words.length && words[to] === words[from]) to++
    parts.push(to - from > 1 ? `${words[from]}*${to - from}` : words[from]!)
  }
  return parts.join(" ")
}

const shape = /^(-|~|!?\w+(?:\.\d+)*|\w+(?:\.\d+)*:\w+(?:\/\d+)?)(?:\*(\d+))?$/
const maxLength = 100_000
/** Characters of a text, and of a wrong word that is shown. */
export const maxChars = 1_000_000
const maxShown = 100

/** The words of a schedule, each as often as it follows itself. */
export const parse = (text: string): ReadonlyArray<string> | InvalidSchedule => {
  const words: Array<string> = []
  for (const word of text.split(/\s+/)) {
    if (word === "") continue
    const [, step, times = "1"] = shape.exec(word) ?? []
    const count = Number(times)
    if (step === undefined || count < 1 || words.length + count > maxLength) {
      return new InvalidSchedule({ word: word.slice(0, maxShown), at: words.length, possible: [] })
    }
    for (let i = 0; i < count; i++) words.push(step)
  }
  return words
}
