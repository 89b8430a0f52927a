/** What fibers share, as text that is the same wherever what they share is the same. Owns nothing. */
import * as Context from "effect/Context"
import * as Fiber from "effect/Fiber"

/** An object, a function or a symbol: what is told apart from another of the same content. */
export type Thing = object | symbol

/** What is known of a thing. */
export interface Known {
  readonly name: number
  /** The step in which it was first seen. */
  readonly since: number
  /** Who may have it in hand, from the moment on at which it was out of sight. */
  holders: ReadonlyArray<number> | undefined
}

/**
 * Draws values with all that they lead to: by properties, elements, and the entries of maps and sets.
 *
 * Every thing is told by its name, and where it comes first by its content as well, so that one in the place of another is
 * a difference. What lies in closures and private fields cannot be seen. Of a fiber it is seen whether and how it has
 * ended; a context never changes, so that it is enough to see which it is.
 */
export class Drawing {
  /** The things that are in it. */
  readonly things: Map<Thing, Known> = new Map()
  readonly #known: ReadonlyMap<Thing, Known>
  readonly #meet: (ordinal: number) => Known
  /** How many things were not known before. */
  news = 0

  constructor(known: ReadonlyMap<Thing, Known>, meet: (ordinal: number) => Known) {
    this.#known = known
    this.#meet = meet
  }

  /** A value that was put together for the occasion: only what is in it are things. */
  tell(value: unknown): string {
    return typeof value === "object" && value !== null ? this.#content(value) : this.draw(value)
  }

  draw(value: unknown): string {
    if (!isThing(value)) return scalar(value)
    const drawn = this.things.get(value)
    if (drawn !== undefined) return `#${drawn.name}`
    const known = this.#known.get(value) ?? this.#meet(this.news++)
    this.things.set(value, known)
    return typeof value === "object" ? `#${known.name}${this.#content(value)}` : `#${known.name}`
  }

  #content(value: object): string {
    if (Array.isArray(value)) return `[${value.map((part) => this.draw(part)).join()}]`
    if (Fiber.isFiber(value)) return `(${this.draw(value.pollUnsafe())})`
    if (Context.isContext(value)) return "()"
    let text = ""
    if (value instanceof Map) { for (const [key, part] of value) text += `${this.draw(key)}>${this.draw(part)};` }
    else if (value instanceof Set) { for (const part of value) text += `${this.draw(part)};` }
    else if (value instanceof Date) text = String(value.getTime())
    for (const key of Object.keys(value)) text += `${key}:${this.draw((value as Record<string, unknown>)[key])},`
    return `{${text}}`
  }
}

const isThing = (value: unknown): value is Thing =>
  (typeof value === "object" && value !== null) || typeof value === "function" || typeof value === "symbol"

const scalar = (value: unknown): string => {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value)
    case "bigint":
      return `${value}n`
    default:
      return Object.is(value, -0) ? "-0" : String(value)
  }
}
