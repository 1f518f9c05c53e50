/** OpenAI's responses, for the proofs. */
import { NativeResponsesStream } from '../../../../src/dialects/responses/stream.ts'
import { HEAD, FAILURE_OF } from '../../../support/inference/provider-chunks.ts'
import { messageStream, RESPONSES_STREAMS } from '../../../support/inference/responses-streams.ts'
import { openAiResponses } from '../clients/openai-responses.ts'
import { openRouterResponses } from '../clients/openrouter-responses.ts'
import { vercelResponses } from '../clients/vercel.ts'
import { AROUND, objectOf, PROMPT, SILENCE, type ProvedDialect } from './proved-dialect.ts'
import { ReportedTexts } from './reported-texts.ts'

const FINAL = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const DELTA = 'response.output_text.delta'
/** Events before the first word. */
const PREFACE = 4
/** Events after the last word, except the one that ends the stream. */
const ENDINGS = 3
const NAME = /^\w[\w.-]{0,125}$/

interface Event {
  readonly type?: unknown
  readonly delta?: unknown
}

export const responses: ProvedDialect = {
  name: 'responses',
  dialect: 'responses',
  protocol: 'responses',
  facts: { speaks: ['responses'] },
  skipsUnknown: false,
  path: '/responses',
  request: (model, input = PROMPT) => ({ model, stream: true, input }),
  streamOf: (words) => messageStream(words),
  placesOf: ({ length }) => ({
    begin: PREFACE - 1,
    firstOutput: PREFACE,
    finish: PREFACE + length + ENDINGS - 1,
    // It stands in the event that ends the stream.
    usage: PREFACE + length + ENDINGS - 1,
    terminator: PREFACE + length + ENDINGS,
  }),
  recorded: RESPONSES_STREAMS,
  clientsOf: async (base, key) => [
    openAiResponses(base, key),
    await openRouterResponses(base, key),
    await vercelResponses(base, key),
  ],
  endsInOrder: false,
  open: () => new NativeResponsesStream(HEAD, FAILURE_OF),
  hear(text) {
    const parts = text.split('\n\n').slice(0, -1)
    const events = parts.flatMap((part) => {
      const data = /^data: (.*)$/m.exec(part)?.[1]
      return data === undefined ? [] : [JSON.parse(data) as Event]
    })
    return {
      text: events.map(textOf).join(''),
      errors: events.filter(({ type }) => type === 'error').length,
      isTerminated: FINAL.has(String(events.at(-1)?.type)),
      silences: parts.filter((part) => part.startsWith(':')).length,
    }
  },
  masked: (text) => text.replaceAll(SILENCE, ''),
  judge(events) {
    let text = ''
    const reported = new ReportedTexts()
    for (const { name, data } of events) {
      const trimmed = data.replaceAll(AROUND, '')
      if (trimmed === '' || trimmed === '[DONE]') continue
      const event = name === 'error' ? null : objectOf(trimmed)
      if (event === null) return { text, isFinished: false }
      const { type: own } = event
      const type = typeof own === 'string' && own !== '' ? own : name
      if (type === 'error') return { text, isFinished: false }
      if (!NAME.test(type)) continue
      if (FINAL.has(type)) {
        reported.final(event['response'])
        return { text, whole: reported.whole, isFinished: isObject(event['response']) }
      }
      reported.event(type, event)
      text += textOf({ ...event, type })
    }
    return { text, isFinished: false }
  },
}

function textOf({ type, delta }: Event): string {
  return type === DELTA && typeof delta === 'string' ? delta : ''
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
