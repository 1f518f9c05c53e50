/**
 * `npm run bench -- chat`: what a governed stream costs an event and adds to its first output, and what a
 * whole answer costs, against other servers before the same paced provider; with `--translated` where the
 * provider has another form than the caller.
 */
import { availableParallelism } from 'node:os'
import { freePort, stopServer } from '../test/support/nodes/spawned.ts'
import { startStand } from '../test/support/nodes/stand.ts'
import { LATENCY_PERCENTS } from '../test/support/load/load-latency.ts'
import { treeCpuS } from '../test/support/load/process-cpu.ts'
import { checks, type Cases } from './chat/checks.ts'
import { startChild } from './chat/child.ts'
import { FORMS, NATIVE, pairText, TRANSLATED, type Pair } from './chat/forms.ts'
import { CHAT_OPTIONS_TEXT, readChatOptions, WHOLE_CONNECTIONS } from './chat/options.ts'
import type { PacerSettings } from './chat/pacer.ts'
import { readStreams } from './chat/streams.ts'
import { bodyOf, catalogue, starters, type Subject } from './chat/subjects.ts'
import { keepRecord, progress } from './keep-record.ts'
import { interleave, rotated, rowsOf, type Settings } from './measure.ts'
import { optionsOrExit } from './options.ts'
import { ratiosOver } from './ratios.ts'
import { resultRow, type ResultRow, type SampleRecord } from './record.ts'
import type { Absent, Target } from './target.ts'

const options = optionsOrExit(process.argv.slice(2), readChatOptions, CHAT_OPTIONS_TEXT)

const CASES: Cases = {
  streams: `${options.connections} streams, per event`,
  oneStream: 'one stream at a time',
  whole: `whole answers, ${WHOLE_CONNECTIONS} connections`,
}
/** Events of such a stream: of whole ones a sample would have two. */
const SHORT_EVENTS = 5
const PAIRS = options.isTranslated ? TRANSLATED : NATIVE

const pacerPort = await freePort()
const pacing: PacerSettings = { port: pacerPort, events: options.events, intervalMs: options.intervalMs }
const pacer = await startChild('pacer', pacing)
const stand = await startStand({ catalogue: catalogue(pacerPort) })
const settings: Settings = {
  connections: WHOLE_CONNECTIONS,
  durationMs: options.seconds * 1_000,
  warmUpMs: Math.min(4_000, 1_000 * options.seconds),
  repeats: options.repeats,
}
/** The bound of a whole answer is that of a front whose hot code is compiled. */
const wholeSettings: Settings = { ...settings, warmUpMs: Math.min(10_000, 2_000 * options.seconds) }

const subjects: Subject[] = []
const absent: Absent[] = []
try {
  const start = starters({ pacer, pacerPort, stand })
  for (const name of options.only) {
    const one = await start[name]()
    if ('absent' in one) absent.push(one)
    else subjects.push(one)
  }
  const rows: ResultRow[] = []
  for (const pair of PAIRS) rows.push(...(await streamRows(pair)), ...(await wholeRows(pair)))
  await keepRecord(
    {
      scenario: 'chat',
      question: question(),
      settings: { ...settings, streams: options.connections, events: options.events },
      subjects: subjects.map(({ name, note }) => ({ name, note })),
      absent: absent.map(({ name, absent: reason }) => ({ name, reason })),
      rows,
      ratios: ratiosOver(rows, 'sluice', ['cpu_us_per_request']),
      curves: [],
      checks: PAIRS.flatMap((pair) => checks(rows, pair, CASES)),
      notes: notes(),
    },
    options.json,
  )
} finally {
  for (const subject of subjects) await subject.stop()
  await stand.stop()
  await stopServer(pacer)
}

function question(): string {
  const what = `the cost of Sluice's checks and limits for a ${options.isTranslated ? 'translated ' : ''}chat`
  const stream = `${options.events} events per stream, one every ${options.intervalMs} ms, with 86 characters of text`
  return `${what}: ${stream}; whole answers of 2 KB`
}

function notes(): readonly string[] {
  const translated =
    'direct, nginx and relay pass the answer of the provider on unchanged; sluice and portkey translate it into the API of the caller'
  return [
    `for streams, a row counts events, and its latency is the time between two reads; for "${CASES.oneStream}", the latency is the time to the first text`,
    `the load generator, the provider and the servers share ${availableParallelism()} cores, so rates and latencies under load describe the whole setup`,
    ...(options.isTranslated ? [translated] : []),
  ]
}

