import type { RequestHead } from './head.ts'

/** Reply headers that a page's script may read. */
const EXPOSED =
  'x-request-id, request-id, server-timing, retry-after, x-should-retry, ratelimit, ratelimit-policy, ' +
  'x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-ratelimit-limit-tokens, ' +
  'x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, idempotent-replayed, x-sluice-error, ' +
  'x-sluice-request-id, x-sluice-ignored, x-sluice-dropped, x-sluice-remark'
const PREFLIGHT_AGE_S = '600'
const NONE: readonly string[] = []

/** Cross-origin access for the operator's list of origins; off when the list is empty. */
export class Cors {
  readonly #origins: ReadonlySet<string>
  readonly #isForAll: boolean

  /** @param origins `https://app.example`, or `*` for every origin */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins)
    this.#isForAll = this.#origins.has('*')
  }

  /** Headers of a reply to this origin. An origin that is not listed gets none, so that the browser withholds the reply from the page. */
  headersFor(origin: string): readonly string[] {
    if (this.#origins.size === 0) return NONE
    if (this.#isForAll && origin !== '') return allowing('*')
    // Caches must not give the reply of one origin to another.
    if (!this.#origins.has(origin)) return ['vary', 'origin']
    return [...allowing(origin), 'vary', 'origin']
  }

  isPreflight(head: RequestHead): boolean {
    return (
      this.#origins.size > 0 &&
      head.method === 'options' &&
      head.origin !== '' &&
      head.kept('access-control-request-method') !== undefined
    )
  }

  /** @param allowed methods of the path */
  preflightHeaders(head: RequestHead, allowed: readonly string[]): readonly string[] {
    const headers = this.headersFor(head.origin)
    if (!headers.includes('access-control-allow-origin')) return headers
    const requested = head.kept('access-control-request-headers') ?? ''
    return [
      ...headers,
      'access-control-allow-methods',
      allowed.join(', '),
      'access-control-allow-headers',
      /^[\w\-, ]*$/.test(requested) ? requested : '',
      'access-control-max-age',
      PREFLIGHT_AGE_S,
    ]
  }
}

function allowing(origin: string): readonly string[] {
  return ['access-control-allow-origin', origin, 'access-control-expose-headers', EXPOSED]
}
