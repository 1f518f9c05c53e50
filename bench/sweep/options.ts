/** Options of the command line of a sweep over worker counts. */
import { FRONTS_MAX, WORKERS_MAX } from '../../src/schemas/limits/limits.ts'
import { numbersText, optionReader } from '../options.ts'

export const MIXES = ['mixed', 'embeddings'] as const
export type Mix = (typeof MIXES)[number]

export interface SweepOptions {
  readonly fronts: readonly number[]
  readonly workers: readonly number[]
  readonly mix: Mix
  /** Seconds of a cell. */
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  /** Milliseconds in which 99 of 100 embeddings calls must be answered for a held rate. */
  readonly p99Ms: number
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [1, 120, 4],
  repeats: [1, 20, 1],
  connections: [4, 1_000, 48],
  'p99-ms': [1, 60_000, 50],
} as const
const TRIED: readonly number[] = [1, 2, 4]

export const SWEEP_OPTIONS_TEXT =
  `options: --fronts ${TRIED.join(',')} --workers ${TRIED.join(',')} --only ${MIXES.join('|')} ` +
  `${numbersText(NUMBERS)} --record FILE`

export const readSweepOptions = optionReader(
  {
    numbers: NUMBERS,
    lists: { only: MIXES },
    flags: [],
    counts: { fronts: [1, FRONTS_MAX, TRIED], workers: [1, WORKERS_MAX, TRIED] },
  },
  (given): SweepOptions => {
    const [mix = 'mixed', another] = given.some('only', ['mixed'])
    if (another !== undefined) throw new Error('--only takes one mix: the best numbers of two are no numbers')
    return {
      fronts: given.counts('fronts'),
      workers: given.counts('workers'),
      mix,
      seconds: given.number('duration'),
      repeats: given.number('repeats'),
      connections: given.number('connections'),
      p99Ms: given.number('p99-ms'),
      json: given.json,
    }
  },
)
