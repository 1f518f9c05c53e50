/** OpenAI's chat, for the proofs. */
import { membersOf } from '../../../../src/schemas/values/members.ts'
import type { FakeEvent } from '../../../support/inference/fake-stream.ts'
import { HEAD, FAILURE_OF } from '../../../support/inference/provider-chunks.ts'
import { PROVIDER_STREAMS } from '../../../support/inference/provider-streams.ts'
import { openAi } from '../clients/openai.ts'
import { openRouter } from '../clients/openrouter.ts'
import { vercel } from '../clients/vercel.ts'
import { AROUND, objectOf, PROMPT, SILENCE, type ProvedDialect } from './proved-dialect.ts'
import { NativeChatStream } from '../../../../src/dialects/chat/stream.ts'

const CHUNK = { id: 'chatcmpl-9', object: 'chat.completion.chunk', created: 1_795_312_800, model: 'm' }
const TOLDOnce = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
const DONE = '[DONE]'

interface ChatChoice {
  readonly index?: unknown
  readonly delta?: { readonly content?: unknown } | null
  readonly finish_reason?: unknown
}

interface ChatChunk {
  readonly choices?: readonly ChatChoice[]
  readonly error?: unknown
}

export const chat: ProvedDialect = {
  name: 'chat',
  dialect: 'chat',
  protocol: 'chat',
  facts: { speaks: ['chat'] },
  skipsUnknown: false,
  path: '/chat/completions',
  request: (model, content = PROMPT) => ({ model, stream: true, messages: [{ role: 'user', content }] }),
  streamOf(words) {
    const chunk = (delta: object, finish: string | null = null): object => ({
      ...CHUNK,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      usage: null,
    })
    return eventsOfChat([
      chunk({ role: 'assistant', content: '', refusal: null }),
      ...words.map((content) => chunk({ content })),
      chunk({}, 'stop'),
      { ...CHUNK, choices: [], usage: TOLDOnce },
      DONE,
    ])
  },
  placesOf: ({ length }) => ({
    begin: 0,
    firstOutput: 1,
    finish: length + 1,
    usage: length + 2,
    terminator: length + 3,
  }),
  recorded: Object.fromEntries(
    Object.entries(PROVIDER_STREAMS).map(([name, events]) => [name, eventsOfChat(events)]),
  ),
  clientsOf: async (base, key) => [
    openAi(base, key),
    await openRouter(base, key),
    ...(await vercel(base, key)),
  ],
  endsInOrder: true,
  open: () => new NativeChatStream(HEAD, FAILURE_OF),
  hear(text) {
    const events = text.split('\n\n').slice(0, -1)
    const data = events.flatMap((event) => (event.startsWith('data: ') ? [event.slice(6)] : []))
    const chunks = data.filter((one) => one !== DONE).map((one) => JSON.parse(one) as ChatChunk)
    return {
      text: chunks.map((chunk) => textOfChunk(chunk)).join(''),
      errors: chunks.filter(({ error }) => error !== undefined).length,
      isTerminated: data.at(-1) === DONE,
      silences: events.filter((event) => event.startsWith(':')).length,
    }
  },
  masked: (text) =>
    text
      .replaceAll(SILENCE, '')
      .replace(/"id":"gen_\w+"/g, '"id":"gen_"')
      .replace(/"created":\d+/g, '"created":0'),
  judge(events) {
    const finishes = new Map<number, boolean>()
    let text = ''
    for (const { name, data } of events) {
      const trimmed = data.replaceAll(AROUND, '')
      if (name === 'error') return { text, isFinished: false }
      if (trimmed === '') continue
      if (trimmed === DONE) break
      const chunk: ChatChunk | null = objectOf(trimmed)
      if (chunk === null || (chunk.error ?? false) !== false) return { text, isFinished: false }
      const choices = Array.isArray(chunk.choices) ? chunk.choices : []
      for (const [nth, choice] of (choices as readonly (ChatChoice | null)[]).entries()) {
        if (typeof choice !== 'object' || choice === null) return { text, isFinished: false }
        const index = Number.isSafeInteger(choice.index) ? Number(choice.index) : nth
        const isEnd = typeof choice.finish_reason === 'string' && choice.finish_reason !== ''
        finishes.set(index, isEnd || finishes.get(index) === true)
      }
      text += textOfChunk(chunk)
    }
    return { text, isFinished: finishes.size > 0 && [...finishes.values()].every(Boolean) }
  },
}

function eventsOfChat(events: readonly (object | string)[]): readonly FakeEvent[] {
  return events.map((event) => ({ data: typeof event === 'string' ? event : JSON.stringify(event) }))
}

function textOfChunk({ choices }: ChatChunk): string {
  if (!Array.isArray(choices)) return ''
  return choices.map((choice: ChatChoice | null) => textOfContent(choice?.delta?.content)).join('')
}

/** A text, or the texts of a list of parts. */
function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as readonly unknown[]).map(textOfPart).join('')
}

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part
  const { type = 'text', text } = membersOf(part)
  return type === 'text' && typeof text === 'string' ? text : ''
}
