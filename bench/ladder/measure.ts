/** One load on one subject, with everything that is counted around it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { runLoad } from '../../test/support/load/load.ts'
import { tree } from '../../test/support/load/process-cpu.ts'
import type { Stand } from '../../test/support/nodes/stand.ts'
import type { FormFacts } from '../chat/forms.ts'
import type { StreamFigures } from '../chat/generator.ts'
import { readStreams, type Around } from '../chat/streams.ts'
import { heapFigures } from '../heap/heap.ts'
import { rotated, sampleOf } from '../measure.ts'
import { bareSample, type SampleRecord } from '../record.ts'
import { readMemory, totalOf } from '../transfers/resources.ts'
import { countsOf, figuresOf, scaledCpu, usedBetween, without, type CpuByKind } from './counters.ts'
import { processesOf, type LadderSubject } from './subjects.ts'
import { systemCalls } from './system-calls.ts'

export interface LadderRun {
  readonly stand: Stand
  /** What is counted: calls, or the events of streams with these marks. */
  readonly counts: 'calls' | Pick<FormFacts, 'text' | 'done'>
  readonly connections: number
  readonly durationMs: number
  readonly warmUpMs: number
  readonly repeats: number
  progress(text: string): void
}

/**
 * Milliseconds behind a load in which the ledger is written: a front flushes five times a second, and its
 * batches take a moment.
 */
const FLUSH_MS = 600
/**
 * Milliseconds of load before each sample, which do not count: a front that rested while others were loaded
 * has given memory back, and its code is compiled again.
 */
const AGAIN_MS = 1_500
/** Milliseconds in which the streams of a load begin, one after another; they do not count. */
const STREAMS_BEGIN_MS = 3_000
/** Milliseconds of a look at the node at rest. */
const IDLE_MS = 1_000
/** Looks at the node at rest before each repeat; Postgres may still clean up after the last one. */
const IDLE_LOOKS = 3

/** Every subject in each repeat, each repeat beginning with another; by name, in order of the repeats. */
export async function climb(
  subjects: readonly LadderSubject[],
  run: LadderRun,
): Promise<ReadonlyMap<string, readonly SampleRecord[]>> {
  const found = new Map<string, SampleRecord[]>(subjects.map(({ name }) => [name, []]))
  for (const subject of subjects) {
    run.progress(`warming ${subject.name}`)
    await warmed(subject, run)
  }
  for (let repeat = 0; repeat < run.repeats; repeat++) {
    const idle = await restOfNode(run.stand)
    for (const subject of rotated(subjects, repeat)) {
      run.progress(`repeat ${repeat + 1} of ${run.repeats}: ${subject.name}`)
      found.get(subject.name)?.push(await sample(subject, run, idle))
    }
  }
  return run.counts === 'calls' ? withSystemCalls(found, subjects, run) : found
}

/** @param idle what the node uses in a second in which nothing is called */
async function sample(subject: LadderSubject, run: LadderRun, idle: CpuByKind): Promise<SampleRecord> {
  const { counts } = run
  if (counts !== 'calls') return sampleOfEvents(subject, { ...run, counts }, idle)
  await loaded(subject, run, AGAIN_MS)
  await sleep(FLUSH_MS)
  const heapBefore = (await subject.heap?.()) ?? null
  const before = countsOf(processesOf(subject, run.stand), subject.serving)
  const startedAt = performance.now()
  const result = await loaded(subject, run, run.durationMs)
  await sleep(FLUSH_MS)
  const elapsedMs = performance.now() - startedAt
  const all = usedBetween(before, countsOf(processesOf(subject, run.stand), subject.serving))
  const heapAfter = (await subject.heap?.()) ?? null
  const used = without(all, restOf(subject, idle, { elapsedMs, durationMs: run.durationMs }))
  const requests = Math.max(1, result.requestsWithWarmUp)
  return {
    ...sampleOf(result, {
      cpuS: used.userS + used.systemS,
      rssBytes: totalOf(readMemory(tree(subject.pid))),
      successStatus: 200,
    }),
    figures: {
      ...figuresOf(used, requests),
      ...heapFigures(heapBefore, heapAfter, requests),
      file_calls: used.fileCalls / requests,
    },
  }
}

interface EventRun extends LadderRun {
  readonly counts: Exclude<LadderRun['counts'], 'calls'>
}

