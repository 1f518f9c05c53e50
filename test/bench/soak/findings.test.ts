import t from 'tap'
import type { ResultRow } from '../../../bench/record.ts'
import { resultRow } from '../../../bench/record.ts'
import { peakMb, settleMs, soakChecks, soakCurves, soakNotes } from '../../../bench/soak/findings.ts'
import type { Holding } from '../../../bench/soak/holding.ts'
import { loopReadings, type Watched } from '../../../bench/soak/watch.ts'

const MB = 1_000_000
const SECONDS = 600

interface Answer {
  readonly frontMb?: (atS: number) => number
  readonly sharedMb?: (atS: number) => number
  readonly descriptors?: (atS: number) => number
  readonly storeDescriptors?: (atS: number) => number
  readonly frontPid?: (atS: number) => number
  readonly p99Ms?: number
}

function watched({
  frontMb = () => 100,
  sharedMb = () => 50,
  descriptors = () => 40,
  storeDescriptors,
  frontPid = () => 7,
  p99Ms = 2,
}: Answer): Watched {
  const holding = (name: string, pid: number, more: Partial<Holding>): Holding => ({
    name,
    isOurs: true,
    pids: [pid],
    residentBytes: 30 * MB,
    ownBytes: 20 * MB,
    descriptors: 20,
    ...more,
  })
  return {
    looks: Array.from({ length: SECONDS / 2 }, (_, at) => ({
      atMs: at * 2_000,
      holdings: [
        holding('sluice supervisor', 1, {}),
        holding('sluice front', frontPid(at * 2), {
          residentBytes: frontMb(at * 2) * MB,
          descriptors: descriptors(at * 2),
        }),
        holding('postgres', 9, {
          isOurs: false,
          residentBytes: (20 + sharedMb(at * 2)) * MB,
          descriptors: storeDescriptors?.(at * 2) ?? null,
        }),
      ],
    })),
    loops: [
      { front: '1', atMs: 1, p50Ms: 1, p99Ms, maxMs: 30 },
      { front: '1', atMs: 2, p50Ms: 1, p99Ms, maxMs: 20 },
    ],
    problems: ['/metrics: refused'],
  }
}

function row(failed = 0): ResultRow {
  const sample = {
    cpu_us_per_request: 1,
    cpu_s_per_gb: null,
    requests_per_second: 1,
    mb_per_second: null,
    latency_us: null,
    rss_mb: 1,
    generator_cores: 0.1,
    failed,
    failures: [],
  }
  return resultRow(
    {
      scenario: 'soak',
      case: 'a',
      subject: 'sluice',
      pace: 'open',
      connections: 1,
      offered_per_second: 1,
      payload_bytes: 1,
    },
    [sample],
  )
}

const missed = (reported: Answer, { failed = 0, seconds = SECONDS } = {}): readonly string[] =>
  soakChecks(watched(reported), { seconds, rows: [row(failed)] })
    .filter((one) => !one.is_met)
    .map(({ text }) => text)

t.test('a node with steady figures passes every check', async (t) => {
  t.same(missed({}), [])
})

t.test('memory that levels off is not growth, and a shared cache belongs to no process', async (t) => {
  t.same(missed({ frontMb: (s) => 100 + Math.min(s, 110), sharedMb: (s) => 50 + s / 10 }), [])
})

t.test('descriptors of a store that opens its table files do not count for Sluice', async (t) => {
  t.same(missed({ storeDescriptors: (s) => 500 + s }), [])
})

t.test('names a process that grows, and the sum of all processes too', async (t) => {
  t.same(missed({ frontMb: (s) => 100 + (1.5 * s) / 60 }), [
    'memory of sluice front, MB a minute',
    'memory of all processes, MB a minute',
  ])
  t.same(missed({ frontMb: (s) => 100 + (1.5 * s) / 60 }, { seconds: 60 }), [], 'not of a short load')
})

t.test('growing descriptors, a slow loop and an ended process fail their checks', async (t) => {
  t.same(missed({ descriptors: (s) => 40 + Math.floor(s / 60) }), [
    'descriptors of our processes, more at the end than at the start',
  ])
  t.same(missed({ p99Ms: 11 }), ['event-loop delay of front 1, p99 in ms'])
  t.same(missed({ frontPid: (s) => (s < 300 ? 7 : 8) }), ['processes that ended'])
})

t.test('processes that start later are part of the sum, and missing delays fail their check', async (t) => {
  const reported = watched({})
  const late = (atMs: number): readonly Holding[] => {
    const at = {
      name: 'sluice child',
      isOurs: true,
      pids: [20],
      ownBytes: 1,
      descriptors: atMs / 20_000,
      residentBytes: (2 * MB * atMs) / 60_000,
    }
    return atMs < 60_000 ? [] : [at]
  }
  const looks = reported.looks.map(({ atMs, holdings }) => ({ atMs, holdings: [...holdings, ...late(atMs)] }))
  const texts = (all: Watched): readonly string[] =>
    soakChecks(all, { seconds: SECONDS, rows: [row()] })
      .filter((one) => !one.is_met)
      .map(({ text }) => text)
  t.same(texts({ ...reported, looks }), [
    'memory of all processes, MB a minute',
    'descriptors of our processes, more at the end than at the start',
  ])
  t.same(texts({ ...reported, loops: [] }), ['event-loop delay of a front, p99 in ms: none was told'])
  t.match(soakNotes({ ...reported, loops: [] }, SECONDS).join(), /at most 0\.0 ms/)
})

t.test('a failed request fails all checks', async (t) => {
  t.equal(
    missed({}, { failed: 1 }).length,
    soakChecks(watched({}), { seconds: SECONDS, rows: [row()] }).length,
  )
})

t.test('curves have a line for each process, and notes list unreadable figures', async (t) => {
  const [memory, descriptors, loop] = soakCurves(watched({}))
  t.same(
    memory?.lines.map(({ name }) => name),
    ['sluice supervisor', 'sluice front', 'postgres', 'postgres, without what its processes share', 'all'],
  )
  t.same(memory?.lines.at(-1)?.points[1], [2, 150])
  t.same(
    descriptors?.lines.map(({ name }) => name),
    ['sluice supervisor', 'sluice front'],
    'those of another account are not to be seen',
  )
  t.same(
    loop?.lines.map(({ name, points }) => [name, points.length]),
    [
      ['front 1, p50', 2],
      ['front 1, p99', 2],
    ],
  )
  t.ok(soakNotes(watched({}), SECONDS).includes('/metrics: refused'))
  t.equal(peakMb(watched({})), 150)
  t.same([settleMs(600), settleMs(30)], [120_000, 6_000])
})

t.test('reads delays by front, and reads none from a text without any', async (t) => {
  const line = (front: string, percentile: string, value: string): string =>
    `sluice_front_event_loop_delay_seconds{front="${front}",percentile="${percentile}"} ${value}\n`
  const text = `# HELP x\n${line('1', '50', '0.001')}${line('2', '99', '0.02')}${line('1', '99', '0.004')}${line('1', '100', '0.03')}`
  t.match(loopReadings(text, 5), [
    { front: '1', atMs: 5, p50Ms: 1, p99Ms: 4, maxMs: 30 },
    { front: '2', p99Ms: 20, p50Ms: Number.NaN },
  ])
  t.same(loopReadings('', 5), [])
})
