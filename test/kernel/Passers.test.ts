import { describe, expect, it } from "vitest"
import { Group, Pair, Tenant } from "../../core/kernel/Ask.ts"
import { Account, Cap } from "../../core/kernel/Ledger.ts"
import { Passers } from "../../core/kernel/Passers.ts"

const pair = new Pair(new Tenant("t", 1, new Account(new Cap("tenant", 9))), undefined, undefined)
const needing = (need: number): Group => Object.assign(new Group(pair, 2), { need })

describe("those who could pass a head", () => {
  it("AD-14: are first by when they came, among those that fit, whatever they need", () => {
    const passers = new Passers()
    const [large, small, middle] = [needing(3), needing(1), needing(2)]
    for (const group of [large, small, middle]) passers.add(group)
    expect([3, 2, 1, 0].map((room) => passers.first(room))).toEqual([large, small, small, undefined])
    passers.remove(small)
    expect([3, 2, 1].map((room) => passers.first(room))).toEqual([large, middle, undefined])
  })

  it("AD-14: are behind all others when they come back, with what their heads need then", () => {
    const passers = new Passers()
    const [first, second] = [needing(2), needing(2)]
    for (const group of [first, second]) passers.add(group)
    passers.remove(first)
    first.need = 1
    passers.add(first)
    expect([2, 1].map((room) => passers.first(room))).toEqual([second, first])
    passers.remove(second)
    passers.remove(first)
    expect(passers.first(9)).toBe(undefined)
  })

  it("are not looked for where they never were", () => {
    const passers = new Passers()
    passers.remove(needing(1))
    expect(passers.first(1)).toBe(undefined)
  })
})
