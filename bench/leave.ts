/** How a scenario that makes its record itself prints and keeps it. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { LoadResult } from '../test/support/load-plan.ts'
import type { CheckRecord, ResultRow, SampleRecord, ScenarioRecord } from './record.ts'
import { columns, spreadText } from './text.ts'

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
  process.stdout.write(`${tableOf(record)}\n`)
  if (record.checks.some((one) => !one.is_met)) process.exitCode = 1
  if (file === null) return
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(record, null, 2)}\n`)
}

export function tableOf(record: ScenarioRecord): string {
  return [
    record.question,
    `settings ${Object.entries(record.settings).map(([name, value]) => `${name}=${value}`).join(' ')}; median (least–most) of the repeats`,
    '',
    ...columns([
      ['case', 'subject', 'CPU µs a request', 'requests/s', 'p50 ms', 'p99 ms', 'failed'],
      ...record.rows.map(lineOf),
    ]),
    '',
    ...record.ratios.map(({ case: of, metric, over, under, ratio }) =>
      `${of}: ${metric} of ${over} over ${under} ${ratio.median.toFixed(3)} (${ratio.low.toFixed(3)}–${ratio.high.toFixed(3)})`),
    ...record.checks.map(checkLine),
    ...record.notes.map((note) => `- ${note}`),
  ].join('\n')
}

function lineOf(row: ResultRow): readonly string[] {
  const { latency_us: latency, generator_cores: cores } = row
  const ms = (figure: 'p50' | 'p99'): string => latency === null
    ? '–' : spreadText({ median: latency[figure].median / 1e3, min: latency[figure].min / 1e3, max: latency[figure].max / 1e3 }, 2)
  const failed = row.failed === 0 ? '0' : `${row.failed}: ${row.failures.join(', ')}`
  return [
    row.case, row.subject, spreadText(row.cpu_us_per_request, 1),
    `${spreadText(row.requests_per_second, 0)}${row.is_generator_limit ? ` * ${cores.median.toFixed(2)}` : ''}`,
    ms('p50'), ms('p99'), failed,
  ]
}

function checkLine({ text, found, at_least: least, at_most: most, failed, is_met: isMet }: CheckRecord): string {
  const bound = least === null ? `at most ${most}` : `at least ${least}`
  return `${isMet ? 'MET   ' : 'MISSED'} ${text}: ${spreadText(found, 3)}, ${bound}${failed === 0 ? '' : `, ${failed} failed`}`
}
