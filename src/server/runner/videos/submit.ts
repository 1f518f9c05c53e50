import { VIDEO_LEASE_MARGIN_MS, VIDEO_LEASE_MS } from '../../../schemas/videos/video-limits.ts'
import { VIDEO_IMAGES_MS } from '../../../schemas/videos/video-provider-limits.ts'
import type { Submitted, VideoOrder, VideoProvider } from '../../ports/videos/video-providers.ts'
import {
  again,
  backoffMs,
  GONE,
  heeded,
  wholeOrder,
  write,
  type EngineDeps,
  type Next,
} from './engine-deps.ts'
import { fail } from './finish.ts'
import type { HeldJob } from './held-job.ts'

/** Submits the job to the provider: first the row records the submission, then the call is made. Design §7. */
export async function submit(deps: EngineDeps, job: HeldJob, provider: VideoProvider): Promise<Next> {
  const { work, clock, meters } = deps
  const order = await wholeOrder(deps, job)
  if (order === null) return GONE
  const imagesMs = mayFetch(order) ? VIDEO_IMAGES_MS : 0
  const callMs = imagesMs + provider.video.submitTimeoutMs
  const times = { leaseMs: VIDEO_LEASE_MS, callMs }
  let requestedAt = clock.now()
  let isUnanswered = false
  const row = await write(deps, job, async () => {
    requestedAt = clock.now()
    const before = isUnanswered
    isUnanswered = true
    const answer = await work.submitting(job.claim, times)
    // The first attempt was applied, or another runner has the row; nothing was sent in between.
    return answer === null && before ? work.submitting({ ...job.claim, state: 'submitting' }, times) : answer
  })
  if (row === null) return GONE
  job.advance(row, clock.now())
  job.prolong(requestedAt, VIDEO_LEASE_MS + callMs)
  // The request may be sent only within the lease, after its images were fetched, so that the call has ended
  // when another runner may look the job up.
  const writeBy = requestedAt + imagesMs + VIDEO_LEASE_MS - VIDEO_LEASE_MARGIN_MS
  const answer = await provider.submit(order, {
    endsAt: requestedAt + callMs,
    // A submission is never aborted: a job that is cancelled meanwhile can be stopped only with its id.
    signal: NEVER,
    mayWrite: () =>
      clock.now() < writeBy && job.mayWrite(clock.now()) && !job.isCancelled && !job.abort.signal.aborted,
  })
  meters.submitted(provider.slug, answer.kind)
  return book(deps, job, { provider, answer })
}

const NEVER = new AbortController().signal

/** True when images may have to be fetched before the call, because the provider accepts no URLs. */
function mayFetch({ request: { frames, references } }: VideoOrder): boolean {
  return [...frames, ...references].some(({ url }) => !url.startsWith('data:'))
}

/** Handles a row in `submitting`, of this process or of a dead one: the provider may have the job. */
export function unknown(
  deps: EngineDeps,
  job: HeldJob,
  { provider, error }: { readonly provider: VideoProvider; readonly error: string },
): Promise<Next> | Next {
  deps.log.info('video.outcome_unknown', {
    id: job.id,
    provider: provider.slug,
    submit: provider.video.submit,
  })
  if (provider.video.submit !== 'blind') return again(backoffMs(deps, job.fails++))
  return fail(deps, job, { error, mayHaveCost: true })
}

export const CRASHED = 'provider_outcome_unknown: the provider may or may not have accepted the job'

interface Answer {
  readonly provider: VideoProvider
  readonly answer: Submitted
}

async function book(deps: EngineDeps, job: HeldJob, { provider, answer }: Answer): Promise<Next> {
  switch (answer.kind) {
    case 'taken': {
      const { upstreamId } = answer
      job.takenId = upstreamId
      const row = await adopt(deps, job, upstreamId)
      if (row === 'adopted') return again(provider.video.pollFirstMs)
      if (row === 'gone') return GONE
      // Another job adopted this id by lookup while its own submission was in doubt. A lookup for this job may
      // find the entry that the other job was looking for.
      if (provider.video.submit === 'lookup') return unknown(deps, job, { provider, error: CRASHED })
      return fail(deps, job, {
        error: `provider_invalid: ${provider.slug} returned the id of another job`,
        mayHaveCost: true,
      })
    }
    case 'refused':
      return fail(deps, job, { error: answer.error, mayHaveCost: false })
    case 'unsent': {
      deps.log.debug('video.unsent', { id: job.id, provider: provider.slug })
      if (!(await takeBack(deps, job))) return GONE
      return again(Math.max(heeded(answer.retryInMs), backoffMs(deps, job.fails++)))
    }
    case 'unknown':
      return unknown(deps, job, { provider, error: answer.error })
  }
}

/**
 * `write` for the end of a submission, after which the row's lease is short instead of long. While the store
 * is unavailable, no other runner has the job or knows the provider's answer.
 */
async function writeOver<T>(deps: EngineDeps, job: HeldJob, ask: () => Promise<T | null>): Promise<T | null> {
  let requestedAt = deps.clock.now()
  const answer = await write(deps, job, () => {
    requestedAt = deps.clock.now()
    return ask()
  })
  if (answer !== null) job.shorten(requestedAt, VIDEO_LEASE_MS)
  return answer
}

/** Records that the provider has certainly not accepted the job. @returns false when another runner has the job */
export async function takeBack(deps: EngineDeps, job: HeldJob): Promise<boolean> {
  const { work, clock } = deps
  const row = await writeOver(deps, job, () => work.unsubmitted(job.claim))
  if (row !== null) job.advance(row, clock.now())
  return row !== null
}

/** Writes the provider's id into the row. */
export async function adopt(
  deps: EngineDeps,
  job: HeldJob,
  upstreamId: string,
): Promise<'adopted' | 'owned' | 'gone'> {
  const { work, clock, views, log } = deps
  const row = await writeOver(deps, job, async () => {
    const answer = await work.submitted(job.claim, upstreamId)
    return answer === 'lost' ? null : answer
  })
  if (row === null) return 'gone'
  if (row === 'owned') {
    job.takenId = null
    return 'owned'
  }
  job.advance(row, clock.now())
  job.fails = 0
  void views.put({
    id: row.id,
    workspaceId: row.workspaceId,
    status: 'in_progress',
    generationId: row.generationId,
    error: null,
    outputs: 0,
    usage: null,
  })
  log.info('video.submitted', { id: row.id, provider: row.target.provider, submissions: row.submissions })
  return 'adopted'
}
