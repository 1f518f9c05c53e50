/** Options of the command line of `start`. */
import { numbersText, optionReader } from '../options.ts'

export interface StartOptions {
  readonly repeats: number
  /** True: also measures a fresh clone with all downloads. */
  readonly isClone: boolean
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = { repeats: [1, 100, 5] } as const

export const START_OPTIONS_TEXT =
  `options: ${numbersText(NUMBERS)} --clone --record FILE\n` +
  "--clone also times the README's start in a fresh clone of this repository: it fetches every dependency and takes minutes"

export const readStartOptions = optionReader(
  { numbers: NUMBERS, lists: {}, flags: ['clone'] },
  (given): StartOptions => ({
    repeats: given.number('repeats'),
    isClone: given.has('clone'),
    json: given.json,
  }),
)
