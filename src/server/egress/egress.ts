import {
  UPSTREAM_ANSWERS_BYTES_MAX,
  UPSTREAM_LONG_CALLS_DEFAULT,
  UPSTREAM_CONNECTIONS_MAX,
  UPSTREAM_HEADERS_BYTES_MAX,
  UPSTREAM_KEEP_ALIVE_MS,
  UPSTREAM_WAITING_MAX,
} from '../../schemas/models/provider-limits.ts'
import { VETTED_ANSWERS_BYTES_MAX } from '../../schemas/egress/egress-limits.ts'
import type {
  Egress,
  TrustedOrigin,
  EgressAnswer,
  EgressExchange,
  EgressExchangeRequest,
  EgressRequest,
  EgressStream,
  EgressStreamRequest,
} from '../ports/egress/egress.ts'
import { AnswerBudget } from './answer-budget.ts'
import { leanConnectors, trustedConnector, trustedLongConnector, trustOf, type Connect } from './connect.ts'
import { Lookups, resolveBySystem, type Resolve } from './lookups.ts'
import { VettedOrigins } from './vetted.ts'
import { LongPlaces, PooledOrigin, plainly } from './origin.ts'
import { fail, type Outcome } from '../../schemas/failures.ts'
import { type OwnPorts, AllowList } from './addresses.ts'

export interface EgressOptions {
  /** PEM roots of the operator, in addition to those of Node. */
  readonly extraCa?: readonly string[]
  /** Entries of SLUICE_EGRESS_ALLOW, checked at the start. */
  readonly allow?: readonly string[]
  /** Ports that callers can never reach, whatever the allow-list permits. */
  readonly own?: OwnPorts
  /** Resolves the names that callers choose; tests supply their own answers. */
  readonly resolve?: Resolve
  /** Bytes of answers held at once; tests set a smaller number. */
  readonly answersBytesMax?: number
  /** Long calls at once over all trusted origins: SLUICE_STREAMS. */
  readonly longCallsMax?: number
  /** False: undici makes all calls. Tests check that both clients behave alike. */
  readonly isLean?: boolean
  /** True in tests: lent bytes are overwritten at the end of each turn, which shows code that keeps them. */
  readonly isPoisoned?: boolean
  /** Memory into which answers of calls are read, and in which the scan reads them too; absent: memory of the gate. */
  readonly readMemory?: Uint8Array
}

/** Opens the only gate to the outside: no other module makes outgoing HTTP connections. Design §9. */
export function openEgress({
  extraCa = [],
  allow = [],
  own = { node: [], stores: [], admin: () => new Set() },
  resolve = resolveBySystem,
  answersBytesMax = UPSTREAM_ANSWERS_BYTES_MAX,
  longCallsMax = UPSTREAM_LONG_CALLS_DEFAULT,
  isLean = true,
  isPoisoned = false,
  readMemory,
}: EgressOptions = {}): Egress {
  const budget = new AnswerBudget(answersBytesMax)
  const trust = trustOf(extraCa)
  const ofTrusted = {
    budget,
    connect: trustedConnector(trust),
    connectLong: trustedLongConnector(trust),
    lean: isLean ? leanConnectors(trust, { readMemory, isPoisoned }) : null,
    places: new LongPlaces(longCallsMax),
    longCallsMax,
  }
  const origins = new Map<string, SplitOrigin>()
  const vetting = { allowList: new AllowList(allow), lookups: new Lookups(resolve), own }
  // A separate budget: a destination can announce an answer as large as the whole budget and never send it.
  const vettedBudget = new AnswerBudget(Math.min(VETTED_ANSWERS_BYTES_MAX, answersBytesMax))
  const vetted = new VettedOrigins({ budget: vettedBudget, trust, vetting })
  return {
    trusted(origin: string): TrustedOrigin {
      const known = origins.get(origin)
      if (known !== undefined) return known
      const opened = new SplitOrigin(origin, ofTrusted)
      origins.set(origin, opened)
      return opened
    },
    vetted: (destination) => vetted.origin(destination),
    hold: (bytes, caller) => budget.hold(bytes, caller),
    room: (caller, isVetted) => (isVetted ? vettedBudget : budget).room(caller),
    get load() {
      let { calls } = vetted
      for (const origin of origins.values()) calls += origin.calls
      return { heldBytes: budget.heldBytes + vettedBudget.heldBytes, calls }
    },
    async close() {
      await Promise.all([vetted.close(), ...[...origins.values()].map((origin) => origin.destroy())])
    },
  }
}

export interface TrustedDeps {
  readonly budget: AnswerBudget
  readonly connect: Connect
  /** For long calls. */
  readonly connectLong: Connect
  /** Connectors of Sluice's own HTTP client, for calls and for long calls; null: undici makes all calls. */
  readonly lean: { readonly calls: Connect; readonly long: Connect } | null
  readonly places: LongPlaces
  /** Maximum of connections for long calls. */
  readonly longCallsMax: number
}

/**
 * A trusted origin: one pool for calls and a separate pool for long calls, so that answers that take minutes
 * do not occupy the connections of other calls. A long call never waits for a connection: its pool has one for
 * each place in `LongPlaces`.
 */
export class SplitOrigin implements TrustedOrigin {
  readonly #origin: string
  readonly #deps: TrustedDeps
  readonly #calls: PooledOrigin
  #long: PooledOrigin | null = null

  constructor(origin: string, deps: TrustedDeps) {
    this.#origin = origin
    this.#deps = deps
    this.#calls = new PooledOrigin(origin, {
      budget: deps.budget,
      connect: deps.connect,
      connectLean: deps.lean?.calls ?? null,
      limits: {
        connections: UPSTREAM_CONNECTIONS_MAX,
        waiting: UPSTREAM_WAITING_MAX,
        keepAliveTimeout: UPSTREAM_KEEP_ALIVE_MS,
      },
    })
  }

  /** Calls of both pools that a client has not finished with. */
  get calls(): number {
    return this.#calls.calls + (this.#long?.calls ?? 0)
  }

  call(request: EgressRequest): Promise<Outcome<EgressAnswer>> {
    return request.isLong === true ? this.#longPool().call(request) : this.#calls.call(request)
  }

  open(request: EgressStreamRequest): Promise<Outcome<EgressStream>> {
    return this.#calls.open(request)
  }

  exchange(request: EgressExchangeRequest): Promise<Outcome<EgressExchange>> {
    // A path that does not begin with a slash could name another authority.
    if (!request.path.startsWith('/')) return Promise.resolve(fail('header_invalid'))
    return this.#longPool().exchange({ ...request, headers: plainly(request.headers) })
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#calls.destroy(), this.#long?.destroy()])
  }

  #longPool(): PooledOrigin {
    const { budget, connectLong: connect, lean, places, longCallsMax } = this.#deps
    this.#long ??= new PooledOrigin(this.#origin, {
      budget,
      connect,
      connectLean: lean?.long ?? null,
      places,
      limits: {
        connections: longCallsMax,
        waiting: 0,
        keepAliveTimeout: UPSTREAM_KEEP_ALIVE_MS,
        maxHeaderSize: UPSTREAM_HEADERS_BYTES_MAX,
      },
    })
    return this.#long
  }
}
