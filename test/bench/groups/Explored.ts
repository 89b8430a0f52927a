/**
 * J. What a schedule costs in CPU: two fibers that look and then act, in every order, without pruning.
 *
 * Each fiber reads a counter, yields, and writes what it has read and one more. The floor is an explorer of forty lines
 * that one would write for a single test: it forces a yield every third operation, and picks the next task. It judges
 * nothing, has no clock, interrupts nobody, and cannot say what it ran. A turn of either explores all
 * orders twenty times, from the making of the counter to the judgement, and fails if it ran another number of them.
 */
import process from "node:process"
import * as Effect from "effect/Effect"
import * as Scheduler from "effect/Scheduler"
import * as Explorer from "../../../core/testing/Explorer.ts"
import * as Holdfast from "../Holdfast.ts"
import { high, median } from "../Interval.ts"
import { alternate } from "../Rounds.ts"
import { type Emit, figures } from "../Row.ts"

interface Counter {
  n: number
}

const visit = (counter: Counter): Effect.Effect<void> =>
  Effect.gen(function* () {
    const before = yield* Effect.sync(() => counter.n)
    yield* Effect.yieldNow
    yield* Effect.sync(() => {
      counter.n = before + 1
    })
  })

const program = {
  prepare: Effect.sync((): Counter => ({ n: 0 })),
  fibers: (counter: Counter) => ({ a: visit(counter), b: visit(counter) }),
  oracle: ({ n }: Counter) => n === 1 || n === 2 ? undefined : Effect.fail(n),
}

/** Each fiber has six turns, whoever explores: 12! / (6! 6!). */
const orders = 924
const times = 20

/** CPU nanoseconds a schedule, of explorations that each say how many they ran. */
const cost = (explore: () => number | Promise<number>) => async (): Promise<number> => {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) {
    const seen = await explore()
    if (seen !== orders) throw new Error(`${seen} orders, not ${orders}`)
  }
  const { system, user } = process.cpuUsage(before)
  return ((system + user) * 1e3) / (orders * times)
}

const all = Effect.map(Explorer.explore(program, { preemptions: Infinity }), ({ schedules }) => schedules)

const floorName = "explorer of forty lines (floor)"
const inForty = (): number => {
  const taken: Array<number> = []
  const counts: Array<number> = []
  let schedules = 0
  do {
    let depth = 0
    const tasks: Array<() => void> = []
    const scheduler: Scheduler.Scheduler = {
      executionMode: "sync",
      shouldYield: (fiber) => fiber.currentOpCount >= 3,
      makeDispatcher: () => ({ scheduleTask: (task) => void tasks.push(task), flush: () => {} }),
    }
    const counter: Counter = { n: 0 }
    for (const fiber of [visit(counter), visit(counter)]) {
      Effect.runFork(Effect.provideService(fiber, Scheduler.Scheduler, scheduler), { scheduler })
    }
    while (tasks.length > 0) {
      if (depth === taken.length && tasks.length > 1) {
        taken.push(0)
        counts.push(tasks.length)
      }
      const [task] = tasks.splice(tasks.length > 1 ? taken[depth++]! : 0, 1)
      task!()
    }
    if (counter.n !== 1 && counter.n !== 2) throw new Error(`${counter.n} of 2`)
    schedules++
    while (taken.length > 0 && ++taken[taken.length - 1]! === counts.at(-1)) {
      taken.pop()
      counts.pop()
    }
  } while (taken.length > 0)
  return schedules
}

export const measure = async (emit: Emit): Promise<void> => {
  const [sample] = await alternate([{ subject: cost(() => Effect.runPromise(all)), floor: cost(inForty), slices: 1 }])
  const { floors, values } = sample!
  const title = "a schedule of two fibers"
  emit({ group: "J", subject: Holdfast.explorer, case: title, ...figures(sample!) })
  emit({ group: "J", subject: floorName, case: title, nsPerOp: median(floors) })
  const micros = values.map((nanos) => nanos / 1e3)
  const one = `CPU microseconds of ${title}`
  emit({ group: "J", subject: Holdfast.explorer, case: one, figure: median(micros), figureHigh: high(micros) })
}
