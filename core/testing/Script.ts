/**
 * A script for ports: every call of a scripted port is a numbered await point, at which a test says what becomes of it:
 * held, failed, answered late, in the deadline's own tick, without having been done, or done without being answered.
 *
 * It owns the calls that it holds and the list of what a port has opened and not closed. It wraps any port whose members
 * are effects or functions to effects, so that the nouns of ports need not know of it; a platform that calls back
 * instead is scripted by `callback`, which can also call back twice and after it was told to stop.
 */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Deadline from "../Deadline.ts"

/** Until when a call waits: until the test lets it go, until the caller's deadline, or for so long. */
type Wait = "held" | "deadline" | Duration.Duration | undefined

/** What becomes of a call. Made by the functions below. */
export interface Plan {
  /** How it is printed. */
  readonly name: string
  readonly before?: Wait
  /** How often it is done: once, unless it says so. */
  readonly times?: number
  readonly after?: Wait
  /** What is answered instead of what was done. */
  readonly answer?: Exit.Exit<unknown, unknown>
  readonly deaf?: boolean
  /** The calls that it is for: all, unless it names a label. */
  readonly label?: string
}

/** Done and answered at once; what becomes of a call that nothing was planned for. */
export const pass: Plan = { name: "pass" }
/** Not done until `release`; `end` answers it instead. */
export const hold: Plan = { name: "hold", before: "held" }
/** Done at once, and not answered until `release` or `end`. */
export const silent: Plan = { name: "silent", after: "held" }
/** Done at once, and answered after so long. */
export const late = (by: Duration.Input): Plan => ({ name: "late", after: Duration.fromInputUnsafe(by) })
/** Done after so long, and answered then. */
export const slow = (by: Duration.Input): Plan => ({ name: "slow", before: Duration.fromInputUnsafe(by) })
/** Done at once, and answered at the instant of the deadline that the calling fiber carries. */
export const inDeadlineTick: Plan = { name: "inDeadlineTick", after: "deadline" }
/** Not done, and failed with one of the port's errors. */
export const fail = (error: unknown): Plan => ({ name: "fail", times: 0, answer: Exit.fail(error) })
/** Not done, and a defect. */
export const die = (defect: unknown): Plan => ({ name: "die", times: 0, answer: Exit.die(defect) })
/** Done, and failed all the same: the answer was lost. */
export const lost = (error: unknown): Plan => ({ name: "lost", answer: Exit.fail(error) })
/** Not done, and answered as if it had been. */
export const pretend = (value: unknown): Plan => ({ name: "pretend", times: 0, answer: Exit.succeed(value) })
/**
 * Done twice. An effect answers once all the same; a callback is called twice, the second time with what the second
 * made.
 */
export const twice: Plan = { name: "twice", times: 2 }
/** As `plan`, by a port that does not hear an interruption: the caller waits for the answer. */
export const deaf = (plan: Plan): Plan => ({ ...plan, name: `deaf ${plan.name}`, deaf: true })

/** `plan`, but for calls with this label alone. */
export const at = (label: string, plan: Plan): Plan => ({ ...plan, name: `${label} ${plan.name}`, label })

/** `held` and `silent` wait for the test; `dropped` was interrupted before it was answered. */
export type State = "asked" | "held" | "silent" | "answered" | "failed" | "dropped"

/** One call of a scripted port. */
export interface Call {
  /** From 1, over all calls of the script in the order in which they came. */
  readonly number: number
  readonly label: string
  /** From 1, over the calls with this label. */
  readonly nth: number
  readonly input: ReadonlyArray<unknown>
  readonly state: State
}

/** A call by its number; by its label, `"driver.open"`, which is every one; or by label and place, `"driver.open 2"`. */
export type Point = number | string

/** `release` or `end` of a call that is not there, or not held. */
export class NoSuchCall extends Data.Error<{ readonly point: Point; readonly calls: ReadonlyArray<string> }> {
  readonly _tag = "NoSuchCall"
  override readonly name = "NoSuchCall"
  override get message(): string {
    return `no call ${this.point} is held; there were: ${this.calls.join(", ") || "none"}`
  }
}

/** Something that a port has opened. */
export interface Handle {
  readonly name: string
  readonly isOpen: boolean
  /**
   * Closes it, as a call `….close` of the script, once: whoever asks while it is being closed, or later, waits for
   * nothing. Where the call ended before it was done it is open still, and can be closed again.
   */
  readonly close: Effect.Effect<void>
}

interface Asked {
  readonly number: number
  readonly label: string
  readonly nth: number
  readonly input: ReadonlyArray<unknown>
  readonly plan: Plan
  state: State
  /** Ends the wait of a call that waits for the test. */
  go: ((exit: Exit.Exit<unknown, unknown> | undefined) => void) | undefined
}

