import { setTimeout as rest } from 'node:timers/promises'
import type { Command } from 'commander'
import { retentionSteps } from '../../main/retention.ts'
import type { KeptFor, PruneStep, RetentionKind } from '../../ports/operator/retention.ts'
import { prune } from '../../runner/retention.ts'
import { openRetentionLeases } from '../../store/base/retention-lease.ts'
import { withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { stderrLog } from '../parts/stderr-log.ts'
import { addVerb, CliFailure, loadGeneration, print, table } from '../parts/verb.ts'

interface Options {
  readonly json?: boolean
  readonly dryRun?: true
}

/** `prune`. */
export function addTo(program: Command): void {
  addVerb(
    program,
    'prune',
    'delete records past their retention time, as the node does every ten minutes; pauses to avoid slowing down calls',
  )
    .option('--dry-run', 'only count what would be deleted')
    .action((options: Options) => withDatabase((database) => pruneNow(database, options)))
}

async function pruneNow({ store }: DatabaseHandle, options: Options): Promise<void> {
  const steps = retentionSteps(loadGeneration().config, { store, log: stderrLog })
  if (options.dryRun === true)
    return tell(
      options,
      steps,
      new Map(await Promise.all(steps.map(async (step) => [step.kind, await step.due()] as const))),
    )
  const leases = openRetentionLeases(store)
  await leases.hasten()
  const report = await prune({
    leases,
    steps,
    log: stderrLog,
    meters: { pruned: () => undefined },
    now: () => performance.now(),
    rest: (ms) => rest(ms),
    isEnding: () => false,
  })
  if (report === null)
    throw new CliFailure('another process is already pruning: runners prune every ten minutes')
  await tell(options, steps, new Map(Object.entries(report.rows) as [RetentionKind, number][]))
  if (report.failed.length > 0)
    throw new CliFailure(`some records could not be pruned: ${report.failed.join(', ')}`)
  if (!report.isWhole) throw new CliFailure('another process took over before everything was pruned')
}

async function tell(
  options: Options,
  steps: readonly PruneStep[],
  counts: ReadonlyMap<RetentionKind, number>,
): Promise<void> {
  const removals = []
  for (const { kind, keptFor, oldest } of steps) {
    removals.push({
      kind,
      kept: textOf(keptFor),
      rows: counts.get(kind) ?? 0,
      oldest_at: (await oldest())?.toISOString() ?? null,
    })
  }
  const isDry = options.dryRun === true
  const rows = removals.map(({ kind, kept, rows: count, oldest_at: at }) => [
    kind,
    kept ?? 'forever',
    String(count),
    at ?? '',
  ])
  print(
    options,
    { dry_run: isDry, data: removals },
    table([['KIND', 'KEPT', isDry ? 'DUE' : 'REMOVED', 'OLDEST'], ...rows]),
  )
}

function textOf(keptFor: KeptFor): string | null {
  if (keptFor === null) return null
  const { count, unit } = keptFor
  return `${count} ${count === 1 ? unit.slice(0, -1) : unit}`
}
