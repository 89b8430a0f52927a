/**
 * One absolute instant by which a piece of work must be over, carried by the fiber and only ever narrowed.
 *
 * A Deadline marks; whoever waits enforces it. It is monotonic nanoseconds together with the Clock that they were read
 * from, so that a noun with another Clock can still tell what is left. It owns nothing.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { InvalidRequest, Refusal } from "./Refusal.ts"

/** `atNanos` is on `clock`'s monotonic scale; `Infinity` never comes, and NaN has come. */
export interface Deadline {
  readonly atNanos: number
  readonly clock: Clock.Clock
}

/** The work was still running when its deadline came. It was interrupted and has ended; nothing of it is still held. */
export class DeadlineExceeded extends Refusal {
  readonly _tag = "DeadlineExceeded"
  override readonly name = "DeadlineExceeded"
  readonly elapsed: Duration.Duration
  constructor(facts: { readonly elapsed: Duration.Duration }) {
    super()
    this.elapsed = facts.elapsed
  }
  override get message(): string {
    return `deadline exceeded after ${shown(this.elapsed)}`
  }
}

/** The deadline of the running fiber; undefined means none. Children inherit it. */
export const Current: Context.Reference<Deadline | undefined> = Context.Reference<Deadline | undefined>(
  "holdfast/Deadline",
  { defaultValue: () => undefined },
)

/** Reads a clock's monotonic time as a number: exact to the nanosecond for 104 days of uptime, to 2 ns for 208. */
export const nowNanos = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe())

/**
 * The instant `duration` from now on the running fiber's Clock.
 *
 * Zero is now; an infinite duration never comes. A negative duration or one that is no number is `InvalidRequest`.
 */
export const after = (duration: Duration.Input): Effect.Effect<Deadline, InvalidRequest> =>
  Clock.clockWith((clock) => {
    const millis = millisOf(duration)
    if (!(millis >= 0)) {
      return Effect.fail(new InvalidRequest({ field: "deadline", rule: "a duration of zero or more", value: duration }))
    }
    return Effect.succeed({ atNanos: nowNanos(clock) + millis * 1e6, clock })
  })

/** What an input means in milliseconds; NaN where it is no duration at all, so that the caller's rule catches it. */
export const millisOf = (duration: Duration.Input): number => {
  // Effect decodes NaN as zero, which would be a deadline that has come.
  if (typeof duration === "number") return duration
  if (typeof duration === "object" && duration !== null && !Duration.isDuration(duration)) {
    return millisOfParts(duration)
  }
  const decoded = Duration.fromInput(duration)
  return decoded._tag === "Some" ? Duration.toMillis(decoded.value) : NaN
}

const millisOfUnits: Readonly<Record<string, number>> = {
  weeks: 604_800_000,
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1_000,
  milliseconds: 1,
  microseconds: 1e-3,
  nanoseconds: 1e-6,
}

/** The same for `[seconds, nanos]` and for an object of units, of which each part has to be a number. */
const millisOfParts = (parts: object): number => {
  const units: ReadonlyArray<readonly [string, unknown]> = Array.isArray(parts)
    ? parts.length === 2 ? [["seconds", parts[0]], ["nanoseconds", parts[1]]] : []
    : Object.entries(parts).filter(([, count]) => count !== undefined)
  const millis = units.map(([unit, count]) => typeof count === "number" ? count * (millisOfUnits[unit] ?? NaN) : NaN)
  return millis.length === 0 ? NaN : millis.reduce((sum, each) => sum + each)
}

/** The earlier of the two, compared by what is left on each one's own Clock. Never later than either. */
export const narrow = (self: Deadline | undefined, that: Deadline | undefined): Deadline | undefined => {
  if (self === undefined) return that
  if (that === undefined) return self
  // Between two readings time passes, so those of one clock are compared as they are.
  const isEarlier = self.clock === that.clock
    ? instant(that) < instant(self)
    : remainingNanos(that) < remainingNanos(self)
  return isEarlier ? that : self
}

