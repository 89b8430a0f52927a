/**
 * I. What a program that uses one thing weighs when it is bundled and minified, as gzip, and how long importing it takes.
 *
 * Peers that stand on Effect are counted over Effect alone. holdfast is also counted over the same parts of Effect: the
 * same bundle without its modules. An import is that of a fresh process, beside one that imports the same modules of
 * Effect and nothing else.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import * as Holdfast from "../Holdfast.ts"
import { load } from "../Peers.ts"
import { alternate, type Measure, type Pair } from "../Rounds.ts"
import { type Emit, figures } from "../Row.ts"

interface Esbuild {
  readonly build: (
    options: object,
  ) => Promise<
    { readonly outputFiles: ReadonlyArray<{ readonly text: string }> }
  >
  readonly transform: (
    code: string,
    options: object,
  ) => Promise<{ readonly code: string }>
}

const here = fileURLToPath(new URL("../", import.meta.url))
/** Beside the peers, so that a program in it finds them, and Effect above. */
const folder = `${here}node_modules/.imported`

const effect = `import * as Effect from "effect/Effect"\n`
const inScope = (program: string): string => `Effect.runFork(Effect.scoped(${program}))`
const peers: Readonly<Record<string, string>> = {
  "Effect Semaphore":
    `import * as Semaphore from "effect/Semaphore"\nEffect.runFork(Semaphore.makeUnsafe(1).withPermit(Effect.void))`,
  "Effect PartitionedSemaphore": `import * as P from "effect/PartitionedSemaphore"\n` +
    `Effect.runFork(P.makeUnsafe({ permits: 1 }).withPermit("k")(Effect.void))`,
  "Effect Pool": `import * as Pool from "effect/Pool"\n` +
    inScope(
      `Effect.flatMap(Pool.make({ acquire: Effect.succeed({}), size: 1 }), (p) => Pool.use(p, () => Effect.void))`,
    ),
  "Effect RcMap": `import * as RcMap from "effect/RcMap"\n` +
    inScope(
      `Effect.flatMap(RcMap.make({ lookup: () => Effect.succeed(1) }), (m) => RcMap.get(m, "k"))`,
    ),
  "Effect CircuitBreaker": `import * as CircuitBreaker from "effect/persistence/CircuitBreaker"\n` +
    inScope(
      `Effect.provide(Effect.flatMap(CircuitBreaker.make({ tripPolicy: CircuitBreaker.consecutive(1), ` +
        `openDuration: 1 }), (b) => b.execute({ key: "k" })(Effect.void)), CircuitBreaker.layerStoreMemory())`,
    ),
}
const others: Readonly<Record<string, string>> = {
  "cockatiel bulkhead and breaker": `import * as C from "cockatiel"\nC.wrap(C.bulkhead(1, 1), C.circuitBreaker(` +
    `C.handleAll, { halfOpenAfter: 1, breaker: new C.ConsecutiveBreaker(5) }))`,
  "opossum": `import Circuit from "opossum"\nnew Circuit(async () => {}).shutdown()`,
  "p-limit": `import limit from "p-limit"\nlimit(1)`,
  "p-queue": `import Queue from "p-queue"\nnew Queue()`,
}
const core = "../../core"
const barrel = readFileSync(`${here}${core}/mod.ts`, "utf8").split("\n").filter((line) => line.startsWith("export"))
  .map((line) => line.replace("./", `${core}/`))
const ours: Readonly<Record<string, string>> = {
  [Holdfast.name]: `import * as Admission from "${core}/Admission.ts"\n` +
    inScope(
      `Effect.flatMap(Admission.make({ maxRunning: 1 }), (a) => a.run({ tenant: "k" })(Effect.void))`,
    ),
  [Holdfast.gate]: `import * as ProviderGate from "${core}/ProviderGate.ts"\n` +
    inScope(
      `Effect.flatMap(ProviderGate.make({}), (gate) => gate.run({ tenant: "k" }, Effect.void))`,
    ),
  [Holdfast.all]: barrel.filter((line) => !line.includes(`${core}/http/`)).join("\n"),
}

