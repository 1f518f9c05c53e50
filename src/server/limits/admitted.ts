import type { Failure } from '../../schemas/failures.ts'

/** The stage's decision about a call: a refusal, if any, and the headers of its reply. Calls share the object, so it must never be changed. */
export interface Admitted {
  readonly failure: Failure | null
  /** Null when the key has no limit. */
  readonly headers: Readonly<Record<string, string>> | null
}

export const UNLIMITED: Admitted = { failure: null, headers: null }

export interface WindowState {
  readonly limitRpm: number
  /** Requests that are allowed at once; may be a fraction. */
  readonly burst: number
  /** Lowest known figure. */
  readonly remaining: number
  /** Milliseconds until the whole burst is free; after a refusal, until one request is allowed. */
  readonly resetAfterMs: number
  /** `Date.now()` of this state. */
  readonly epochMs: number
}

/**
 * Headers of an admitted call: the structured fields of draft-ietf-httpapi-ratelimit-headers-10 and the
 * older headers, whose reset is in milliseconds since the epoch.
 */
export function admittedOf(known: WindowState): Admitted {
  return { failure: null, headers: headersOf(known, Math.ceil(known.resetAfterMs / 1000)) }
}

/** The part of a key's limit that a front applies by itself. */
export type LocalShare = Pick<WindowState, 'limitRpm' | 'burst'>

/** A refusal with `Retry-After`; the envelope repeats the three values. @param share the authority did not answer; null: the authority refused */
export function refusedOf(known: WindowState, share: LocalShare | null = null): Admitted {
  // Rounded up, so that a single client that waits this long is admitted.
  const retryAfterS = Math.max(1, Math.ceil(known.resetAfterMs / 1000))
  const headers = headersOf(known, retryAfterS)
  return {
    failure: {
      name: 'rate_limited',
      fields: { ...holderOf(share), ...paceOf(share ?? known), retry: retryAfterS },
      ...(share !== null && { detail: UNANSWERED }),
      retryAfterS,
      metadata: {
        limit_source: 'key_rate_limit',
        limit_kind: 'requests',
        limit: known.limitRpm,
        reset_at: new Date(resetOf(known)).toISOString(),
        headers: {
          'X-RateLimit-Limit': String(known.limitRpm),
          'X-RateLimit-Remaining': String(known.remaining),
          'X-RateLimit-Reset': String(resetOf(known)),
        },
      },
    },
    headers,
  }
}

const UNANSWERED =
  'The rate limit store did not answer. Until the store answers, each process applies its own share of the ' +
  "key's limit: the key may still be within its limit."

function holderOf(share: LocalShare | null): { readonly holder: string } {
  return { holder: share === null ? 'key' : 'Sluice process' }
}

/** Seconds between requests, and requests at once, as in C11, as numbers for people. */
function paceOf({
  limitRpm,
  burst: exact,
}: LocalShare): Readonly<Record<'limit' | 'each' | 'burst' | 'what', string | number>> {
  // A share may be a fraction.
  const [limit, each] = [Number(limitRpm.toFixed(1)), Number((60 / limitRpm).toPrecision(3))]
  const burst = Math.floor(exact)
  return { limit, each, burst, what: `requests a minute (one every ${each} s, burst ${burst})` }
}

function headersOf(known: WindowState, resetS: number): Readonly<Record<string, string>> {
  return {
    'RateLimit-Policy': `"requests";q=${known.limitRpm};w=60;burst=${Math.floor(known.burst)}`,
    RateLimit: `"requests";r=${known.remaining};t=${resetS}`,
    'X-RateLimit-Limit': String(known.limitRpm),
    'X-RateLimit-Remaining': String(known.remaining),
    'X-RateLimit-Reset': String(resetOf(known)),
  }
}

function resetOf(known: WindowState): number {
  return Math.ceil(known.epochMs + known.resetAfterMs)
}

/** Headers of several limits of one call: a header that both have lists both limits. */
export function joinedHeaders(
  one: Readonly<Record<string, string>> | null,
  other: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (one === null) return other
  const shared = Object.entries(other).map(([name, value]) => {
    const before = one[name]
    return [name, before === undefined ? value : `${before}, ${value}`]
  })
  return { ...one, ...Object.fromEntries(shared) }
}
