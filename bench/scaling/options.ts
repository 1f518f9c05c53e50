/** Options of the command line of `scaling`. */
import { FRONTS_MAX, WORKERS_MAX } from '../../src/schemas/limits/limits.ts'
import { numbersText, optionReader } from '../options.ts'

export const SCALING_SECTIONS = ['fronts', 'workers'] as const
export type ScalingSection = (typeof SCALING_SECTIONS)[number]

export interface ScalingOptions {
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  readonly payloadBytes: number
  readonly fronts: readonly number[]
  readonly workers: readonly number[]
  readonly sections: readonly ScalingSection[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [1, 120, 4],
  repeats: [1, 50, 3],
  connections: [1, 1_000, 16],
  payload: [1_000, 100_000_000, 10_000_000],
} as const
const FRONTS: readonly number[] = [1, 2]
const WORKERS: readonly number[] = [1, 2, 4]

export const SCALING_OPTIONS_TEXT =
  `options: --fronts ${FRONTS.join(',')} --workers ${WORKERS.join(',')} ` +
  `--sections ${SCALING_SECTIONS.join(',')} ${numbersText(NUMBERS)} --record FILE`

export const readScalingOptions = optionReader(
  {
    numbers: NUMBERS,
    lists: { sections: SCALING_SECTIONS },
    flags: [],
    counts: { fronts: [1, FRONTS_MAX, FRONTS], workers: [1, WORKERS_MAX, WORKERS] },
  },
  (given): ScalingOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    // An even number, since samples have two bytes.
    payloadBytes: given.number('payload') - (given.number('payload') % 2),
    fronts: given.counts('fronts'),
    workers: given.counts('workers'),
    sections: given.some('sections', SCALING_SECTIONS),
    json: given.json,
  }),
)