/** Nanoseconds left; zero or less once it has come. */
export const remainingNanos = (self: Deadline): number => instant(self) - nowNanos(self.clock)

/** Where somebody has reckoned a deadline and it came to NaN, whoever waits must not wait for ever. */
const instant = ({ atNanos }: Deadline): number => Number.isNaN(atNanos) ? -Infinity : atNanos

/**
 * The same instant on another clock's scale: what is left on the deadline's own clock, from `now` on that one. Where `now`
 * was read before, what passed since makes the instant earlier, never later.
 */
export const onClock = (self: Deadline, clock: Clock.Clock, now: number = nowNanos(clock)): number =>
  self.clock === clock ? instant(self) : now + remainingNanos(self)

/**
 * Runs `effect` with its fiber's deadline narrowed to `deadline`: an earlier one that it already carries stays.
 *
 * Nothing is interrupted by this; waits inside (`Admission.enter`, …) and {@link enforce} obey it.
 */
export const provide: {
  (deadline: Deadline): <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
} = (deadline) => (effect) =>
  Effect.withFiber((fiber) => Effect.provideService(effect, Current, narrow(fiber.getRef(Current), deadline)))

/**
 * Runs `effect` with its deadline narrowed to `duration` from now.
 *
 * @example
 * ```ts
 * import * as Effect from "effect/Effect"
 * import * as Deadline from "holdfast/Deadline"
 *
 * const tooSlow = Effect.sleep("1 minute").pipe(Deadline.enforce, Deadline.within("10 millis"), Effect.flip)
 * const error = await Effect.runPromise(tooSlow)
 * console.log(error._tag) // DeadlineExceeded
 * ```
 */
export const within =
  (duration: Duration.Input) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | InvalidRequest, R> =>
    Effect.flatMap(after(duration), (deadline) => provide(deadline)(effect))

/**
 * Interrupts `effect` when the fiber's deadline comes and fails with {@link DeadlineExceeded} once it has ended.
 *
 * Without a deadline it is `effect` itself. One timer, only while the effect runs.
 */
export const enforce = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | DeadlineExceeded, R> =>
  Effect.withFiber((fiber) => {
    const deadline = fiber.getRef(Current)
    if (deadline === undefined || deadline.atNanos === Infinity) return effect
    const started = nowNanos(deadline.clock)
    const exceeded = Effect.suspend(() =>
      Effect.fail(new DeadlineExceeded({ elapsed: nanos(nowNanos(deadline.clock) - started) }))
    )
    if (!(instant(deadline) > started)) return exceeded
    const clock = fiber.getRef(Clock.Clock)
    const done = Effect.map(effect, (value) => ({ value }))
    const come = Effect.as(until(clock, onClock(deadline, clock)), undefined)
    return Effect.flatMap(
      Effect.raceFirst(done, come),
      (first) => first === undefined ? exceeded : Effect.succeed(first.value),
    )
  })

/** Sleeps until an instant of this clock. Runtimes wake early, by up to two milliseconds: so it is compared again. */
const until = (clock: Clock.Clock, atNanos: number): Effect.Effect<void> =>
  Effect.suspend(() => {
    const leftMillis = Math.ceil((atNanos - nowNanos(clock)) / 1e6)
    if (leftMillis <= 0) return Effect.void
    return Effect.andThen(clock.sleep(Duration.millis(leftMillis)), until(clock, atNanos))
  })

/** A Duration of so many nanoseconds; zero for a negative count, infinite for an infinite one. */
export const nanos = (count: number): Duration.Duration =>
  count === Infinity ? Duration.infinity : Duration.nanos(BigInt(Math.max(0, Math.ceil(count))))

/** A duration as a message shows it: from a millisecond on in whole ones, rounded up. */
export const shown = (duration: Duration.Duration): string => {
  const millis = Duration.toMillis(duration)
  return Duration.format(millis > 1 && millis < Infinity ? Duration.millis(Math.ceil(millis)) : duration)
}
