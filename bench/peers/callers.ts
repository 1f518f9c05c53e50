/** Keys in memory: the caller, the rate and the spend. A gateway without a store would have the same. */
import { hashOfKey, type KeyKind } from '../../src/schemas/keys/api-keys.ts'
import type { Failure } from '../../src/schemas/failures.ts'
import { burstOf } from '../../src/schemas/values/rate-burst.ts'
import { FOREIGN, hashOfBearer, MISSING } from '../../src/server/access/access.ts'
import { freeOf, takeOne, windowOf, type Window } from '../../src/server/limits/gcra.ts'
import { admittedOf, refusedOf } from '../../src/server/limits/admitted.ts'
import type { ProxyKey } from './settings.ts'

export interface Caller {
  readonly kind: KeyKind
  readonly limitRpm: number | null
  readonly limitNano: number | null
  readonly window: Window | null
  /** Nano-USD held for running calls, at their bounds. */
  heldNano: number
  spentNano: number
  calls: number
  tokens: number
}

/** Result of the first two stages: the caller, and the limit headers of every answer. */
export type Entry =
  | { readonly caller: Caller; readonly failure: null; readonly headers: LimitHeaders }
  | { readonly caller: null; readonly failure: Failure; readonly headers: LimitHeaders }

type LimitHeaders = Readonly<Record<string, string>> | null

export class Callers {
  readonly #byHash: ReadonlyMap<string, Caller>

  constructor(keys: readonly ProxyKey[]) {
    this.#byHash = new Map(keys.map((one) => [hashOfKey(one.key), callerOf(one)]))
  }

  /**
   * Finds the caller by the key's hash, as the product does: no secret is compared, so that no timing reveals
   * one.
   */
  enter(authorization: string): Entry {
    const hash = hashOfBearer(authorization)
    if (hash === MISSING)
      return refused({ name: 'credentials_missing', fields: { header: 'Authorization: Bearer <key>' } })
    const caller = hash === FOREIGN ? undefined : this.#byHash.get(hash)
    if (caller === undefined) return refused({ name: 'key_unknown' })
    if (caller.kind !== 'inference')
      return refused({ name: 'wrong_key_kind', fields: { kind: 'an inference key or an intern key' } })
    return caller.window === null || caller.limitRpm === null
      ? { caller, failure: null, headers: null }
      : rated(caller, caller.window, caller.limitRpm)
  }
}

/**
 * Holds the bound of a call until `settle`. @returns a failure when the budget does not cover it, else null
 */
export function hold(caller: Caller, nano: number): Failure | null {
  const { limitNano, spentNano, heldNano } = caller
  if (limitNano !== null && spentNano + heldNano + nano > limitNano) return { name: 'key_limit_exceeded' }
  caller.heldNano += nano
  return null
}

/** @param costNano cost of the call; 0 for a failed call */
export function settle(
  caller: Caller,
  held: number,
  { costNano, tokens }: { readonly costNano: number; readonly tokens: number },
): void {
  caller.heldNano -= held
  caller.spentNano += Math.min(costNano, held)
  caller.tokens += tokens
  caller.calls += 1
}

function callerOf({ kind, limitRpm, limitNano }: ProxyKey): Caller {
  const window =
    limitRpm === null ? null : { ...windowOf(limitRpm, burstOf(limitRpm)), levelMs: 0, at: performance.now() }
  return { kind, limitRpm, limitNano, window, heldNano: 0, spentNano: 0, calls: 0, tokens: 0 }
}

function refused(failure: Failure): Entry {
  return { caller: null, failure, headers: null }
}

function rated(caller: Caller, window: Window, limitRpm: number): Entry {
  const now = performance.now()
  const { isTaken, retryAfterMs } = takeOne(window, now)
  const known = { limitRpm, burst: burstOf(limitRpm), remaining: freeOf(window, now), epochMs: Date.now() }
  if (isTaken)
    return { caller, failure: null, headers: admittedOf({ ...known, resetAfterMs: window.levelMs }).headers }
  const { failure, headers } = refusedOf({ ...known, resetAfterMs: retryAfterMs })
  return { caller: null, failure: failure ?? { name: 'rate_limited' }, headers }
}