export class Script {
  readonly #clock: Clock.Clock
  readonly #context: Context.Context<never>
  readonly #plans = new Map<Point, Plan>()
  readonly #calls: Array<Asked> = []
  readonly #open = new Set<string>()
  /** A call that could not go by its plan, and why: of the script, and not of the program. */
  unfit: string | undefined = undefined

  constructor(clock: Clock.Clock, context: Context.Context<never>) {
    this.#clock = clock
    this.#context = context
  }

  /** Calls so far, in order. */
  get calls(): ReadonlyArray<Call> {
    return this.#calls
  }

  /** The same as text, `"driver.open 2 answered"`, for a test of their order. */
  get log(): ReadonlyArray<string> {
    return this.#calls.map(({ label, nth, state }) => `${label} ${nth} ${state}`)
  }

  /** Names of what was opened and is not closed. */
  get left(): ReadonlyArray<string> {
    return [...this.#open]
  }

  /** What becomes of calls to come; a number goes before a place, a place before a label. */
  plan(point: Point, plan: Plan): void {
    this.#plans.set(point, plan)
  }

  /** Lets the oldest held call that fits go on. */
  release(point: Point): Effect.Effect<void, NoSuchCall> {
    return this.#letGo(point, undefined)
  }

  /** Answers the oldest held call that fits, without doing it if it is not done. */
  end(point: Point, exit: Exit.Exit<unknown, unknown>): Effect.Effect<void, NoSuchCall> {
    return this.#letGo(point, exit)
  }

  /**
   * The port with every call scripted: each member that is an effect or a function to one, its own or inherited. Other
   * members are the port's. A function is called when it is called, whatever is planned; the effect that it makes is
   * what waits. A port that a call answers with is scripted by `Effect.map(…, (pool) => script.port("pool", pool))`.
   */
  port<P extends object>(name: string, port: P): P {
    const scripted: PropertyDescriptorMap = {}
    for (const key of keysOf(port)) {
      const member = (port as Readonly<Record<string, unknown>>)[key]
      scripted[key] = { value: this.#member(`${name}.${key}`, port, member), enumerable: true }
    }
    // What is left, such as what it is an instance of, is the port's.
    return Object.create(port, scripted) as P
  }

  #member(label: string, port: object, member: unknown): unknown {
    if (typeof member !== "function") return Effect.isEffect(member) ? this.effect(label, member) : member
    return (...input: ReadonlyArray<unknown>): unknown => {
      const made: unknown = Reflect.apply(member, port, input)
      return Effect.isEffect(made) ? this.effect(label, made, input) : made
    }
  }

  /** One effect as a call: each time that it runs is an await point of its own. */
  effect<A, E, R>(
    label: string,
    effect: Effect.Effect<A, E, R>,
    input: ReadonlyArray<unknown> = [],
  ): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const call = this.#ask(label, input)
      const { after, answer, before, deaf, times = 1 } = call.plan
      const twice = Effect.andThen(effect, effect)
      const done = times === 0 ? Effect.void : times === 1 ? effect : twice
      const answered = Effect.flatMap(
        done,
        (made) =>
          Effect.flatMap(this.#wait(call, after, "silent"), (instead) => instead ?? answer ?? Exit.succeed(made)),
      )
      const whole = Effect.onExit(
        Effect.flatMap(this.#wait(call, before, "held"), (instead) => instead ?? answered),
        (exit) => Effect.sync(() => ended(call, exit)),
      ) as Effect.Effect<A, E, R>
      return deaf === true ? Effect.uninterruptible(whole) : whole
    })
  }

