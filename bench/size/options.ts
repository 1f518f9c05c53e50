/** Options of the command line of `size`. */
import { numbersText, optionReader } from '../options.ts'

export interface SizeOptions {
  /** Keys of the large node; the small one has ten keys, a hundred models and ten files. */
  readonly keys: number
  readonly models: number
  readonly files: number
  /** Milliseconds of one cell. */
  readonly durationMs: number
  readonly repeats: number
  readonly connections: number
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  keys: [10, 10_000_000, 1_000_000],
  models: [100, 1_000_000, 100_000],
  files: [10, 10_000_000, 1_000_000],
  duration: [1, 600, 4],
  'duration-ms': [0, 600_000, 0],
  repeats: [1, 100, 5],
  connections: [1, 1_000, 16],
} as const

export const SIZE_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --record FILE
--duration-ms stands in for --duration where a second of each cell is too long`

export const readSizeOptions = optionReader(
  { numbers: NUMBERS, lists: {}, flags: [] },
  (given): SizeOptions => ({
    keys: given.number('keys'),
    models: given.number('models'),
    files: given.number('files'),
    durationMs:
      given.number('duration-ms') === 0 ? given.number('duration') * 1_000 : given.number('duration-ms'),
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    json: given.json,
  }),
)
