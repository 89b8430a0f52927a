/**
 * The records of tenants, providers and (tenant, provider) pairs: made on first use, forgotten when long idle.
 *
 * A pair is in use while it has a charge or a waiting ask. Up to 1,024 records less those in use are kept idle, the
 * oldest idle dropped first; a tenant's or provider's record lives exactly as long as a pair names it.
 */
import { Pair, Provider, Tenant } from "./Ask.ts"
import { Account, type Cap } from "./Ledger.ts"
import { List } from "./List.ts"

export const idleKept = 1024

/** The caps that new accounts come under. */
export interface Caps {
  readonly pair: Cap
  readonly provider: Cap
  readonly tenant: Cap
}

export class Keys {
  readonly tenants: Map<string, Tenant> = new Map()
  readonly providers: Map<string, Provider> = new Map()
  readonly #caps: Caps
  /** Pairs in the order in which they were last let go. One that is in use again stays until it is met here. */
  readonly #resting: List<Pair> = new List<Pair>()
  tenantsInUse = 0
  providersInUse = 0
  /** Of the pairs in use, those that have a provider. */
  pairsInUse = 0
  #records = 0
  #inUse = 0

  constructor(caps: Caps) {
    this.#caps = caps
  }

  /** The record of the pair if it is known. */
  find(tenant: string, provider: string | undefined): Pair | undefined {
    const owner = this.tenants.get(tenant)
    if (owner === undefined) return undefined
    const last = owner.pair
    if (last !== undefined && last.provider?.key === provider) return last
    const pair = owner.pairs?.get(provider)
    if (pair !== undefined) owner.pair = pair
    return pair
  }

  /** Makes the record of a pair that {@link find} did not know. `weight` counts where the tenant is new as well. */
  make(tenantKey: string, providerKey: string | undefined, weight: number): Pair {
    this.#records++
    this.#trim()
    const tenant = this.tenants.get(tenantKey) ?? this.#makeTenant(tenantKey, weight)
    const provider = providerKey === undefined
      ? undefined
      : this.providers.get(providerKey) ?? this.#makeProvider(providerKey)
    const pair = new Pair(tenant, provider, provider === undefined ? undefined : new Account(this.#caps.pair))
    if (provider !== undefined) provider.pairs++
    if (tenant.pair !== undefined && tenant.pairs === undefined) {
      tenant.pairs = new Map([[tenant.pair.provider?.key, tenant.pair]])
    }
    tenant.pairs?.set(providerKey, pair)
    tenant.pair = pair
    this.#resting.push(pair)
    return pair
  }

  /** One more charge or waiting ask. */
  hold(pair: Pair): void {
    if (pair.uses++ > 0) return
    this.#inUse++
    if (pair.tenant.pairsInUse++ === 0) this.tenantsInUse++
    if (pair.provider === undefined) return
    this.pairsInUse++
    if (pair.provider.pairsInUse++ === 0) this.providersInUse++
  }

  /** One less. */
  drop(pair: Pair): void {
    if (--pair.uses > 0) return
    this.#inUse--
    if (--pair.tenant.pairsInUse === 0) this.tenantsInUse--
    if (pair.provider !== undefined) {
      this.pairsInUse--
      if (--pair.provider.pairsInUse === 0) this.providersInUse--
    }
    this.#resting.rotate(pair)
    this.#trim()
  }

  /**
   * Nobody waits any more, and another line may come to stand on the same records: it must not find the groups and turns of
   * the last one, whose steps and spells are not its own. O(records).
   */
  clearPlaces(): void {
    for (const { groups, tenant } of this.pairs()) {
      groups.fill(undefined)
      tenant.turns.fill(undefined)
    }
  }

  *pairs(): IterableIterator<Pair> {
    for (const tenant of this.tenants.values()) {
      if (tenant.pairs !== undefined) yield* tenant.pairs.values()
      else if (tenant.pair !== undefined) yield tenant.pair
    }
  }

  /** Records of pairs that are not in use. */
  get idle(): number {
    return this.#records - this.#inUse
  }

  /** Forgets the longest idle while there are more records than may be kept. */
  #trim(): void {
    while (this.#records > idleKept) {
      const oldest = this.#resting.head
      // All that remain are in use, or about to be.
      if (oldest === undefined) return
      if (oldest.uses > 0) this.#resting.remove(oldest)
      else this.#forget(oldest)
    }
  }

  /** Forgets a record that {@link make} made for an ask that was then refused, unless it has gone or is in use. */
  unmake(pair: Pair): void {
    if (pair.uses === 0 && pair.list !== undefined) this.#forget(pair)
  }

  #forget(pair: Pair): void {
    this.#resting.remove(pair)
    this.#records--
    const { provider, tenant } = pair
    if (provider !== undefined && --provider.pairs === 0) this.providers.delete(provider.key)
    tenant.pairs?.delete(provider?.key)
    tenant.pair = tenant.pairs?.values().next().value
    if (tenant.pair === undefined) this.tenants.delete(tenant.key)
  }

  #makeTenant(key: string, weight: number): Tenant {
    const tenant = new Tenant(key, weight, new Account(this.#caps.tenant))
    this.tenants.set(key, tenant)
    return tenant
  }

  #makeProvider(key: string): Provider {
    const provider = new Provider(key, new Account(this.#caps.provider))
    this.providers.set(key, provider)
    return provider
  }
}
