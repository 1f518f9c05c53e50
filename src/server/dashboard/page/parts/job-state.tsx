import { h, type ComponentChild } from 'preact'
import type { VideoStatus } from '../../../../schemas/videos/video-jobs.ts'
import { Badge, type Tone } from './badge.tsx'

const TONES: Readonly<Record<VideoStatus, Tone>> = {
  pending: 'plain',
  in_progress: 'plain',
  completed: 'good',
  failed: 'bad',
  cancelled: 'warn',
  expired: 'bad',
}
const OPEN: readonly VideoStatus[] = ['pending', 'in_progress']

/** For a select: every state and its word. */
export const JOB_STATES: readonly (readonly [VideoStatus, string])[] = (
  Object.keys(TONES) as VideoStatus[]
).map((status) => [status, wordOf(status)])

export function isOpen({ status }: { readonly status: VideoStatus }): boolean {
  return OPEN.includes(status)
}

export function JobBadge({ status }: { readonly status: VideoStatus }): ComponentChild {
  return <Badge text={wordOf(status)} tone={TONES[status]} />
}

function wordOf(status: VideoStatus): string {
  return status.replace('_', ' ')
}
