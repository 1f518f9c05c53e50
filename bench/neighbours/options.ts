/** Options of the command line of `neighbours`. */
import { numbersText, optionReader } from '../options.ts'
import { CASE_NAMES, type CaseName } from './names.ts'

export interface NeighboursOptions {
  /** Seconds of the victims' calls beside one attack. */
  readonly seconds: number
  readonly repeats: number
  readonly fronts: number
  readonly only: readonly CaseName[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = { duration: [1, 120, 16], repeats: [1, 20, 3], fronts: [1, 8, 1] } as const

export const NEIGHBOURS_OPTIONS_TEXT =
  `options: ${numbersText(NUMBERS)} --only ${CASE_NAMES.join(',')} --record FILE\n` +
  'an attack takes twice --duration a repeat: beside the attack, and beside a burner of as much CPU\n' +
  "or, for streams and calls to the attacker's own endpoint, beside the same read past Sluice"

export const readNeighboursOptions = optionReader(
  { numbers: NUMBERS, lists: { only: CASE_NAMES }, flags: [] },
  (given): NeighboursOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    fronts: given.number('fronts'),
    only: given.some('only', CASE_NAMES),
    json: given.json,
  }),
)
