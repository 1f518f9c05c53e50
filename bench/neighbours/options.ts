/** Options of the command line of `neighbours`. */
import { numbersText, optionReader } from '../options.ts'
import { ATTACK_NAMES, type AttackName } from './attacks.ts'

export interface NeighboursOptions {
  /** Seconds of the victims' calls beside one attack. */
  readonly seconds: number
  readonly repeats: number
  readonly fronts: number
  readonly only: readonly AttackName[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = { duration: [1, 120, 16], repeats: [1, 20, 3], fronts: [1, 8, 1] } as const

export const NEIGHBOURS_OPTIONS_TEXT =
  `options: ${numbersText(NUMBERS)} --only ${ATTACK_NAMES.join(',')} --record FILE\n` +
  'an attack takes twice --duration a repeat: beside the attack, and beside a burner of as much CPU'

export const readNeighboursOptions = optionReader(
  { numbers: NUMBERS, lists: { only: ATTACK_NAMES }, flags: [] },
  (given): NeighboursOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    fronts: given.number('fronts'),
    only: given.some('only', ATTACK_NAMES),
    json: given.json,
  }),
)
