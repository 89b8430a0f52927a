/**
 * The gateway's program: reads the flags and the configuration, starts, and drains on a signal.
 *
 * Exit status: 0 after a clean drain · 1 if something was still held, or the demo found a leak · 2 if it could not start ·
 * 130 after a second signal.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { readFile } from "node:fs/promises"
import process from "node:process"
import type { DrainReport } from "../../core/AdmissionSnapshot.ts"
import * as Config from "./Config.ts"
import * as Demo from "./Demo.ts"
import * as DemoOutage from "./DemoOutage.ts"
import * as Flags from "./Flags.ts"
import * as Gateway from "./Gateway.ts"
import * as Platform from "./Platform.ts"

const print = (line: string): Effect.Effect<void> => Effect.sync(() => void process.stdout.write(`${line}\n`))
const complain = (line: string): Effect.Effect<void> => Effect.sync(() => void process.stderr.write(`${line}\n`))

const environment = (name: string): string | undefined => process.env[name]

const configOf = (
  flags: Flags.Flags,
  outage: DemoOutage.DemoOutage | undefined,
): Effect.Effect<Config.Config, Config.InvalidConfig> =>
  Effect.gen(function* () {
    const embedded = outage === undefined ? Config.embedded : Demo.configOf(outage)
    const config = flags.config === undefined
      ? yield* Config.decode(embedded, environment)
      : yield* Config.parse(yield* textOf(flags.config), environment)
    const otherwise = flags.demo ? 0 : undefined
    const port = flags.port ?? otherwise ?? config.gateway.port
    const operatorPort = flags.operatorPort ?? otherwise ?? config.operator.port
    if (port !== 0 && port === operatorPort && config.gateway.host === config.operator.host) {
      const rule = `must differ from the gateway's, which is ${port} as well`
      return yield* new Config.InvalidConfig({ mistakes: [{ path: "$.operator.port", rule }] })
    }
    return { ...config, gateway: { ...config.gateway, port }, operator: { ...config.operator, port: operatorPort } }
  })

const textOf = (path: string): Effect.Effect<string, Config.InvalidConfig> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (error) => {
      const code = error instanceof Error && "code" in error ? String(error.code) : "UNKNOWN"
      return new Config.InvalidConfig({ mistakes: [{ path, rule: `cannot be read: ${code}` }] })
    },
  })

const program = Effect.gen(function* () {
  const flags = yield* Flags.parse(process.argv.slice(2))
  if (flags.help) {
    yield* print(Flags.help.trimEnd())
    return 0
  }
  const platform = yield* Effect.promise(Platform.current)
  const outage = flags.demo ? yield* DemoOutage.start(platform) : undefined
  const config = yield* configOf(flags, outage)
  const signal = yield* platform.signal
  const gateway = yield* Gateway.start(config, platform)
  yield* print(`gateway ${gateway.url}`)
  yield* print(`operator ${gateway.operatorUrl}`)
  if (!flags.demo) yield* print(hintOf(config, gateway, flags))
  return yield* outage !== undefined
    ? Effect.raceFirst(Demo.run({ gateway, outage, platform, print }), Effect.andThen(signal, stop(config, gateway)))
    : Effect.andThen(signal, stop(config, gateway))
})

/** What to do with it, for whoever has just started it. */
const hintOf = (config: Config.Config, gateway: Gateway.Gateway, flags: Flags.Flags): string => {
  const drains = `Ctrl-C or SIGTERM drains, at most ${Duration.format(config.drain)}; --help lists the flags`
  if (flags.config !== undefined) return drains
  return `try     curl -H "authorization: Bearer demo-alpha" ${gateway.url}/demo/\n${drains}`
}

const stop = Effect.fnUntraced(function* (config: Config.Config, gateway: Gateway.Gateway) {
  yield* print(`draining, at most ${Duration.format(config.drain)}; a second signal ends at once`)
  const report = yield* gateway.drain
  yield* print(reported(report))
  return report.clean ? 0 : 1
})

const reported = (report: DrainReport): string => {
  const waited = millis(report.waited)
  if (report.clean) return `drained in ${waited}: nothing was held`
  const holders = report.holders.map(({ tenant, provider, state, cost, age }) =>
    `  ${state} by ${tenant} at ${provider ?? "-"}: ${cost} for ${millis(age)}`
  )
  return [`not drained in ${waited}: ${report.held} still held`, ...holders].join("\n")
}

const millis = (duration: Duration.Duration): string => `${Math.round(Duration.toMillis(duration))} ms`

const faultOf = (error: Effect.Error<typeof program>): string => {
  const isTaken = error._tag === "ServeFailed" && error.code === "EADDRINUSE"
  return isTaken ? `${error.message}; --port and --operator-port take others, and of 0 any that is free` : error.message
}

/** What keeps it from starting is one message and status 2; the scope is closed before the process ends. */
const exitCode = Effect.scoped(program).pipe(Effect.catch((error) => Effect.as(complain(faultOf(error)), 2)))

process.exitCode = await Effect.runPromise(exitCode)
// What a runtime still holds open (an idle connection of a client, say) must not keep an ended gateway alive.
process.exit()
