/**
 * An ask at the door: every rule it has to keep, and the record of its tenant, provider and pair once it keeps them all.
 */
import { priorities } from "./AdmissionOptions.ts"
import type { Pair } from "./kernel/Ask.ts"
import type { Keys } from "./kernel/Keys.ts"
import type { Class } from "./kernel/Ledger.ts"
import * as Limit from "./Limits.ts"
import type { Ask } from "./Permit.ts"
import { InvalidRequest } from "./Refusal.ts"

/** The class of a priority; undefined where it is none. */
export const arrivalOf = (priority: unknown): Class | undefined => {
  switch (priority) {
    case undefined:
    case "normal":
      return 2
    case "emergency":
      return 0
    case "control":
      return 1
    case "notification":
      return 3
    default:
      return undefined
  }
}

/** The record of an ask that keeps every rule, or the rule that it breaks. It runs `weights` for a tenant it does not know. */
export const recordOf = (
  keys: Keys,
  ask: Ask,
  arrival: Class | undefined,
  cost: number,
  weights: ((tenant: string) => number) | undefined,
): Pair | InvalidRequest => {
  if (typeof ask !== "object" || ask === null) {
    return new InvalidRequest({ field: "ask", rule: "an object that names a tenant", value: ask })
  }
  if (arrival === undefined) {
    return new InvalidRequest({ field: "priority", rule: `one of ${priorities.join(", ")}`, value: ask.priority })
  }
  if (!(Number.isSafeInteger(cost) && cost >= 1)) {
    return new InvalidRequest({ field: "cost", rule: "a whole number of at least 1", value: cost })
  }
  // A key that is known was checked when its record was made.
  return keys.find(ask.tenant, ask.provider) ?? newRecord(keys, ask, weights)
}

/** `weights` is the user's code: it runs before anything is made, and may itself have made the record meanwhile. */
const newRecord = (
  keys: Keys,
  { provider, tenant }: Ask,
  weights: ((tenant: string) => number) | undefined,
): Pair | InvalidRequest => {
  const wrong = Limit.key("tenant", tenant) ?? (provider === undefined ? undefined : Limit.key("provider", provider))
  if (wrong !== undefined) return wrong
  const weight = keys.tenants.get(tenant)?.weight ?? (weights === undefined ? 1 : weights(tenant))
  const rule = Limit.wholeRule(weight, { min: 1, max: 1_000 })
  if (rule !== undefined) return new InvalidRequest({ field: "weights", rule, value: weight })
  return keys.find(tenant, provider) ?? keys.make(tenant, provider, weight)
}
