/** Streams and answers in the forms of providers that speak OpenAI's responses: what each does otherwise. */
import type { FakeEvent } from './fake-stream.ts'

type Members = Readonly<Record<string, unknown>>

/** A response as OpenAI sends it while it goes on. */
export const RESPONSE = {
  id: 'resp_0123456789abcdef',
  object: 'response',
  created_at: 1_795_312_800,
  status: 'in_progress',
  background: false,
  completed_at: null,
  error: null,
  frequency_penalty: 0,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  model: 'm-2026',
  output: [],
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'auto',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  usage: null,
  user: null,
  metadata: {},
} as const

export const USAGE = {
  input_tokens: 9,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 4,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 13,
} as const

const text = (output: string): Members => ({
  type: 'output_text',
  annotations: [],
  logprobs: [],
  text: output,
})
const message = (stated: string): Members => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  content: [text(stated)],
  role: 'assistant',
})
const call = (json: string, status = 'completed'): Members => ({
  id: 'fc_1',
  type: 'function_call',
  status,
  arguments: json,
  call_id: 'call_1',
  name: 'f',
})

/** Numbers the events of a stream in their order. */
export function numbered(events: readonly Members[]): readonly Members[] {
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

/** Events as OpenAI writes them: each with its name. */
export function named(events: readonly Members[]): readonly FakeEvent[] {
  return events.map((event) => ({ event: String(event['type']), data: JSON.stringify(event) }))
}

const begin = (response: Members = RESPONSE): readonly Members[] => [
  { type: 'response.created', response },
  { type: 'response.in_progress', response },
]
const end = (output: readonly Members[], usage: object | null = USAGE): Members => ({
  type: 'response.completed',
  response: { ...RESPONSE, status: 'completed', completed_at: 1_795_312_801, output, usage },
})

/** A message in these words, each in an event of its own, between its other events. */
export function messageEvents(words: readonly string[], index = 0): readonly Members[] {
  const at = { item_id: 'msg_1', output_index: index }
  const part = { ...at, content_index: 0 }
  const stated = words.join('')
  return [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { id: 'msg_1', type: 'message', status: 'in_progress', content: [], role: 'assistant' },
    },
    { type: 'response.content_part.added', ...part, part: text('') },
    ...words.map((delta) => ({
      type: 'response.output_text.delta',
      ...part,
      delta,
      logprobs: [],
      obfuscation: 'Ab1',
    })),
    { type: 'response.output_text.done', ...part, text: stated, logprobs: [] },
    { type: 'response.content_part.done', ...part, part: text(stated) },
    { type: 'response.output_item.done', output_index: index, item: message(stated) },
  ]
}

/** The whole stream of such a message. */
export function messageStream(words: readonly string[], usage: object | null = USAGE): readonly FakeEvent[] {
  return named(numbered([...begin(), ...messageEvents(words), end([message(words.join(''))], usage)]))
}

const REASONING: Members = {
  id: 'rs_1',
  type: 'reasoning',
  encrypted_content: 'gAAAAABsigned',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
}
const thought = { item_id: 'rs_1', output_index: 0, summary_index: 0 }

/** What vLLM's own types leave out, and in their order: the type stands last. */
function ofPython({ type, ...members }: Members): Members {
  const { response, ...more } = members as { readonly response?: Members }
  if (response === undefined) return { ...more, type }
  const {
    completed_at: _,
    frequency_penalty: __,
    presence_penalty: ___,
    error: ____,
    ...reported
  } = response as typeof RESPONSE
  const usage = response['usage'] as Members | null
  const { input_tokens_details: _____, output_tokens_details: ______, ...counts } = usage ?? {}
  return {
    response: { ...reported, created_at: 1_795_312_800.5, usage: usage === null ? null : counts },
    ...more,
    type,
  }
}

/** An item of a search of the web, or of a visit to a page. */
export const searchCall = (type?: string): Members => ({
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  ...(type !== undefined && { action: { type, query: 'x', sources: [{ type: 'url', url: 'x' }] } }),
})

const searching = { item_id: 'ws_1', output_index: 0 }

