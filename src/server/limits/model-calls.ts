import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Failure } from '../../schemas/failures.ts'
import { RATE_LEASES_MAX, RATE_WAIT_MS_MAX, TOKENS_OWED_MS_MAX } from '../../schemas/limits/rate-limits.ts'
import type {
  AdmittedCall,
  CallAuthority,
  CallGrant,
  CallInput,
  CallOwner,
  LimitedCall,
  ModelCalls,
  PlaceLimit,
  TokenLimit,
  TokensLeft,
} from '../ports/model-calls.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'
import type { FrontCount } from '../ports/rates.ts'
import { add, freeOf, levelOf, waitFor, windowOf, type Window } from './gcra.ts'

/** Milliseconds between two renewals of the places of a front's calls. Decision. */
export const CALL_RENEW_MS = 3_000

export interface ModelCallsOptions {
  readonly authority: CallAuthority
  readonly fronts: FrontCount
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** `Date.now`, for the reset instants in replies. */
  readonly epochNow?: () => number
  /** Runs a function repeatedly. @returns a function that stops it */
  readonly every?: (ms: number, run: () => void) => () => void
}

/** Limits of calls to models in one front. */
export interface FrontModelCalls extends ModelCalls {
  close(): Promise<void>
}

export function createModelCalls(options: ModelCallsOptions): FrontModelCalls {
  return new LimitedCalls(options)
}

const NOTHING_LEFT: AdmittedCall = { failure: null, headers: null, end: () => undefined }

class LimitedCalls implements FrontModelCalls {
  readonly #authority: CallAuthority
  readonly #fronts: FrontCount
  readonly #now: () => number
  readonly #epochNow: () => number
  /** Prefix of the ids of this front's calls. */
  readonly #name = randomUUID()
  #calls = 0
  /** Calls of this front that are under way, by the owners of their places. */
  readonly #held = new Map<CallOwner, Set<string>>()
  /**
   * Tokens that were taken from this front's share of a limit without the authority. The windows begin empty:
   * the burst is that of a whole minute, and full windows would refuse all calls for a minute.
   */
  readonly #windows = new LRUCache<CallOwner, Window>({ max: RATE_LEASES_MAX })
  /** When the authority refused an owner because it had no free place: a short outage frees no places. */
  readonly #fullAt = new LRUCache<CallOwner, number>({ max: RATE_LEASES_MAX })
  /** Functions that stop its repeated work. */
  readonly #leaves: readonly (() => void)[]

  constructor({ authority, fronts, now, epochNow = Date.now, every = repeat }: ModelCallsOptions) {
    this.#authority = authority
    this.#fronts = fronts
    this.#now = now
    this.#epochNow = epochNow
    const returned = (): void => {
      this.#windows.clear()
      // Renews all places, since the authority may have lost them.
      this.#renew()
    }
    this.#leaves = [every(CALL_RENEW_MS, () => this.#renew()), authority.onReturn(returned)]
  }

