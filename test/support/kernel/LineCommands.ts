/** Random lives of a Line: setups, and commands that a Witness carries out and judges. */
import * as fc from "fast-check"
import type { Class } from "../../../core/kernel/Ledger.ts"
import { endless, type Entry, type Limits, type Setup, type Wish, Witness } from "./Witness.ts"

const tenants = ["a", "b", "c"] as const
const providers = ["p", "q", undefined] as const

/** Units that are withheld, each by an owner of its own. */
interface Real {
  readonly witness: Witness
  readonly withheld: number[]
}

type Command = fc.Command<object, Real>

const command = (name: string, run: (real: Real) => void): Command => ({
  check: () => true,
  run: (_, real) => run(real),
  toString: () => name,
})

const cap = (most: number): fc.Arbitrary<number | undefined> =>
  fc.option(fc.integer({ min: 1, max: most }), { nil: undefined })

const defined = (limits: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))

export const setups: fc.Arbitrary<Setup> = fc.integer({ min: 1, max: 8 }).chain((maxRunning) =>
  fc.record({
    maxRunning: fc.constant(maxRunning),
    maxPerTenant: cap(maxRunning),
    maxPerProvider: cap(maxRunning),
    maxPerPair: cap(maxRunning),
    maxQueued: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
    maxQueuedPerTenant: fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
    maxBypass: fc.oneof(fc.constant(0), fc.nat({ max: 2 * maxRunning }), fc.constant(endless)),
    reserves: fc.oneof(
      { weight: 2, arbitrary: fc.constant<readonly [number, number, number, number]>([0, 0, 0, 0]) },
      fc.array(fc.nat({ max: 3 }), { maxLength: maxRunning - 1 }).map(reservesOf),
    ),
    weights: fc.record({ a: fc.integer({ min: 1, max: 3 }), b: fc.constant(1), c: fc.constant(2) }),
  }).map((setup) => defined(setup) as Setup)
)

/** One unit for each class named. */
const reservesOf = (named: readonly number[]): readonly [number, number, number, number] => {
  const reserves: [number, number, number, number] = [0, 0, 0, 0]
  for (const k of named) reserves[k as Class]++
  return reserves
}

const wishes: fc.Arbitrary<Wish> = fc.record({
  tenant: fc.constantFrom(...tenants),
  provider: fc.constantFrom(...providers),
  arrival: fc.constantFrom<Class>(2, 2, 2, 1, 3, 0),
  cost: fc.constantFrom(1, 1, 1, 2, 2, 3, 5),
  wait: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(Infinity)),
  mayWait: fc.constantFrom(true, true, true, true, false),
  slowly: fc.boolean(),
})

const pick = (from: readonly Entry[], at: number): Entry | undefined => from[at % Math.max(1, from.length)]

const act = (name: string, of: (witness: Witness) => readonly Entry[], on: (witness: Witness, entry: Entry) => void) =>
  fc.nat({ max: 31 }).map((at) =>
    command(`${name}(${at})`, ({ witness }) => {
      const entry = pick(of(witness), at)
      if (entry !== undefined) on(witness, entry)
    })
  )

const leave = (witness: Witness, entry: Entry): void => void witness.leave(entry)
const giveBack = (witness: Witness, entry: Entry): void => void witness.giveBack(entry)

const lowerings: fc.Arbitrary<Partial<Limits>> = fc.record({
  maxRunning: fc.integer({ min: 1, max: 8 }),
  maxPerTenant: fc.integer({ min: 1, max: 8 }),
  maxPerProvider: fc.integer({ min: 1, max: 8 }),
  maxPerPair: fc.integer({ min: 1, max: 8 }),
  maxQueued: fc.nat({ max: 12 }),
  maxQueuedPerTenant: fc.nat({ max: 6 }),
}, { requiredKeys: [] })

/** A limit that is lower already stays. */
const lower = (witness: Witness, next: Partial<Limits>): void => {
  const names = Object.keys(next) as Array<keyof Limits>
  witness.lower(Object.fromEntries(names.map((name) => [name, Math.min(next[name]!, witness.limits[name])])))
}

const arbitraries: readonly fc.WeightedArbitrary<Command>[] = [
  { weight: 10, arbitrary: wishes.map((wish) => command(`ask(${fc.stringify(wish)})`, (it) => it.witness.ask(wish))) },
  { weight: 7, arbitrary: act("giveBack", (witness) => witness.charged, giveBack) },
  { weight: 2, arbitrary: act("leave", (witness) => witness.waiting, leave) },
  { weight: 1, arbitrary: act("leaveAnybody", (witness) => witness.entries, leave) },
  { weight: 1, arbitrary: act("giveBackAnybody", (witness) => witness.entries, giveBack) },
  { weight: 4, arbitrary: fc.constant(command("deliver", ({ witness }) => witness.deliver())) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.integer({ min: 0, max: 9 }), fc.boolean()).map(([by, ring]) =>
      command(`advance(${by}, ${ring})`, ({ witness }) => witness.advance(by, ring))
    ),
  },
  {
    weight: 1,
    arbitrary: lowerings.map((next) => command(`lower(${fc.stringify(next)})`, ({ witness }) => lower(witness, next))),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 5 }).map((units) =>
      command(`withhold(${units})`, ({ witness, withheld }) => {
        if (witness.withhold(units)) withheld.push(units)
      })
    ),
  },
  {
    weight: 2,
    arbitrary: fc.nat({ max: 3 }).map((at) =>
      command(`restore(${at})`, ({ witness, withheld }) => {
        const [units] = withheld.splice(at % Math.max(1, withheld.length), 1)
        if (units !== undefined) witness.restore(units)
      })
    ),
  },
]

const refuseAll: fc.Arbitrary<Command> = fc.constant(command("refuseAll", ({ witness }) => witness.refuseAll()))

/** Carries out random lives, each from a fresh Line to its end.  */
export const runLives = (lives: { readonly runs: number; readonly length: number; readonly seed: number }): void => {
  const commands = fc.commands([fc.oneof(...arbitraries, { weight: 1, arbitrary: refuseAll })], {
    maxCommands: lives.length,
    size: "max",
  })
  fc.assert(
    fc.property(setups, commands, (setup, life) => {
      const witness = new Witness(setup)
      fc.modelRun(() => ({ model: {}, real: { witness, withheld: [] } }), life)
      witness.finish()
    }),
    { numRuns: lives.runs, seed: lives.seed },
  )
}
