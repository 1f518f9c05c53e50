import {
  VIDEO_BACKOFF_FIRST_MS,
  VIDEO_BACKOFF_MAX_MS,
  VIDEO_RETRY_AFTER_MS_MAX,
} from '../../../schemas/videos/video-limits.ts'
import type { Log } from '../../ports/observe.ts'
import type { VideoCallTimes, VideoOrder, VideoProviders } from '../../ports/videos/video-providers.ts'
import type { VideoClips, VideoWork, PollBudget, VideoMeters } from '../../ports/videos/video-work.ts'
import type { VideoViews } from '../../ports/videos/videos.ts'
import type { HeldJob } from './held-job.ts'

export interface VideoClock {
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** Runs a function once, after `ms`. @returns a function that cancels the timer */
  readonly after: (ms: number, run: () => void) => () => void
  /**
   * Runs a function once, at the next tick of a period of `ms` milliseconds that all its users share.
   * @returns a function that cancels the timer
   */
  readonly atNext: (ms: number, run: () => void) => () => void
}

/** Dependencies of the engine: ports, a clock, randomness. */
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

/** Dependencies of steps. */
export interface EngineDeps extends VideoEngineDeps {
  /**
   * Records a job when it is unknown whether its end was written, or why another runner has the job: its row
   * is checked later.
   */
  readonly doubt: (job: HeldJob) => void
}

/** The result of a step: another step later, or no step because the job has ended or belongs to another runner. */
export type Next = { readonly kind: 'again'; readonly inMs: number } | typeof GONE
export const GONE = { kind: 'gone' } as const

export function again(inMs: number): Next {
  return { kind: 'again', inMs }
}

/**
 * Repeats a write of this job until the store answers; an earlier attempt may have been applied.
 * @returns null when the lease has expired or another runner has the row
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
      // An attempt without an answer may have been applied, and the row may still belong to this runner: the
      // next runner that claims it reads its state.
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

/** The order, including all attached parts of the request, for a call that sends it; null for the reasons of `write`. */
export async function wholeOrder(deps: EngineDeps, job: HeldJob): Promise<VideoOrder | null> {
  if (!job.claim.hasAttached) return job.order()
  const attached = await write(deps, job, () => deps.work.attached(job.claim))
  return attached === null ? null : job.order(attached)
}

/** Milliseconds to wait after this many failures in a row; the second half of the wait is random. */
export function backoffMs({ random }: Pick<EngineDeps, 'random'>, fails: number): number {
  return (
    Math.min(VIDEO_BACKOFF_MAX_MS, VIDEO_BACKOFF_FIRST_MS * 2 ** Math.min(fails, 30)) * (0.5 + random() / 2)
  )
}

/** Milliseconds that a provider asks to wait, up to VIDEO_RETRY_AFTER_MS_MAX. */
export function heeded(retryInMs: number | null): number {
  return retryInMs !== null && retryInMs > 0 ? Math.min(retryInMs, VIDEO_RETRY_AFTER_MS_MAX) : 0
}

export function pause({ clock }: Pick<EngineDeps, 'clock'>, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}

/** Times of a call that may be aborted at any moment: a poll, a lookup, a download. */
export function callTimes({ clock }: Pick<EngineDeps, 'clock'>, job: HeldJob, ms: number): VideoCallTimes {
  return { endsAt: clock.now() + ms, signal: job.abort.signal, mayWrite: () => job.mayWrite(clock.now()) }
}
