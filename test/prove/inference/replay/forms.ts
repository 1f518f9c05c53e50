/** What providers of each form answer: streams and whole answers of real providers, refusals, and errors. */
import { vectorOf } from '../../../support/embeddings/provider-behaviours.ts'
import { bodyOf, chatError, PROMPT_TOKENS, refusesChat } from '../../../support/inference/fake-chat.ts'
import { messageErrorEvent, refusesMessages } from '../../../support/inference/fake-messages.ts'
import type { FakeAnswer, FakeCall } from '../../../support/inference/fake-provider.ts'
import type { FakeEvent } from '../../../support/inference/fake-stream.ts'
import { geminiBody, geminiErrorEvent, refusesGemini } from '../../../support/inference/gemini/fake-gemini.ts'
import { PROVIDER_ANSWERS } from '../../../support/inference/provider-streams.ts'
import { named, RESPONSES_ANSWERS } from '../../../support/inference/responses-streams.ts'
import { chat } from '../dialects/chat-dialect.ts'
import { gemini } from '../dialects/gemini-provider.ts'
import { messages } from '../dialects/messages-dialect.ts'
import type { ProviderSide } from '../dialects/proved-dialect.ts'
import { responses } from '../dialects/responses-dialect.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export interface ProviderForm {
  readonly name: string
  /** What the catalogue says of such a provider, and of its endpoint. */
  readonly protocol: 'openai' | 'anthropic' | 'google' | 'cohere'
  /** Null: its models embed. */
  readonly speaks: TextProtocol | null
  /** Empty: it has no streams. */
  readonly streams: readonly (readonly FakeEvent[])[]
  /** Bodies of JSON for a call. */
  readonly wholes: readonly ((call: FakeCall) => object)[]
  /** An event that reports a failure, within a stream. */
  readonly error: FakeEvent
  refuses(status: number, headers?: Readonly<Record<string, string>>): FakeAnswer
  isStreamed(call: FakeCall): boolean
}

const WORDS = ['One é', ' "two"\n', ' 😀 three', ' [DONE]', ' four']
/** Of answers of some kilobytes, and of such as no reader takes at once. */
const LONG_WORDS = Array.from({ length: 60 }, (_, nth) => ` word ${nth} \\ "é"\t😀 of a long answer\n`)
const LONGEST = LONG_WORDS.join('').repeat(35)
const CALLS = [
  { name: 'f', args: { city: 'Oslo', at: [1, null, 'é'] } },
  { name: 'g', args: {} },
]

const asksStream = (call: FakeCall): boolean => bodyOf(call)['stream'] === true
const always = (...bodies: readonly object[]): ProviderForm['wholes'] => bodies.map((body) => () => body)
const refused = (refuses: ProviderForm['refuses']): Pick<ProviderForm, 'refuses'> => ({ refuses })
const streamsOf = ({ streamOf, recorded }: ProviderSide): ProviderForm['streams'] => [
  streamOf(WORDS),
  streamOf(LONG_WORDS),
  streamOf([...LONG_WORDS, LONGEST, ' end']),
  ...Object.values(recorded),
]

/** The same answer in other words. */
const longer = (body: object | undefined): readonly object[] =>
  [LONG_WORDS.join(''), LONGEST].map(
    (words) => JSON.parse(JSON.stringify(body).replaceAll('"Hi there"', JSON.stringify(words))) as object,
  )

/** Whole answers of Anthropic's models. */
function messageOf(content: readonly object[], stop: string, usage: object = {}): object {
  return {
    ...{ id: 'msg_up1', type: 'message', role: 'assistant', model: 'claude-2026', content },
    ...{ stop_reason: stop, stop_sequence: stop === 'stop_sequence' ? 'x' : null },
    usage: { input_tokens: PROMPT_TOKENS, output_tokens: 4, ...usage },
  }
}

const SAIDOnce = { type: 'text', text: WORDS.join('') }
const MESSAGES = [
  messageOf([SAIDOnce], 'end_turn'),
  messageOf(
    [
      { type: 'thinking', thinking: 'Let me é', signature: 'EqoBCkgIARABGAIiQL+/8=' },
      { type: 'redacted_thinking', data: 'AAECAw==' },
      SAIDOnce,
      { type: 'tool_use', id: 'toolu_1', name: 'f', input: CALLS[0]?.args },
    ],
    'tool_use',
    { cache_creation_input_tokens: 6, cache_read_input_tokens: 100, service_tier: 'standard' },
  ),
  messageOf([{ ...SAIDOnce, citations: [] }], 'stop_sequence'),
  messageOf([], 'refusal'),
  messageOf([SAIDOnce], 'max_tokens'),
  ...longer(messageOf([{ type: 'text', text: 'Hi there' }], 'end_turn')),
]
const GEMINI = [
  geminiBody({ words: WORDS }),
  geminiBody({ words: [], calls: CALLS }),
  geminiBody({ words: WORDS, thoughts: ['Hm', ' é'], finish: 'MAX_TOKENS' }),
  geminiBody({ words: WORDS, finish: 'SAFETY', usage: 'missing' }),
  ...longer(geminiBody({ words: ['Hi there'] })),
  { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: PROMPT_TOKENS } },
]

