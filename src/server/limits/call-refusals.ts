import type { Failure } from '../../schemas/failures.ts'
import type { AdmittedCall, CallOwner, PlaceLimit, TokenLimit, TokensLeft } from '../ports/model-calls.ts'

/** Seconds after which a caller without a place may try again. D29. */
const PARALLEL_RETRY_S = 1

function holderOf(owner: CallOwner): 'key' | 'workspace' {
  return owner.endsWith(':workspace') ? 'workspace' : 'key'
}

/** As many calls are under way as the owner may have. */
export function parallelRefused({ owner, max }: PlaceLimit): Failure {
  const holder = holderOf(owner)
  return {
    name: 'rate_limited',
    fields: { holder, limit: max, what: 'parallel calls', retry: PARALLEL_RETRY_S },
    retryAfterS: PARALLEL_RETRY_S,
    metadata: { limit_source: `${holder}_max_parallel`, limit_kind: 'parallel', scope: holder, limit: max },
  }
}

/** The call needs more than a whole minute of the limit has: no wait lets it in. */
export function tokensNeverFit({ owner, perMinute }: TokenLimit, estimated: number): Failure {
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

/** The tokens of the minute are used up. */
export function tokensRefused(
  { owner, perMinute }: TokenLimit,
  { left, retryAfterMs, want, epochMs }: TokensState,
): AdmittedCall {
  const holder = holderOf(owner)
  // Rounded up, so that a single client that waits for it is admitted.
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

/** Headers of an admitted call, of the limit that has the fewest tokens left; null: there is no limit. */
export function tokenHeaders(
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

/** The forms of C11, with `tokens` in them: a key may have a limit of requests too. */
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
