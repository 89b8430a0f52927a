/**
 * The world of an explored program: the scheduler of its fibers, and all that happens to them. It runs the program once,
 * and asks at each step what is next.
 *
 * It owns what is ready, asleep or awaited; what is left at the end of a run is dropped, since nothing of it is real.
 *
 * A step is one turn of a fiber's loop: Effect asks `shouldYield` before each, and a fiber that is told to yield is off
 * until it is chosen again. Whoever wakes a fiber runs its first turn, as in Effect, and the following ones too, unless it
 * is forced off on the way.
 *
 * `World` is the smaller one, for sweeps: there the order is given, a step is an operation, and nothing is chosen, counted
 * in words or left out.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scheduler from "effect/Scheduler"
import { draws } from "./Chance.ts"
import { isStart, nameOf } from "./Answerer.ts"
import type { Chooser } from "./Chooser.ts"
import { type Actor, Actors, type AnyFiber, type Task } from "./ExplorerActors.ts"
import { type Act, Agenda, type Limits } from "./ExplorerAgenda.ts"
import { ExplorerClock } from "./ExplorerClock.ts"
import * as Services from "./ExplorerContext.ts"
import { Waits } from "./ExplorerWaits.ts"
import type { Story } from "./ExplorerStory.ts"
import type { Words } from "./Schedule.ts"

/** Steps of `prepare`, of the oracle and of the cleanup, each, which are not bounded by what the program may do. */
const mostAside = 100_000

export class World implements Scheduler.Scheduler {
  readonly executionMode = "sync"
  readonly words: Words
  readonly actors: Actors
  readonly agenda: Agenda
  readonly clock: ExplorerClock = new ExplorerClock()
  readonly waits: Waits
  readonly #limits: Limits
  readonly #forecast = new Services.Forecast((fiber, operation) => this.#suspended(fiber, operation))
  readonly #context: Context.Context<never>
  #chooser!: Chooser
  #random!: () => number
  #drawn = 0

  steps = 0
  /** Why this run ended before it was over: it was too long, the chooser did not know how to go on, or it left the world. */
  cut: "endless" | "lost" | "escaped" | undefined = undefined
  /** Who waits for the outside, if a run was cut by that. */
  escaped: string | undefined = undefined
  /** Who was woken from outside, while no run was going on. */
  intruder: string | undefined = undefined
  /** Told what happens, in a run that is shown to people. */
  story: Story | undefined = undefined

  #live = false
  #choosing = false
  #naming: number | undefined = undefined
  /** A fiber is made to step aside before it has done anything. */
  #isHolding = false
  /** What was chosen while a fiber ran, and comes once that fiber is off. */
  #chosen: Act | undefined = undefined
  /** What is being done, the first fiber that it runs, and whether it runs others only by way of that one. */
  #act: Act | undefined = undefined
  #outer: Actor | undefined = undefined
  #isSingle = false
  /** Whether a step is under way, where in the log it began, who ran in it and what came of it. */
  #isOpen = false
  #isBlind = false
  #from = 0
  #isMixed = false
  readonly #cast: Array<number> = []
  readonly #born: Array<number> = []

