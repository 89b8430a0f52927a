/**
 * Counts at one moment: plain frozen records without a name of any tenant, safe to log, to serve and to turn into
 * metrics. Pulled by whoever wants them; nothing is pushed. Owns nothing.
 */

/** Freezes a record of counts and the records in it. */
export const frozen = <A extends object>(record: A): A => {
  for (const value of Object.values(record)) if (typeof value === "object" && value !== null) frozen(value)
  return Object.freeze(record)
}
