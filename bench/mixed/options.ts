/** Options of the command line of `mixed`. */
import { numbersText, optionReader } from '../options.ts'

export interface MixedOptions {
  /** Seconds of one repeat. */
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  /** Requests a second of all kinds; 0: a share of the machine's ceiling. */
  readonly ratePerS: number
  /** Percent of the machine's ceiling. */
  readonly share: number
  readonly dimensions: number
  readonly fronts: number
  readonly workers: number
  readonly seed: number
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [2, 3_600, 20],
  repeats: [1, 100, 3],
  connections: [4, 1_000, 48],
  rate: [0, 100_000, 0],
  share: [1, 100, 50],
  dimensions: [1, 65_536, 1_536],
  fronts: [1, 64, 1],
  workers: [1, 64, 2],
  seed: [0, 2_147_483_647, 8],
} as const

export const MIXED_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --record FILE
--rate 0 offers --share per cent of what a closed loop of the mix reaches first`

export const readMixedOptions = optionReader(
  { numbers: NUMBERS, lists: {}, flags: [] },
  (given): MixedOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    ratePerS: given.number('rate'),
    share: given.number('share'),
    dimensions: given.number('dimensions'),
    fronts: given.number('fronts'),
    workers: given.number('workers'),
    seed: given.number('seed'),
    json: given.json,
  }),
)
