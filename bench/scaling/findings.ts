/**
 * Findings of `scaling`: ratios, the count from which more brings less, and the cores that were left then.
 */
import { BUSY_SHARE_MAX, IDLE_CORES_MIN } from '../../src/server/observe/load-advice.ts'
import { eachRatio } from '../ratios.ts'
import {
  checkRecord,
  GENERATOR_CORES_MAX,
  resultRow,
  type CheckRecord,
  type CurveRecord,
  type ResultRow,
} from '../record.ts'
import { spread, type Spread } from '../statistics.ts'
import type { Ceiling } from '../sweep/measure.ts'
import { GAIN_MIN } from '../sweep/recommend.ts'
import { sampleOf } from '../sweep/rows.ts'
import { transferSample } from '../transfers/report.ts'
import type { ScalingOptions } from './options.ts'
import type { WorkersSample } from './workers.ts'

export type ByCount<T> = ReadonlyMap<number, readonly T[]>

export interface Findings {
  readonly rows: readonly ResultRow[]
  readonly checks: readonly CheckRecord[]
  readonly curves: readonly CurveRecord[]
  readonly notes: readonly string[]
}

export const SCENARIO = 'scaling'
/** Required rate of two fronts over one, where their handlers are the limit. */
const TWO_FRONTS_MIN = 1.6

export function frontsFindings(
  found: ByCount<Ceiling>,
  { connections }: Pick<ScalingOptions, 'connections'>,
): Findings {
  const rows = [...found].map(([count, all]) =>
    resultRow(
      {
        scenario: SCENARIO,
        case: `large embeddings calls, ${counted(count, 'front')}`,
        subject: 'sluice',
        pace: 'closed',
        connections,
        ...NO_LOAD,
      },
      all.map((one) => sampleOf(one, one)),
    ),
  )
  const ratio = ratioOf(found, (one) => one.ratePerS)
  return {
    rows,
    checks:
      ratio === null
        ? []
        : [
            checkRecord('rate of two fronts over one, bound by their handlers', ratio, {
              bound: { atLeast: TWO_FRONTS_MIN },
              rows,
            }),
          ],
    curves: [
      curveOf('Large embeddings calls by fronts', 'fronts', {
        y: 'requests per second',
        found,
        read: (one) => one.ratePerS,
      }),
    ],
    notes: [
      'large embeddings calls: 36,000 token ids, some 200 KB, read, validated and measured on the loop of a front; no work is made up',
      ...[...found].map(([count, all]) => frontsNote(count, all)),
    ],
  }
}

export function workersFindings(
  found: ByCount<WorkersSample>,
  { connections, payloadBytes }: Pick<ScalingOptions, 'connections' | 'payloadBytes'>,
): Findings {
  const head = {
    scenario: SCENARIO,
    subject: 'sluice',
    pace: 'closed',
    connections,
    offered_per_second: null,
    payload_bytes: payloadBytes,
  } as const
  const rows = [...found].map(([count, all]) =>
    resultRow(
      { ...head, case: `sealed uploads, ${counted(count, 'worker')}` },
      all.map((one) => transferSample(one, payloadBytes)),
    ),
  )
  const last = lastThatBrought(
    [...found].map(([count, all]) => ({ count, rate: median(all, (one) => one.mbPerS) })),
  )
  const end = last === null ? [] : (found.get(last.count) ?? [])
  const idle =
    last === null || last.isEnd ? { median: 0, min: 0, max: 0 } : spread(end.map(({ cores }) => cores.idle))
  return {
    rows,
    checks:
      last === null
        ? []
        : [
            checkRecord('cores idle where more workers brought no more', idle, {
              bound: { atMost: IDLE_CORES_MIN },
              rows,
            }),
          ],
    curves: [
      curveOf('Sealed uploads by worker threads, one front', 'worker threads', {
        y: 'MB per second',
        found,
        read: (one) => one.mbPerS,
      }),
    ],
    notes: [
      'sealed uploads: fsync is answered at once, so that threads are measured and not a disk; every byte is hashed and sealed',
      ...[...found].map(([count, all]) => workersNote(count, all)),
      ...(last === null ? [] : [whereText(last, end)]),
    ],
  }
}

const NO_LOAD = { offered_per_second: null, payload_bytes: null } as const

export interface Last {
  readonly count: number
  /** True when no larger count was measured, so that its gain is unknown. */
  readonly isEnd: boolean
}

/** The count from which a larger one brought less than GAIN_MIN more. */
export function lastThatBrought(
  counts: readonly { readonly count: number; readonly rate: number }[],
): Last | null {
  const sorted = [...counts].sort((a, b) => a.count - b.count)
  const at = sorted.findIndex(({ rate }, index) =>
    sorted.slice(index + 1).every((more) => more.rate < rate * (1 + GAIN_MIN)),
  )
  const found = sorted[at]
  return found === undefined ? null : { count: found.count, isEnd: at === sorted.length - 1 }
}

/** The ratio of two over one, inside each repeat. */
export function ratioOf<T>(found: ByCount<T>, read: (one: T) => number): Spread | null {
  const [one, two] = [found.get(1) ?? [], found.get(2) ?? []]
  if (one.length === 0 || two.length === 0) return null
  return eachRatio(two, one, read)
}

function frontsNote(count: number, all: readonly Ceiling[]): string {
  const loop = median(all, ({ load }) => Math.min(1, ...load.each.map(({ loopShare }) => loopShare)))
  const [server, mock, generator] = [
    median(all, (one) => one.serverCores),
    median(all, (one) => one.mockCores),
    median(all, (one) => one.generatorCores),
  ]
  const bound =
    loop > BUSY_SHARE_MAX ? 'their handlers are the bound' : 'their handlers are not what bounds them here'
  const rig =
    generator > GENERATOR_CORES_MAX || mock > GENERATOR_CORES_MAX
      ? '; generator or provider was the limit'
      : ''
  return (
    `${counted(count, 'front')}: the idlest event loop is busy ${Math.round(loop * 100)} % (${bound}); cores: node ${server.toFixed(2)}, ` +
    `provider ${mock.toFixed(2)}, generator ${generator.toFixed(2)}${rig}`
  )
}

function workersNote(count: number, all: readonly WorkersSample[]): string {
  const [server, generator, idle] = [
    median(all, (one) => one.serverCores),
    median(all, (one) => one.generatorCores),
    median(all, ({ cores }) => cores.idle),
  ]
  return `${counted(count, 'worker')}: cores: node ${server.toFixed(2)}, generator ${generator.toFixed(2)}, idle ${idle.toFixed(2)}`
}

function whereText({ count, isEnd }: Last, all: readonly WorkersSample[]): string {
  const cores = all[0]?.cores.all ?? 0
  const used = cores - median(all, (one) => one.cores.idle)
  const where = `${used.toFixed(1)} of ${cores} cores used`
  return isEnd
    ? `sealed uploads grow up to the most workers that were tried, ${count}, with ${where}`
    : `sealed uploads grow up to ${counted(count, 'worker')}, with ${where}; more bring less than ${GAIN_MIN * 100} %`
}

function curveOf<T>(
  title: string,
  x: string,
  of: { readonly y: string; readonly found: ByCount<T>; readonly read: (one: T) => number },
): CurveRecord {
  const points = [...of.found].map(([count, all]) => [count, median(all, of.read)] as const)
  return { scenario: SCENARIO, title, x, y: of.y, lines: [{ name: 'sluice', points }] }
}

function median<T>(all: readonly T[], read: (one: T) => number): number {
  return spread(all.map(read)).median
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
