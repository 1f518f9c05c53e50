/** Metrics whose values are read at each scrape. */
import { usdOfNano } from '../../schemas/money/costs.ts'
import type { MoneyReading } from '../ports/money/money.ts'
import type { BreakerReading } from '../ports/observe.ts'
import type { RetentionKind } from '../ports/operator/retention.ts'
import type { DeliveryCounts } from '../ports/webhooks/webhooks.ts'
import type { FrontLoadBetween, PoolReading } from './front-metrics.ts'
import type { ReadTable } from './read-metrics.ts'
import type { HeldVideoState } from '../ports/videos/video-work.ts'

/** Readings taken at each scrape. */
export interface Gauges {
  readonly inFlight?: () => number
  readonly shortJobsWaiting?: () => number
  /** Open connections of callers now, and connections refused since the start. */
  readonly connections?: () => { readonly open: number; readonly refused: number }
  /** Bytes of answers that callers have not read yet. */
  readonly unreadBytes?: () => number
  /** Calls to models, and turns of streams, that waited for another organization, since the start. */
  readonly held?: () => { readonly calls: number; readonly turns: number }
  /** Log lines that were dropped because the reader was too slow, since the start. */
  readonly logLinesDropped?: () => number
  /** Scripts that Redis refused since the start, by the error code of Redis. */
  readonly redisRefusals?: () => ReadonlyMap<string, number>
  /** Degraded modes by name; 1 while a mode is on. */
  readonly degraded?: () => Readonly<Record<string, boolean>>
}

/** Name of the counter of dropped log lines; the supervisor counts its own lines under the same name. */
export const LOG_LINES_DROPPED = 'sluice_log_lines_dropped_total'
/** Help text of that counter. */
export const LOG_LINES_DROPPED_HELP = 'Log lines dropped because the reader of the log was too slow.'

export const GAUGES: ReadTable<readonly Gauges[]> = {
  sluice_requests_in_flight: {
    help: 'HTTP calls in progress.',
    value: (all) => sum(all, (one) => one.inFlight?.()),
  },
  sluice_short_jobs_waiting: {
    help: 'Short jobs (such as parsing a large body or encrypting a secret) waiting for a worker thread.',
    value: (all) => sum(all, (one) => one.shortJobsWaiting?.()),
  },
  sluice_connections: {
    help: 'Open connections from clients.',
    value: (all) => sum(all, (one) => one.connections?.().open),
  },
  sluice_unread_answer_bytes: {
    help: 'Bytes of answers buffered for clients that read slowly.',
    value: (all) => sum(all, (one) => one.unreadBytes?.()),
  },
  sluice_connections_refused_total: {
    help: 'Client connections refused because the connection limit was reached.',
    value: (all) => sum(all, (one) => one.connections?.().refused),
  },
  sluice_model_calls_held_total: {
    help: "Calls to text models delayed because their organization used more than its share of a front's event loop.",
    value: (all) => sum(all, (one) => one.held?.().calls),
  },
  sluice_model_turns_held_total: {
    help: 'Event loop turns in which streams of one organization were paused so that streams of other organizations could run.',
    value: (all) => sum(all, (one) => one.held?.().turns),
  },
  [LOG_LINES_DROPPED]: {
    help: LOG_LINES_DROPPED_HELP,
    value: (all) => sum(all, (one) => one.logLinesDropped?.()),
  },
  sluice_redis_refusals_total: {
    help: 'Scripts that Redis refused to run, by Redis error code.',
    labels: ['code'],
    value: (all) => all.flatMap((one) => [...(one.redisRefusals?.() ?? [])]),
  },
  sluice_degraded: {
    help: '1 while a process of the node works without the store named by the label mode (postgres or redis), else 0.',
    labels: ['mode'],
    aggregator: 'max',
    value: (all) =>
      all.flatMap((one) =>
        Object.entries(one.degraded?.() ?? {}).map(([mode, is]) => [mode, is ? 1 : 0] as const),
      ),
  },
}

function sum(all: readonly Gauges[], read: (one: Gauges) => number | undefined): number {
  return all.reduce((total, one) => total + (read(one) ?? 0), 0)
}

interface ProcessReading {
  readonly front: number | null
  /** Seconds by percentile. */
  readonly delays: readonly (readonly [percentile: string, seconds: number])[]
  readonly cpu: NodeJS.CpuUsage
  readonly memory: NodeJS.MemoryUsage
}

