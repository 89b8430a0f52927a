/**
 * The house rules about structure. Each is a pure function from a tree (paths and texts) to its violations, one line each,
 * so that a test can plant a violation and see it found. The tables that the rules use are in `architecture.node.test.ts`.
 */
import * as Source from "./Source.ts"

/** A path from the top to the file's text. */
export type Tree = Readonly<Record<string, string>>

/** A file or, with a slash at the end, a folder whose files form one unit; the longest entry that fits a path counts. */
export type Ranks = Readonly<Record<string, number>>

export type Rule = (tree: Tree) => readonly string[]

const sources = (tree: Tree): readonly Source.Source[] =>
  Object.entries(tree).filter(([path]) => path.endsWith(".ts")).map(([path, text]) => Source.read(path, text))

const inCore = ({ path }: Source.Source): boolean => path.startsWith("core/")
const inKernel = ({ path }: Source.Source): boolean => path.startsWith("core/kernel/")
const inGateway = ({ path }: Source.Source): boolean => path.startsWith("adapters/gateway/")
const ours = (path: string): boolean => /^(core|adapters)\//.test(path)

/** `adapters/node/Sockets.ts` to `adapters/node/`; undefined outside the adapters. */
const adapterOf = (path: string): string | undefined => /^adapters\/[^/]+\//.exec(path)?.[0]

/** One line for each import of `source` that `bad` has a word about. */
const imports = (source: Source.Source, bad: (to: string) => string | undefined): readonly string[] =>
  source.imports.flatMap(({ name, line }) => {
    const why = bad(name)
    return why === undefined ? [] : [`${source.path}:${line} imports ${name}: ${why}`]
  })

const words = (source: Source.Source, found: readonly Source.Found[], bad: ReadonlySet<string>): readonly string[] =>
  found.filter(({ name }) => bad.has(name)).map(({ name, line }) => `${source.path}:${line} uses ${name}`)

/** Every file has a rank and imports lower ranks alone; the files of one folder entry may import each other. */
export const ranked = (ranks: Ranks): Rule => (tree) => {
  const unit = (path: string): string | undefined =>
    Object.keys(ranks).filter((entry) => entry.endsWith("/") ? path.startsWith(entry) : path === entry)
      .toSorted((a, b) => b.length - a.length)[0]
  return sources(tree).flatMap((source) => {
    const from = unit(source.path)
    if (from === undefined) return [`${source.path} has no rank`]
    const rank = ranks[from] ?? NaN
    return imports(source, (path) => {
      const to = unit(path)
      if (!ours(path) || to === undefined || (to === from && to.endsWith("/"))) return undefined
      const target = ranks[to] ?? NaN
      return target < rank ? undefined : `rank ${target} is not below ${rank}`
    })
  })
}

/** No file imports itself, however long the way round; this also holds inside one folder. */
export const acyclic: Rule = (tree) => {
  const graph = new Map(sources(tree).map((source) => [source.path, source.imports.map(({ name }) => name)]))
  const done = new Set<string>()
  const visit = (path: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(path)) return [[...trail.slice(trail.indexOf(path)), path].join(" imports ")]
    if (done.has(path)) return []
    const found = (graph.get(path) ?? []).flatMap((to) => visit(to, [...trail, path]))
    done.add(path)
    return found
  }
  return [...graph.keys()].flatMap((path) => visit(path, []))
}

/** Every import within the repository names a file that is there. Its own package name would not resolve on bare Deno. */
export const resolved: Rule = (tree) =>
  sources(tree).flatMap((source) =>
    imports(source, (to) => {
      if (/^(@holdfast\/)?holdfast(\/|$)/.test(to)) return "import it by its relative path"
      return ours(to) && !(to in tree) ? "no such file" : undefined
    })
  )

const platform = new Set(
  ("Deno Bun process global globalThis window navigator require Buffer __dirname __filename console performance " +
    "fetch URL URLSearchParams Request Response Headers WebSocket Worker AbortController AbortSignal " +
    "TextEncoder TextDecoder ReadableStream WritableStream TransformStream crypto").split(" "),
)

