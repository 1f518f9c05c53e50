import { LRUCache } from 'lru-cache'
import { RATE_LEASES_MAX } from '../../schemas/limits/rate-limits.ts'
import { burstOf } from '../../schemas/values/rate-burst.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'
import type { Meters } from '../ports/observe.ts'
import type { FrontCount, RateAuthority } from '../ports/rates.ts'
import { TokenLease } from './token-lease.ts'
import { UNLIMITED, type Admitted } from './admitted.ts'

export interface AdmissionOptions {
  readonly authority: RateAuthority
  readonly fronts: FrontCount
  /** Monotonic milliseconds, of the same clock as `authority.lastAnswerAt`. */
  readonly now: () => number
  /** `Date.now`, for the reset instants in replies. */
  readonly epochNow?: () => number
  /** Runs a function at the end of this turn of the loop. */
  readonly schedule?: (flush: () => void) => void
  /** Calls a function after this many milliseconds. */
  readonly later?: (run: () => void, ms: number) => void
  readonly leasesMax?: number
  /** Burst of keys without their own; absent or null: derived from the limit as in C11. */
  readonly burst?: number | null
  readonly meters?: Pick<Meters, 'rateDecision'>
}

/** The limits stage: one rate token for each call of a limited operation, before its body is read. */
export interface Admission {
  /**
   * Returns at once while the key's local tokens or a known refusal last; otherwise a promise that settles
   * within RATE_WAIT_MS_MAX and never rejects. Failure: `rate_limited`.
   */
  admit(key: KeyRecord): Admitted | Promise<Admitted>
}

/** Creates the limits stage of one front. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { authority, fronts, now, epochNow = Date.now, schedule = setImmediate } = options
  const { leasesMax = RATE_LEASES_MAX, meters = { rateDecision() {} }, later = setTimeout } = options
  const { burst: byDefault = null } = options
  let requesting: TokenLease[] = []
  let forgotAt = 0
  const flush = (): void => {
    const leases = requesting
    requesting = []
    for (const lease of leases) void lease.flush()
  }
  const deps = {
    authority,
    fronts,
    now,
    epochNow,
    meters,
    forgotAt: () => forgotAt,
    later,
    request(lease: TokenLease) {
      // The requests for tokens of one turn of the loop are sent together, in one write.
      if (requesting.push(lease) === 1) schedule(flush)
    },
  }
  const leases = new LRUCache<string, TokenLease>({
    max: leasesMax,
    // A lease that was evicted must not start again with a free burst while the authority is unavailable.
    dispose: (_lease, _key, reason) => {
      if (reason === 'evict') forgotAt = now()
    },
  })
  return {
    admit(key) {
      const { rateLimitRpm: limitRpm } = key
      if (limitRpm === null) return UNLIMITED
      const burst = burstOf(limitRpm, key.rateLimitBurst ?? byDefault)
      let lease = leases.get(key.hash)
      if (lease === undefined || lease.limitRpm !== limitRpm || lease.burst !== burst) {
        lease = new TokenLease(deps, { key: key.hash, limitRpm, burst })
        leases.set(key.hash, lease)
      }
      const at = now()
      return lease.take(at) ?? lease.refill(at)
    },
  }
}
