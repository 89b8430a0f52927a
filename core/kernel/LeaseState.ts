/**
 * The life of one ask and of the lease it becomes, as a table: every (state, event) pair has one answer.
 *
 * New -> Waiting -> Granted -> Held -> Released, or from New or Waiting to Refused, Expired or Interrupted. Granted means
 * that the units are this ask's and its fiber has not run yet; interrupted there, it gives them back.
 */
export type State = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7
export type Event = 0 | 1 | 2 | 3 | 4 | 5 | 6

export const New = 0
export const Waiting = 1
export const Granted = 2
export const Held = 3
export const Released = 4
export const Refused = 5
export const Expired = 6
export const Interrupted = 7

export const Enqueue = 0
export const Grant = 1
export const Deliver = 2
export const Release = 3
export const Refuse = 4
export const Expire = 5
export const Interrupt = 6

export const stateNames: ReadonlyArray<string> = [
  "New",
  "Waiting",
  "Granted",
  "Held",
  "Released",
  "Refused",
  "Expired",
  "Interrupted",
]

const events = 7
/** No such arrow: the event is misuse and changes nothing. */
export const misuse = -1

const table: ReadonlyArray<State | typeof misuse> = [
  // Enqueue, Grant, Deliver, Release, Refuse, Expire, Interrupt
  /* New         */ Waiting,
  Granted,
  misuse,
  misuse,
  Refused,
  Expired,
  Interrupted,
  /* Waiting     */ misuse,
  Granted,
  misuse,
  misuse,
  Refused,
  Expired,
  Interrupted,
  /* Granted     */ misuse,
  misuse,
  Held,
  Released,
  misuse,
  misuse,
  Interrupted,
  /* Held        */ misuse,
  misuse,
  misuse,
  Released,
  misuse,
  misuse,
  misuse,
  /* Released    */ misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  /* Refused     */ misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  /* Expired     */ misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  /* Interrupted */ misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  misuse,
  misuse,
]

/** Where `event` takes `state`, or {@link misuse}. */
export const next = (state: State, event: Event): State | typeof misuse => table[state * events + event]!

/** True while the units of the ask are charged. */
export const isCharged = (state: State): boolean => state === Granted || state === Held
