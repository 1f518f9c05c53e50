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

/** Asks the provider for the job: first its row says so, then the call is made. Design §7. */
export async function submit(deps: EngineDeps, job: HeldJob, provider: VideoProvider): Promise<Next> {
  const { work, clock, meters } = deps
  const order = await wholeOrder(deps, job)
  if (order === null) return GONE
  const imagesMs = mayFetch(order) ? VIDEO_IMAGES_MS : 0
  const callMs = imagesMs + provider.video.submitTimeoutMs
  const times = { leaseMs: VIDEO_LEASE_MS, callMs }
  let askedAt = clock.now()
  let isUnheard = false
  const row = await write(deps, job, async () => {
    askedAt = clock.now()
    const before = isUnheard
    isUnheard = true
    const answer = await work.submitting(job.claim, times)
    // What was asked first has happened, then, or the row is another's; nothing was sent in between.
    return answer === null && before ? work.submitting({ ...job.claim, state: 'submitting' }, times) : answer
  })
  if (row === null) return GONE
  job.advance(row, clock.now())
  job.prolong(askedAt, VIDEO_LEASE_MS + callMs)
  // The request leaves within the lease alone, once its images are here, so that the call is over when
  // somebody else may look.
  const writeBy = askedAt + imagesMs + VIDEO_LEASE_MS - VIDEO_LEASE_MARGIN_MS
  const answer = await provider.submit(order, {
    endsAt: askedAt + callMs,
    // What was sent is listened to: a job that is cancelled meanwhile can only be stopped by its id.
    signal: NEVER,
    mayWrite: () =>
      clock.now() < writeBy && job.mayWrite(clock.now()) && !job.isCancelled && !job.abort.signal.aborted,
  })
  meters.submitted(provider.slug, answer.kind)
  return book(deps, job, { provider, answer })
}

const NEVER = new AbortController().signal

/** Whether images may have to come before the call: of a provider that takes no URLs. */
function mayFetch({ request: { frames, references } }: VideoOrder): boolean {
  return [...frames, ...references].some(({ url }) => !url.startsWith('data:'))
}

/** A row in `submitting`, of this process or of one that is gone: the provider may have the job. */
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

export const CRASHED = 'provider_outcome_unknown: it is not known whether the provider took the job'

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
      // Another job was given this one when its own submission was in doubt: ours may be the one that it
      // looked for.
      if (provider.video.submit === 'lookup') return unknown(deps, job, { provider, error: CRASHED })
      return fail(deps, job, {
        error: `provider_invalid: ${provider.slug} gave the id of another job`,
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
 * As `write`, of what ends a submission: the row's lease is a short one from then on, and the long one until
 * then. While the store cannot be told, nobody else has the job, and no other knows what the provider said.
 */
async function writeOver<T>(deps: EngineDeps, job: HeldJob, ask: () => Promise<T | null>): Promise<T | null> {
  let askedAt = deps.clock.now()
  const answer = await write(deps, job, () => {
    askedAt = deps.clock.now()
    return ask()
  })
  if (answer !== null) job.shorten(askedAt, VIDEO_LEASE_MS)
  return answer
}

/** The provider surely has not taken it. @returns false when the job is another's */
export async function takeBack(deps: EngineDeps, job: HeldJob): Promise<boolean> {
  const { work, clock } = deps
  const row = await writeOver(deps, job, () => work.unsubmitted(job.claim))
  if (row !== null) job.advance(row, clock.now())
  return row !== null
}

/** The row gets the provider's id. */
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
