import t from 'tap'
import { checkRecord } from '../../../bench/record.ts'
import { spread } from '../../../bench/statistics.ts'
import { bytesText } from '../../../bench/text.ts'
import type { TransferSample } from '../../../bench/transfers/measure.ts'
import { memoryText, splitText, transferRow } from '../../../bench/transfers/report.ts'

const sample = (mbPerS: number, more: Partial<TransferSample> = {}): TransferSample => ({
  mbPerS,
  filesPerS: 1,
  latencyMs: { p50: 1, p90: 2, p99: 3, p99_9: 4, max: 5 },
  mainPerGb: 1,
  threadsPerGb: 1,
  restPerGb: 0.5,
  serverCores: 1,
  generatorCores: 0.1,
  idle: { front: 50e6 },
  peak: { front: 70e6, postgres: 5e6 },
  sharedOnceGrowth: 0,
  loopP99Ms: null,
  failed: 0,
  failures: [],
  alive: 0,
  ...more,
})
const ask = { connections: 8, payloadBytes: 100e6, rounds: 1, durationMs: 1 }
const of = { scenario: 'uploads', subject: 'a', what: '' }

t.test('a figure that equals its bound meets it, whether the bound is a minimum or a maximum', async (t) => {
  const isMet = (found: number, bound: { atLeast: number } | { atMost: number }): boolean =>
    checkRecord('a', spread([found]), { bound, rows: [{ failed: 0 }] }).is_met
  t.same([isMet(0.35, { atLeast: 0.35 }), isMet(0.34, { atLeast: 0.35 })], [true, false])
  t.same([isMet(200, { atMost: 200 }), isMet(201, { atMost: 200 })], [true, false])
  t.equal(isMet(Number.NaN, { atMost: 1 }), false)
})

t.test(
  'a row has the CPU of all threads and processes per GB and per file, and the peak memory of all together',
  async (t) => {
    const row = transferRow(of, ask, [sample(200)])
    t.match(row, {
      case: '8 × 100 MB',
      payload_bytes: 100e6,
      cpu_s_per_gb: { median: 2.5 },
      cpu_us_per_request: { median: 250_000 },
      mb_per_second: { median: 200 },
      rss_mb: { median: 75 },
      latency_us: { p99_9: { median: 4_000 } },
    })
    t.equal(transferRow({ ...of, what: 'up' }, ask, []).case, 'up, 8 × 100 MB')
  },
)

t.test('figures without a column are in a text line, such as the growth of all processes', async (t) => {
  const text = splitText({ subject: 'a', case: 'b' }, [sample(1)])
  t.equal(text, 'a, b: CPU s/GB main thread 1.00, other threads 1.00, other processes 0.50; RSS +25 MB')
  t.match(
    splitText({ subject: 'a', case: 'b' }, [sample(1, { loopP99Ms: 4 })]),
    /event-loop delay p99 4\.0 ms$/,
  )
})

t.test('a generator that was the limit in one repeat marks the whole row', async (t) => {
  t.equal(transferRow(of, ask, [sample(1), sample(1, { generatorCores: 0.95 })]).is_generator_limit, true)
})

t.test('sizes and memory are printed in readable units', async (t) => {
  t.same([bytesText(1e3), bytesText(64e3), bytesText(100e6)], ['1 KB', '64 KB', '100 MB'])
  t.equal(memoryText({ runner: 40e6, front: 90e6 }), 'front 90, runner 40')
})
