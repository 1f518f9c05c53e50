import type { Outcome } from '../../../schemas/failures.ts'
import { objectOf } from '../../../schemas/values/members.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type {
  LookedUp,
  Polled,
  Submitted,
  VideoCallTimes,
  VideoOrder,
  VideoSource,
} from '../../ports/videos/video-providers.ts'
import { fetchClip } from './clip-download.ts'
import type { ImageUrl, Loaded } from './images.ts'
import { bodyOf } from './openai-request.ts'
import { lookUp } from './openai-lookup.ts'
import { unavailable, unpolledBy } from './poll-verdict.ts'
import type { VideoProtocol, WayDeps } from './protocol.ts'
import { submittedBy } from './submission.ts'
import { reasonOf, jobError } from './job-errors.ts'
import { isUpstreamId } from './upstream-ids.ts'
import { objectIn, type VideoLink } from './video-link.ts'

/** States of a job that ended without a clip; some servers use these in addition to `failed`. */
const ENDED: ReadonlySet<unknown> = new Set(['failed', 'cancelled', 'canceled', 'expired'])
const FILTERED = /moderat|policy|safety|blocked/i

/** OpenAI's `/videos`, and that of every server with the same protocol. */
export const openAiVideos: VideoProtocol = {
  async submit(order, { link, images, video, endpoint }, times): Promise<Submitted> {
    const load = (urls: readonly ImageUrl[]): Promise<Loaded> => images.load(urls, order, times)
    const body = await bodyOf(order, { provider: link.provider, video, endpoint, load })
    if (!body.ok) return body.submitted
    const { tokenHeader, submit } = video
    const isTokened = submit === 'token' && tokenHeader !== null
    const { path, contentType, pieces, release } = body
    const headers = isTokened ? [tokenHeader, order.submitToken] : []
    const posted = await link.post({ path, contentType, body: pieces, headers, mayRepeat: isTokened }, times)
    release()
    return submittedBy(posted, { link, order, idOf: ({ id }) => (isUpstreamId(id) ? id : null) })
  },

  async poll(order, upstreamId, { link, gone }, times): Promise<Polled> {
    const answer = await link.get(pathOf(upstreamId), times)
    const unpolled = unpolledBy(answer, { link, upstreamId, gone })
    if (unpolled !== null || !answer.ok) return unpolled ?? unavailable('')
    const job = objectIn(answer.value)
    const { name } = link.provider
    if (job === null || job['id'] !== upstreamId || typeof job['status'] !== 'string')
      return unavailable(`${name} returned no job.`)
    if (job['status'] === 'completed') return { kind: 'made', sources: [{ kind: 'content', index: 0 }] }
    if (ENDED.has(job['status'])) return failedBy(job, order, link)
    return { kind: 'running', retryInMs: null }
  },

  lookup(order, sinceMs, { link }, times): Promise<LookedUp> {
    return lookUp(link, { order, sinceMs, times })
  },

  download(
    order,
    { upstreamId, source },
    deps: WayDeps,
    times: VideoCallTimes,
  ): Promise<Outcome<ByteReader>> {
    return fetchClip(urlOf(source, upstreamId, deps.link), { ...deps, order, times })
  },

  async cancel(_order, upstreamId, { link }, times): Promise<void> {
    const answer = await link.remove(pathOf(upstreamId), times)
    if (answer.ok) answer.value.release()
  },
}

function urlOf(
  source: Exclude<VideoSource, { kind: 'inline' }>,
  upstreamId: string,
  link: VideoLink,
): string {
  return source.kind === 'url' ? source.url : link.urlOf(`${pathOf(upstreamId)}/content`).href
}

function pathOf(upstreamId: string): string {
  return `/videos/${encodeURIComponent(upstreamId)}`
}

function failedBy(
  job: Readonly<Record<string, unknown>>,
  order: VideoOrder,
  { provider: { name }, redacted }: VideoLink,
): Polled {
  const error = objectOf(job['error'])
  const reason = reasonOf({ error }, { redacted, order })
  const isFiltered = typeof error?.['code'] === 'string' && FILTERED.test(error['code'])
  const words = `${name} reported that the job has ${job['status'] === 'failed' ? 'failed' : 'ended'}${reason === null ? '.' : `: ${reason}`}`
  return { kind: 'failed', error: jobError(isFiltered ? 'provider_filtered' : 'provider_failed', words) }
}