export const PROCESS: ReadTable<ProcessReading> = {
  sluice_event_loop_delay_seconds: {
    help: 'Event loop delay in seconds since the last reading, by percentile: the maximum over all processes.',
    labels: ['percentile'],
    aggregator: 'max',
    value: ({ delays }) => delays,
  },
  process_cpu_seconds_total: {
    help: "CPU seconds used by the node's processes, by mode: user or system.",
    labels: ['mode'],
    value: ({ cpu }) => Object.entries(cpu).map(([mode, us]) => [mode, us / 1e6] as const),
  },
  process_resident_memory_bytes: {
    help: "Resident memory of the node's processes, in bytes.",
    value: ({ memory }) => memory.rss,
  },
  sluice_heap_bytes: {
    help: "JavaScript heap used by the node's processes, in bytes.",
    value: ({ memory }) => memory.heapUsed,
  },
}

export const FRONT_PROCESS: ReadTable<ProcessReading> = {
  ...PROCESS,
  sluice_front_event_loop_delay_seconds: {
    help: 'Event loop delay in seconds since the last reading, by front and percentile.',
    labels: ['front', 'percentile'],
    aggregator: 'max',
    value: ({ front, delays }) =>
      delays.map(([percentile, seconds]) => [`${front}|${percentile}`, seconds] as const),
  },
}

/** A front that is being replaced shares its slot with its successor: the node shows the larger figure. */
export const FRONT_LOAD: ReadTable<
  FrontLoadBetween & { readonly front: number; readonly shortJobs: PoolReading }
> = {
  sluice_front_event_loop_utilization: {
    help: 'Fraction of time (0 to 1) that the event loop was busy since the last reading, by front.',
    labels: ['front'],
    aggregator: 'max',
    value: ({ front, loopShare }) => [[`${front}`, loopShare]],
  },
  sluice_front_pool_wait_seconds: {
    help: 'Mean wait in seconds for a worker thread since the last reading, by front and pool: short_jobs or sessions.',
    labels: ['front', 'pool'],
    aggregator: 'max',
    value: ({ front, pools }) =>
      Object.entries(pools).map(([pool, { waitS }]) => [`${front}|${pool}`, waitS] as const),
  },
  sluice_front_pool_utilization: {
    help: 'Fraction of time (0 to 1) that the worker threads were busy since the last reading, by front and pool: short_jobs or sessions.',
    labels: ['front', 'pool'],
    aggregator: 'max',
    value: ({ front, pools }) =>
      Object.entries(pools).map(([pool, { share }]) => [`${front}|${pool}`, share] as const),
  },
  sluice_short_jobs_total: {
    help: 'Short jobs started (such as parsing a large body or encrypting a secret).',
    value: ({ shortJobs }) => shortJobs.begun,
  },
  sluice_short_job_wait_seconds_total: {
    help: 'Time that short jobs waited for a worker thread, in seconds.',
    value: ({ shortJobs }) => shortJobs.waitS,
  },
  sluice_short_job_busy_seconds_total: {
    help: 'Busy time of the worker threads for short jobs, in seconds.',
    value: ({ shortJobs }) => shortJobs.busyS,
  },
}

/** Figures of the threads for long sessions; counters that only grow are counted since the start. */
interface SessionReading {
  readonly threads: number
  /** Open sessions that receive files. */
  readonly intakes: number
  /** Open sessions that decrypt and send files. */
  readonly unsealings: number
  /** Open sessions that their thread has not begun yet. */
  readonly waiting: number
  readonly waitS: number
  readonly begun: number
  readonly busyS: number
  readonly silentThreads: number
  /** Bytes of uploads that wait for the session threads. */
  readonly waitingBytes: number
}

export const SESSIONS: ReadTable<SessionReading> = {
  sluice_session_threads: {
    help: 'Threads for file transfers and other long streams.',
    value: ({ threads }) => threads,
  },
  sluice_intakes: {
    help: 'File uploads in progress.',
    value: ({ intakes }) => intakes,
  },
  sluice_unsealings: {
    help: 'Downloads of encrypted files in progress.',
    value: ({ unsealings }) => unsealings,
  },
  sluice_sessions_waiting: {
    help: 'File transfers and other long streams waiting for a transfer thread.',
    value: ({ waiting }) => waiting,
  },
  sluice_upload_bytes_waiting: {
    help: 'Bytes of the buffers of file uploads in progress, full or not.',
    value: ({ waitingBytes }) => waitingBytes,
  },
  sluice_sessions_total: {
    help: 'Number of file transfers and other long streams started.',
    value: ({ begun }) => begun,
  },
  sluice_session_wait_seconds_total: {
    help: 'Time that file transfers and other long streams waited for a transfer thread, in seconds.',
    value: ({ waitS }) => waitS,
  },
  sluice_session_busy_seconds_total: {
    help: 'Busy time of the threads for file transfers and other long streams, in seconds.',
    value: ({ busyS }) => busyS,
  },
  sluice_session_threads_ended_total: {
    help: 'File transfer threads that were ended because they did not respond.',
    value: ({ silentThreads }) => silentThreads,
  },
}

