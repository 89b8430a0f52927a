/** The command line of the gateway. It owns nothing. */
import * as Effect from "effect/Effect"
import { Refusal } from "../../core/Refusal.ts"

export interface Flags {
  readonly config: string | undefined
  readonly port: number | undefined
  readonly operatorPort: number | undefined
  readonly demo: boolean
  readonly help: boolean
}

/** A flag that is not known, or without a usable value. Nothing was started. */
export class InvalidFlag extends Refusal {
  readonly _tag = "InvalidFlag"
  override readonly name = "InvalidFlag"
  readonly flag: string
  readonly rule: string
  constructor(facts: { readonly flag: string; readonly rule: string }) {
    super()
    this.flag = facts.flag
    this.rule = facts.rule
  }
  override get message(): string {
    return `${this.flag} ${this.rule}`
  }
}

export const help: string = `holdfast gateway: bounded, fair, multi-tenant calls to outside providers

  --config FILE         a JSON configuration; without it an embedded one with the tenants alpha, bravo and charlie
                        (tokens demo-alpha, demo-bravo, demo-charlie) and the provider demo
  --port N              the gateway's port (8080); 0 takes a free one
  --operator-port N     the operator's port (8081); 0 takes a free one
  --demo                start on free ports, let three tenants ask for ten seconds, one flooding, while a provider
                        fails for two of those seconds, and print tables; the exit status is 1 if anything leaked
  --help                this text

  curl -H "authorization: Bearer demo-alpha" http://127.0.0.1:8080/demo/

Ctrl-C or SIGTERM drains: no new connection, what was accepted finishes, at most for the configured time. A second one ends at once.
`

/** Reads the arguments, as `--name value` or `--name=value`. A flag given twice is refused like an unknown one. */
export const parse = (args: ReadonlyArray<string>): Effect.Effect<Flags, InvalidFlag> =>
  Effect.gen(function* () {
    const given = new Map<string, string>()
    // npm swallows the `--` in front of the flags, and Deno's tasks hand it on.
    for (let i = args[0] === "--" ? 1 : 0; i < args.length; i++) {
      const [flag = "", inline] = splitOnce(args[i]!)
      const takesValue = flag === "--config" || flag === "--port" || flag === "--operator-port"
      if (!takesValue && flag !== "--demo" && flag !== "--help") {
        return yield* new InvalidFlag({ flag, rule: "is not a flag; --help lists them" })
      }
      if (given.has(flag)) return yield* new InvalidFlag({ flag, rule: "is given twice" })
      if (!takesValue && inline !== undefined) return yield* new InvalidFlag({ flag, rule: "takes no value" })
      const value = takesValue ? inline ?? args[++i] : ""
      if (value === undefined || (takesValue && value === "")) {
        return yield* new InvalidFlag({ flag, rule: "needs a value" })
      }
      given.set(flag, value)
    }
    if (given.has("--demo") && given.has("--config")) {
      return yield* new InvalidFlag({ flag: "--demo", rule: "runs on the embedded configuration alone" })
    }
    return {
      config: given.get("--config"),
      port: yield* portOf("--port", given.get("--port")),
      operatorPort: yield* portOf("--operator-port", given.get("--operator-port")),
      demo: given.has("--demo"),
      help: given.has("--help"),
    }
  })

const splitOnce = (arg: string): readonly [string, string | undefined] => {
  const at = arg.indexOf("=")
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)]
}

const portOf = (flag: string, value: string | undefined): Effect.Effect<number | undefined, InvalidFlag> => {
  if (value === undefined) return Effect.succeed(undefined)
  const port = /^\d{1,5}$/.test(value) ? Number(value) : NaN
  return port <= 65_535
    ? Effect.succeed(port)
    : Effect.fail(new InvalidFlag({ flag, rule: "must be a port from 0 to 65535" }))
}