/** By provider. Each stream says "Hi there", or calls the tool `f` with `{}`. */
export const RESPONSES_STREAMS: Readonly<Record<string, readonly FakeEvent[]>> = {
  openai: messageStream(['Hi', ' there']),
  'openai, reasoning': named(
    numbered([
      ...begin(),
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { ...REASONING, summary: [] },
      },
      {
        type: 'response.reasoning_summary_part.added',
        ...thought,
        part: { type: 'summary_text', text: '' },
      },
      { type: 'response.reasoning_summary_text.delta', ...thought, delta: 'Hm.', obfuscation: 'x' },
      { type: 'response.reasoning_summary_text.done', ...thought, text: 'Hm.' },
      {
        type: 'response.reasoning_summary_part.done',
        ...thought,
        part: { type: 'summary_text', text: 'Hm.' },
      },
      { type: 'response.output_item.done', output_index: 0, item: REASONING },
      ...messageEvents(['Hi there'], 1),
      end([REASONING, message('Hi there')], {
        ...USAGE,
        output_tokens: 14,
        output_tokens_details: { reasoning_tokens: 10 },
        total_tokens: 23,
      }),
    ]),
  ),
  'openai, a tool': named(
    numbered([
      ...begin(),
      { type: 'response.output_item.added', output_index: 0, item: call('', 'in_progress') },
      {
        type: 'response.function_call_arguments.delta',
        item_id: 'fc_1',
        output_index: 0,
        delta: '{}',
        obfuscation: '',
      },
      {
        type: 'response.function_call_arguments.done',
        item_id: 'fc_1',
        output_index: 0,
        name: 'f',
        arguments: '{}',
      },
      { type: 'response.output_item.done', output_index: 0, item: call('{}') },
      end([call('{}')]),
    ]),
  ),
  'openai, a search of the web': named(
    numbered([
      ...begin(),
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { id: 'ws_1', type: 'web_search_call', status: 'in_progress' },
      },
      ...['in_progress', 'searching', 'completed'].map((state) => ({
        type: `response.web_search_call.${state}`,
        ...searching,
      })),
      { type: 'response.output_item.done', output_index: 0, item: searchCall('search') },
      ...messageEvents(['Hi there'], 1),
      end([searchCall('search'), message('Hi there')]),
    ]),
  ),
  'openai, while it is silent': named(
    numbered([
      ...begin(),
      { type: 'keepalive' },
      ...messageEvents(['Hi', ' there']),
      { type: 'keepalive' },
      end([message('Hi there')]),
    ]),
  ),
  vllm: named(
    numbered([...begin(), ...messageEvents(['Hi', ' there']), end([message('Hi there')])]).map(ofPython),
  ),
  'a small server': [
    ...[...begin({ id: 'r1', object: 'response', status: 'in_progress', model: 'm', output: null })],
    ...messageEvents(['Hi there']).slice(0, 3),
    {
      type: 'response.completed',
      response: { id: 'r1', object: 'response', status: 'completed', output: [message('Hi there')] },
    },
    '[DONE]',
  ].map((event, sequence_number) => ({
    data: typeof event === 'string' ? event : JSON.stringify({ sequence_number, ...event }),
  })),
}

/** By provider: whole answers that say "Hi there", or call the tool `f` with `{}`. */
export const RESPONSES_ANSWERS: Readonly<Record<string, Members>> = {
  openai: { ...RESPONSE, ...status(), output: [message('Hi there')], usage: USAGE },
  'openai, a tool': { ...RESPONSE, ...status(), output: [call('{}')], usage: USAGE },
  'openai, a search of the web': {
    ...RESPONSE,
    ...status(),
    output: [searchCall('search'), searchCall('open_page'), message('Hi there')],
    usage: USAGE,
  },
  'openai, reasoning': {
    ...RESPONSE,
    ...status(),
    output: [REASONING, message('Hi there')],
    usage: { ...USAGE, output_tokens_details: { reasoning_tokens: 3 } },
  },
  'openai, cut short': {
    ...RESPONSE,
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [message('Hi there')],
    usage: USAGE,
  },
  vllm: ofPython({
    type: '',
    response: { ...RESPONSE, ...status(), output: [message('Hi there')], usage: USAGE },
  })['response'] as Members,
  'a small server': { object: 'response', output: [message('Hi there')], usage: null, tools: null },
}

function status(): Members {
  return { status: 'completed', completed_at: 1_795_312_801 }
}
