/**
 * What is said of a lease that is given back when it should not be. Misuse changes nothing; it is an error of its own, so
 * that a second release is seen, and closing the scope afterwards is silent.
 */
import { Refusal } from "./Refusal.ts"

/** The lease has been given back already, by a release or by its scope. Nothing is held; nothing moved. */
export class LeaseSpent extends Refusal {
  readonly _tag = "LeaseSpent"
  override readonly name = "LeaseSpent"
  override get message(): string {
    return "the lease was given back before"
  }
}

/** The lease belongs to another owner, or is none. It is untouched, and whoever holds it still does. */
export class ForeignLease extends Refusal {
  readonly _tag = "ForeignLease"
  override readonly name = "ForeignLease"
  override get message(): string {
    return "the lease was not given out here"
  }
}
