import { LOG_LINES_DROPPED, LOG_LINES_DROPPED_HELP, type Facts } from '../observe/metrics.ts'
import type { DiskFigures, NodeFigures, NodeGauges, StoreFigures } from '../supervisor/node-setup.ts'

/** Metrics of the node itself. */
export function factsOf(gauges: NodeGauges, logLinesDropped: number): Facts {
  return {
    [LOG_LINES_DROPPED]: { help: LOG_LINES_DROPPED_HELP, value: logLinesDropped, isTotal: true },
    sluice_fronts_ready: { help: 'Fronts that serve.', value: gauges.fronts.ready },
    sluice_fronts_wanted: { help: 'Fronts that should serve.', value: gauges.fronts.wanted },
    sluice_fronts_configured: { help: 'Fronts that the settings say.', value: gauges.fronts.configured },
    sluice_workers_ready: {
      help: 'Threads for long sessions of the fronts that serve.',
      value: gauges.workers.ready,
    },
    sluice_workers_wanted: {
      help: 'Threads for long sessions that the fronts should have.',
      value: gauges.workers.wanted,
    },
    sluice_workers_configured: {
      help: 'Threads for long sessions that the settings say.',
      value: gauges.workers.configured,
    },
    sluice_runners_ready: { help: 'Runners that work.', value: gauges.runners.ready },
    sluice_runners_wanted: { help: 'Runners that should work.', value: gauges.runners.wanted },
    sluice_child_restarts: { help: 'Children that died after they were ready.', value: gauges.restarts },
    sluice_front_hangs_total: {
      help: 'Fronts that were killed since they did not answer their supervisor.',
      value: gauges.hangs,
      isTotal: true,
    },
    sluice_postgres_up: { help: '1 while Postgres is reached.', value: Number(gauges.isPostgresUp) },
    sluice_storage_up: {
      help: '1 while the disks that the node writes to have room.',
      value: Number(gauges.isStorageUp),
    },
    ...surroundings(gauges.figures),
    sluice_redis_up: { help: '1 while Redis is reached.', value: Number(gauges.isRedisUp) },
  }
}

/** What could not be looked at has no metric, and raises no alert of its own: `sluice_postgres_up` does. */
function surroundings(figures: NodeFigures | null): Facts {
  if (figures === null) return {}
  const { disks, store, certificateEndsAt } = figures
  const byPlace = (read: (disk: DiskFigures) => number): Readonly<Record<string, number>> =>
    Object.fromEntries(disks.map((disk) => [disk.place, read(disk)]))
  return {
    sluice_disk_free_bytes: {
      help: 'Bytes that the node may still write, by what it keeps there.',
      label: 'place',
      values: byPlace(({ freeBytes }) => freeBytes),
    },
    sluice_disk_size_bytes: {
      help: 'Bytes of the same disks in all.',
      label: 'place',
      values: byPlace(({ sizeBytes }) => sizeBytes),
    },
    ...instant(
      'sluice_tls_certificate_end_timestamp_seconds',
      'End of the certificate that fronts serve with.',
      certificateEndsAt,
    ),
    ...(store === null ? {} : ofStore(store)),
  }
}

function ofStore(figures: StoreFigures): Facts {
  const { connections, abandonedJournals, moneyStepsBehind, backedUpAt, clockSkewMs } = figures
  return {
    sluice_postgres_connections: {
      help: 'Connections to Postgres that count against its bound, those of other programs too.',
      value: connections.used,
    },
    sluice_postgres_connections_allowed: {
      help: 'Connections that Postgres gives: the least of max_connections and the limits of role and database.',
      value: connections.allowed,
    },
    sluice_money_abandoned_journals: {
      help: 'Open journals of all nodes that no process brings into the books: what they hold stays lent.',
      value: abandonedJournals,
    },
    sluice_money_steps_behind: {
      help: 'Steps of the money of the node that Postgres lacks; above 0 paid calls are refused.',
      value: moneyStepsBehind,
    },
    ...instant('sluice_backup_end_timestamp_seconds', 'End of the last sluice backup.', backedUpAt),
    sluice_clock_skew_seconds: {
      help: 'Seconds by which the clock of Postgres is ahead of the node at least.',
      value: clockSkewMs / 1_000,
    },
  }
}

function instant(name: string, help: string, at: Date | null): Facts {
  return at === null ? {} : { [name]: { help, value: at.getTime() / 1_000 } }
}