/** Core names no runtime and imports nothing but itself and `effect`. */
export const portable: Rule = (tree) =>
  sources(tree).filter(inCore).flatMap((source) => [
    ...words(source, source.identifiers, platform),
    ...imports(source, (to) => /^(core\/|effect(\/|$))/.test(to) ? undefined : "core stands on effect alone"),
  ])

const timers = new Set(
  ("setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate queueMicrotask " +
    "requestAnimationFrame MessageChannel Promise").split(" "),
)

/** Core has no async, no promise and no timer, and no try but in the files of `tries`: what fails is an effect. */
export const quiet = (tries: readonly string[]): Rule => (tree) =>
  sources(tree).filter(inCore).flatMap((source) => [
    ...words(source, source.identifiers, timers),
    ...words(
      source,
      source.effects,
      new Set(tries.includes(source.path) ? ["async", "await"] : ["async", "await", "try"]),
    ),
  ])

/** The kernel imports the kernel alone and asks no clock; nobody outside core imports the kernel. */
export const pureKernel: Rule = (tree) =>
  sources(tree).flatMap((source) =>
    inKernel(source)
      ? [
        ...imports(source, (to) => to.startsWith("core/kernel/") ? undefined : "the kernel stands alone"),
        ...words(source, source.identifiers, new Set(["Date", "Temporal"])),
      ]
      : imports(
        source,
        (to) => to.startsWith("core/kernel/") && !inCore(source) ? "the kernel is not public" : undefined,
      )
  )

/** Effect comes by deep modules alone, and in core by stable ones; an adapter keeps each other one in a single file. */
export const stableEffect = (stability: (module: string) => string | undefined): Rule => (tree) => {
  const seen = new Map<string, string>()
  return sources(tree).flatMap((source) =>
    imports(source, (to) => {
      if (!/^effect(\/|$)/.test(to)) return undefined
      const level = stability(to)
      if (level === undefined) return "import a module, not a barrel"
      if (level === "stable") return undefined
      if (inCore(source)) return `it is ${level}`
      const key = `${adapterOf(source.path)} ${to}`
      const first = seen.get(key) ?? source.path
      seen.set(key, first)
      return first === source.path ? undefined : `it is ${level}, and ${first} imports it already`
    })
  )
}

interface Exports {
  readonly [subpath: string]: string | { readonly [condition: string]: string }
}

const sourceOf = (target: Exports[string]): string | undefined =>
  typeof target === "string" ? target : target["holdfast-source"]

const published = (tree: Tree): Exports => JSON.parse(tree["package.json"] ?? "{}").exports ?? {}

/** No adapter imports another one, `adapters/shared` apart; the gateway imports what users can import. */
export const apart: Rule = (tree) => {
  const open = new Set(Object.values(published(tree)).map((target) => sourceOf(target)?.slice(2)))
  return sources(tree).flatMap((source) =>
    imports(source, (to) => {
      const [from, other] = [adapterOf(source.path), adapterOf(to)]
      if (from === undefined || !ours(to) || from === other) return undefined
      if (inGateway(source)) return open.has(to) ? undefined : "the gateway uses public entry points alone"
      return other === undefined || other === "adapters/shared/" ? undefined : "adapters do not know each other"
    })
  )
}

const barrels: readonly string[] = ["core/mod.ts", "core/testing/mod.ts"]

/** The two barrels are the only files of core that re-export, and nothing in core imports them. */
export const twoBarrels: Rule = (tree) =>
  sources(tree).filter((source) => inCore(source) && !barrels.includes(source.path)).flatMap((source) => [
    ...source.reexports.map(({ name, line }) => `${source.path}:${line} re-exports ${name}`),
    ...imports(source, (to) => barrels.includes(to) ? "it is a barrel" : undefined),
  ])

/**
 * package.json and deno.json export the same files, each of them there, each built beside its source; and every noun of
 * core is exported under its own name, but for those that `internal` lists.
 */
