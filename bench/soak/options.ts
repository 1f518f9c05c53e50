/** Options of the command line of `soak`. */
import { numbersText, optionReader } from '../options.ts'

export interface SoakOptions {
  /** Seconds of the load, including the part in which memory settles. */
  readonly duration: number
  /** Requests a second; lower where the machine does not hold the rate. */
  readonly rate: number
  readonly connections: number
  readonly dimensions: number
  readonly fronts: number
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [5, 86_400, 600],
  rate: [1, 100_000, 1_000],
  connections: [1, 1_000, 32],
  dimensions: [1, 65_536, 1_536],
  fronts: [1, 64, 1],
} as const

export const SOAK_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --record FILE`

export const readSoakOptions = optionReader(
  { numbers: NUMBERS, lists: {}, flags: [] },
  (given): SoakOptions => ({
    duration: given.number('duration'),
    rate: given.number('rate'),
    connections: given.number('connections'),
    dimensions: given.number('dimensions'),
    fronts: given.number('fronts'),
    json: given.json,
  }),
)
