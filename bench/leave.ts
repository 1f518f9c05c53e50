/** How a scenario that makes its record itself prints and keeps it. */
import type { LoadResult } from '../test/support/load-plan.ts'
import { keepRecord } from './keep-record.ts'
import type { SampleRecord, ScenarioRecord } from './record.ts'

/** @param cpuS CPU seconds of all processes of the subject, from before to after the load */
export function sampleOf(result: LoadResult, cpuS: number, successStatus = 200): SampleRecord {
  const us = (ms: number): number => Math.round(ms * 1_000)
  const { p50, p90, p99, p99_9, max } = result.latency
  const good = result.statuses[successStatus] ?? 0
  const wrong = Object.keys(result.statuses).filter((status) => status !== '0' && status !== String(successStatus))
  return {
    cpu_us_per_request: (cpuS / Math.max(1, result.requestsWithWarmUp)) * 1e6,
    cpu_s_per_gb: null,
    requests_per_second: (result.requests / result.measuredMs) * 1_000,
    mb_per_second: null,
    latency_us: { p50: us(p50), p90: us(p90), p99: us(p99), p99_9: us(p99_9), max: us(max) },
    rss_mb: null,
    generator_cores: result.generatorCores,
    failed: result.requests - good,
    failures: [...wrong.map((status) => `status ${status}`), ...result.failures].slice(0, 3),
  }
}

/** The table on stdout, the record in `file`; the process will end with 1 when a check is missed. */
export async function leave(record: ScenarioRecord, file: string | null): Promise<void> {
  await keepRecord(record, file)
}
