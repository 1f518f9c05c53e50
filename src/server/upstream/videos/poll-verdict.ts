import type { Outcome } from '../../../schemas/failures.ts'
import { VIDEO_CREDENTIAL_RETRY_MS } from '../../../schemas/videos/video-provider-limits.ts'
import type { EgressAnswer } from '../../ports/egress/egress.ts'
import type { Polled } from '../../ports/videos/video-providers.ts'
import { failureOf } from '../provider-failure.ts'
import { brokenBy, retryMsOf } from './submission.ts'
import { jobError } from './job-errors.ts'
import type { VideoLink } from './video-link.ts'

/**
 * Milliseconds that a provider may not know a job before the job counts as gone: the provider's own store may lag.
 * Decision.
 */
export const VIDEO_GONE_MS = 30_000
/** Jobs unknown to their providers that are tracked at once. Decision. */
export const VIDEO_GONE_WATCHED_MAX = 10_000

const NOT_FOUND: ReadonlySet<number> = new Set([404, 410])

/** Times since which jobs are unknown to their provider. A restart forgets them and only lengthens the wait. */
export class GoneWatch {
  readonly #since = new Map<string, number>()
  readonly #now: () => number

  /** @param now milliseconds of any clock */
  constructor(now: () => number) {
    this.#now = now
  }

  /** True when the job has been unknown for VIDEO_GONE_MS. */
  isGone(id: string): boolean {
    const since = this.#since.get(id) ?? this.#now()
    this.#since.delete(id)
    this.#since.set(id, since)
    if (this.#since.size > VIDEO_GONE_WATCHED_MAX) this.#since.delete([...this.#since.keys()].at(0) ?? '')
    return this.#now() - since >= VIDEO_GONE_MS
  }

  found(id: string): void {
    this.#since.delete(id)
  }
}

export interface PollDeps {
  readonly link: VideoLink
  readonly upstreamId: string
  readonly gone: GoneWatch
}

/** The state of a job after a poll without success; null when the poll succeeded. Releases the body of a refusal. */
export function unpolledBy(
  answer: Outcome<EgressAnswer>,
  { link, upstreamId, gone }: PollDeps,
): Polled | null {
  const { name } = link.provider
  if (!answer.ok)
    return unavailable(
      answer.failure.name === 'upstream_slow'
        ? `${name} did not answer in time.`
        : `${name} could not be reached.${brokenBy(answer.failure)}`,
    )
  const { value } = answer
  if (value.isSuccess) {
    gone.found(upstreamId)
    return null
  }
  const failure = failureOf(value, link)
  value.release()
  if (NOT_FOUND.has(value.status) && gone.isGone(upstreamId)) {
    gone.found(upstreamId)
    return { kind: 'failed', error: jobError('provider_failed', `${name} no longer knows the job.`) }
  }
  // A person has to replace the credential: frequent polls would only make the provider suspicious.
  const retryInMs =
    failure.name === 'upstream_credential' ? VIDEO_CREDENTIAL_RETRY_MS : retryMsOf(value.retryAfter)
  return unavailable(`${name} answered ${value.status}.`, retryInMs)
}

export function unavailable(words: string, retryInMs: number | null = null): Polled {
  return { kind: 'unavailable', retryInMs, error: jobError('provider_unavailable', words) }
}
