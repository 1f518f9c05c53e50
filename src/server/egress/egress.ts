import {
  UPSTREAM_ANSWERS_BYTES_MAX,
  UPSTREAM_LONG_CALLS_DEFAULT,
} from '../../schemas/models/provider-limits.ts'
import { VETTED_ANSWERS_BYTES_MAX } from '../../schemas/egress/egress-limits.ts'
import type { Egress, TrustedOrigin } from '../ports/egress/egress.ts'
import { AllowList } from './allow-list.ts'
import { AnswerBudget } from './answer-budget.ts'
import { leanConnectors, trustedConnector, trustedLongConnector, trustOf } from './connect.ts'
import { Lookups, resolveBySystem, type Resolve } from './lookups.ts'
import { LongPlaces } from './long-places.ts'
import type { OwnPorts } from './own-addresses.ts'
import { SplitOrigin } from './trusted.ts'
import { VettedOrigins } from './vetted.ts'

export interface EgressOptions {
  /** PEM roots of the operator, beside those of Node. */
  readonly extraCa?: readonly string[]
  /** Entries of SLUICE_EGRESS_ALLOW, checked at the start. */
  readonly allow?: readonly string[]
  /** Ports that callers never reach, whatever the allow-list admits. */
  readonly own?: OwnPorts
  /** Resolves the names that callers choose; tests supply answers of their own. */
  readonly resolve?: Resolve
  /** Bytes of answers held at once; tests set a smaller number. */
  readonly answersBytesMax?: number
  /** Long calls at once over all trusted origins: SLUICE_STREAMS. */
  readonly longCallsMax?: number
  /** False: undici makes all calls. Tests hold both clients to the same. */
  readonly isLean?: boolean
  /** Lent bytes are overwritten at the end of each turn: tests see who keeps them. */
  readonly isPoisoned?: boolean
  /** Memory into which answers of calls are read, where the scan reads them too; absent: memory of the gate. */
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
  // A budget of its own: a destination can announce an answer that takes all of it, and never send it.
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
