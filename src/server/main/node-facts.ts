import type { Facts } from '../observe/metrics.ts'
import { LOG_LINES_DROPPED, LOG_LINES_DROPPED_HELP } from '../observe/read-table.ts'
import type { DiskFigures, NodeFigures, NodeGauges, StoreFigures } from '../supervisor/node-setup.ts'

export function factsOf(gauges: NodeGauges, logLinesDropped: number): Facts {
  return {
    [LOG_LINES_DROPPED]: { help: LOG_LINES_DROPPED_HELP, value: logLinesDropped, isTotal: true },
    sluice_fronts_ready: {
      help: 'Ready fronts (processes that serve calls).',
      value: gauges.fronts.ready,
    },
    sluice_fronts_wanted: {
      help: 'Target number of ready fronts (processes that serve calls).',
      value: gauges.fronts.wanted,
    },
    sluice_fronts_configured: {
      help: 'Fronts (processes that serve calls) set in the configuration.',
      value: gauges.fronts.configured,
    },
    sluice_workers_ready: {
      help: 'Ready file transfer threads, across all fronts.',
      value: gauges.workers.ready,
    },
    sluice_workers_wanted: {
      help: 'Target number of ready file transfer threads, across all fronts.',
      value: gauges.workers.wanted,
    },
    sluice_workers_configured: {
      help: 'File transfer threads set in the configuration, across all fronts.',
      value: gauges.workers.configured,
    },
    sluice_runners_ready: {
      help: 'Ready runners (processes for video jobs, webhooks and SCIM).',
      value: gauges.runners.ready,
    },
    sluice_runners_wanted: {
      help: 'Target number of ready runners (processes for video jobs, webhooks and SCIM).',
      value: gauges.runners.wanted,
    },
    sluice_child_restarts: {
      help: 'Fronts and runners that died after they were ready, since the node started.',
      value: gauges.restarts,
    },
    sluice_front_hangs_total: {
      help: 'Fronts killed because they did not respond to their supervisor.',
      value: gauges.hangs,
      isTotal: true,
    },
    sluice_postgres_up: {
      help: '1 while the node can reach Postgres, else 0.',
      value: Number(gauges.isPostgresUp),
    },
    sluice_storage_up: {
      help: '1 while every disk that the node uses has free space, else 0.',
      value: Number(gauges.isStorageUp),
    },
    ...surroundings(gauges.figures),
    sluice_redis_up: { help: '1 while the node can reach Redis, else 0.', value: Number(gauges.isRedisUp) },
  }
}

/**
 * Metrics of disks, store and certificate. Figures that could not be read are left out and raise no alert of
 * their own, since `sluice_postgres_up` does.
 */
function surroundings(figures: NodeFigures | null): Facts {
  if (figures === null) return {}
  const { disks, store, certificateEndsAt } = figures
  const byPlace = (read: (disk: DiskFigures) => number): Readonly<Record<string, number>> =>
    Object.fromEntries(disks.map((disk) => [disk.place, read(disk)]))
  return {
    sluice_disk_free_bytes: {
      help: "Free bytes on the node's disks, by storage place: data, postgres or objects.",
      label: 'place',
      values: byPlace(({ freeBytes }) => freeBytes),
    },
    sluice_disk_size_bytes: {
      help: "Size of the node's disks in bytes, by storage place: data, postgres or objects.",
      label: 'place',
      values: byPlace(({ sizeBytes }) => sizeBytes),
    },
    ...instant(
      'sluice_tls_certificate_end_timestamp_seconds',
      "Expiry of the fronts' TLS certificate, in Unix seconds.",
      certificateEndsAt,
    ),
    ...(store === null ? {} : ofStore(store)),
  }
}

function ofStore(figures: StoreFigures): Facts {
  const { connections, abandonedJournals, moneyStepsBehind, backedUpAt, clockSkewMs } = figures
  return {
    sluice_postgres_connections: {
      help: 'Connections to Postgres that count towards its limit, including those of other programs.',
      value: connections.used,
    },
    sluice_postgres_connections_allowed: {
      help: "Connections that Postgres allows: the lowest of max_connections, the role's limit and the database's limit.",
      value: connections.allowed,
    },
    sluice_money_abandoned_journals: {
      help: 'Open money journals that no process will settle, because their node no longer runs or their file is missing; their money stays reserved.',
      value: abandonedJournals,
    },
    sluice_money_steps_behind: {
      help: 'Money entries of this node that are missing in Postgres, for example after a restore; paid calls are refused if any are missing.',
      value: moneyStepsBehind,
    },
    ...instant(
      'sluice_backup_end_timestamp_seconds',
      'Time when the last `sluice backup` ended, in Unix seconds.',
      backedUpAt,
    ),
    sluice_clock_skew_seconds: {
      help: "Minimum number of seconds by which the Postgres clock is ahead of the node's clock; negative if the node's clock is ahead.",
      value: clockSkewMs / 1_000,
    },
  }
}

function instant(name: string, help: string, at: Date | null): Facts {
  return at === null ? {} : { [name]: { help, value: at.getTime() / 1_000 } }
}
