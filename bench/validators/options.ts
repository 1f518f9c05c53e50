/** Options of the command line of `validators`. */
import { numbersText, optionReader } from '../options.ts'
import { VALIDATORS, type ValidatorName } from './settings.ts'

export interface ValidatorsOptions {
  /** Seconds of one validator on all samples of one body. */
  readonly seconds: number
  readonly repeats: number
  /** Milliseconds of each validator on each sample before the first repeat. */
  readonly warmUpMs: number
  readonly only: readonly ValidatorName[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = { duration: [1, 60, 1], repeats: [1, 100, 5], 'warm-up-ms': [1, 10_000, 300] } as const

export const VALIDATORS_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --against ${VALIDATORS.filter((name) => name !== 'sluice').join(',')} --record FILE`

export const readValidatorsOptions = optionReader(
  { numbers: NUMBERS, lists: { against: VALIDATORS }, flags: [] },
  (given): ValidatorsOptions => {
    const against = given.some('against', VALIDATORS)
    return {
      seconds: given.number('duration'),
      repeats: given.number('repeats'),
      warmUpMs: given.number('warm-up-ms'),
      only: VALIDATORS.filter((name) => name === 'sluice' || against.includes(name)),
      json: given.json,
    }
  },
)
