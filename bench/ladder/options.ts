/** Options of the command line of `ladder`. */
import { numbersText, optionReader } from '../options.ts'
import { SUBJECT_NAMES, type SubjectName } from './rungs.ts'

export interface LadderOptions {
  readonly seconds: number
  readonly repeats: number
  readonly connections: number
  readonly dimensions: number
  readonly only: readonly SubjectName[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [1, 600, 2],
  repeats: [1, 100, 5],
  connections: [1, 1_000, 48],
  dimensions: [1, 65_536, 8],
} as const

export const LADDER_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --only ${SUBJECT_NAMES.join(',')} --record FILE`

export const readLadderOptions = optionReader(
  { numbers: NUMBERS, lists: { only: SUBJECT_NAMES }, flags: [] },
  (given): LadderOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    dimensions: given.number('dimensions'),
    only: given.some('only', SUBJECT_NAMES),
    json: given.json,
  }),
)
