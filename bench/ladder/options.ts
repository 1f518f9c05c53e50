/** Options of the command line of `ladder`. */
import { WHOLE_CONNECTIONS } from '../chat/options.ts'
import { numbersText, optionReader } from '../options.ts'
import { CHAT_CALLS, SUBJECT_NAMES, type LadderCall, type SubjectName } from './rungs.ts'

export interface LadderOptions {
  readonly seconds: number
  readonly repeats: number
  /** What is called, each on a ladder of its own. */
  readonly calls: readonly LadderCall[]
  readonly connections: number
  /** Streams at once where events are counted. */
  readonly streams: number
  readonly dimensions: number
  readonly only: readonly SubjectName[]
  /** File for the record; null: the record is only printed. */
  readonly json: string | null
}

const NUMBERS = {
  duration: [1, 600, 2],
  repeats: [1, 100, 5],
  connections: [1, 1_000, 48],
  streams: [1, 2_000, 100],
  dimensions: [1, 65_536, 8],
} as const

export const LADDER_OPTIONS_TEXT = `options: ${numbersText(NUMBERS)} --chat ${CHAT_CALLS.join(',')} --only ${SUBJECT_NAMES.join(',')} --record FILE
  --chat  ladders of chat in place of embeddings: whole answers of 2 KB (${WHOLE_CONNECTIONS} connections), events of --streams`

export const readLadderOptions = optionReader(
  { numbers: NUMBERS, lists: { only: SUBJECT_NAMES, chat: CHAT_CALLS }, flags: [] },
  (given): LadderOptions => {
    const chat = given.some('chat', [])
    const isChat = chat.length > 0
    return {
      seconds: given.number('duration'),
      repeats: given.number('repeats'),
      calls: isChat ? chat : ['embeddings'],
      connections:
        isChat && given.word('connections') === null ? WHOLE_CONNECTIONS : given.number('connections'),
      streams: given.number('streams'),
      dimensions: given.number('dimensions'),
      only: given.some('only', SUBJECT_NAMES),
      json: given.json,
    }
  },
)
