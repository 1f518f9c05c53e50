import type { ClockReading } from '../../../observe/clock-reading.ts'
import { msText } from '../../../observe/load-advice.ts'
import { doubtful, good, type Finding } from './finding.ts'

/**
 * Milliseconds by which the clock of Postgres or of the object store may differ from that of this machine:
 * expiries, leases and the signatures of webhooks and of object storage depend on both clocks. Decision.
 */
export const CLOCK_SKEW_MS_MAX = 2_000

/** @param whose `Postgres`, `the object store` */
export function clock(whose: string, { offsetMs, uncertaintyMs }: ClockReading): Finding {
  const apart = Math.abs(offsetMs)
  if (apart - uncertaintyMs <= CLOCK_SKEW_MS_MAX)
    return good(
      'clock',
      `the clock of ${whose} is within ${msText(Math.ceil(apart + uncertaintyMs))} of the node's`,
    )
  const detail = `the clock of ${whose} is ${(apart / 1_000).toFixed(1)} s ${offsetMs > 0 ? 'ahead of' : 'behind'} the node's`
  return doubtful(
    'clock',
    detail,
    'synchronize both machines with the same time servers (`timedatectl`, chrony)',
  )
}
