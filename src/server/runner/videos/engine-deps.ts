import {
  VIDEO_BACKOFF_FIRST_MS,
  VIDEO_BACKOFF_MAX_MS,
  VIDEO_RETRY_AFTER_MS_MAX,
} from '../../../schemas/videos/video-limits.ts'
import type { Log } from '../../ports/observe.ts'
import type { PollBudget, VideoClock, VideoMeters } from '../../ports/videos/video-engine.ts'
import type { VideoCallTimes, VideoOrder, VideoProviders } from '../../ports/videos/video-providers.ts'
import type { VideoClips, VideoWork } from '../../ports/videos/video-work.ts'
import type { VideoViews } from '../../ports/videos/videos.ts'
import type { HeldJob } from './held-job.ts'

/** Everything that the engine is made of: ports, a clock, randomness. */
export interface VideoEngineDeps {
  readonly work: VideoWork
  readonly providers: VideoProviders
  readonly views: VideoViews
  readonly clips: VideoClips
  readonly polls: PollBudget
  readonly log: Log
  readonly meters: VideoMeters
  readonly clock: VideoClock
  /** 0 to 1. */
  readonly random: () => number
}

/** What steps have at hand. */
export interface EngineDeps extends VideoEngineDeps {
  /**
   * Nobody can tell whether an end of ours was booked, or why a job is another's: its row is looked at later.
   */
  readonly doubt: (job: HeldJob) => void
}

/** What comes after a step: another one, later; or nothing, since the job has ended or is another's. */
export type Next = { readonly kind: 'again'; readonly inMs: number } | typeof GONE
export const GONE = { kind: 'gone' } as const

export function again(inMs: number): Next {
  return { kind: 'again', inMs }
}

/**
 * Asks the store for a write of this job until it answers; what was asked before may have happened.
 * @returns null when the claim is over or the row another's
 */
export async function write<T>(
  deps: EngineDeps,
  job: HeldJob,
  ask: () => Promise<T | null>,
): Promise<T | null> {
  for (let tries = 0; job.mayWrite(deps.clock.now()); tries++) {
    try {
      const answer = await ask()
      if (answer !== null) return answer
      deps.doubt(job)
      // One that was not heard of may have happened, and the row still be ours: whoever takes it next sees
      // how it stands.
      if (tries > 0) await deps.work.release([job.claim], 0).catch(() => undefined)
      break
    } catch (cause) {
      deps.log.debug('video.write_failed', { id: job.id, tries, cause })
      await pause(deps, backoffMs(deps, tries))
    }
  }
  deps.meters.lost(1)
  return null
}

/** The order with all that the request holds, for a call that sends it; null as `write` says. */
export async function wholeOrder(deps: EngineDeps, job: HeldJob): Promise<VideoOrder | null> {
  if (!job.claim.hasAttached) return job.order()
  const attached = await write(deps, job, () => deps.work.attached(job.claim))
  return attached === null ? null : job.order(attached)
}

/** Milliseconds to wait after so many failures in a row; the last half of it is by chance. */
export function backoffMs({ random }: Pick<EngineDeps, 'random'>, fails: number): number {
  return (
    Math.min(VIDEO_BACKOFF_MAX_MS, VIDEO_BACKOFF_FIRST_MS * 2 ** Math.min(fails, 30)) * (0.5 + random() / 2)
  )
}

/** What a provider asks us to wait, within reason. */
export function heeded(retryInMs: number | null): number {
  return retryInMs !== null && retryInMs > 0 ? Math.min(retryInMs, VIDEO_RETRY_AFTER_MS_MAX) : 0
}

export function pause({ clock }: Pick<EngineDeps, 'clock'>, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}

/** Of a call that may be given up at any time: a poll, a look, a download. */
export function callTimes({ clock }: Pick<EngineDeps, 'clock'>, job: HeldJob, ms: number): VideoCallTimes {
  return { endsAt: clock.now() + ms, signal: job.abort.signal, mayWrite: () => job.mayWrite(clock.now()) }
}
