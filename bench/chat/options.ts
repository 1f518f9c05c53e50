/** Options of the command line of `chat`. */
import { numbersText, optionReader } from '../options.ts'

export const CHAT_TARGETS = ['direct', 'nginx', 'relay', 'sluice', 'portkey'] as const
export type ChatTarget = (typeof CHAT_TARGETS)[number]

/** Connections of the row of whole answers. */
export const WHOLE_CONNECTIONS = 32

export interface ChatOptions {
  readonly seconds: number
  readonly repeats: number
  /** Streams at once. */
  readonly connections: number
  /** Events of one stream, and milliseconds between two of them. */
  readonly events: number
  readonly intervalMs: number
  readonly only: readonly ChatTarget[]
  /** The provider has another form than the caller. */
  readonly isTranslated: boolean
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [1, 600, 6],
  repeats: [1, 100, 5],
  connections: [1, 2_000, 100],
  events: [2, 10_000, 152],
  'interval-ms': [1, 1_000, 20],
} as const

const OTHERS = CHAT_TARGETS.filter((name) => name !== 'sluice')

export const CHAT_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --against ${OTHERS.join(',')} --only direct,nginx --translated --record FILE`

export const readChatOptions = optionReader(
  { numbers: NUMBERS, lists: { only: CHAT_TARGETS, against: CHAT_TARGETS }, flags: ['translated'] },
  (given): ChatOptions => ({
    seconds: given.number('duration'),
    repeats: given.number('repeats'),
    connections: given.number('connections'),
    events: given.number('events'),
    intervalMs: given.number('interval-ms'),
    only: given.some('only', [...given.some('against', OTHERS), 'sluice']),
    isTranslated: given.has('translated'),
    json: given.json,
  }),
)
