import { createMetrics } from '../observe/metrics.ts'
import { repeat } from '../runner/repeat.ts'
import { openStore } from '../store/open.ts'
import { pruneFronts, pruneInvalidations } from '../store/prune.ts'
import type { Channel } from '../supervisor/channel.ts'
import type { ChildPart } from '../supervisor/ipc.ts'
import { RUNNER_POOL_MAX } from '../supervisor/shares.ts'
import { childLog, configOf } from './child.ts'

/** Milliseconds between two rounds of pruning. Decision. */
const PRUNE_MS = 60_000

/** Housekeeping that must go on whether or not anybody calls. */
export async function runRunner(part: ChildPart, channel: Channel): Promise<void> {
  const { keyGraceMs } = configOf(part)
  const log = childLog(part, channel)
  const metrics = createMetrics()
  const applicationName = `sluice-runner-${part.slot}`
  const store = openStore({ url: part.databaseUrl, poolMax: RUNNER_POOL_MAX, applicationName })
  const stop = repeat({
    name: 'pruned',
    everyMs: PRUNE_MS,
    run: async () => ({
      invalidations: await pruneInvalidations(store.sql),
      fronts: await pruneFronts(store.sql, keyGraceMs),
    }),
  }, { log, random: Math.random })
  channel.onSnapshot(() => metrics.snapshot())
  channel.onDrain(() => {
    void stop().then(() => store.close()).finally(() => process.exit(0))
  })
  channel.tell({ kind: 'ready' })
}
