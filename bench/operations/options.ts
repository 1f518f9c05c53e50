/** Options of the command line of `operations`. */
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { numbersText, optionReader } from '../options.ts'

const IDS = OPERATIONS.map(({ id }) => id)

export interface OperationsOptions {
  /** Milliseconds of one operation. */
  readonly durationMs: number
  readonly connections: number
  /** Ids of operations. */
  readonly only: readonly string[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = { duration: [1, 60, 1], 'duration-ms': [0, 60_000, 0], connections: [1, 64, 4] } as const

export const OPERATIONS_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --only embeddings.create,keys.get --record FILE
--duration-ms stands in for --duration where a second of each operation is too long`

export const readOperationsOptions = optionReader(
  { numbers: NUMBERS, lists: { only: IDS }, flags: [] },
  (given): OperationsOptions => ({
    durationMs:
      given.number('duration-ms') === 0 ? given.number('duration') * 1_000 : given.number('duration-ms'),
    connections: given.number('connections'),
    only: given.some('only', IDS),
    json: given.json,
  }),
)
