/**
 * G. Who is served: one party sends 10,000 requests at once, then another sends ten; and a tenant splits itself.
 *
 * 64 permits are shared, and a request holds its permit for one turn of the loop. The figure of a flood is how many of its
 * requests had started before the last of the ten did: 74 in rotation, 10,000 first come first served. The worst of three
 * runs counts. A run fails if more than 64 were at work at once.
 */
import * as Effect from "effect/Effect"
import { RotatingLimit } from "../Floors.ts"
import { countdown, gate, settled, turn } from "../Gate.ts"
import * as Holdfast from "../Holdfast.ts"
import { effectPeers, type Key, leaseFloor, type OpenEffect, type OpenPromise, promisePeers } from "../Peers.ts"
import type { Emit } from "../Row.ts"

const permits = 64
const flood = 10_000
const few = 10

type Work = () => Promise<void>
/** Sends one request; it is not waited for. */
type Send = (key: Key, work: Work) => void
type Open = () => Promise<Send>

const effects = (open: OpenEffect): Open => async () => {
  const bulkhead = await open(permits)
  return (key, work) => void Effect.runFork(bulkhead.run(key, Effect.promise(work)))
}

const promises = (open: OpenPromise): Open => async () => {
  const { run } = await open(permits)
  return (_, work) => void run(work)
}

const rotating: Open = () => {
  const limit = new RotatingLimit(permits)
  return Promise.resolve((key, work) => limit.acquire(key.tenant, () => void work().then(() => limit.release())))
}

/** How many requests of `many` had started when the last of the ten of `small` did. */
const race = async (open: Open, many: Key, small: Key): Promise<number> => {
  const send = await open()
  const all = countdown(flood + few)
  let started = 0
  let left = few
  let before = NaN
  let live = 0
  let most = 0
  const at = (start: () => void): Work => async () => {
    most = Math.max(most, ++live)
    start()
    await turn()
    live--
    all.one()
  }
  const one = at(() => started++)
  const other = at(() => {
    if (--left === 0) before = started
  })
  for (let i = 0; i < flood; i++) send(many, one)
  for (let i = 0; i < few; i++) send(small, other)
  await all.reached
  if (most > permits) {
    throw new Error(`${most} at work under a cap of ${permits}`)
  }
  return before
}

/** The share of a tenant that sends through 100 providers against one that sends as much through one. */
const split = async (open: Open): Promise<number> => {
  const each = 5000
  const send = await open()
  const held = gate()
  const all = countdown(2 * each)
  let ours = 0
  let served = 0
  let share = NaN
  for (let i = 0; i < permits; i++) {
    send({ tenant: "holder", provider: "p" }, () => held.opened)
  }
  const work = (mine: number): Work => async () => {
    ours += mine
    if (++served === each) share = ours / served
    await turn()
    all.one()
  }
  const mine = work(1)
  const theirs = work(0)
  for (let i = 0; i < each; i++) {
    send({ tenant: "split", provider: `p-${i % 100}` }, mine)
    send({ tenant: "whole", provider: "p" }, theirs)
  }
  await settled()
  held.open()
  await all.reached
  return share
}

const times = 3
const repeat = async (
  once: () => Promise<number>,
): Promise<ReadonlyArray<number>> => {
  const seen: Array<number> = []
  for (let i = 0; i < times; i++) seen.push(await once())
  return seen
}

/** A peer that knows one key only is asked by tenant; where a tenant is split, the key is all there is to split. */
const splitKey = (open: Open): Open => async () => {
  const send = await open()
  return ({ tenant, provider }, work) => send({ tenant: `${tenant}/${provider}`, provider }, work)
}

export const measure = async (emit: Emit): Promise<void> => {
  const bystanders: ReadonlyArray<readonly [string, Open]> = [
    ["rotating limit", rotating],
    ["lease floor", effects(leaseFloor)],
    ...Object.entries(effectPeers).map(([name, open]) => [name, effects(open)] as const),
    ...Object.entries(promisePeers).map(([name, open]) => [name, promises(open)] as const),
  ]
  const tenant = (name: string): Key => ({
    tenant: name,
    provider: "provider",
  })
  const provider = (name: string): Key => ({
    tenant: "tenant",
    provider: name,
  })
  const floodCase = (of: string): string => `served of a flood of 10,000 before the tenth of the other ${of}`
  const splitCase = "share of a tenant split over 100 providers"
  const subject = effects(Holdfast.open)
  const worst = async (
    name: string,
    of: string,
    open: Open,
    many: Key,
    small: Key,
  ): Promise<void> => {
    const seen = await repeat(() => race(open, many, small))
    emit({
      group: "G",
      subject: name,
      case: floodCase(of),
      figure: Math.max(...seen),
    })
  }
  const shares = async (name: string, open: Open): Promise<void> => {
    const seen = await repeat(() => split(open))
    const farthest = seen.toSorted((a, b) => Math.abs(b - 0.5) - Math.abs(a - 0.5))[0]
    emit({
      group: "G",
      subject: name,
      case: splitCase,
      figure: farthest ?? NaN,
    })
  }
  await worst(Holdfast.name, "tenant", subject, tenant("flood"), tenant("few"))
  await worst(
    Holdfast.name,
    "provider",
    subject,
    provider("flood"),
    provider("few"),
  )
  for (const [name, open] of bystanders) {
    await worst(name, "tenant", open, tenant("flood"), tenant("few"))
  }
  await shares(Holdfast.name, subject)
  const keyed = effectPeers["Effect PartitionedSemaphore"]
  if (keyed !== undefined) {
    await shares("Effect PartitionedSemaphore", splitKey(effects(keyed)))
  }
}
