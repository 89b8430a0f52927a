/**
 * The rules that what this kit is given is checked by at the door. Owns nothing.
 *
 * What breaks one is `InvalidLimits`, and a defect: a test that asks for what cannot be is wrong itself, and no run of it
 * would say so.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Limit from "../Limits.ts"
import { InvalidLimits } from "../Refusal.ts"

/** What breaks the rule as text, or undefined. */
export type Rule = (value: unknown) => string | undefined

export const any: Rule = () => undefined
export const whole = (min: number, max: number): Rule => (value) => Limit.wholeRule(value, { min, max })
export const word = (...words: ReadonlyArray<string>): Rule => (value) =>
  words.includes(value as string) ? undefined : `one of ${words.join(", ")}`
export const text: Rule = (value) => typeof value === "string" ? undefined : "text"

export const effect: Rule = (value) => Effect.isEffect(value) ? undefined : "an Effect"

const longest = Duration.days(365)
export const limit: Rule = (value) => {
  const checked = Limit.duration("", "", value as Duration.Input, Duration.toMillis(longest))
  return Result.isFailure(checked) ? checked.failure.rule : undefined
}
export const rest: Rule = (value) =>
  Duration.isDuration(value) && Duration.between(value, { minimum: Duration.zero, maximum: longest })
    ? undefined
    : "a Duration from zero to 365 days"

/** The first option that has no rule, or breaks it; one that is undefined was not given. */
export const broken = (
  system: string,
  options: object,
  rules: Readonly<Record<string, Rule>>,
): InvalidLimits | undefined => {
  const known = new Map(Object.entries(rules))
  for (const [limit, value] of Object.entries(options)) {
    const breaks = known.get(limit)
    const rule = breaks === undefined
      ? `one of the options ${[...known.keys()].join(", ")}`
      : value === undefined
      ? undefined
      : breaks(value)
    const shown = Duration.isDuration(value) ? Duration.format(value) : value
    if (rule !== undefined) return new InvalidLimits({ system, limit, rule, value: shown })
  }
  return undefined
}

const scene: Readonly<Record<string, Rule>> = {
  fibers: any,
  disturb: any,
  again: any,
  ends: any,
  conserved: any,
  oracle: any,
  left: any,
  prompt: any,
  rest,
  maxSteps: whole(1, 1_000_000),
}
export const ofScene = <A, E>(given: object, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const breaks = broken("Sweep", given, scene)
    return breaks === undefined ? effect : Effect.die(breaks)
  })

const lives: Readonly<Record<string, Rule>> = {
  runs: whole(1, 1_000_000),
  maxCommands: whole(1, 100_000),
  maxCut: whole(0, 1_000_000),
  order: word("oldest", "newest"),
  seed: whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  replay: (value) => typeof value === "object" && value !== null ? undefined : "what a failure printed",
}
/** A text of a form; a longer one than any failure prints is not looked at. */
const form = (shape: RegExp, rule: string): Rule => (value) =>
  text(value) ?? ((value as string).length <= maxReplayChars && shape.test(value as string) ? undefined : rule)
const maxReplayChars = 100_000
/** How a failure prints a life: which it was of those that were drawn, then each step of making it shorter. */
const path = form(/^\d{1,6}(:\d{1,9})*$/, "whole numbers with a colon between each two, the first below 1,000,000")
const replayPath = form(
  /^[A-Za-z\d+/]*:[A-Za-z\d+/]*$/,
  "two texts of letters, digits, + and / with a colon between them",
)
const replay: Readonly<Record<string, Rule>> = { seed: lives.seed!, path, replayPath }

export const brokenLives = (given: { readonly replay?: object | undefined }): InvalidLimits | undefined => {
  if (given.replay === undefined) return broken("Model", given, lives)
  // All of the three are needed: without one of them other lives would be lived.
  const whole = { seed: undefined, path: undefined, replayPath: undefined, ...given.replay }
  const absent = Object.entries(whole).find(([, value]) => value === undefined)
  return broken("Model", given, lives) ?? broken("Model replay", given.replay, replay) ??
    (absent &&
      new InvalidLimits({ system: "Model replay", limit: absent[0], rule: "what a failure printed", value: undefined }))
}

/** One by which no life is come to: it is of another program, or of other options. */
export const unfit = (replay: object): InvalidLimits =>
  new InvalidLimits({
    system: "Model",
    limit: "replay",
    rule: "one that this life printed, with the same options",
    value: JSON.stringify(replay),
  })
