/** The gate's one step: the decision table, all or nothing, and the places that may be lent. */
import { assert, describe, it } from "vitest"
import { type Entry, Gate, type GateLimits, type GateRules } from "../../core/kernel/Gate.ts"
import type { Class } from "../../core/kernel/Ledger.ts"
import { classes } from "../../core/kernel/Ledger.ts"

const rules: GateRules = {
  failureThreshold: 1,
  recoveryNanos: 100,
  probeNanos: 50,
  applyStale: false,
  reservedForTenantControl: false,
  reservedProbe: false,
}
const limits: GateLimits = { concurrency: 4, reservedControl: 1, tenantConcurrency: 2 }
const [emergency, control, normal, notification] = classes as readonly [Class, Class, Class, Class]

/** A gate and the two steps that a test takes with it. */
const gateOf = (given: Partial<GateLimits & GateRules> = {}) => {
  const gate = new Gate({ ...limits, ...given }, { ...rules, ...given })
  const pair = (tenant: string) => gate.keys.find(tenant, undefined) ?? gate.keys.make(tenant, undefined, 1)
  const ask = (tenant: string, arrival: Class, now = 0): Entry | string => {
    const refusal = gate.refusal(pair(tenant), arrival, now)
    if (refusal !== undefined) return refusal.kind === "open" ? "open" : refusal.scope
    return gate.enter(pair(tenant), arrival, now)
  }
  const must = (tenant: string, arrival: Class, now = 0): Entry => {
    const entry = ask(tenant, arrival, now)
    if (typeof entry === "string") throw new Error(`refused: ${entry}`)
    return entry
  }
  const end = (entry: Entry, verdict: "success" | "failure" | "neutral", now = 0): void => {
    gate.judge(entry, verdict, now)
    gate.leave(entry)
  }
  return { gate, ask, must, end }
}
const state = (gate: Gate) => ({
  used: gate.total.used,
  units: [...gate.total.units],
  tenants: [...gate.keys.tenants].map(([key, each]) => [key, each.account.used]),
  inUse: gate.keys.tenantsInUse,
  active: gate.tenantsActive,
  circuit: gate.circuit.state,
  failures: gate.circuit.failures,
  generation: gate.circuit.generation,
})

describe("the decision table", () => {
  type Answers = readonly [string, string, string, string]
  /** Each check failing alone; what an emergency, control, normal and notification ask of tenant "a" is told. */
  const table: ReadonlyArray<readonly [string, (g: ReturnType<typeof gateOf>) => void, Answers]> = [
    ["circuit", (g) => g.end(g.must("x", normal), "failure", 0), ["open", "open", "open", "open"]],
    ["ordinary share", (g) => {
      for (const tenant of ["x", "y", "z"]) g.must(tenant, normal)
    }, ["in", "in", "ordinary", "ordinary"]],
    ["provider places", (g) => {
      for (const tenant of ["x", "x", "y", "y"]) g.must(tenant, control)
    }, ["provider", "provider", "provider", "provider"]],
    ["tenant places", (g) => {
      g.must("a", normal)
      g.must("a", normal)
    }, ["in", "tenant", "tenant", "tenant"]],
    ["nothing", () => {}, ["in", "in", "in", "in"]],
  ]
  for (const [check, fill, answers] of table) {
    for (const arrival of classes) {
      it(`PG-4 PG-7 PG-28 PG-29: with the check of ${check} failing, class ${arrival} is told: ${answers[arrival]}`, () => {
        const g = gateOf()
        fill(g)
        const tenant = g.gate.keys.find("a", undefined) ?? g.gate.keys.make("a", undefined, 1)
        const before = state(g.gate)
        const refusal = g.gate.refusal(tenant, arrival, 0)
        assert.deepStrictEqual(state(g.gate), before)
        const answer = refusal === undefined ? "in" : refusal.kind === "open" ? "open" : refusal.scope
        assert.strictEqual(answer, answers[arrival])
      })
    }
  }

  it("PG-7: of several checks that fail the first is told", () => {
    const g = gateOf({ concurrency: 2, tenantConcurrency: 1 })
    const first = g.must("a", normal)
    // Ordinary share and tenant.
    assert.strictEqual(g.ask("a", normal), "ordinary")
    assert.strictEqual(g.ask("a", control), "tenant")
    g.must("b", control)
    // All three.
    assert.strictEqual(g.ask("a", normal), "ordinary")
    assert.strictEqual(g.ask("a", control), "provider")
    g.gate.judge(first, "failure", 0)
    for (const arrival of classes) assert.strictEqual(g.ask("a", arrival), "open")
  })

  it("PG-7: a tenant without a record is answered as one that holds nothing", () => {
    const g = gateOf({ concurrency: 2 })
    assert.isUndefined(g.gate.refusal(undefined, normal, 0))
    g.must("x", normal)
    assert.deepStrictEqual(g.gate.refusal(undefined, normal, 0), { kind: "full", scope: "ordinary" })
    assert.strictEqual(g.gate.keys.tenants.size, 1)
  })
})

