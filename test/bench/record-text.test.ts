import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { writeJson } from '../../bench/keep-record.ts'
import { checkRecord } from '../../bench/record.ts'
import { recordText } from '../../bench/record-text.ts'
import { ratiosOver } from '../../bench/ratios.ts'
import { spread } from '../../bench/statistics.ts'
import { rowRecord, scenarioRecord } from '../support/load/bench-records.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const rows = [
  rowRecord('sluice', [8, 10], { generator_cores: 0.95 }),
  rowRecord('nginx', [4, 5], {
    latency_us: { p50: 1_000, p90: 2_000, p99: 3_000, p99_9: 4_000, max: 5_000 },
    failed: 2,
    failures: ['503 busy'],
  }),
]
const record = scenarioRecord(rows, {
  ratios: ratiosOver(rows, 'sluice', ['cpu_us_per_request']),
  checks: [
    checkRecord('quick', spread([0.4]), { bound: { atLeast: 0.35 }, rows: [{ failed: 0 }] }),
    checkRecord('dear', spread([3]), { bound: { atMost: 2 }, rows: [{ failed: 0 }], repeats: 1 }),
    checkRecord('small', spread([300]), { bound: { atMost: 200 }, rows: [{ failed: 2 }] }),
  ],
  subjects: [{ name: 'nginx', note: 'a proxy' }],
  absent: [{ name: 'portkey', reason: 'it is not installed' }],
  notes: ['a note'],
})

t.test('the table has a line for each subject, and no column without a figure', async (t) => {
  const text = recordText(record).join('\n')
  t.match(text, /^b +CPU µs\/request +requests\/s +p50 ms +p90 ms +p99 ms +p99\.9 ms +generator +failed$/m)
  t.match(text, /^sluice +9\.0 \(8\.0–10\.0\) +1\.00 \* +– +– +– +– +0\.95 +0$/m)
  t.match(text, /^nginx +4\.5 \(4\.0–5\.0\) +1\.00 +1\.00 +2\.00 +3\.00 +4\.0 +0\.10 +4$/m)
})

t.test(
  'reports ratios, checks, absent peers, reasons of failures and the reason why a generator is marked',
  async (t) => {
    const text = recordText(record).join('\n')
    t.match(text, /^b: CPU per request, sluice over nginx 2\.000 \(95 % 2\.000–2\.000\)$/m)
    t.match(text, /^MET {4}quick: 0\.400, at least 0\.35$/m)
    t.match(text, /^NOT JUDGED dear: 3\.000, at most 2$/m)
    t.match(text, /^MISSED small: 300\.000, at most 200, 2 failed$/m)
    t.match(text, /^not judged: one repeat shows no spread; --repeats 2/m)
    t.match(text, /^failed: nginx, b: 503 busy$/m)
    t.match(text, /^nginx: a proxy$/m)
    t.match(text, /^portkey: left out, it is not installed$/m)
    t.match(text, /^a note$/m)
    t.match(text, /^\* the generator used more than 0\.9 of a core/m)
  },
)

t.test('a ratio of a single measurement has no interval', async (t) => {
  const once = [rowRecord('sluice', [8]), rowRecord('nginx', [4])]
  const ratios = ratiosOver(once, 'sluice', ['cpu_us_per_request'])
  const text = recordText(scenarioRecord(once, { ratios })).join('\n')
  t.match(text, /^b: CPU per request, sluice over nginx 2\.000 \(taken once\)$/m)
})

t.test('a scenario in which nothing could run still has a text', async (t) => {
  t.match(recordText(scenarioRecord([])), ['a: what it costs'])
})

t.test('a missing figure is null on disk', async (t) => {
  const file = join(temporaryFolder(t, 'record'), 'deep/record.json')
  await writeJson(file, scenarioRecord([rowRecord('x', [NaN])]))
  t.match(JSON.parse(readFileSync(file, 'utf8')), {
    rows: [{ cpu_us_per_request: { median: null }, rss_mb: null }],
  })
})
