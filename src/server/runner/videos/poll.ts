import {
  VIDEO_BACKOFF_MAX_MS,
  VIDEO_CALL_MS_MAX,
  VIDEO_CLIPS_MAX,
  VIDEO_URL_CHARS_MAX,
} from '../../../schemas/videos/video-limits.ts'
import type { Polled, VideoProvider } from '../../ports/videos/video-providers.ts'
import { again, callTimes, GONE, heeded, write, type EngineDeps, type Next } from './engine-deps.ts'
import { fail } from './finish.ts'
import type { HeldJob } from './held-job.ts'

/** Interval between two polls as a share of the job's age: a job that takes long is polled less often. */
const AGE_SHARE = 0.25
/** Largest share of the wait that is randomly subtracted, so that jobs that started together are not polled together. */
const JITTER = 0.15

export interface PollInput {
  readonly provider: VideoProvider
  /** Least milliseconds of an interval, when all jobs share the polls that the provider allows. */
  readonly crowdMs: number
}

/** Polls a job once, and decides when to poll it again. */
export async function poll(deps: EngineDeps, job: HeldJob, { provider, crowdMs }: PollInput): Promise<Next> {
  const { clock, meters } = deps
  const { upstreamId } = job.claim
  // A row in `running` always has an id.
  if (upstreamId === null)
    return fail(deps, job, { error: 'internal: the job has no provider id', mayHaveCost: true })
  const lagMs = Math.max(0, clock.now() - job.dueAt)
  job.countPoll()
  const polled = await provider.poll(job.order(), upstreamId, callTimes(deps, job, VIDEO_CALL_MS_MAX))
  meters.polled(provider.slug, polled.kind, lagMs)
  return book(deps, job, { provider, polled, crowdMs })
}

interface Answer extends PollInput {
  readonly polled: Polled
}

async function book(deps: EngineDeps, job: HeldJob, { provider, polled, crowdMs }: Answer): Promise<Next> {
  const intervalMs = intervalOf(deps, job, { provider, crowdMs })
  switch (polled.kind) {
    case 'running':
      job.fails = 0
      return again(Math.max(intervalMs, heeded(polled.retryInMs)))
    case 'unavailable': {
      const longer = Math.min(
        intervalMs * 2 ** Math.min(job.fails++, 30),
        Math.max(VIDEO_BACKOFF_MAX_MS, intervalMs),
      )
      deps.log.debug('video.poll_unavailable', { id: job.id, provider: provider.slug, fails: job.fails })
      return again(Math.max(longer, heeded(polled.retryInMs)))
    }
    case 'failed':
      return fail(deps, job, { error: polled.error, mayHaveCost: false })
    case 'made': {
      const { sources } = polled
      if (sources.length === 0 || sources.length > VIDEO_CLIPS_MAX) {
        return fail(deps, job, {
          error: `provider_invalid: ${provider.slug} reported ${sources.length} clips`,
          mayHaveCost: true,
        })
      }
      if (sources.some((source) => source.kind === 'url' && source.url.length > VIDEO_URL_CHARS_MAX)) {
        const error = `provider_invalid: ${provider.slug} returned a clip URL of more than ${VIDEO_URL_CHARS_MAX} characters`
        return fail(deps, job, { error, mayHaveCost: true })
      }
      const row = await write(deps, job, () => deps.work.made(job.claim, { sources }))
      if (row === null) return GONE
      job.advance(row, deps.clock.now())
      job.fails = 0
      return again(0)
    }
  }
}

function intervalOf(
  { clock, random }: EngineDeps,
  job: HeldJob,
  { provider: { video }, crowdMs }: PollInput,
): number {
  const { submittedAtMs, createdAtMs } = job.claim
  const ageMs = clock.now() - job.at(submittedAtMs ?? createdAtMs)
  const byAge = Math.min(Math.max(ageMs * AGE_SHARE, video.pollFirstMs), video.pollMaxMs)
  return Math.max(byAge, crowdMs) * (1 - JITTER * random())
}
