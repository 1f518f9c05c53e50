import type { Log } from '../../ports/observe.ts'
import { atNext } from '../../structures/ticks.ts'
import type { SyncClaim, SyncPlace, SyncWork } from '../../ports/scim/directory.ts'

/** Milliseconds between two checks by a runner for requested syncs. Decision. */
export const SYNC_POLL_MS = 1_000
/** Milliseconds after the last step of a sync until another runner may continue the sync. Decision. */
export const SYNC_LEASE_MS = 15_000
/** Milliseconds until a step that the store could not execute is tried again. Decision. */
export const SYNC_RETRY_MS = 500

export interface SyncOptions {
  readonly work: SyncWork
  readonly log: Log
  readonly pollMs?: number
  readonly leaseMs?: number
  /** Milliseconds until a step is tried again after the store failed. */
  readonly retryMs?: number
}

/** The error of the sync, for the caller that started it; the log has the cause. */
const BROKEN = 'The sync stopped with an internal error. Changes made so far remain; start another sync.'

/** Works on syncs, one at a time. @returns a function that ends the work: the current sync is released for another runner */
export function startSyncs({
  work,
  log,
  pollMs = SYNC_POLL_MS,
  leaseMs = SYNC_LEASE_MS,
  retryMs = SYNC_RETRY_MS,
}: SyncOptions): () => Promise<void> {
  const ending = new AbortController()
  const untilNextPoll = (): Promise<void> => waitFor(ending.signal, (end) => atNext(pollMs, end))
  const pause = (ms: number): Promise<void> =>
    waitFor(ending.signal, (end) => {
      const timer = setTimeout(end, ms)
      return () => clearTimeout(timer)
    })
  const isEnding = (): boolean => ending.signal.aborted
  let isAway = false
  const next = async (): Promise<boolean> => {
    const claimed = await work.claimNext(leaseMs)
    if (!claimed.ok && !isAway)
      log.warn('sync_claim_failed', { failure: claimed.failure.name, cause: claimed.failure.cause })
    isAway = !claimed.ok
    if (!claimed.ok || claimed.value === null) return false
    await sync(claimed.value)
    return true
  }
  const run = async (): Promise<void> => {
    while (!isEnding()) {
      const isBusy = await next().catch((cause: unknown) => {
        log.error('sync_claim_failed', { cause })
        return false
      })
      if (!isBusy) await untilNextPoll()
    }
  }
  const sync = async (claim: SyncClaim): Promise<void> => {
    const { id: syncId, organizationId } = claim
    try {
      const came = await steps(claim)
      log.info('sync_ended', { syncId, organizationId, came })
      if (came === 'stopped') await work.release(claim)
    } catch (cause) {
      log.error('sync_failed', { syncId, organizationId, cause })
      // When this write fails too, the lease expires, and the next attempt may succeed.
      await work.fail(claim, BROKEN)
    }
  }
  const steps = async (claim: SyncClaim): Promise<'done' | 'lost' | 'stopped'> => {
    let place: SyncPlace | null = null
    while (!isEnding()) {
      const stepped = await work.step(claim, place, leaseMs)
      if (!stepped.ok) await pause(retryMs)
      else if (stepped.value.kind === 'on') place = stepped.value.place
      else return stepped.value.kind
    }
    return 'stopped'
  }
  const running = run()
  return async () => {
    ending.abort()
    await running
  }
}

/** Waits for a timer, or for the signal. @param arm starts the timer; returns a function that cancels it */
function waitFor(signal: AbortSignal, arm: (end: () => void) => () => void): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = arm(end)
    signal.addEventListener('abort', end)
  })
}