  constructor(words: Words, limits: Limits) {
    this.words = words
    this.actors = new Actors(words)
    this.#limits = limits
    this.agenda = new Agenda(words, this.actors, this.clock, limits)
    this.waits = new Waits(words, this.agenda)
    this.#context = Services.make({
      scheduler: this,
      clock: this.clock,
      forecast: this.#forecast,
      random: () => {
        this.#drawn++
        return this.#random()
      },
    })
  }

  // --- one run

  begin(chooser: Chooser, seed: number): void {
    this.#chooser = chooser
    this.#random = draws(seed)
    this.clock.reset()
    this.actors.reset()
    this.agenda.reset(chooser)
    this.#drawn = 0
    this.cut = this.escaped = undefined
    this.waits.reset()
    this.#choosing = this.#isOpen = false
    this.#live = true
  }

  end(): void {
    this.#live = false
  }

  /** Makes a fiber of the program's own: it is ready, and has not made its first step. */
  launch(name: string, effect: Effect.Effect<unknown, unknown>): Actor {
    const actor = this.#fork(name, Effect.andThen(Effect.yieldNow, effect))
    // The first turn of its loop fetches the effect from behind the yield, and is no step of the program.
    actor.resuming = "atWork"
    actor.isOwn = actor.isFresh = true
    actor.steps = 0
    actor.isAlike = this.#limits.alike.has(name)
    if (this.#limits.targets === "own") this.actors.mayBeInterrupted(actor)
    return actor
  }

  /** Runs an effect until it ends, or nothing is ready any more and nobody sleeps; nothing is chosen meanwhile. */
  aside(name: string, effect: Effect.Effect<unknown, unknown>): Actor {
    const actor = this.#fork(name, effect)
    while (!actor.isDone && this.cut === undefined) {
      const task = this.actors.ready[0]
      if (task !== undefined) this.#perform(task)
      else if (this.clock.sleeping > 0) this.#advance()
      else break
    }
    return actor
  }

  /** Runs whatever is ready, and what that makes ready. */
  drain(): void {
    for (let task = this.actors.ready[0]; task !== undefined; task = this.actors.ready[0]) {
      if (this.cut !== undefined) return
      this.#perform(task)
    }
  }

  #fork(name: string, effect: Effect.Effect<unknown, unknown>): Actor {
    this.#outer = this.#act = undefined
    this.steps = 0
    this.#naming = this.words.id(name)
    return this.actors.of(Effect.runForkWith(this.#context)(effect))!
  }

  /** Runs what is ready until nothing is; and while `isWanted` says so, time goes on and outside events happen too. */
  explore(shared: () => unknown, isWanted: () => boolean): void {
    this.#choosing = true
    this.steps = 0
    this.story?.begin(this.actors.all)
    const moment = (): string => `${this.clock.elapsed} ${this.#drawn}`
    this.#chooser.begin({ actors: this.actors, shared, moment })
    while (this.cut === undefined) {
      const act = this.#chosen ?? this.#next(isWanted)
      if (act === undefined) break
      this.#chosen = undefined
      this.#perform(act)
    }
    this.#choosing = false
  }

  // --- what Effect asks and says

  shouldYield(fiber: AnyFiber): boolean {
    if (!this.#live) return this.#intrude(fiber)
    if (this.cut !== undefined) return true
    this.#forecast.attend(fiber)
    if (this.#isHolding) return this.#held(fiber)
    // Whoever wakes a fiber runs this much of it in any case: there is nothing to choose.
    if (fiber.currentOpCount === 1) return this.#begun(fiber)
    const actor = this.actors.of(fiber) ?? this.#meet(fiber)
    if (actor.task !== undefined) this.#disown(actor.task, actor)
    const turn = this.#limits.isPlain === true ? "acts" : this.#forecast.of(fiber)
    if (actor.resuming !== undefined) {
      if (actor.resuming === "there" || turn !== "nothing") actor.resuming = undefined
      return false
    }
    // Where others ran in this step they may have interrupted the fiber, and its next turn is another one.
    if (turn === "nothing" && !this.#isMixed) return false
    return this.#choosing ? this.#goesOff(actor, turn) : this.#tick(actor)
  }

  makeDispatcher(): Scheduler.SchedulerDispatcher {
    return { scheduleTask: (run) => this.#schedule(run), flush: () => {} }
  }

  #schedule(run: () => void): void {
    if (!this.#live || this.cut !== undefined) return
    const fiber = Fiber.getCurrent()
    const actor = this.actors.of(fiber)
    if (actor?.task !== undefined) this.#disown(actor.task, actor)
    this.#leave(run, actor, false)
    // One that is not asked whether it steps aside would run.
    const task = fiber?.cache.preventYield === true || this.#limits.targets === "own" ? undefined : actor?.task
    if (task !== undefined && isStart(run)) this.#hold(task, actor!)
  }

  /**
   * A fiber begins that may be interrupted: it is made to step aside before it has done anything, since until it runs
   * nobody has it in hand to interrupt it by. Then it ends without its finalizers, as in Effect: it has installed none.
   */
  #hold(task: Task, parent: Actor): void {
    this.#disown(task, parent)
    if (!this.agenda.isTarget(task.word)) return
    this.#isHolding = true
    this.#naming = task.word
    task.run()
    // What it goes on by came behind it, and takes its place.
    this.actors.remove(task)
  }

  #held(fiber: AnyFiber): boolean {
    this.#isHolding = false
    this.#meet(fiber).resuming = "there"
    return true
  }

  /** Something is ready to be run: `actor` goes on with it, or it is nobody's. */
  #leave(run: () => void, actor: Actor | undefined, isDue: boolean): void {
    const word = actor?.word ?? this.actors.offspring(undefined)
    const task: Task = { kind: "task", run, word, actor, sure: isDue, isDue }
    this.actors.ready.push(task)
    if (actor === undefined) this.#born.push(word)
    else actor.task = task
  }

  #disown(task: Task, actor: Actor): void {
    this.actors.disown(task, actor)
    this.#born.push(task.word)
  }

  /** The first turn of a loop: a fiber begins, or goes on after a wait. */
  #begun(fiber: AnyFiber): boolean {
    const known = this.actors.of(fiber)
    const actor = known ?? this.#meet(fiber)
    const { task } = actor
    actor.begun()
    this.waits.ends(actor)
    if (task !== undefined && task !== this.#act) this.#overtaken(task, actor)
    actor.task = undefined
    const act = this.#act
    if (this.#outer === undefined) {
      this.#outer = actor
      this.#isSingle = act !== undefined && (act.kind !== "task" || act.actor !== undefined || known === undefined)
    } else if (this.#outer !== actor) this.#isMixed = true
    if (this.#choosing && !this.#cast.includes(actor.word)) {
      this.#cast.push(actor.word)
      this.story?.met(this.agenda.log.length - 1, actor, known === undefined)
    }
    return this.#tick(actor)
  }

  /** The fiber goes on by something else than this, which would run and do nothing. */
  #overtaken(task: Task, actor: Actor): void {
    actor.resuming = undefined
    // A guess may be wrong, and what is somebody else's must not be lost.
    if (task.sure) this.actors.remove(task)
    else this.#disown(task, actor)
  }

  /** A fiber is off by an operation of its own, or has ended. */
  #suspended(fiber: AnyFiber, operation: object): void {
    const actor = this.actors.of(fiber)
    if (actor === undefined || !this.#live || this.cut !== undefined) return
    if (actor.task?.sure === false) {
      // What a fiber left last is how it goes on where it has stepped aside, and somebody else's where it waits.
      if (nameOf(operation) === "Yield") actor.task.sure = true
      else this.#disown(actor.task, actor)
    }
    this.escaped = this.waits.suspended(actor, operation, this)
    if (this.escaped !== undefined) this.cut = "escaped"
  }

  #meet(fiber: AnyFiber): Actor {
    const act = this.#act
    const isStart = this.#outer === undefined && act?.kind === "task" && act.actor === undefined
    const word = this.#naming ?? (isStart ? act.word : this.actors.offspring(this.#outer))
    this.#naming = undefined
    const actor = this.actors.meet(fiber, word)
    this.agenda.met(actor)
    return actor
  }

  #tick(actor: Actor): boolean {
    actor.steps++
    if (++this.steps <= (this.#choosing ? this.#limits.maxSteps : mostAside)) return false
    this.cut = "endless"
    return true
  }

  /** Whatever this fiber waited for, it was not of this world. */
  #intrude(fiber: AnyFiber): boolean {
    const actor = this.actors.of(fiber)
    this.intruder ??= actor === undefined ? "a fiber of an earlier run" : this.words.word(actor.word)
    return true
  }

  // --- step by step

  /** While a fiber runs: whether it goes off now. */
  #goesOff(actor: Actor, turn: Services.Turn): boolean {
    const isInner = actor !== this.#outer || !this.#isSingle
    if (!isInner) {
      this.#settle(actor)
      // Where it cannot be forced off, being there is not the same as being off there.
      if (turn !== "guards") this.agenda.place(actor, true)
    }
    const decision = this.agenda.running(actor, turn, isInner)
    if (decision === "goesOn") {
      if (!isInner) this.#open(actor.word, turn === "guards")
      return this.#tick(actor)
    }
    if (decision === "lost") this.cut = "lost"
    else if (decision !== "off") this.#chosen = decision
    actor.resuming = "there"
    return true
  }

  #next(isWanted: () => boolean): Act | undefined {
    const wanted = isWanted()
    this.#settle(undefined)
    const act = this.agenda.next(wanted)
    if (this.agenda.isLost) this.cut = "lost"
    return act
  }

  #open(word: number | undefined, isBlind: boolean): void {
    this.#isOpen = true
    this.#isMixed = false
    this.#isBlind = isBlind
    this.#from = this.agenda.log.length - 1
    this.#cast.length = this.#born.length = 0
    if (word !== undefined) this.#cast.push(word)
  }

  /** A step is over; `running` is the fiber that made it, if it is not off by that. */
  #settle(running: Actor | undefined): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    const { actors, story } = this
    story?.settled(this.agenda.log.length - 1, actors.all, running === undefined ? this.#outer : undefined)
    this.#chooser.stepped({
      cast: this.#cast,
      born: this.#born,
      log: this.agenda.log,
      from: this.#from,
      isBlind: this.#isBlind,
    })
  }

  #perform(act: Act): void {
    this.#act = act
    this.#outer = undefined
    if (this.#choosing) {
      this.#open(act.kind === "time" ? undefined : act.kind === "task" ? act.word : act.actor.word, false)
    }
    switch (act.kind) {
      case "task":
        this.actors.remove(act)
        return act.run()
      case "happening":
        return act.run()
      case "time":
        return this.#advance()
      default:
        act.actor.interruptedAt = act.actor.steps
        act.actor.fiber.interruptUnsafe()
    }
  }

  /** Time goes on, and those who are due become ready. */
  #advance(): void {
    for (const { fiber, wake } of this.clock.advance()) {
      const actor = this.actors.of(fiber)
      // One that was interrupted, and forced off before it could break off its sleep, goes on by something else already.
      if (actor?.task === undefined) this.#leave(wake, actor, true)
    }
    this.story?.passed(this.agenda.log.length - 1, this.clock.elapsed)
  }
}
