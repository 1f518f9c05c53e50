import { msText } from '../../../observe/load-advice.ts'
import { doubtful, good, type Finding } from './finding.ts'

/**
 * Milliseconds that the clock of Postgres or of the object store may be apart from ours: expiries, leases and
 * the signatures of webhooks and of object storage are read by both. Decision.
 */
export const CLOCK_SKEW_MS_MAX = 2_000

/** What another clock said, against ours. */
export interface ClockReading {
  /** Positive: it is ahead. */
  readonly offsetMs: number
  /** It may be that much more or less. */
  readonly uncertaintyMs: number
}

/**
 * @param saidMs unix milliseconds that the other clock told
 * @param grainMs it may have been up to so much later when it told
 */
export function readingOf(
  saidMs: number,
  asked: { readonly beganMs: number; readonly endedMs: number },
  grainMs = 0,
): ClockReading {
  const middle = (asked.beganMs + asked.endedMs) / 2
  return {
    offsetMs: saidMs + grainMs / 2 - middle,
    uncertaintyMs: (asked.endedMs - asked.beganMs + grainMs) / 2,
  }
}

/** @param whose `Postgres`, `the object store` */
export function clock(whose: string, { offsetMs, uncertaintyMs }: ClockReading): Finding {
  const apart = Math.abs(offsetMs)
  if (apart - uncertaintyMs <= CLOCK_SKEW_MS_MAX)
    return good('clock', `that of ${whose} is within ${msText(Math.ceil(apart + uncertaintyMs))} of ours`)
  const detail = `that of ${whose} is ${(apart / 1_000).toFixed(1)} s ${offsetMs > 0 ? 'ahead of' : 'behind'} ours`
  return doubtful('clock', detail, 'let both machines follow the same time servers (`timedatectl`, chrony)')
}