  /**
   * A platform that calls back: `done` hears how it ended, a step later at the earliest, and what is returned tells it
   * to stop. It hears that until it is done, held, slow or asked just now, and is dropped; what it makes later is
   * nobody's, unless whoever listens takes it.
   */
  callback<A>(
    label: string,
    make: () => A,
    input: ReadonlyArray<unknown> = [],
  ): (done: (exit: Exit.Exit<A, unknown>) => void) => () => void {
    return (done) => {
      const call = this.#ask(label, input)
      const { after, answer, before, deaf, times = 1 } = call.plan
      // Whoever listens for a platform runs in the fiber that calls it, whose deadline it is.
      const context = Fiber.getCurrent()?.context ?? this.#context
      const run = (effect: Effect.Effect<void>): Fiber.Fiber<void> => Effect.runForkWith(context)(effect)
      const tell = (exits: ReadonlyArray<Exit.Exit<A, unknown>>): void => {
        ended(call, exits[0]!)
        for (const exit of exits) done(exit)
      }
      let waiting: Fiber.Fiber<void> | undefined
      let over = false
      const begin = (instead: Exit.Exit<unknown, unknown> | undefined): void => {
        over = true
        if (instead !== undefined) return tell([instead as Exit.Exit<A, unknown>])
        const made = Array.from({ length: times }, make)
        const wait = this.#wait(call, after, "silent")
        run(
          Effect.map(wait, (other = answer) =>
            tell(
              other === undefined ? made.map((each) => Exit.succeed(each)) : [other as Exit.Exit<A, unknown>],
            )),
        )
      }
      if (before === undefined) begin(undefined)
      else waiting = run(Effect.map(this.#wait(call, before, "held"), begin))
      return () => {
        if (over || deaf === true) return
        over = true
        waiting?.interruptUnsafe()
        call.go = undefined
        call.state = "dropped"
      }
    }
  }

  /** Opens something that must be closed, and counts as open until it is. */
  open(label: string): Effect.Effect<Handle> {
    return Effect.sync(() => {
      const name = `${label} ${1 + this.#opened++}`
      this.#open.add(name)
      const isOpen = (): boolean => this.#open.has(name)
      const close = this.effect(`${label}.close`, Effect.sync(() => void this.#open.delete(name)))
      let isClosing = false
      const once = Effect.suspend(() => {
        let isMine = false
        const closing = Effect.suspend(() => {
          if (!isOpen() || isClosing) return Effect.void
          isMine = isClosing = true
          return close
        })
        // Registered before it is taken, so that whoever is interrupted between the two has nothing to give back.
        return Effect.ensuring(closing, Effect.sync(() => void (isClosing &&= !isMine)))
      })
      return {
        name,
        get isOpen(): boolean {
          return isOpen()
        },
        close: once,
      }
    })
  }

  /** {@link open} in a scope, which closes it. */
  scoped(label: string): Effect.Effect<Handle, never, Scope.Scope> {
    return Effect.acquireRelease(this.open(label), (handle) => handle.close)
  }

  #opened = 0

  #ask(label: string, input: ReadonlyArray<unknown>): Asked {
    const number = this.#calls.length + 1
    const nth = 1 + this.#calls.filter((each) => each.label === label).length
    const planned = [number, `${label} ${nth}`, label].map((point) => this.#plans.get(point))
    const plan = planned.find((each) => each !== undefined && (each.label ?? label) === label) ?? pass
    const call: Asked = { number, label, nth, input, plan, state: "asked", go: undefined }
    this.#calls.push(call)
    return call
  }

  #wait(call: Asked, wait: Wait, state: "held" | "silent"): Effect.Effect<Exit.Exit<unknown, unknown> | undefined> {
    if (wait === undefined) return Effect.succeed(undefined)
    if (wait === "held") {
      return Effect.callback((resume) => {
        call.state = state
        call.go = (exit) => {
          call.go = undefined
          call.state = "asked"
          resume(Effect.succeed(exit))
        }
        return Effect.sync(() => call.go = undefined)
      })
    }
    if (wait !== "deadline") return Effect.as(this.#clock.sleep(wait), undefined)
    return Effect.withFiber((fiber) => {
      const deadline = fiber.getRef(Deadline.Current)
      if (deadline === undefined) {
        this.unfit ??= `${call.label}: its caller carries no deadline`
        return Effect.die(new Error(this.unfit))
      }
      return Effect.as(this.#clock.sleep(Deadline.nanos(Deadline.remainingNanos(deadline))), undefined)
    })
  }

  #letGo(point: Point, exit: Exit.Exit<unknown, unknown> | undefined): Effect.Effect<void, NoSuchCall> {
    return Effect.suspend(() => {
      const fits = ({ label, nth, number }: Asked): boolean => [number, label, `${label} ${nth}`].includes(point)
      const call = this.#calls.find((each) => each.go !== undefined && fits(each))
      if (call?.go === undefined) return Effect.fail(new NoSuchCall({ point, calls: this.log }))
      call.go(exit)
      return Effect.void
    })
  }
}

/** A script that measures time by the running fiber's clock. Nothing is planned yet. */
export const make: Effect.Effect<Script> = Effect.withFiber((fiber) =>
  Effect.succeed(new Script(fiber.getRef(Clock.Clock), fiber.context))
)

const ended = (call: Asked, exit: Exit.Exit<unknown, unknown>): void => {
  call.state = Exit.isSuccess(exit) ? "answered" : Exit.hasInterrupts(exit) ? "dropped" : "failed"
}

/** The names of all members but those that every object has. */
const keysOf = (port: object): ReadonlySet<string> => {
  const keys = new Set(Object.keys(port))
  for (let at = Object.getPrototypeOf(port); at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const key of Object.getOwnPropertyNames(at)) if (key !== "constructor") keys.add(key)
  }
  return keys
}
