/** What fibers share, as text that is the same wherever what they share is the same. Owns nothing. */
import * as Context from "effect/Context"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { isGiven } from "./ExplorerContext.ts"

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
 * Draws values with all that they lead to: by properties of any kind and name, elements, bytes, the entries of maps and
 * sets, and the class and words of errors.
 *
 * Every thing is told by its name, and where it comes first by its content as well, so that one in the place of another is
 * a difference. Of a fiber it is seen whether and how it has ended, and not what it has been given; of a context its
 * services, but for those of the explorer. What lies in closures cannot be seen, and nobody can tell whether there is anything.
 * Of a thing whose class has private fields or belongs to the platform it is known that there is: {@link unread} says which it
 * was.
 */
export class Drawing {
  /** The things that are in it. */
  readonly things: Map<Thing, Known> = new Map()
  readonly #known: ReadonlyMap<Thing, Known>
  readonly #meet: (ordinal: number, thing: Thing) => Known
  readonly #kinds: Kinds
  /** How many things were not known before. */
  news = 0
  /** The class of the first thing that cannot be read in full. */
  unread: string | undefined = undefined
  /** A function that is nobody else's was met, or a thing of a class of the program's own: either may hide something. */
  isDoubtful = false

  /** `kinds` keeps what was judged of classes, for other drawings of the same search. */
  constructor(
    known: ReadonlyMap<Thing, Known>,
    meet: (ordinal: number, thing: Thing) => Known,
    kinds: Kinds = new Kinds(),
  ) {
    this.#known = known
    this.#meet = meet
    this.#kinds = kinds
  }

  /** A value that was put together for the occasion: only what is in it are things. */
  tell(value: unknown): string {
    return typeof value === "object" && value !== null ? this.#content(value) : this.draw(value)
  }

  draw(value: unknown): string {
    if (!isThing(value)) return scalar(value)
    const drawn = this.things.get(value)
    if (drawn !== undefined) return `#${drawn.name}`
    const known = this.#known.get(value) ?? this.#meet(this.news++, value)
    this.things.set(value, known)
    if (typeof value === "symbol") return `#${known.name}`
    if (typeof value === "object") return `#${known.name}${this.#content(value)}`
    // One that others have is told by its name; what another one does depends on what it was made with.
    if (!this.#known.has(value)) this.isDoubtful = true
    return `#${known.name}${this.#ofFunction(value)}`
  }

  #ofFunction(value: object): string {
    let text = ""
    for (const key of Reflect.ownKeys(value)) {
      const property = standard.has(key) ? undefined : Object.getOwnPropertyDescriptor(value, key)
      if (property !== undefined && "value" in property) text += `${this.#key(key)}:${this.draw(property.value)},`
    }
    return text === "" ? "" : `{${text}}`
  }

  #content(value: object): string {
    // What can no longer be changed is another thing to whoever tries.
    return Object.isExtensible(value)
      ? this.#parts(value)
      : `${Object.isFrozen(value) ? "!" : "|"}${this.#parts(value)}`
  }

  #parts(value: object): string {
    const prototype: object | null = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== Array.prototype) {
      if (Fiber.isFiber(value)) return `(${this.draw(value.pollUnsafe())})`
      if (Context.isContext(value)) return `(${this.#ofContext(value)})`
    }
    const keys = Reflect.ownKeys(value)
    if (prototype === Array.prototype && keys.length === (value as Array<unknown>).length + 1) {
      const dense = (value as Array<unknown>).every((_, i) => keys[i] === String(i))
      if (dense) return `[${(value as Array<unknown>).map((part) => this.draw(part)).join()}]`
    }
    let text = this.#ofClass(value, prototype)
    const isError = value instanceof Error
    if (value instanceof Map) { for (const [key, part] of value) text += `${this.draw(key)}>${this.draw(part)};` }
    else if (value instanceof Set) { for (const part of value) text += `${this.draw(part)};` }
    else if (value instanceof Date) text += String(value.getTime())
    else if (value instanceof RegExp) text += String(value)
    else if (isError) text += `${prototype?.constructor?.name} ${scalar(value.name)} ${scalar(value.message)} `
    else if (value instanceof ArrayBuffer) text += new Uint8Array(value).join()
    else if (value instanceof DataView) text += `${value.byteOffset} ${value.byteLength} ${this.draw(value.buffer)}`
    for (const key of keys) {
      if (isError && placed.has(key)) continue
      text += `${this.#key(key)}:${this.draw((value as Record<PropertyKey, unknown>)[key])},`
    }
    return `{${text}}`
  }

  #ofContext({ mapUnsafe }: Context.Context<never>): string {
    let text = ""
    for (const [key, service] of mapUnsafe) if (!isGiven(service)) text += `${scalar(key)}:${this.draw(service)},`
    return text
  }

  #key(key: string | symbol): string {
    return typeof key === "string" ? scalar(key) : this.draw(key)
  }

  /** What a prototype that belongs to no class leads to, and whether something is hidden. */
  #ofClass(value: object, prototype: object | null): string {
    if ("~effect/PartitionedSemaphore" in value) this.unread ??= "PartitionedSemaphore"
    if (prototype === Object.prototype) return ""
    if (prototype === null) return "~ "
    if (Redacted.isRedacted(value)) this.unread ??= "Redacted"
    const { kind, number } = this.#kinds.of(prototype)
    switch (kind) {
      case "hidden":
        this.unread ??= prototype.constructor?.name || "thing of the platform"
        return ""
      case "unknown":
        this.isDoubtful = true
        return ""
      case "loose":
        return `^${this.draw(prototype)} `
      case "known":
        return `~${number} `
    }
  }
}