export const exported = (internal: readonly string[]): Rule => (tree) => {
  const npm = Object.entries(published(tree)).filter(([subpath]) => subpath !== "./package.json")
  const jsr: Exports = JSON.parse(tree["deno.json"] ?? "{}").exports ?? {}
  const wrong = npm.flatMap(([subpath, target]): readonly string[] => {
    const source = sourceOf(target) ?? "no holdfast-source"
    const built = source.replace("./", "./dist/")
    const wanted = {
      "holdfast-source": source,
      types: built.replace(/\.ts$/, ".d.ts"),
      default: built.replace(/\.ts$/, ".js"),
    }
    return [
      ...JSON.stringify(target) === JSON.stringify(wanted)
        ? []
        : [`package.json ${subpath}: want ${JSON.stringify(wanted)}`],
      ...source.slice(2) in tree ? [] : [`package.json ${subpath}: ${source} is not there`],
      ...jsr[subpath] === source ? [] : [`deno.json ${subpath}: want ${source}`],
    ]
  })
  const sourcesOut = new Map(npm.map(([subpath, target]) => [sourceOf(target), subpath]))
  const nouns = Object.keys(tree).filter((path) => /^core\/[A-Z]\w*\.ts$/.test(path))
  return [
    ...wrong,
    ...Object.keys(jsr).filter((subpath) => !npm.some(([name]) => name === subpath))
      .map((subpath) => `deno.json ${subpath}: package.json has no such export`),
    ...nouns.filter((path) =>
      !internal.includes(path) && sourcesOut.get(`./${path}`) !== path.replace(/^core(.*)\.ts$/, ".$1")
    )
      .map((path) => `${path} is not exported`),
    ...internal.filter((path) => sourcesOut.has(`./${path}`)).map((path) => `${path} is internal, and exported`),
  ]
}

/** package.json and deno.json agree on the version of holdfast and of the Effect it is tested with. */
export const sameVersions: Rule = (tree) => {
  const npm = JSON.parse(tree["package.json"] ?? "{}")
  const jsr = JSON.parse(tree["deno.json"] ?? "{}")
  const effect = npm.devDependencies?.effect
  return [
    ...jsr.version === npm.version ? [] : [`deno.json has version ${jsr.version}, package.json ${npm.version}`],
    ...jsr.imports?.effect === `npm:effect@${effect}` && jsr.imports["effect/"] === `npm:/effect@${effect}/`
      ? []
      : [`deno.json imports ${jsr.imports?.effect} and ${jsr.imports?.["effect/"]}, package.json has effect ${effect}`],
  ]
}

/** Files in core are nouns, and no file has a name that says nothing. */
export const named: Rule = (tree) =>
  sources(tree).flatMap(({ path }) => {
    const name = path.slice(path.lastIndexOf("/") + 1)
    if (/Util|Helper|Manager|Service|Impl|^I[A-Z]/.test(name)) return [`${path}: this name says nothing`]
    return path.startsWith("core/") && !/^([A-Z][A-Za-z0-9]*|mod)\.ts$/.test(name)
      ? [`${path}: a noun is in PascalCase`]
      : []
  })

export interface Budgets {
  /** Code lines of a file, by the folder it is in; the longest folder that fits counts. */
  readonly file: Readonly<Record<string, number>>
  /** Code lines of a function, and the most that one listed in `long` may have. */
  readonly function: number
  readonly functionMost: number
  /** `path name` of a function above the budget, and why it is. */
  readonly long: Readonly<Record<string, string>>
}

/** Files and functions stay within their budgets; a function above it is listed with its reason, and no other is listed. */
export const sized = (budgets: Budgets): Rule => (tree) => {
  const used = new Set<string>()
  const over = sources(tree).flatMap((source): readonly string[] => {
    const folder = Object.keys(budgets.file).filter((entry) => source.path.startsWith(entry))
      .toSorted((a, b) => b.length - a.length)[0] ?? ""
    const budget = budgets.file[folder] ?? 0
    const large = source.lines > budget ? [`${source.path} has ${source.lines} code lines of ${budget}`] : []
    const long = source.functions.flatMap(({ name, line, lines }) => {
      const key = `${source.path} ${name}`
      if (lines > budgets.function && lines <= budgets.functionMost && key in budgets.long) return used.add(key), []
      return lines > budgets.function
        ? [`${source.path}:${line} ${name} has ${lines} code lines of ${budgets.function}`]
        : []
    })
    return [...large, ...long]
  })
  return [
    ...over,
    ...Object.keys(budgets.long).filter((key) => !used.has(key)).map((key) => `${key} needs no exception`),
  ]
}