describe("a permit", () => {
  it("PG-1 PG-2 PG-3 PG-15: charges each of its places once and gives each back once", () => {
    for (const arrival of classes) {
      for (const verdict of ["success", "neutral"] as const) {
        const g = gateOf()
        const before = state(g.gate)
        const entry = g.must("a", arrival)
        assert.deepStrictEqual([g.gate.total.used, g.gate.tenantsActive], [1, 1])
        assert.strictEqual(g.gate.keys.tenants.get("a")!.account.used, arrival === emergency ? 0 : 1)
        g.end(entry, verdict)
        const after = state(g.gate)
        assert.deepStrictEqual(after, { ...before, tenants: [["a", 0]] })
        assert.isFalse(g.gate.leave(entry))
        g.gate.judge(entry, "failure", 0)
        assert.deepStrictEqual(state(g.gate), after)
      }
    }
  })

  it("PG-14 PG-7: is no probe where a place is missing: the mark is still there for the next", () => {
    const g = gateOf({ concurrency: 2 })
    const straggler = g.must("x", normal)
    g.end(g.must("y", control), "failure", 1_000)
    assert.strictEqual(g.ask("a", normal, 1_100), "ordinary")
    assert.strictEqual(g.gate.circuit.state, "open")
    const probe = g.must("a", control, 1_100)
    assert.isTrue(probe.pass.probe)
    assert.strictEqual(g.ask("b", emergency, 1_101), "open")
    g.end(probe, "neutral")
    g.end(straggler, "failure", 1_101)
    assert.isTrue(g.must("a", normal, 1_101).pass.probe)
  })
})

describe("the extra place", () => {
  it("PG-50: control of a tenant at its bound uses one reserved place, never two", () => {
    const g = gateOf({ concurrency: 8, reservedControl: 3, tenantConcurrency: 1, reservedForTenantControl: true })
    g.must("a", normal)
    assert.strictEqual(g.ask("a", normal), "tenant")
    const extra = g.must("a", control)
    assert.isTrue(extra.extra)
    assert.strictEqual(g.ask("a", control), "tenant")
    assert.isFalse(g.must("b", control).extra)
    assert.isTrue(g.must("b", control).extra)
    g.end(extra, "success")
    assert.isTrue(g.must("a", control).extra)
    assert.strictEqual(g.gate.total.used, 4)
  })

  it("PG-50: there are no more extra places than are reserved, and none by default", () => {
    const g = gateOf({ concurrency: 8, reservedControl: 1, tenantConcurrency: 1, reservedForTenantControl: true })
    for (const tenant of ["a", "b"]) g.must(tenant, control)
    assert.isTrue(g.must("a", control).extra)
    assert.strictEqual(g.ask("b", control), "tenant")
    const none = gateOf({ reservedControl: 0, tenantConcurrency: 1, reservedForTenantControl: true })
    none.must("a", control)
    assert.strictEqual(none.ask("a", control), "tenant")
    const off = gateOf({ tenantConcurrency: 1 })
    off.must("a", control)
    assert.strictEqual(off.ask("a", control), "tenant")
  })

  it("PG-50 PG-3: goes back as what it was taken as, whatever the tenant holds by then", () => {
    const g = gateOf({ concurrency: 8, reservedControl: 2, tenantConcurrency: 1, reservedForTenantControl: true })
    const first = g.must("a", normal)
    const extra = g.must("a", control)
    g.end(first, "success")
    const second = g.must("a", normal)
    assert.strictEqual(g.ask("a", normal), "tenant")
    g.end(extra, "success")
    assert.strictEqual(g.ask("a", normal), "tenant")
    g.end(second, "success")
    assert.strictEqual(g.gate.total.used, 0)
    assert.strictEqual(g.gate.keys.tenants.get("a")!.account.used, 0)
  })

  it("PG-50: is in use for as long as its call is, whichever of the tenant's others end meanwhile", () => {
    const g = gateOf({ concurrency: 8, reservedControl: 3, tenantConcurrency: 1, reservedForTenantControl: true })
    const first = g.must("a", normal)
    assert.isTrue(g.must("a", control).extra)
    g.end(first, "success")
    assert.isFalse(g.must("a", control).extra)
    assert.strictEqual(g.ask("a", control), "tenant")
  })
})