  close(): Promise<void> {
    for (const leave of this.#leaves) leave()
    return Promise.resolve()
  }

  async admit({ key, estimate }: CallInput): Promise<AdmittedCall> {
    const call = this.#callOf(key)
    if (call.places.length + call.tokens.length === 0) return NOTHING_LEFT
    // If this front's own calls already reach the limit, the authority is not asked: repeated tries of a key
    // cost no more than this.
    const full = call.places.find(({ owner, max }) => this.#heldBy(owner) >= max)
    if (full !== undefined) return refusedBy(parallelRefused(full))
    const want = call.tokens.length === 0 ? 0 : estimate()
    const small = call.tokens.find(({ perMinute }) => want > perMinute)
    if (small !== undefined) return refusedBy(tokensNeverFit(small, want))
    if (!this.#authority.isReachable) return this.#admitLocally(call, want)
    try {
      return this.#answer(await this.#authority.take(call, want, RATE_WAIT_MS_MAX), call, want)
    } catch {
      const admitted = this.#admitLocally(call, want)
      // The authority may nevertheless have admitted the call.
      if (admitted.failure !== null && call.places.length > 0) this.#authority.giveBack(call, 0)
      return admitted
    }
  }

  #callOf({ hash, workspaceId, callLimits }: KeyRecord): LimitedCall {
    const id = `${this.#name}:${(this.#calls += 1)}`
    if (callLimits === undefined || callLimits === null) return { id, places: [], tokens: [] }
    const group = `{${workspaceId ?? ''}}`
    const owned = [
      { owner: `${group}:key:${hash}`, limits: callLimits.key },
      { owner: `${group}:workspace`, limits: callLimits.workspace },
    ]
    return {
      id,
      places: owned.flatMap(({ owner, limits: { max_parallel: max } }) =>
        max === null ? [] : { owner, max },
      ),
      tokens: owned.flatMap(({ owner, limits: { rate_limit_tpm: perMinute } }) =>
        perMinute === null ? [] : { owner, perMinute },
      ),
    }
  }

  #answer(grant: CallGrant, call: LimitedCall, want: number): AdmittedCall {
    const epochMs = this.#epochNow()
    if (grant.isGranted) {
      this.#hold(call)
      const headers = tokenHeaders(call.tokens, grant.left, epochMs)
      return { failure: null, headers, end: (used) => this.#end(call, { used, taken: want, isLocal: false }) }
    }
    if (!('perMinute' in grant.by)) {
      this.#fullAt.set(grant.by.owner, this.#now())
      return refusedBy(parallelRefused(grant.by))
    }
    const { by, left, retryAfterMs } = grant as Extract<CallGrant, { by: TokenLimit }>
    return tokensRefused(by, { left, retryAfterMs, want, epochMs })
  }

  /** Decides by this front's share of the limits. */
  #admitLocally(call: LimitedCall, want: number): AdmittedCall {
    const fronts = Math.max(1, this.#fronts.liveFronts)
    const full = call.places.find((place) => this.#isFullHere(place, fronts))
    if (full !== undefined) return refusedBy(parallelRefused(full))
    const now = this.#now()
    const shares = call.tokens.map((limit) => ({ limit, window: this.#windowOf(limit, fronts) }))
    for (const { limit, window } of shares) {
      const retryAfterMs = waitFor(window, now, takenOf(window, want))
      const left = { remaining: freeOf(window, now), resetAfterMs: levelOf(window, now) }
      if (retryAfterMs > 0)
        return tokensRefused(limit, { left, retryAfterMs, want, epochMs: this.#epochNow() })
    }
    for (const { window } of shares) add(window, now, takenOf(window, want), TOKENS_OWED_MS_MAX)
    this.#hold(call)
    return {
      failure: null,
      headers: null,
      end: (used) => this.#end(call, { used, taken: want, isLocal: true }),
    }
  }

  #isFullHere({ owner, max }: PlaceLimit, fronts: number): boolean {
    if (this.#heldBy(owner) >= Math.max(1, Math.floor(max / fronts))) return true
    return this.#now() - (this.#fullAt.get(owner) ?? -Infinity) < CALL_RENEW_MS
  }

  #windowOf({ owner, perMinute }: TokenLimit, fronts: number): Window {
    const known = this.#windows.get(owner)
    const share = perMinute / fronts
    const window = { levelMs: 0, at: this.#now(), ...known, ...windowOf(share, share) }
    this.#windows.set(owner, window)
    return window
  }

  #heldBy(owner: CallOwner): number {
    return this.#held.get(owner)?.size ?? 0
  }

  #hold({ id, places }: LimitedCall): void {
    for (const { owner } of places) {
      const held = this.#held.get(owner)
      if (held === undefined) this.#held.set(owner, new Set([id]))
      else held.add(id)
    }
  }

  #end(
    call: LimitedCall,
    { used, taken, isLocal }: { readonly used: number; readonly taken: number; readonly isLocal: boolean },
  ): void {
    for (const { owner } of call.places) {
      const held = this.#held.get(owner)
      held?.delete(call.id)
      this.#fullAt.delete(owner)
      if (held?.size === 0) this.#held.delete(owner)
    }
    if (this.#authority.isReachable) {
      // The authority does not know about tokens that were taken without it.
      const more = isLocal ? used : used - taken
      if (call.places.length > 0 || more !== 0) this.#authority.giveBack(call, more)
      return
    }
    for (const { owner } of call.tokens) {
      const window = this.#windows.get(owner)
      if (window === undefined) continue
      add(window, this.#now(), used - (isLocal ? takenOf(window, taken) : taken), TOKENS_OWED_MS_MAX)
    }
  }

  #renew(): void {
    if (!this.#authority.isReachable) return
    for (const [owner, ids] of this.#held) this.#authority.renew(owner, [...ids])
  }
}

/** Tokens to take now. A call may need more than the share of one front: it is admitted when the whole share is free, and owes the rest. */
function takenOf({ toleranceMs, intervalMs }: Window, want: number): number {
  return Math.min(want, toleranceMs / intervalMs)
}

function repeat(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms)
  timer.unref()
  return () => clearInterval(timer)
}

function refusedBy(failure: Failure): AdmittedCall {
  return { ...NOTHING_LEFT, failure }
}

/** Seconds after which a caller without a place may try again. */
const PARALLEL_RETRY_S = 1

function holderOf(owner: CallOwner): 'key' | 'workspace' {
  return owner.endsWith(':workspace') ? 'workspace' : 'key'
}

/** The failure when the owner has as many calls under way as it may have. */
function parallelRefused({ owner, max }: PlaceLimit): Failure {
  const holder = holderOf(owner)
  return {
    name: 'rate_limited',
    fields: { holder, limit: max, what: 'parallel calls', retry: PARALLEL_RETRY_S },
    retryAfterS: PARALLEL_RETRY_S,
    metadata: { limit_source: `${holder}_max_parallel`, limit_kind: 'parallel', scope: holder, limit: max },
  }
}

/** The failure when the call needs more tokens than the limit allows in a whole minute: retrying will not help. */
function tokensNeverFit({ owner, perMinute }: TokenLimit, estimated: number): Failure {
  const holder = holderOf(owner)
  return {
    name: 'tokens_over_limit',
    fields: { holder, estimated, limit: perMinute },
    metadata: {
      ...{ limit_source: `${holder}_rate_limit_tpm`, limit_kind: 'tokens', scope: holder },
      ...{ limit: perMinute, estimated_tokens: estimated },
    },
  }
}

interface TokensState {
  readonly left: TokensLeft
  readonly retryAfterMs: number
  /** Tokens that the call is expected to use. */
  readonly want: number
  /** `Date.now()` of this state. */
  readonly epochMs: number
}

/** The failure when the tokens of the minute are used up. */
function tokensRefused(
  { owner, perMinute }: TokenLimit,
  { left, retryAfterMs, want, epochMs }: TokensState,
): AdmittedCall {
  const holder = holderOf(owner)
  // Rounded up, so that a single client that waits this long is admitted.
  const retry = Math.max(1, Math.ceil(retryAfterMs / 1_000))
  const headers = headersOf(perMinute, { remaining: left.remaining, resetAfterMs: retryAfterMs }, epochMs)
  const { 'RateLimit-Policy': _policy, RateLimit: _state, ...plain } = headers
  const failure: Failure = {
    name: 'rate_limited',
    fields: { holder, limit: perMinute, what: 'tokens a minute', retry },
    retryAfterS: retry,
    metadata: {
      ...{ limit_source: `${holder}_rate_limit_tpm`, limit_kind: 'tokens', scope: holder },
      ...{ limit: perMinute, estimated_tokens: want },
      reset_at: new Date(Math.ceil(epochMs + retryAfterMs)).toISOString(),
      headers: plain,
    },
  }
  return { failure, headers, end: () => undefined }
}

/** Headers of an admitted call, for the limit with the fewest tokens left; null: there is no limit. */
function tokenHeaders(
  limits: readonly TokenLimit[],
  left: readonly TokensLeft[],
  epochMs: number,
): Readonly<Record<string, string>> | null {
  let least: { readonly perMinute: number; readonly state: TokensLeft } | null = null
  for (const [i, { perMinute }] of limits.entries()) {
    const state = left[i]
    if (state !== undefined && (least === null || state.remaining < least.state.remaining))
      least = { perMinute, state }
  }
  return least === null ? null : headersOf(least.perMinute, least.state, epochMs)
}

/** The headers of C11, with `tokens` in their names, since a key may also have a limit of requests. */
function headersOf(
  perMinute: number,
  { remaining, resetAfterMs }: TokensLeft,
  epochMs: number,
): Readonly<Record<string, string>> {
  return {
    'RateLimit-Policy': `"tokens";q=${perMinute};w=60`,
    RateLimit: `"tokens";r=${remaining};t=${Math.ceil(resetAfterMs / 1_000)}`,
    'X-RateLimit-Limit-Tokens': String(perMinute),
    'X-RateLimit-Remaining-Tokens': String(remaining),
    'X-RateLimit-Reset-Tokens': String(Math.ceil(epochMs + resetAfterMs)),
  }
}
