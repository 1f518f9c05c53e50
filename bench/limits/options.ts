/** Options of the command line of `limits`. */
import { numbersText, optionReader } from '../options.ts'

export const LIMITS_PARTS = ['cpu', 'beside', 'accuracy'] as const

export interface LimitsOptions {
  /** Seconds of one sample. */
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  readonly only: readonly (typeof LIMITS_PARTS)[number][]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = { duration: [1, 60, 5], repeats: [1, 20, 5], connections: [1, 1_000, 32] } as const

export const LIMITS_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --only ${LIMITS_PARTS.join(',')} --record FILE\nthe default takes some five minutes`

export const readLimitsOptions = optionReader(
  { numbers: NUMBERS, lists: { only: LIMITS_PARTS }, flags: [] },
  (given): LimitsOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    only: given.some('only', LIMITS_PARTS),
    json: given.json,
  }),
)
