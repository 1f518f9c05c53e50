import { latencyUs } from '../measure.ts'
import { resultRow, type ResultRow, type SampleRecord } from '../record.ts'
import { spread, type Spread } from '../statistics.ts'
import { bytesText, spreadText } from '../text.ts'
import type { Ask, TransferSample } from './measure.ts'
import { totalOf, type Memory } from './resources.ts'

export interface TransferCase {
  readonly scenario: string
  readonly subject: string
  /** Beginning of the case's name, before count and size; empty when those suffice. */
  readonly what: string
}

export function transferRow(
  { scenario, subject, what }: TransferCase,
  ask: Ask,
  samples: readonly TransferSample[],
): ResultRow {
  const load = `${ask.connections} × ${bytesText(ask.payloadBytes)}`
  return resultRow(
    {
      scenario,
      case: what === '' ? load : `${what}, ${load}`,
      subject,
      pace: 'closed',
      connections: ask.connections,
      offered_per_second: null,
      payload_bytes: ask.payloadBytes,
    },
    samples.map((one) => transferSample(one, ask.payloadBytes)),
  )
}

export function transferSample(one: TransferSample, payloadBytes: number): SampleRecord {
  const perGb = cpuOf(one)
  return {
    cpu_us_per_request: (perGb * payloadBytes) / 1e3,
    cpu_s_per_gb: perGb,
    requests_per_second: one.filesPerS,
    mb_per_second: one.mbPerS,
    latency_us: latencyUs({ latency: one.latencyMs }),
    rss_mb: totalOf(one.peak) / 1e6,
    generator_cores: one.generatorCores,
    failed: one.failed,
    failures: one.failures,
  }
}

/** Seconds of CPU of all processes for 1e9 bytes of files. */
export function cpuOf(one: Pick<TransferSample, 'mainPerGb' | 'threadsPerGb' | 'restPerGb'>): number {
  return one.mainPerGb + one.threadsPerGb + one.restPerGb
}

/** Details beyond the row: the distribution of its CPU and memory. */
export function splitText(
  row: Pick<ResultRow, 'case' | 'subject'>,
  samples: readonly TransferSample[],
): string {
  const of = (read: (sample: TransferSample) => number): Spread => spread(samples.map(read))
  const loop = of((one) => one.loopP99Ms ?? Number.NaN)
  return (
    `${row.subject}, ${row.case}: CPU s/GB main thread ${spreadText(
      of((one) => one.mainPerGb),
      2,
    )}, ` +
    `other threads ${spreadText(
      of((one) => one.threadsPerGb),
      2,
    )}, other processes ${spreadText(
      of((one) => one.restPerGb),
      2,
    )}; ` +
    `RSS +${spreadText(
      of((one) => growthOf(one) / 1e6),
      0,
    )} MB` +
    (Number.isFinite(loop.median) ? `; event-loop delay p99 ${spreadText(loop, 1)} ms` : '')
  )
}

/** Bytes by which all processes together exceeded idle. */
export function growthOf({ idle, peak }: Pick<TransferSample, 'idle' | 'peak'>): number {
  return totalOf(peak) - totalOf(idle)
}

/** One line about the distribution of a load's memory. */
export function growthText(text: string, one: TransferSample): string {
  return (
    `${text}, RSS in MB: idle ${memoryText(one.idle)}; at most ${memoryText(one.peak)}; ` +
    `with what processes share counted once (PSS) +${(one.sharedOnceGrowth / 1e6).toFixed(0)}`
  )
}

export function memoryText(memory: Memory): string {
  const parts = Object.entries(memory).sort(([, a], [, b]) => b - a)
  return parts.map(([kind, bytes]) => `${kind} ${(bytes / 1e6).toFixed(0)}`).join(', ')
}
