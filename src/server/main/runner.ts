import { SWEEP_MS, SWEEP_UPLOADS_MS } from '../../schemas/file-limits.ts'
import { pruneLedger } from '../ledger/retention.ts'
import { createMetrics } from '../observe/metrics.ts'
import { repeat } from '../runner/repeat.ts'
import { sweep } from '../runner/sweep.ts'
import { openContainerSizes } from '../store/container-sizes.ts'
import { openContainerUses } from '../store/container-uses.ts'
import { openFileSweep } from '../store/file-sweep.ts'
import { ensurePartitions } from '../store/lending/partitions.ts'
import { openStore } from '../store/open.ts'
import { pruneFronts, pruneInvalidations } from '../store/prune.ts'
import type { Channel } from '../supervisor/channel.ts'
import type { ChildPart } from '../supervisor/ipc.ts'
import { RUNNER_POOL_MAX } from '../supervisor/shares.ts'
import { childLog, configOf } from './child.ts'
import { openStorage } from './storage.ts'

/** Milliseconds between two rounds of pruning. Decision. */
const PRUNE_MS = 60_000
/** Milliseconds between two looks for months that the ledger needs soon, or keeps no longer. Decision. */
const LEDGER_MONTHS_MS = 3_600_000

/** Housekeeping that must go on whether or not anybody calls. */
export async function runRunner(part: ChildPart, channel: Channel): Promise<void> {
  const config = configOf(part)
  const log = childLog(part, channel)
  const metrics = createMetrics()
  const applicationName = `sluice-runner-${part.slot}`
  const store = openStore({ url: part.databaseUrl, poolMax: RUNNER_POOL_MAX, applicationName })
  const stop = repeat({
    name: 'pruned',
    everyMs: PRUNE_MS,
    run: async () => ({
      invalidations: await pruneInvalidations(store.sql),
      fronts: await pruneFronts(store.sql, config.keyGraceMs),
    }),
  }, { log, random: Math.random })
  const stopLedger = repeat({
    name: 'ledger_months',
    everyMs: LEDGER_MONTHS_MS,
    run: async () => ({ ...(await ensurePartitions(store)), ...(await pruneLedger(store, config.ledgerKeptMonths)) }),
  }, { log, random: Math.random })
  const storage = await openStorage(config)
  let isEnding = false
  const swept = {
    rows: openFileSweep(store), uses: openContainerUses(store), sizes: openContainerSizes(store),
    storage, now: Date.now, isEnding: () => isEnding,
  }
  const sweepEvery = (everyMs: number, isUploadsOnly: boolean) => repeat({
    name: 'swept',
    everyMs,
    async run() {
      const { report, failures } = await sweep(swept, { isUploadsOnly })
      for (const { name, cause } of failures) log.warn('sweep_failed', { failure: name, cause })
      return { ...report }
    },
  }, { log, random: Math.random })
  const stopSweeps = [sweepEvery(SWEEP_UPLOADS_MS, true), sweepEvery(SWEEP_MS, false)]
  metrics.watch({ logLinesDropped: () => log.dropped })
  channel.onSnapshot(() => metrics.snapshot())
  channel.onDrain(() => {
    isEnding = true
    void Promise.all([stop(), stopLedger(), ...stopSweeps.map((stopSweep) => stopSweep())])
      .then(() => Promise.all([store.close(), storage.close()]))
      .finally(() => process.exit(0))
  })
  channel.tell({ kind: 'ready' })
}