/** The codecs, each as its entry point has it, and of HTTP/1.1 what reads and writes bytes alone. */
const codecs: Readonly<Record<string, string>> = {
  [Holdfast.http1]: `import * as Http1 from "${core}/http/Http1.ts"\nconsole.log(Http1)`,
  [Holdfast.http1Codec]: `import * as Request from "${core}/http/Http1Request.ts"\n` +
    `import * as Response from "${core}/http/Http1Response.ts"\nconsole.log(Request, Response)`,
  [Holdfast.http2]: `import * as Http2 from "${core}/http/Http2.ts"\nconsole.log(Http2)`,
}

const gzip = (code: string): number => gzipSync(code, { level: 9 }).length

const bundle = async (code: string, options: object = {}): Promise<string> => {
  const { build } = await load<Esbuild>("esbuild")
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: here, loader: "ts" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node22",
    conditions: ["holdfast-source"],
    logLevel: "error",
    write: false,
    ...options,
  })
  return outputFiles[0]!.text
}
const minified = (code: string): Promise<number> => bundle(code, { minify: true }).then(gzip)

/** What a bundle weighs more than without the modules of `core/`, which the bundler names in a line above each. */
const overItsParts = async (code: string): Promise<number> => {
  const { transform } = await load<Esbuild>("esbuild")
  const weigh = async (parts: ReadonlyArray<string>): Promise<number> =>
    gzip(
      (await transform(parts.join("\n"), {
        minify: true,
        format: "esm",
        treeShaking: false,
      })).code,
    )
  const parts = (await bundle(code)).split(/^(?=\/\/ \S+$)/m)
  const effects = parts.filter((part) => /^\/\/ \S*node_modules\/effect\//.test(part))
  return await weigh(parts) - await weigh(effects)
}

const sizes = async (emit: Emit): Promise<void> => {
  const alone = await minified(`${effect}Effect.runFork(Effect.void)`)
  const row = (subject: string, name: string, bytes: number): void => emit({ group: "I", subject, case: name, bytes })
  row("Effect alone", "gzip", alone)
  for (const [name, code] of Object.entries({ ...ours, ...peers })) {
    row(name, "gzip over Effect alone", await minified(effect + code) - alone)
  }
  for (const [name, code] of Object.entries({ ...ours, ...codecs })) {
    row(
      name,
      "gzip over the same parts of Effect",
      await overItsParts(effect + code),
    )
  }
  for (const [name, code] of Object.entries(others)) {
    row(name, "gzip", await minified(code))
  }
}

/** Nanoseconds that a fresh process takes to import a file, where nothing of it was imported before. */
const importing = (file: string): Measure => () => {
  const program = `const began = performance.now(); await import(${JSON.stringify(file)}); ` +
    `process.stdout.write(String(performance.now() - began)); process.exit(0)`
  const millis = Number(
    execFileSync(process.execPath, ["--input-type=module", "-e", program]),
  )
  return Promise.resolve(millis * 1e6)
}

const imports = async (emit: Emit): Promise<void> => {
  mkdirSync(folder, { recursive: true })
  const pairs: Array<Pair> = []
  for (const [name, code] of Object.entries(ours)) {
    const whole = await bundle(effect + code, {
      external: ["effect", "effect/*"],
    })
    const modules = new Set(
      [...whole.matchAll(/from "(effect\/[^"]+)"/g)].map(([, module]) => module!),
    )
    const file = `${folder}/${name.replace(/\W+/g, "-")}`
    writeFileSync(`${file}.mjs`, whole)
    writeFileSync(
      `${file}.effect.mjs`,
      [...modules].map((module) => `import "${module}"\n`).join(""),
    )
    pairs.push({
      subject: importing(`${file}.mjs`),
      floor: importing(`${file}.effect.mjs`),
      slices: 3,
    })
  }
  const samples = await alternate(pairs)
  Object.keys(ours).forEach((subject, i) =>
    emit({
      group: "I",
      subject,
      case: "import, over the same parts of Effect",
      ...figures(samples[i]!),
    })
  )
}

export const measure = async (emit: Emit): Promise<void> => {
  await sizes(emit)
  await imports(emit)
}