/** No label names an account. */
export const MONEY: ReadTable<MoneyReading> = {
  sluice_money_takes_total: {
    help: 'Paid calls for which money was reserved or a cost was booked.',
    value: ({ takes }) => takes,
  },
  sluice_money_calls_open: {
    help: 'Paid calls in progress, each with an open reservation.',
    value: ({ open }) => open,
  },
  sluice_money_overruns_total: {
    help: 'Calls that cost more than the maximum computed before the call.',
    value: ({ overruns }) => overruns,
  },
  sluice_money_spent_usd_total: {
    help: 'USD charged for calls.',
    value: ({ spentNano }) => usdOfNano(spentNano),
  },
  sluice_money_refusals_total: {
    help: 'Calls refused for lack of money, by source: credit, key_limit, budget, unbounded (unknown maximum cost), unavailable or busy.',
    labels: ['source'],
    value: ({ refusals }) => Object.entries(refusals),
  },
  sluice_money_calls_waiting: {
    help: 'Calls waiting for money to be reserved.',
    value: ({ waiting }) => waiting,
  },
  sluice_money_held_usd: {
    help: 'USD that the ledger has lent to fronts (processes that serve calls) and that no call has reserved.',
    value: ({ heldNano }) => usdOfNano(heldNano),
  },
  sluice_money_lends_total: {
    help: 'Loans of money from the ledger in Postgres to fronts (processes that serve calls).',
    value: ({ lends }) => lends,
  },
  sluice_money_lend_seconds_total: {
    help: 'Time that fronts waited for loans of money from the ledger, in seconds.',
    value: ({ lendS }) => lendS,
  },
  sluice_money_flushes_total: {
    help: 'Batches of money journal entries written to the ledger.',
    value: ({ flushes }) => flushes,
  },
  sluice_money_flushed_entries_total: {
    help: 'Money journal entries written to the ledger.',
    value: ({ flushedEntries }) => flushedEntries,
  },
  sluice_money_flush_lag_seconds: {
    help: 'Age in seconds of the oldest money journal entry not yet in the ledger: the maximum over all fronts.',
    aggregator: 'max',
    value: ({ flushLagS }) => flushLagS,
  },
  sluice_money_give_backs_total: {
    help: 'Number of times a front (a process that serves calls) returned unused money to the ledger.',
    value: ({ giveBacks }) => giveBacks,
  },
  sluice_money_journal_broken: {
    help: '1 while a front (a process that serves calls) cannot write its money journal and refuses paid calls, else 0.',
    aggregator: 'max',
    value: ({ isJournalBroken }) => Number(isJournalBroken),
  },
}

/**
 * Circuit breakers that have opened at least once. Every front has its own: the node shows the largest count
 * of open ones of any front, and the sum of the openings.
 */
export const BREAKERS: ReadTable<readonly BreakerReading[]> = {
  sluice_upstream_breakers_open: {
    help: 'Endpoints with an open circuit breaker, by provider: the maximum over all fronts.',
    labels: ['provider'],
    aggregator: 'max',
    value: (all) => all.map(({ provider, open }) => [provider, open.length] as const),
  },
  sluice_upstream_breaker_openings_total: {
    help: 'Number of times the circuit breaker of an endpoint opened, by provider.',
    labels: ['provider'],
    value: (all) => all.map(({ provider, openings }) => [provider, openings] as const),
  },
}

/** Open streams by the values of the labels. */
export const OPEN_STREAMS: ReadTable<ReadonlyMap<string, number>> = {
  sluice_streams_open: {
    help: 'Streams in progress that have sent their first output, by operation, provider and model.',
    labels: ['operation', 'provider', 'model'],
    value: (open) => open,
  },
}

export const HELD_VIDEOS: ReadTable<Readonly<Record<HeldVideoState, number>>> = {
  sluice_video_jobs_held: {
    help: 'Open video jobs assigned to runners (processes for video jobs), by state.',
    labels: ['state'],
    value: (held) => Object.entries(held),
  },
}

/** Deliveries of all runners; null before the first count. */
export const DELIVERIES: ReadTable<DeliveryCounts | null> = {
  sluice_webhook_deliveries: {
    help: 'Webhook deliveries by state: waiting for an attempt, or dead (given up).',
    labels: ['state'],
    aggregator: 'max',
    value: (counts) => Object.entries(counts ?? {}),
  },
}

/** Ages over the whole installation. */
export const OLDEST_KEPT: ReadTable<Iterable<readonly [RetentionKind, number]>> = {
  sluice_oldest_kept_seconds: {
    help: 'Age in seconds of the oldest row in Postgres, by kind of row; 0 if there are none.',
    labels: ['kind'],
    aggregator: 'max',
    value: (ages) => ages,
  },
}
