import { VIDEO_LOOKUP_PAGE_JOBS } from '../../../schemas/videos/video-provider-limits.ts'
import { objectOf } from '../../../schemas/values/members.ts'
import type { LookedUp, VideoCallTimes, VideoOrder } from '../../ports/videos/video-providers.ts'
import { jobError } from './job-errors.ts'
import { isUpstreamId } from './upstream-ids.ts'
import { listOf, objectIn, type VideoLink } from './video-link.ts'

/** Pages that one search of a provider's list reads. Decision. */
export const VIDEO_LOOKUP_PAGES_MAX = 50

/** The resolution of the provider's clock, one second. */
const SECOND_MS = 1_000
/** Suffix of a model's name when the provider has chosen the version. */
const VERSION = /^-\d{4}-\d{2}-\d{2}$/

interface Page {
  readonly jobs: readonly Readonly<Record<string, unknown>>[]
  readonly hasMore: boolean
  readonly lastId: string | null
}

/**
 * Searches a provider's list, newest first, for jobs that may be the one whose submission has an unknown
 * outcome. The result is complete only when the list was read back to `sinceMs`, in order, and every job
 * could be distinguished from this one.
 */
export async function lookUp(link: VideoLink, { order, sinceMs, times }: LookupInput): Promise<LookedUp> {
  const upstreamIds: string[] = []
  // The provider gives whole seconds. `sinceMs` already allows for a difference of its clock.
  const fromMs = sinceMs - SECOND_MS
  let isCertain = true
  let isOrdered = true
  let newestMs = Infinity
  let after: string | null = null
  for (let nth = 0; nth < VIDEO_LOOKUP_PAGES_MAX; nth++) {
    const page = await pageAfter(after, link, times)
    if (typeof page === 'string') {
      return upstreamIds.length > 0
        ? { kind: 'partial', upstreamIds }
        : { kind: 'unavailable', error: jobError('provider_unavailable', page) }
    }
    for (const job of page.jobs) {
      const createdMs = createdMsOf(job)
      isOrdered &&= createdMs <= newestMs
      newestMs = createdMs
      if (createdMs < fromMs) continue
      const likeness = likenessOf(job, order)
      if (likeness === 'same' && isUpstreamId(job['id'])) upstreamIds.push(job['id'])
      else isCertain &&= likeness === 'other'
    }
    const isPast = isOrdered && newestMs < fromMs
    if (isPast || !page.hasMore) return { kind: isCertain ? 'complete' : 'partial', upstreamIds }
    if (page.lastId === null || page.lastId === after) break
    after = page.lastId
  }
  return { kind: 'partial', upstreamIds }
}

export interface LookupInput {
  readonly order: VideoOrder
  readonly sinceMs: number
  readonly times: VideoCallTimes
}

/** The page, or the reason why it is missing. */
async function pageAfter(
  after: string | null,
  link: VideoLink,
  times: VideoCallTimes,
): Promise<Page | string> {
  const { name } = link.provider
  const query = new URLSearchParams({
    limit: String(VIDEO_LOOKUP_PAGE_JOBS),
    order: 'desc',
    ...(after !== null && { after }),
  })
  const answer = await link.get(`/videos?${query.toString()}`, times)
  if (!answer.ok) return `The job list of ${name} could not be read.`
  const { status, isSuccess } = answer.value
  const body = objectIn(answer.value)
  if (!isSuccess) return `${name} answered ${status} when asked for its job list.`
  const data = body?.['data']
  if (!Array.isArray(data)) return `${name} returned no job list.`
  const jobs = listOf(data).map(objectOf)
  if (jobs.includes(null)) return `${name} returned a list with entries that are not jobs.`
  const known = jobs.filter((job) => job !== null)
  const lastId = body?.['last_id'] ?? known.at(-1)?.['id']
  // A provider without `has_more` has listed all jobs, unless the page is full.
  const hasMore = body?.['has_more'] ?? known.length >= VIDEO_LOOKUP_PAGE_JOBS
  return {
    jobs: known,
    hasMore: hasMore === true && known.length > 0,
    lastId: isUpstreamId(lastId) ? lastId : null,
  }
}

/** Milliseconds of a job's creation; a job without a time counts as the newest. */
function createdMsOf(job: Readonly<Record<string, unknown>>): number {
  const seconds = job['created_at']
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds * SECOND_MS : Infinity
}

/** Compares a job with the order; `unclear` when a distinguishing member is missing. */
function likenessOf(
  job: Readonly<Record<string, unknown>>,
  { request, target }: VideoOrder,
): 'same' | 'other' | 'unclear' {
  // A remix request has only a prompt: everything else comes from the earlier clip.
  const isRemix = request.previousUpstreamId !== null
  const size = isRemix ? null : request.size
  const likenesses = [
    isRemix
      ? 'same'
      : likeness(
          job['model'],
          (model) => model === target.upstreamModel || isVersionOf(model, target.upstreamModel),
        ),
    isRemix ? 'same' : likeness(job['seconds'], (seconds) => Number(seconds) === request.seconds),
    size === null ? 'same' : likeness(job['size'], (found) => found === `${size.width}x${size.height}`),
    // A job with a different prompt is a different job, even when other members are missing.
    request.prompt === null ? 'same' : likeness(job['prompt'], isSameText(request.prompt)),
    isRemixOf(job, request.previousUpstreamId) ? 'same' : 'other',
  ]
  if (likenesses.includes('other')) return 'other'
  return likenesses[3] === 'unclear' ? 'unclear' : 'same'
}

function likeness(found: unknown, isOurs: (text: string) => boolean): 'same' | 'other' | 'unclear' {
  if (typeof found !== 'string' && typeof found !== 'number') return 'unclear'
  return isOurs(String(found)) ? 'same' : 'other'
}

/**
 * Compares prompts. A prompt may come back trimmed or repaired by the provider: if it then counted as a different
 * prompt, a second job would be made.
 */
function isSameText(ours: string): (found: string) => boolean {
  const plain = plainOf(ours)
  return (found) => found === ours || plainOf(found) === plain
}

/** The text as it may come back: UTF-8 cannot carry half a surrogate pair, so the sent text was repaired. */
function plainOf(text: string): string {
  return text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\s\0]+/g, ' ')
    .trim()
}

function isVersionOf(found: string, model: string): boolean {
  return found.startsWith(model) && VERSION.test(found.slice(model.length))
}

function isRemixOf(job: Readonly<Record<string, unknown>>, previous: string | null): boolean {
  return (job['remixed_from_video_id'] ?? null) === previous
}
