import type { Registry } from 'prom-client'
import { readMetrics } from './read-metrics.ts'

/** Figures of the threads for long sessions; figures that only grow count since the start. */
export interface SessionReading {
  readonly threads: number
  /** Open sessions that receive files. */
  readonly intakes: number
  /** Open sessions that send sealed files. */
  readonly unsealings: number
  /** Open sessions whose thread has not begun them yet. */
  readonly waiting: number
  readonly waitS: number
  readonly begun: number
  readonly busyS: number
  readonly silentThreads: number
  /** Bytes of uploads that wait for the threads. */
  readonly waitingBytes: number
}

/** Metrics of the long sessions, read on demand. Design §11. */
export function watchSessions(registry: Registry, read: () => SessionReading): void {
  const { gauge, counter } = readMetrics(registry, read)
  gauge(
    'sluice_session_threads',
    'Threads for file transfers and other long streams.',
    ({ threads }) => threads,
  )
  gauge('sluice_intakes', 'File uploads in progress.', ({ intakes }) => intakes)
  gauge('sluice_unsealings', 'Downloads of encrypted files in progress.', ({ unsealings }) => unsealings)
  gauge(
    'sluice_sessions_waiting',
    'File transfers and other long streams waiting for a transfer thread.',
    ({ waiting }) => waiting,
  )
  gauge(
    'sluice_upload_bytes_waiting',
    'Uploaded bytes waiting for a transfer thread.',
    ({ waitingBytes }) => waitingBytes,
  )
  counter(
    'sluice_sessions_total',
    'Number of file transfers and other long streams started.',
    ({ begun }) => begun,
  )
  counter(
    'sluice_session_wait_seconds_total',
    'Time that file transfers and other long streams waited for a transfer thread, in seconds.',
    ({ waitS }) => waitS,
  )
  counter(
    'sluice_session_busy_seconds_total',
    'Busy time of the threads for file transfers and other long streams, in seconds.',
    ({ busyS }) => busyS,
  )
  counter(
    'sluice_session_threads_ended_total',
    'File transfer threads that were ended because they did not respond.',
    ({ silentThreads }) => silentThreads,
  )
}
