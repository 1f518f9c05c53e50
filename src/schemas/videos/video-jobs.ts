/** States of a video job as callers see them. §2.2, §3. */
export const VIDEO_STATUSES = [
  'pending',
  'in_progress',
  'completed',
  'failed',
  'cancelled',
  'expired',
] as const
export type VideoStatus = (typeof VIDEO_STATUSES)[number]

/** Final states. */
export const VIDEO_ENDINGS = [
  'completed',
  'failed',
  'cancelled',
  'expired',
] as const satisfies readonly VideoStatus[]
export type VideoEnding = (typeof VIDEO_ENDINGS)[number]

/**
 * States of the row, in their fixed order; from each of the first four the job may change to any final state.
 * `submitting`: the provider may or may not have the job. `storing`: the provider has made the clip. Design
 * §7.
 */
export const VIDEO_STATES = ['accepted', 'submitting', 'running', 'storing', ...VIDEO_ENDINGS] as const
export type VideoState = (typeof VIDEO_STATES)[number]
export type OpenVideoState = Exclude<VideoState, VideoEnding>

const STATUS_OF: Readonly<Record<VideoState, VideoStatus>> = {
  accepted: 'pending',
  submitting: 'pending',
  running: 'in_progress',
  storing: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
}

export function videoStatusOf(state: VideoState): VideoStatus {
  return STATUS_OF[state]
}

/** Number of ranks: pending, in progress, ended. */
export const VIDEO_RANKS = 3

/** The rank of a status, from 0: a job's rank never decreases. All final states have the same rank. */
export function videoRankOf(status: VideoStatus): number {
  return Math.min(VIDEO_STATUSES.indexOf(status), VIDEO_RANKS - 1)
}

export function isVideoEnding(state: VideoState): state is VideoEnding {
  return (VIDEO_ENDINGS as readonly string[]).includes(state)
}
