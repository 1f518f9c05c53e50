/** `npm run bench -- start`: the time of a node from exec to the first good answer; what it takes at rest. */
import { spawnSync } from 'node:child_process'
import { keepRecord, progress } from './keep-record.ts'
import { optionsOrExit } from './options.ts'
import { checkRecord, resultRow, type ResultRow, type SampleRecord } from './record.ts'
import { measureMemory } from './start/memory.ts'
import { readStartOptions, START_OPTIONS_TEXT } from './start/options.ts'
import { cloneStart, openPlace } from './start/places.ts'
import type { TimedStart } from './start/timed.ts'
import { spread } from './statistics.ts'
import type { Absent } from './target.ts'
import { ROOT } from './text.ts'

const SCENARIO = 'start'
const SECOND_START_S_MAX = 2

const options = optionsOrExit(process.argv.slice(2), readStartOptions, START_OPTIONS_TEXT)
/** Samples in the order of the table. */
const samples = {
  first: [] as SampleRecord[],
  second: [] as SampleRecord[],
  npm: [] as SampleRecord[],
  clone: [] as SampleRecord[],
}
const absent: Absent[] = []
const notes = [
  'a request is one start: its time is from exec to the whole of the first 200 to a governed embeddings call of the built-in model, asked every 5 ms; ' +
    'CPU and memory are of the whole process tree at that moment',
  'files are in the page cache: of a machine that was just switched on the disk counts too',
]

if (options.isMemory) await keepMemory()
else await keepTimes()

async function keepMemory(): Promise<void> {
  const { rows, checks, notes, absent: missing } = await measureMemory(options)
  const { repeats, settle, seconds } = options
  await keepRecord(
    {
      scenario: SCENARIO,
      question: 'what a node takes at rest, and for what callers hold open',
      settings: { repeats, settle, seconds },
      subjects: [{ name: 'sluice', note: 'the whole node with one front and one worker thread' }],
      absent: missing.map(({ name, absent: reason }) => ({ name, reason })),
      rows,
      ratios: [],
      curves: [],
      checks,
      notes,
    },
    options.json,
  )
}

async function keepTimes(): Promise<void> {
  for (let repeat = 1; repeat <= options.repeats; repeat++) {
    const place = await openPlace(ROOT)
    try {
      progress(`repeat ${repeat} of ${options.repeats}: first start, on empty data`)
      samples.first.push(await sample(await place.serve()))
      progress(`repeat ${repeat} of ${options.repeats}: second start, on the same data`)
      samples.second.push(await sample(await place.serve()))
      // The first `npm start` may still build, which is not part of the start.
      if (repeat === 1) await (await place.npmStart()).stop()
      progress(`repeat ${repeat} of ${options.repeats}: second start by npm start`)
      samples.npm.push(await sample(await place.npmStart()))
    } finally {
      await place.remove()
    }
  }
  if (options.isClone) await fromClone()

  const second = rowOf('second start', samples.second)
  await keepRecord(
    {
      scenario: SCENARIO,
      question:
        'how long a node takes from exec to its first good answer, with embedded Postgres and whichever Redis it finds',
      settings: { repeats: options.repeats },
      subjects: [
        {
          name: 'sluice',
          note: 'the whole node with one front: supervisor, front, runner, embedded Postgres and Redis',
        },
      ],
      absent: absent.map(({ name, absent: reason }) => ({ name, reason })),
      rows: [
        rowOf('first start', samples.first),
        second,
        rowOf('second start by npm start', samples.npm),
        ...(samples.clone.length === 0 ? [] : [rowOf('npm start in a fresh clone', samples.clone)]),
      ],
      ratios: [],
      curves: [],
      checks: [
        checkRecord(
          'seconds from exec to the first 200 of a second start',
          spread(samples.second.map((one) => (one.latency_us?.p50 ?? Number.NaN) / 1e6)),
          {
            bound: { atMost: SECOND_START_S_MAX },
            rows: [second],
          },
        ),
      ],
      notes,
    },
    options.json,
  )
}

async function fromClone(): Promise<void> {
  if (spawnSync('git', ['--version']).status !== 0) {
    absent.push({
      name: 'a fresh clone',
      absent: 'git is not on the PATH; `apt-get install git` or the like adds it',
    })
    return
  }
  progress('npm start in a fresh clone: every dependency is fetched')
  const { found, remove } = await cloneStart(ROOT)
  try {
    samples.clone.push(await sample(found.start))
    const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`
    notes.push(
      `a fresh clone: git clone ${seconds(found.cloneMs)}, then npm start: install ${seconds(found.installMs)}, build ${seconds(found.buildMs)}, ` +
        `first start ${seconds(found.bootMs)}; home and cache of npm were empty, packages came from the registry that npm is set to`,
    )
  } finally {
    await remove()
  }
}

async function sample({ tookMs, cpuS, rssBytes, stop }: TimedStart): Promise<SampleRecord> {
  await stop()
  const us = tookMs * 1_000
  return {
    cpu_us_per_request: cpuS * 1e6,
    cpu_s_per_gb: null,
    requests_per_second: 1_000 / tookMs,
    mb_per_second: null,
    latency_us: { p50: us, p90: us, p99: us, p99_9: us, max: us },
    rss_mb: rssBytes === null ? null : rssBytes / 1e6,
    generator_cores: 0,
    failed: 0,
    failures: [],
  }
}

function rowOf(name: string, found: readonly SampleRecord[]): ResultRow {
  return resultRow(
    {
      scenario: SCENARIO,
      case: name,
      subject: 'sluice',
      pace: 'closed',
      connections: 1,
      offered_per_second: null,
      payload_bytes: null,
    },
    found,
  )
}
