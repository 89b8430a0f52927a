/**
 * What a caller asks for and what it gets: an ask, and the permit that is the lease of its units.
 *
 * A permit has a single owner and goes back once; the scope that it was entered in gives it back if nobody did before.
 */
import type { Priority } from "./AdmissionOptions.ts"

/** What a caller wants to enter with. */
export interface Ask {
  /** 1 to 256 bytes of UTF-8 without control characters. Decided by whoever asks; nothing reads it from context. */
  readonly tenant: string
  readonly provider?: string | undefined
  /** `"normal"` by default. */
  readonly priority?: Priority | undefined
  /** Whole units on every account, 1 by default. */
  readonly cost?: number | undefined
}

/** Proof of having been admitted. Opaque: `release` takes it back, and only the Admission that gave it out does. */
export interface Permit {
  readonly tenant: string
  readonly provider: string | undefined
  readonly priority: Priority
  readonly cost: number
}