describe("a reserved place for the probe", () => {
  const full = (reservedProbe: boolean) => {
    const g = gateOf({ concurrency: 2, reservedProbe })
    g.must("x", normal)
    g.end(g.must("y", control), "failure", 1_000)
    return g
  }

  it("PG-55: lets ordinary work probe when ordinary places are full, and off by default it does not", () => {
    assert.strictEqual(full(false).ask("a", normal, 1_100), "ordinary")
    for (const arrival of [normal, notification]) {
      const g = full(true)
      assert.strictEqual(g.ask("a", arrival, 1_099), "open")
      const probe = g.must("a", arrival, 1_100)
      assert.isTrue(probe.pass.probe)
      assert.strictEqual(g.ask("b", arrival, 1_101), "open")
      g.end(probe, "success")
      assert.strictEqual(g.ask("b", arrival, 1_101), "ordinary")
    }
  })

  it("PG-55 PG-1 PG-3: is not one more place, nor one more of the tenant", () => {
    const g = full(true)
    assert.strictEqual(g.gate.total.used, 1)
    g.must("a", normal, 1_100)
    assert.strictEqual(g.gate.total.used, 2)
    const crowded = gateOf({ concurrency: 2, reservedProbe: true })
    const failing = crowded.must("x", normal)
    crowded.must("y", control)
    crowded.gate.judge(failing, "failure", 1_000)
    assert.strictEqual(crowded.ask("a", normal, 1_100), "provider")
    const bound = gateOf({ concurrency: 4, reservedControl: 2, tenantConcurrency: 1, reservedProbe: true })
    bound.must("a", normal)
    bound.end(bound.must("y", normal), "failure", 1_000)
    assert.strictEqual(bound.ask("a", normal, 1_100), "tenant")
  })

  it("PG-55 PG-28: is one place, however many lost probes keep theirs", () => {
    const g = gateOf({ concurrency: 4, reservedControl: 3, tenantConcurrency: 4, reservedProbe: true })
    g.end(g.must("y", control), "failure", 1_000)
    const own = g.must("a", normal, 1_100)
    // Each outlives its lease and stays.
    const lent = g.must("a", notification, 1_200)
    assert.isTrue(own.pass.probe && lent.pass.probe)
    assert.strictEqual(g.ask("a", normal, 1_300), "ordinary")
    assert.strictEqual(g.gate.total.used, 2)
    assert.isTrue(g.must("a", control, 1_400).pass.probe)
    // Which of the two ends is all one: the other is then within the share.
    g.end(own, "neutral")
    g.must("a", normal, 1_500)
    assert.strictEqual(g.ask("a", normal, 1_600), "ordinary")
    assert.isTrue(g.must("a", emergency, 1_700).pass.probe)
  })
})

describe("lower limits", () => {
  it("PG-51: are measured by what is used of each, and put in force together", () => {
    const g = gateOf({ concurrency: 4, reservedControl: 1, tenantConcurrency: 2 })
    for (const tenant of ["a", "a", "b"]) g.must(tenant, normal)
    assert.deepStrictEqual(g.gate.firstAbove({ ...limits, concurrency: 2 }), { name: "total", limit: 2, use: 3 })
    assert.deepStrictEqual(g.gate.firstAbove({ ...limits, concurrency: 3 }), { name: "total", limit: 2, use: 3 })
    assert.deepStrictEqual(g.gate.firstAbove({ ...limits, tenantConcurrency: 1 }), { name: "tenant", limit: 1, use: 2 })
    const next = { concurrency: 3, reservedControl: 0, tenantConcurrency: 2 }
    assert.isUndefined(g.gate.firstAbove(next))
    g.gate.lower(next, { failureThreshold: 1, recoveryNanos: 10 })
    assert.strictEqual(g.ask("c", emergency), "provider")
    g.gate.circuit.fail(g.gate.circuit.pass(0), 0)
    assert.strictEqual(g.gate.circuit.retryNanos(0), 10)
  })

  it("PG-51: bind whoever comes from then on, a tenant's too", () => {
    const g = gateOf()
    g.must("a", normal)
    g.gate.lower({ ...limits, tenantConcurrency: 1 }, {})
    assert.strictEqual(g.ask("a", normal), "tenant")
    g.must("b", normal)
  })

  it("PG-51 PG-55: are not in the way of a probe that has one place more, where they do not fall", () => {
    const own = { concurrency: 2, reservedControl: 1, tenantConcurrency: 2 }
    const g = gateOf({ ...own, reservedProbe: true })
    g.must("x", normal)
    g.end(g.must("y", control), "failure", 1_000)
    assert.isTrue(g.must("a", normal, 1_100).pass.probe)
    assert.isUndefined(g.gate.firstAbove(own))
    assert.isUndefined(g.gate.firstAbove({ ...own, reservedControl: 0, tenantConcurrency: 1 }))
    assert.deepStrictEqual(g.gate.firstAbove({ ...own, concurrency: 1 }), { name: "total", limit: 1, use: 2 })
  })

  it("PG-51 PG-50: keep the reserve of a tenant's extra place while it is in use", () => {
    const own = { concurrency: 3, reservedControl: 1, tenantConcurrency: 1 }
    const g = gateOf({ ...own, reservedForTenantControl: true })
    g.must("a", normal)
    const extra = g.must("a", control)
    assert.deepStrictEqual(g.gate.firstAbove({ ...own, reservedControl: 0 }), { name: "total", limit: 0, use: 1 })
    assert.isUndefined(g.gate.firstAbove(own))
    g.end(extra, "neutral")
    assert.isUndefined(g.gate.firstAbove({ ...own, reservedControl: 0 }))
  })
})
