import { FAILURES, type Failure, type FailureName } from '../../../schemas/failures.ts'
import {
  VIDEO_CLIP_BYTES_MAX,
  VIDEO_STORE_MS_MAX,
  VIDEO_STORE_TRIES_MAX,
} from '../../../schemas/videos/video-limits.ts'
import { readableBytes } from '../../../schemas/values/readable.ts'
import type { VideoOrder, VideoProvider, VideoSource } from '../../ports/videos/video-providers.ts'
import { again, backoffMs, callTimes, GONE, wholeOrder, type EngineDeps, type Next } from './engine-deps.ts'
import { fail, finish } from './finish.ts'
import type { HeldJob } from './held-job.ts'

/** Downloads the clips that the provider has generated into object storage, one by one, and completes the job. */
export async function keep(deps: EngineDeps, job: HeldJob, provider: VideoProvider): Promise<Next> {
  const { meters } = deps
  const sources = job.claim.made?.sources ?? []
  // A row in `storing` always has sources.
  if (sources.length === 0)
    return fail(deps, job, { error: 'internal: the clips of the job are unknown', mayHaveCost: true })
  const order = await wholeOrder(deps, job)
  if (order === null) return GONE
  while (job.clips.length < sources.length) {
    const source = sources[job.clips.length]
    if (source === undefined || !job.mayWrite(deps.clock.now())) return GONE
    const trouble = await keepOne(deps, job, { provider, order, source })
    if (trouble === null) continue
    if (!job.mayWrite(deps.clock.now())) return GONE
    const { failure } = trouble
    deps.log.warn('video.store_failed', {
      id: job.id,
      provider: provider.slug,
      failure: failure.name,
      isFinal: trouble.isFinal,
    })
    meters.stored(provider.slug, trouble.isFinal ? 'refused' : 'retried')
    if (trouble.isFinal)
      return fail(deps, job, {
        error: errorOf(failure, provider),
        mayHaveCost: failure.name !== 'upstream_refused',
      })
    return again(backoffMs(deps, job.fails++))
  }
  meters.stored(provider.slug, 'stored')
  return finish(deps, job, { kind: 'completed', clips: job.clips })
}

interface Kept {
  readonly provider: VideoProvider
  readonly order: VideoOrder
  readonly source: VideoSource
}

interface Trouble {
  readonly failure: Failure
  readonly isFinal: boolean
}

async function keepOne(
  deps: EngineDeps,
  job: HeldJob,
  { provider, order, source }: Kept,
): Promise<Trouble | null> {
  const times = callTimes(deps, job, VIDEO_STORE_MS_MAX)
  const content = await provider.download(order, job.claim.upstreamId ?? '', source, times)
  if (!content.ok) {
    const { failure } = content
    if (CRASHED.has(failure.name)) job.brokenStores++
    return { failure, isFinal: FINAL.has(failure.name) || job.brokenStores >= VIDEO_STORE_TRIES_MAX }
  }
  if (!times.mayWrite()) {
    content.value.close()
    return { failure: { name: 'client_gone' }, isFinal: false }
  }
  const stored = await deps.clips.store({
    workspaceId: job.workspaceId,
    // The id is unique to this attempt, so that it cannot affect objects of earlier attempts and other runners.
    objectId: `${job.id}-${job.clips.length}-${job.claim.attempt}-${job.stores++}`,
    bytes: content.value,
    bytesMax: VIDEO_CLIP_BYTES_MAX,
    signal: times.signal,
  })
  if (stored.ok) {
    job.clips.push(stored.value)
    job.fails = 0
    return null
  }
  // A download that was interrupted repeatedly will not succeed next time.
  if (BROKEN.has(stored.failure.name)) job.brokenStores++
  return {
    failure: stored.failure,
    isFinal: FINAL.has(stored.failure.name) || job.brokenStores >= VIDEO_STORE_TRIES_MAX,
  }
}

/** Failures that would occur again in another attempt. */
const FINAL: ReadonlySet<FailureName> = new Set([
  'video_clip_invalid',
  'video_clip_gone',
  'upstream_invalid',
  'upstream_too_large',
  'upstream_refused',
  'destination_refused',
  'file_too_large',
  'file_empty',
])
const BROKEN: ReadonlySet<FailureName> = new Set(['upstream_failed', 'upstream_slow'])
/** Failures of a clip whose rendering ends its thread: all other clips that are rendered here are delayed by each attempt. */
const CRASHED: ReadonlySet<FailureName> = new Set(['deadline_exceeded', 'internal'])

function errorOf({ name, detail }: Failure, { slug }: VideoProvider): string {
  // The failure concerns an image that the built-in model cannot use: so its text is shown to the caller.
  if (name === 'upstream_refused' && detail !== undefined) return detail
  if (name === 'file_too_large' || name === 'upstream_too_large')
    return `result_invalid: the clip of ${slug} is larger than ${readableBytes(VIDEO_CLIP_BYTES_MAX)}`
  if (name === 'file_empty') return `result_invalid: the clip of ${slug} is empty`
  if (name === 'destination_refused')
    return `result_invalid: the clip of ${slug} is at a URL that is not allowed`
  if (BROKEN.has(name)) return `result_invalid: the clip of ${slug} is incomplete`
  return `result_invalid: ${slug}: ${FAILURES[name].text}`
}
