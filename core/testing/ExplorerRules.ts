/** What a program to be explored has to be, and whom its bounds may name, checked at the door. Owns nothing. */
import * as Effect from "effect/Effect"
import { InvalidRequest } from "../Refusal.ts"
import type { Allowed } from "./ExplorerProgram.ts"
import { type AnyProgram, fibersOf } from "./ExplorerRun.ts"
import { isName, nameRule } from "./Schedule.ts"

/** Names that would say something else in a schedule. */
const reserved: ReadonlyArray<string> = ["prepare", "oracle", "cleanup", "main"]
const ownNames = `${nameRule}, and none of ${reserved.join(", ")}`

const words: ReadonlyArray<Allowed> = ["defects", "fibers", "timers", "unanswered"]

const isFunction = (value: unknown): boolean => typeof value === "function"
const isList = (value: unknown, holds: (each: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every((each) => holds(each))
const isText = (value: unknown): value is string => typeof value === "string"

interface Rule {
  readonly rule: string
  readonly isOptional?: boolean
  readonly holds: (value: unknown) => boolean
}
const rules: Readonly<Record<keyof AnyProgram, Rule>> = {
  prepare: { rule: "an Effect", holds: Effect.isEffect },
  fibers: { rule: "a function", holds: isFunction },
  oracle: { rule: "a function", isOptional: true, holds: isFunction },
  shared: { rule: "a function", isOptional: true, holds: isFunction },
  alike: { rule: "a list of names", isOptional: true, holds: (value) => isList(value, isText) },
  allow: {
    rule: `a list of ${words.join(", ")}`,
    isOptional: true,
    holds: (value) => isList(value, (each) => words.some((word) => word === each)),
  },
}

/** Whether something is a field of the program. */
export const isPart = (name: string): boolean => Object.hasOwn(rules, name)

/** The first thing that is wrong with a program, or with those who are to be interrupted, before it has run. */
export const check = (program: AnyProgram, interrupt: ReadonlyArray<string>): Effect.Effect<void, InvalidRequest> =>
  Effect.suspend(() => {
    const wrong = brokenPart(program) ?? brokenFibers(program, interrupt)
    return wrong === undefined ? Effect.void : Effect.fail(wrong)
  })

const brokenPart = (program: AnyProgram): InvalidRequest | undefined => {
  if (typeof program !== "object" || program === null) {
    return new InvalidRequest({ field: "program", rule: "an object with prepare and fibers", value: program })
  }
  for (const [field, { holds, isOptional, rule }] of Object.entries(rules)) {
    const value = program[field as keyof AnyProgram]
    if (!holds(value) && !(value === undefined && isOptional)) return new InvalidRequest({ field, rule, value })
  }
  return undefined
}

const brokenFibers = (program: AnyProgram, interrupt: ReadonlyArray<string>): InvalidRequest | undefined => {
  const staged = fibersOf(program)
  if (staged === undefined) return undefined
  const { fibers } = staged
  const known = typeof fibers === "object" && fibers !== null ? Object.keys(fibers) : []
  const isWhole = known.length > 0 && known.every((name) => Effect.isEffect(fibers[name]))
  if (!isWhole) return new InvalidRequest({ field: "fibers", rule: "one Effect or more, by name", value: fibers })
  const wrong = known.find((name) => !isName(name) || reserved.includes(name))
  if (wrong !== undefined) return new InvalidRequest({ field: "fibers", rule: ownNames, value: wrong })
  // Of one that a fiber starts it is only seen in a run whether it is there; so it is of what `prepare` has started.
  const started = interrupt.filter((name) => !/^prepare(\.\d+)+$/.test(name))
  const rule = `one of ${known.join(", ")}`
  const unknown = started.find((name) => !known.includes(name.replace(/(\.\d+)+$/, "")))
  if (unknown !== undefined) return new InvalidRequest({ field: "interrupt", rule, value: unknown })
  const unlike = program.alike?.find((name) => !known.includes(name))
  return unlike === undefined ? undefined : new InvalidRequest({ field: "alike", rule, value: unlike })
}

/** Who was to be interrupted and was there in no schedule. */
export const nobody = (name: string): InvalidRequest =>
  new InvalidRequest({ field: "interrupt", rule: "the name of a fiber that is there in some schedule", value: name })