/** Streams go on and on: what is counted lies within their time, with the ledger's writes of earlier ones. */
async function sampleOfEvents(subject: LadderSubject, run: EventRun, idle: CpuByKind): Promise<SampleRecord> {
  const look = () => ({
    counts: countsOf(processesOf(subject, run.stand), subject.serving),
    at: performance.now(),
    heap: subject.heap?.() ?? null,
  })
  let before = look()
  let after = before
  const { events, failures, cores } = await streamed(subject, run, {
    durationMs: run.durationMs,
    begins: () => (before = look()),
    ends: () => (after = look()),
  })
  const elapsedMs = after.at - before.at
  // Streams are few events a second: the rest of a node's own stores would weigh more than its calls'.
  const stores = subject.stores === 'own' ? 'shared' : subject.stores
  const rest = restOf({ stores }, idle, { elapsedMs, durationMs: elapsedMs })
  const used = without(usedBetween(before.counts, after.counts), rest)
  const counted = Math.max(1, events)
  return bareSample(((used.userS + used.systemS) / counted) * 1e6, {
    requests_per_second: (events / run.durationMs) * 1_000,
    rss_mb: totalOf(readMemory(tree(subject.pid))) / 1e6,
    generator_cores: cores,
    failed: failures.length + (events === 0 ? 1 : 0),
    failures: events === 0 ? ['no event came', ...failures] : failures,
    figures: {
      ...figuresOf(used, counted),
      ...heapFigures(await before.heap, await after.heap, counted),
      file_calls: used.fileCalls / counted,
    },
  })
}

function streamed(
  { port, request }: LadderSubject,
  { connections, counts: marks }: EventRun,
  { durationMs, ...around }: Around & { readonly durationMs: number },
): Promise<StreamFigures> {
  return readStreams({ port, connections, warmUpMs: STREAMS_BEGIN_MS, durationMs, marks, request }, around)
}

const UNCOUNTED: Around = { begins: () => undefined, ends: () => undefined }

async function warmed(subject: LadderSubject, run: LadderRun): Promise<void> {
  const { counts, warmUpMs } = run
  if (counts === 'calls') await loaded(subject, run, warmUpMs)
  else await streamed(subject, { ...run, counts }, { durationMs: warmUpMs, ...UNCOUNTED })
}

function loaded(
  { port, request }: LadderSubject,
  { connections }: LadderRun,
  durationMs: number,
): ReturnType<typeof runLoad> {
  return runLoad({
    host: '127.0.0.1',
    port,
    connections,
    durationMs,
    pace: { kind: 'closed' },
    requests: [request],
  })
}

/**
 * What is rest in a measurement: that of the stores, which belong to the node, and for the node itself that
 * of the time around its load.
 */
function restOf(
  { stores }: Pick<LadderSubject, 'stores'>,
  idle: CpuByKind,
  { elapsedMs, durationMs }: { readonly elapsedMs: number; readonly durationMs: number },
): CpuByKind {
  if (stores === 'none') return scaledCpu(idle, 0)
  if (stores === 'own') return scaledCpu(idle, Math.max(0, elapsedMs - durationMs) / 1_000)
  return { ...scaledCpu(idle, elapsedMs / 1_000), serving: 0, others: 0 }
}

/** The least of some looks: what the node uses more in one of them belongs to the load before it. */
async function restOfNode(stand: Stand): Promise<CpuByKind> {
  const looks: CpuByKind[] = []
  while (looks.length < IDLE_LOOKS) looks.push(await idleSecond(stand))
  const sumOf = (look: CpuByKind): number => Object.values(look).reduce((sum, cpuS) => sum + cpuS, 0)
  return looks.reduce((least, look) => (sumOf(look) < sumOf(least) ? look : least))
}

async function idleSecond(stand: Stand): Promise<CpuByKind> {
  const serving = stand.fronts()[0] ?? 0
  const look = (): ReturnType<typeof countsOf> => countsOf(tree(stand.pid), serving)
  const before = look()
  await sleep(IDLE_MS)
  return scaledCpu(usedBetween(before, look()).cpuS, 1_000 / IDLE_MS)
}

/**
 * Adds system calls where they can be counted; they then replace reads and writes, which are a part of them.
 */
async function withSystemCalls(
  found: ReadonlyMap<string, readonly SampleRecord[]>,
  subjects: readonly LadderSubject[],
  { connections, progress }: LadderRun,
): Promise<ReadonlyMap<string, readonly SampleRecord[]>> {
  const more = new Map(found)
  for (const { name, serving, port, request } of subjects) {
    progress(`system calls: ${name}`)
    const calls = await systemCalls({ pid: serving, port, request, connections })
    if (calls === null) continue
    const replaced = (found.get(name) ?? []).map((one): SampleRecord => {
      const { file_calls: _part, ...figures } = one.figures ?? {}
      return { ...one, figures: { ...figures, system_calls: calls } }
    })
    more.set(name, replaced)
  }
  return more
}
