/** Options of the command line of `start`. */
import { numbersText, optionReader } from '../options.ts'

export interface StartOptions {
  readonly repeats: number
  /** True: also measures a fresh clone with all downloads. */
  readonly isClone: boolean
  /** True: measures a node at rest instead. */
  readonly isMemory: boolean
  /** Seconds from the start of a node to the reading, and seconds of the reading. */
  readonly settle: number
  readonly seconds: number
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = { repeats: [1, 100, 5], settle: [1, 3_600, 90], seconds: [1, 3_600, 60] } as const

export const START_OPTIONS_TEXT =
  `options: ${numbersText(NUMBERS)} --clone --memory --record FILE\n` +
  '--memory measures a node at rest instead: private memory, CPU and wake-ups of every process for --seconds, ' +
  '--settle seconds behind its start, and memory for each idle connection, stream and upload\n' +
  "--clone also times the README's start in a fresh clone of this repository: it fetches every dependency and takes minutes"

export const readStartOptions = optionReader(
  { numbers: NUMBERS, lists: {}, flags: ['clone', 'memory'] },
  (given): StartOptions => ({
    repeats: given.number('repeats'),
    isClone: given.has('clone'),
    isMemory: given.has('memory'),
    settle: given.number('settle'),
    seconds: given.number('seconds'),
    json: given.json,
  }),
)
