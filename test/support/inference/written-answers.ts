/** Answers as the writers of the dialects write them, and as clients read them. */
import { ChatEvents, WholeChat } from '../../../src/dialects/chat/answer.ts'
import { MessageEvents, WholeMessage } from '../../../src/dialects/messages/answer.ts'
import { ResponsesEvents, WholeResponse } from '../../../src/dialects/responses/answer.ts'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { withoutMarks } from '../../../src/schemas/values/long-integers.ts'
import { chatMessageOf, messageReader, responseOf, type Members } from './accumulated.ts'
import type { ShownUsage, WrittenPart } from '../../../src/dialects/parts.ts'
import type { TextEvents, WholeText } from '../../../src/dialects/answers.ts'

const HEAD = { id: 'gen_1', createdS: 1_795_312_800, model: 'maker/one' }
const BY = {
  model: 'maker/one',
  provider: 'maker',
  isByok: false,
  isUnpriced: false,
  unpricedTier: null,
  attempts: 1,
  dropped: [],
}

interface Form {
  readonly usage: object
  events(asked: Asked): TextEvents
  text(asked: Asked): WholeText
  /** What a client puts together of a stream. */
  put(bytes: Uint8Array): Promise<Members>
  /** What has to be the same in a whole answer. */
  written(answer: Members): Members
}

export interface Asked {
  /** Of responses. */
  readonly isEncryptedAsked?: true
}

const FORMS: Readonly<Record<Dialect, Form>> = {
  chat: {
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    events: () => new ChatEvents(HEAD, { isUsageAlone: false }),
    text: () => new WholeChat(HEAD),
    put: chatMessageOf,
    written({ choices }) {
      const [choice] = choices as readonly Members[]
      const { message, finish_reason } = choice as {
        readonly message: Members
        readonly finish_reason: string
      }
      const { reasoning = '', reasoning_details = [], refusal = null, tool_calls, content } = message
      return { content: content ?? '', refusal, tool_calls, finish_reason, reasoning, reasoning_details }
    },
  },
  responses: {
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
    events: (asked) => new ResponsesEvents(HEAD, asked),
    text: (asked) => new WholeResponse(HEAD, asked),
    put: responseOf,
    written: ({ status, incomplete_details, output }) => ({ status, incomplete_details, output }),
  },
  messages: {
    usage: { input_tokens: 1, output_tokens: 1 },
    events: () => new MessageEvents(HEAD, { promptWords: 1 }),
    text: () => new WholeMessage(HEAD),
    put: async (bytes) => JSON.parse(JSON.stringify(await (await messageReader())(bytes))) as Members,
    written: ({ content, stop_reason, stop_sequence }) => ({ content, stop_reason, stop_sequence }),
  },
}

const SIGNED: Asked = { isEncryptedAsked: true }
const shown = (usage: object): ShownUsage => ({ whole: JSON.stringify(usage), added: null })

/** The writer of a stream for a caller that an endpoint has answered. */
export function writerOf(dialect: Dialect, asked: Asked = SIGNED): TextEvents {
  const stream = FORMS[dialect].events(asked)
  stream.begin(BY)
  return stream
}

/** The events of a stream, each part written by itself. */
export function streamOfParts(dialect: Dialect, parts: readonly WrittenPart[], asked?: Asked): Buffer {
  const stream = writerOf(dialect, asked)
  const events = parts.map((part) => stream.eventsOf([part]))
  return Buffer.concat([...events, stream.lastOf(shown(FORMS[dialect].usage))])
}

export function wholeOfParts(
  dialect: Dialect,
  parts: readonly WrittenPart[],
  asked: Asked = SIGNED,
): Members {
  const { usage, text } = FORMS[dialect]
  const whole = text(asked)
  whole.begin(BY)
  for (const part of parts) whole.add(part)
  return JSON.parse(withoutMarks(JSON.stringify(whole.answer(shown(usage))))) as Members
}

/** What a client puts together of a stream, and what a whole answer says of the same. */
export async function bothOf(
  dialect: Dialect,
  stream: Uint8Array,
  whole: Members,
): Promise<{ readonly put: Members; readonly stated: Members }> {
  const { put, written } = FORMS[dialect]
  return { put: await put(stream), stated: written(whole) }
}
