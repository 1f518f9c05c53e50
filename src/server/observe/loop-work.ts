import { performance } from 'node:perf_hooks'

/** Share of time from which an event loop counts as working. */
const WORKING_SHARE = 0.05
/**
 * Turns of a loop between two looks up to which the loop had next to nothing to do: a front at rest has some
 * ten a second. Decision.
 */
const TURNS_AT_REST_MAX = 64

/** What an event loop did since the look before. */
export interface LoopWork {
  readonly isBusy: boolean
  /**
   * Milliseconds that the loop may have stood still at once: all of its work, where few turns did it; 0 where
   * many turns did. Too long by the rest of the work, and never too short where the turns were few.
   */
  readonly stopMs: number
}

/** @returns a function that tells what the loop of this thread did since the last call */
export function loopWork(): () => LoopWork {
  let before = performance.eventLoopUtilization()
  let turnsBefore = turnsOf()
  return () => {
    const [now, turns] = [performance.eventLoopUtilization(), turnsOf()]
    const { active, utilization } = performance.eventLoopUtilization(now, before)
    const stopMs = turns - turnsBefore > TURNS_AT_REST_MAX ? 0 : active
    before = now
    turnsBefore = turns
    return { isBusy: utilization > WORKING_SHARE, stopMs }
  }
}

function turnsOf(): number {
  return performance.nodeTiming.uvMetricsInfo.loopCount
}
