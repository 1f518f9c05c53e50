import { setTimeout as after } from 'node:timers/promises'
import { REQUEST_DAYS_DEFAULT } from '../../schemas/requests/request-limits.ts'
import type { Config } from '../config.ts'
import { ledgerMonths } from '../store/money/repair/retention.ts'
import type { Log } from '../ports/observe.ts'
import type { PruneStep, RetentionMeters } from '../ports/operator/retention.ts'
import { repeat } from '../runner/repeat.ts'
import { prune } from '../runner/retention.ts'
import type { Store } from '../store/base/open.ts'
import {
  agedRows,
  DEAD_LETTERS,
  IDEMPOTENCY,
  IDEMPOTENCY_KEPT,
  JOBS,
  WEBHOOKS,
} from '../store/lifecycle/retention/aged-rows.ts'
import { auditChains } from '../store/lifecycle/retention/audit-chains.ts'
import { requestDays } from '../store/requests/request-days.ts'
import { openRetentionLeases } from '../store/base/retention-lease.ts'
import { OLDEST_LOOK_MS, PRUNE_LOOK_MS } from '../../schemas/operator/admin-port-limits.ts'
import { generationDays } from '../store/inference/generations.ts'

export interface RetentionDeps {
  readonly store: Store
  readonly log: Log
}

/** One step for each kind of row that is kept for a limited time, as set in the configuration. */
export function retentionSteps(
  { kept }: Pick<Config, 'kept'>,
  { store, log }: RetentionDeps,
): readonly PruneStep[] {
  const days = (count: number) => (count < 1 ? null : { count, unit: 'days' as const })
  return [
    ledgerMonths({ store, keptMonths: kept.ledgerMonths, log }),
    auditChains({ store, keptMonths: kept.auditMonths, log }),
    agedRows(store, IDEMPOTENCY, IDEMPOTENCY_KEPT),
    agedRows(store, WEBHOOKS, days(kept.webhookDays)),
    agedRows(store, DEAD_LETTERS, days(kept.deadLetterDays)),
    agedRows(store, JOBS, days(kept.jobDays)),
    generationDays(store, kept.generationDays),
    // Rows left by a log that was switched off are removed too.
    requestDays(store, kept.requestDays ?? REQUEST_DAYS_DEFAULT),
  ]
}

/**
 * Prunes in a runner; only one process of the installation prunes at a time. @returns a function that stops
 * the pruning and waits for the batch under way
 */
export function startRetention(
  config: Config,
  { store, log, meters }: RetentionDeps & { readonly meters: RetentionMeters },
): () => Promise<void> {
  const steps = retentionSteps(config, { store, log })
  const leases = openRetentionLeases(store)
  const ending = new AbortController()
  const parts = {
    leases,
    steps,
    log,
    meters,
    now: () => performance.now(),
    isEnding: () => ending.signal.aborted,
    // The abort of `ending` shortens a wait.
    rest: (ms: number) => after(ms, undefined, { signal: ending.signal }).catch(() => undefined),
  }
  const deps = { log, random: Math.random }
  const stops = [
    repeat(
      { name: 'retention', everyMs: PRUNE_LOOK_MS, run: async () => ({ ...(await prune(parts))?.rows }) },
      deps,
    ),
    repeat(
      {
        name: 'retention_oldest',
        everyMs: OLDEST_LOOK_MS,
        async run() {
          for (const { kind, oldest } of steps) meters.oldest(kind, await oldest())
          return {}
        },
      },
      deps,
    ),
  ]
  return async () => {
    ending.abort()
    await Promise.all(stops.map((stop) => stop()))
  }
}
