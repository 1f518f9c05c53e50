import { VIDEO_UNKNOWN_LOOK_MS, VIDEO_UNKNOWN_PROVIDER_MS } from '../../../schemas/videos/video-limits.ts'
import { GONE, type EngineDeps, type Next } from './engine-deps.ts'
import { fail } from './finish.ts'
import type { HeldJob } from './held-job.ts'

/**
 * Handles a job whose endpoint is not in this process' catalogue. While a node reloads, fronts know new
 * endpoints before runners do: a young job waits for a runner that knows the endpoint.
 */
export async function passOn(deps: EngineDeps, job: HeldJob): Promise<Next> {
  const { work, log, clock } = deps
  const { claim } = job
  const { endpoint, provider } = claim.target
  if (claim.readAtMs - claim.createdAtMs < VIDEO_UNKNOWN_PROVIDER_MS) {
    if (job.mayWrite(clock.now())) await work.release([claim], VIDEO_UNKNOWN_LOOK_MS).catch(() => undefined)
    return GONE
  }
  log.warn('video.endpoint_unknown', { id: job.id, endpoint })
  return fail(deps, job, {
    error: `provider_gone: ${provider} no longer serves this model`,
    mayHaveCost: claim.state !== 'accepted',
  })
}
