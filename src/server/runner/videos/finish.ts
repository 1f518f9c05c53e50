import { VIDEO_ERROR_CHARS_MAX } from '../../../schemas/videos/video-limits.ts'
import type { VideoEnd } from '../../ports/videos/video-work.ts'
import type { VideoView } from '../../ports/videos/videos.ts'
import { backoffMs, GONE, pause, type EngineDeps, type Next } from './engine-deps.ts'
import { stopMaking } from './doubts.ts'
import type { HeldJob } from './held-job.ts'

export async function finish(deps: EngineDeps, job: HeldJob, end: VideoEnd): Promise<Next> {
  const { work, clock, log, meters } = deps
  let isUnsure = false
  for (let tries = 0; job.mayWrite(clock.now()); tries++) {
    try {
      const view = await work.end(job.claim, end)
      if (view !== null) publish(deps, job, view)
      else {
        meters.lost(1)
        deps.doubt(job)
      }
      return GONE
    } catch (cause) {
      // The end may have been written nevertheless: polling callers must then not keep seeing an older view.
      isUnsure = true
      log.debug('video.end_failed', { id: job.id, tries, cause })
      await pause(deps, backoffMs(deps, tries))
    }
  }
  if (isUnsure) deps.doubt(job)
  return GONE
}

/** @param error for the caller, as `<code>: <text>`, without credential, host or prompt */
export function fail(
  deps: EngineDeps,
  job: HeldJob,
  { error, mayHaveCost }: { readonly error: string; readonly mayHaveCost: boolean },
): Promise<Next> {
  return finish(deps, job, { kind: 'failed', error: error.slice(0, VIDEO_ERROR_CHARS_MAX), mayHaveCost })
}

function publish(deps: EngineDeps, job: HeldJob, view: VideoView): void {
  const { views, log, meters } = deps
  void views.put(view)
  views.wake({ kind: 'webhooks' })
  // Only after the row has expired: until then another runner may have the job and continue it.
  if (view.status === 'expired') stopMaking(deps, job)
  const { provider, model } = job.claim.target
  if (view.status !== 'pending' && view.status !== 'in_progress') meters.ended(provider, view.status)
  // Only the code is logged: the text after it may come from a provider.
  const failure = view.error === null ? {} : { failure: /^[a-z_]+(?=:)/.exec(view.error)?.[0] ?? 'other' }
  log.info('video.ended', {
    id: job.id,
    requestId: job.claim.requestId,
    workspaceId: job.workspaceId,
    provider,
    model,
    status: view.status,
    ...failure,
  })
}