/** Of models that write. */
export const TEXT_FORMS: readonly ProviderForm[] = [
  {
    name: 'chat',
    protocol: 'openai',
    speaks: 'chat',
    streams: streamsOf(chat),
    wholes: always(...Object.values(PROVIDER_ANSWERS), ...longer(PROVIDER_ANSWERS['openai'])),
    error: chatError(),
    ...refused((status, headers) => refusesChat(status, {}, headers)),
    isStreamed: asksStream,
  },
  {
    name: 'responses',
    protocol: 'openai',
    speaks: 'responses',
    streams: streamsOf(responses),
    wholes: always(...Object.values(RESPONSES_ANSWERS), ...longer(RESPONSES_ANSWERS['openai'])),
    error: named([{ type: 'error', code: 'server_error', message: 'Oh.', param: null }])[0] ?? { data: '' },
    ...refused((status, headers) => refusesChat(status, { code: 'refused' }, headers)),
    isStreamed: asksStream,
  },
  {
    name: 'messages',
    protocol: 'anthropic',
    speaks: 'messages',
    streams: streamsOf(messages),
    wholes: always(...MESSAGES),
    error: messageErrorEvent(),
    ...refused((status, headers) => refusesMessages(status, {}, headers)),
    isStreamed: asksStream,
  },
  {
    name: 'gemini',
    protocol: 'google',
    speaks: 'gemini',
    streams: streamsOf(gemini),
    wholes: always(...GEMINI),
    error: geminiErrorEvent(),
    ...refused((status, headers) => refusesGemini(status, {}, headers)),
    isStreamed: ({ path }) => path.includes(':streamGenerateContent'),
  },
]

const DIMENSIONS = 8

/** As many vectors as the call has inputs. */
function vectorsOf(call: FakeCall): readonly (readonly number[])[] {
  const body = bodyOf(call)
  const inputs = [body['input'], body['texts'], body['inputs'], body['requests']].find(Boolean)
  const isOne = !Array.isArray(inputs) || typeof inputs[0] === 'number'
  const list: readonly unknown[] = isOne ? [inputs] : inputs
  return list.map((input) => vectorOf(JSON.stringify(input), DIMENSIONS))
}

const embedding =
  (usage: object | null, isBase64 = false) =>
  (call: FakeCall): object => ({
    object: 'list',
    data: vectorsOf(call).map((vector, index) => ({
      ...{ object: 'embedding', index },
      embedding: isBase64 ? Buffer.from(new Float32Array(vector).buffer).toString('base64') : vector,
    })),
    model: 'embed-2026',
    ...(usage === null ? {} : { usage }),
  })

/** Of models that embed. */
export const EMBEDDING_FORMS: readonly ProviderForm[] = [
  {
    name: 'openai',
    protocol: 'openai',
    speaks: null,
    streams: [],
    wholes: [
      embedding({ prompt_tokens: PROMPT_TOKENS, total_tokens: PROMPT_TOKENS }),
      embedding({ prompt_tokens: PROMPT_TOKENS, total_tokens: PROMPT_TOKENS }, true),
      embedding(null),
    ],
    error: { data: '' },
    ...refused((status, headers) => refusesChat(status, {}, headers)),
    isStreamed: () => false,
  },
  {
    name: 'cohere',
    protocol: 'cohere',
    speaks: null,
    streams: [],
    wholes: [
      (call) => ({
        ...{ id: 'c-1', embeddings: { float: vectorsOf(call) }, texts: [] },
        meta: { api_version: { version: '2' }, billed_units: { input_tokens: PROMPT_TOKENS } },
      }),
    ],
    error: { data: '' },
    ...refused((status, headers) => refusesChat(status, JSON.stringify({ message: 'Refused.' }), headers)),
    isStreamed: () => false,
  },
  {
    name: 'google',
    protocol: 'google',
    speaks: null,
    streams: [],
    wholes: [
      (call) => ({
        embeddings: vectorsOf(call).map((values) => ({ values })),
        usageMetadata: { promptTokenCount: PROMPT_TOKENS },
      }),
    ],
    error: { data: '' },
    ...refused((status, headers) => refusesGemini(status, {}, headers)),
    isStreamed: () => false,
  },
]
