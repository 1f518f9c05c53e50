import {
  VIDEO_CALL_MS_MAX,
  VIDEO_LOOKUP_QUIET_MS,
  VIDEO_LOOKUP_SKEW_MS,
} from '../../../schemas/videos/video-limits.ts'
import type { VideoProvider } from '../../ports/videos/video-providers.ts'
import { again, backoffMs, callTimes, GONE, write, type EngineDeps, type Next } from './engine-deps.ts'
import type { HeldJob } from './held-job.ts'
import { adopt, takeBack } from './submit.ts'

/**
 * Searches the provider's list for a job whose submission is in doubt, and takes the job over. The job is
 * submitted again only when a complete list does not show it, and the list was requested so late that the job
 * would be in it. Design §7.
 */
export async function lookup(deps: EngineDeps, job: HeldJob, provider: VideoProvider): Promise<Next> {
  const { work, clock, meters, log } = deps
  const { submittedAtMs, createdAtMs } = job.claim
  const requestedAt = clock.now()
  const found = await provider.lookup(
    job.order(),
    (submittedAtMs ?? createdAtMs) - VIDEO_LOOKUP_SKEW_MS,
    callTimes(deps, job, VIDEO_CALL_MS_MAX),
  )
  meters.looked(provider.slug, found.kind)
  if (found.kind === 'unavailable') return again(backoffMs(deps, job.fails++))
  const owned = await write(deps, job, () => work.owned(job.claim, found.upstreamIds))
  if (owned === null) return GONE
  for (const upstreamId of found.upstreamIds) {
    if (owned.has(upstreamId)) continue
    const row = await adopt(deps, job, upstreamId)
    if (row === 'gone') return GONE
    if (row === 'owned') continue
    meters.looked(provider.slug, 'adopted')
    log.info('video.adopted', { id: job.id, provider: provider.slug })
    return again(0)
  }
  const surelyAt = resubmitAt(job, provider)
  if (found.kind === 'partial' || requestedAt < surelyAt) {
    // The last wait ends exactly when a look can decide.
    const waitMs = backoffMs(deps, job.fails++)
    return again(requestedAt < surelyAt ? Math.min(waitMs, Math.max(1, surelyAt - clock.now())) : waitMs)
  }
  if (!(await takeBack(deps, job))) return GONE
  job.fails = 0
  log.info('video.not_listed', { id: job.id, provider: provider.slug })
  return again(0)
}

function resubmitAt(job: HeldJob, { video }: VideoProvider): number {
  const { submitEndsAtMs, createdAtMs } = job.claim
  return job.at((submitEndsAtMs ?? createdAtMs) + (video.lookupQuietMs ?? VIDEO_LOOKUP_QUIET_MS))
}