/** What of a class hides: something for certain, nothing, or nobody knows; a loose prototype is one without a class. */
type Kind = "hidden" | "known" | "unknown" | "loose"

/** What is known of prototypes: of what kind each is, and a number in the place of its name. */
export class Kinds {
  readonly #known = new WeakMap<object, { readonly kind: Kind; readonly number: number }>()
  #count = 0

  of(prototype: object): { readonly kind: Kind; readonly number: number } {
    const known = this.#known.get(prototype)
    if (known !== undefined) return known
    const told = { kind: judged(prototype, this), number: this.#count++ }
    this.#known.set(prototype, told)
    return told
  }
}

/** What every function has, and where an error says that it was made. */
const standard: ReadonlySet<PropertyKey> = new Set(["length", "name", "prototype", "arguments", "caller"])
const placed: ReadonlySet<PropertyKey> = new Set(["stack", "line", "column", "sourceURL"])

const bytes: object = Object.getPrototypeOf(Uint8Array.prototype)
const open: ReadonlySet<object> = new Set<object>([
  ...[Object, Array, Map, Set, Date, RegExp, ArrayBuffer, DataView].map((each) => each.prototype as object),
  bytes,
])

const judged = (prototype: object, kinds: Kinds): Kind => {
  if (open.has(prototype)) return "known"
  const parent: object | null = Object.getPrototypeOf(prototype)
  const above = parent === null ? "known" : kinds.of(parent).kind
  if (above === "hidden") return above
  if (Object.hasOwn(prototype, "constructor")) {
    if (typeof prototype.constructor !== "function") return "hidden"
    const source = Function.prototype.toString.call(prototype.constructor)
    const isError = prototype === Error.prototype || prototype instanceof Error
    // One of the platform keeps what it holds where nobody sees it, and so do private fields, which their source names.
    if (source.includes("[native code]")) return isError || parent === bytes ? "known" : "hidden"
    // "/*#__PURE__*/" is said to bundlers.
    if (/(?<!\*)#[\p{ID_Start}$_]/u.test(source)) return "hidden"
    if (isError) return "known"
  }
  if (isEffects(prototype)) return "known"
  return Object.hasOwn(prototype, "constructor") ? "unknown" : above === "unknown" ? above : "loose"
}

/** Effect marks what it makes, or what that inherits from. */
const isEffects = (prototype: object): boolean => {
  for (let each: object | null = prototype; each !== null; each = Object.getPrototypeOf(each)) {
    if (Reflect.ownKeys(each).some((key) => String(key).includes("~effect/"))) return true
  }
  return false
}

const isThing = (value: unknown): value is Thing =>
  (typeof value === "object" && value !== null) || typeof value === "function" || typeof value === "symbol"

const scalar = (value: unknown): string => {
  switch (typeof value) {
    case "string":
      // Told apart is all that texts have to be, and most have nothing that would be told in another way.
      return value.includes('"') || value.includes("\\") ? JSON.stringify(value) : `"${value}"`
    case "bigint":
      return `${value}n`
    default:
      return Object.is(value, -0) ? "-0" : String(value)
  }
}