/** The subjects that have the pair. */
function having(pair: Pair): readonly Subject[] {
  return subjects.filter((one) => one.formOf(pair) !== null)
}

async function wholeRows(pair: Pair): Promise<readonly ResultRow[]> {
  const targets = having(pair).map((subject): Target => ({
    ...subject,
    request: { ...subject.callOf(pair), body: bodyFor(subject, pair, { isStream: false, events: null }) },
  }))
  const found = await interleave(targets, wholeSettings, progress)
  return rowsOf('chat', found, wholeSettings).map((row) => ({
    ...row,
    case: `${pairText(pair)}whole answers, ${row.case}`,
  }))
}

async function streamRows(pair: Pair): Promise<readonly ResultRow[]> {
  const targets = having(pair)
  const found = new Map(
    targets.map(({ name }) => [name, { many: [] as SampleRecord[], one: [] as SampleRecord[] }]),
  )
  // As the rows of whole answers: a node that has just started compiles its code, and loads a spare process.
  for (const target of targets) {
    progress(`${pairText(pair)}streams, warming ${target.name}`)
    await streamed(target, pair, options.connections)
  }
  for (let repeat = 0; repeat < options.repeats; repeat++) {
    for (const target of rotated(targets, repeat)) {
      progress(`${pairText(pair)}streams, repeat ${repeat + 1} of ${options.repeats}: ${target.name}`)
      found.get(target.name)?.many.push(await streamed(target, pair, options.connections))
      found.get(target.name)?.one.push(await streamed(target, pair, 1))
    }
  }
  const row = (subject: string, name: string, samples: readonly SampleRecord[], connections: number) =>
    resultRow(
      {
        scenario: 'chat',
        case: pairText(pair) + name,
        subject,
        pace: 'closed',
        connections,
        offered_per_second: null,
        payload_bytes: null,
      },
      samples,
    )
  return [
    ...[...found].map(([subject, { many }]) => row(subject, CASES.streams, many, options.connections)),
    ...[...found].map(([subject, { one }]) => row(subject, CASES.oneStream, one, 1)),
  ]
}

/** @param connections 1: short streams, whose latency is the time to the first text */
async function streamed(target: Subject, pair: Pair, connections: number): Promise<SampleRecord> {
  const isOne = connections === 1
  const body = bodyFor(target, pair, { isStream: true, events: isOne ? SHORT_EVENTS : null })
  const { warmUpMs, durationMs } = settings
  const marks = FORMS[formOf(target, pair)]
  let [before, cpuS] = [0, 0]
  const figures = await readStreams(
    {
      port: target.port,
      connections,
      warmUpMs,
      durationMs,
      marks,
      request: { ...target.callOf(pair), body },
    },
    {
      begins: () => (before = treeCpuS(target.pid)),
      ends: () => (cpuS = treeCpuS(target.pid) - before),
    },
  )
  const { events, firstMs, gapsMs, failures, cores } = figures
  return {
    cpu_us_per_request: (cpuS / Math.max(1, events)) * 1e6,
    cpu_s_per_gb: null,
    requests_per_second: (events / settings.durationMs) * 1_000,
    mb_per_second: null,
    ...distributionUs(isOne ? firstMs : gapsMs),
    rss_mb: null,
    generator_cores: cores,
    failed: failures.length + (events === 0 ? 1 : 0),
    failures: events === 0 ? ['no event came', ...failures] : failures,
  }
}

function formOf(subject: Subject, pair: Pair): Pair['caller'] {
  return subject.formOf(pair) ?? pair.caller
}

function bodyFor(
  subject: Subject,
  pair: Pair,
  asked: { readonly isStream: boolean; readonly events: number | null },
): string {
  return bodyOf(formOf(subject, pair), { model: subject.modelOf(pair), ...asked })
}

function distributionUs(
  values: readonly number[],
): Pick<SampleRecord, 'latency_us' | 'latency_by_percent_us'> {
  if (values.length === 0) return { latency_us: null }
  const sorted = values.toSorted((a, b) => a - b)
  const at = (percent: number): number =>
    (sorted[Math.min(sorted.length - 1, Math.floor((percent / 100) * sorted.length))] ?? 0) * 1_000
  return {
    latency_us: { p50: at(50), p90: at(90), p99: at(99), p99_9: at(99.9), max: at(100) },
    latency_by_percent_us: Object.fromEntries(
      LATENCY_PERCENTS.map((percent) => [String(percent), at(percent)]),
    ),
  }
}
