/** Requests with each object that the table has within turns and tools, and with each member of it alone. */
import {
  NESTED,
  NESTED_PLACES,
  type NestedObject,
  type NestedPlace,
} from '../../../../src/dialects/table/nested-table.ts'
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { nestedField } from '../../../../src/dialects/table/field-rows.ts'
import type { Body } from './field-samples.ts'

export interface NestedSample {
  readonly dialect: Dialect
  readonly field: string
  /** What the table says; a `carried` member without a row is mapped. */
  readonly class: 'carried' | 'label' | 'dropped' | 'refused'
  readonly withField: Body
  readonly without: Body
}

const SCHEMA = { type: 'object', properties: { a: { type: 'string' } } }
const PICTURE = 'data:image/png;base64,iVBORw0KGgo='
const PDF = 'JVBERi0='
const USER = { role: 'user', content: 'Hi' }
const CALL = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
}
const RESULT = { role: 'tool', tool_call_id: 'c1', content: '42' }
const ITEM_CALL = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' }
const FREEFORM_CALL = { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'x' }
const ITEM_TOOL = { type: 'function', name: 'look', parameters: SCHEMA }
const ITEM_USER = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }
const TOOL_USE = { type: 'tool_use', id: 'c1', name: 'look', input: {} }
const SOURCE = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }

/** The least object of each type; of other types, one of nothing but its type. */
const OBJECTS: Readonly<Record<Dialect, Readonly<Record<NestedPlace, Readonly<Record<string, Body>>>>>> = {
  chat: {
    turns: {
      system: { role: 'system', content: 'Be brief.' },
      developer: { role: 'developer', content: 'Be brief.' },
      user: { role: 'user', content: 'Go on' },
      assistant: { role: 'assistant', content: 'Hm' },
      tool: RESULT,
      function: { role: 'function', name: 'look', content: '42' },
    },
    parts: {
      text: { type: 'text', text: 'More' },
      refusal: { type: 'refusal', refusal: 'No' },
      image_url: { type: 'image_url', image_url: { url: PICTURE } },
      input_audio: { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      file: { type: 'file', file: { file_data: `data:application/pdf;base64,${PDF}` } },
      video_url: { type: 'video_url', video_url: { url: 'https://x.example/a.mp4' } },
      input_video: { type: 'input_video', video_url: { url: 'https://x.example/a.mp4' } },
    },
    tools: {
      function: { type: 'function', function: { name: 'look' } },
      custom: { type: 'custom', custom: { name: 'patch' } },
    },
  },
  responses: {
    turns: {
      message: { type: 'message', role: 'user', content: 'Go on' },
      function_call: ITEM_CALL,
      function_call_output: { type: 'function_call_output', call_id: 'c1', output: '42' },
      custom_tool_call: FREEFORM_CALL,
      custom_tool_call_output: { type: 'custom_tool_call_output', call_id: 'c1', output: '42' },
      reasoning: { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
      item_reference: { type: 'item_reference', id: 'rs_1' },
      additional_tools: { type: 'additional_tools', role: 'developer', tools: [ITEM_TOOL] },
    },
    parts: {
      input_text: { type: 'input_text', text: 'More' },
      output_text: { type: 'output_text', text: 'More' },
      refusal: { type: 'refusal', refusal: 'No' },
      input_image: { type: 'input_image', image_url: PICTURE },
      input_audio: { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      input_video: { type: 'input_video', video_url: 'https://x.example/a.mp4' },
      input_file: { type: 'input_file', file_data: `data:application/pdf;base64,${PDF}` },
    },
    tools: {
      function: ITEM_TOOL,
      custom: { type: 'custom', name: 'patch' },
      namespace: {
        ...{ type: 'namespace', name: 'crm', description: 'Of customers.' },
        tools: [ITEM_TOOL],
      },
    },
  },
  messages: {
    turns: {
      user: { role: 'user', content: 'Go on' },
      assistant: { role: 'assistant', content: 'Hm' },
      system: { role: 'system', content: 'Be brief.' },
    },
    parts: {
      text: { type: 'text', text: 'More' },
      image: { type: 'image', source: SOURCE },
      document: { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
      tool_result: { type: 'tool_result', tool_use_id: 'c1', content: '42' },
      tool_use: { ...TOOL_USE, id: 'c2' },
      thinking: { type: 'thinking', thinking: 'hm', signature: '' },
      redacted_thinking: { type: 'redacted_thinking', data: 'AAAA' },
    },
    tools: { custom: { name: 'look', input_schema: SCHEMA } },
  },
}

/** A value of each member that the least object lacks. */
const VALUES: Readonly<Record<string, unknown>> = {
  cache_control: { type: 'ephemeral' },
  prompt_cache_breakpoint: { type: 'ephemeral' },
  name: 'somebody',
  detail: 'low',
  filename: 'a.pdf',
  title: 'a.pdf',
  description: 'Looks.',
  strict: true,
  parameters: SCHEMA,
  refusal: 'No',
  tool_calls: CALL.tool_calls,
  reasoning: 'hm',
  reasoning_content: 'hm',
  reasoning_details: [{ type: 'reasoning.text', text: 'hm' }],
  configuration_update: { reasoning: { effort: 'low' } },
  images: [{ type: 'image_url', image_url: { url: PICTURE } }],
  model: 'acme/one',
  audio: { id: 'audio_1' },
  function_call: { name: 'look', arguments: '{}' },
  processing: 'low',
  phase: 'commentary',
  id: 'item_1',
  status: 'completed',
  async: true,
  caller: { type: 'direct' },
  namespace: 'crm',
  content: [{ type: 'reasoning_text', text: 'well' }],
  encrypted_content: 'AAAA',
  annotations: [{ type: 'url_citation', url: PICTURE }],
  logprobs: [{ token: 'a' }],
  is_error: true,
  citations: { enabled: true },
  context: 'Of the year 2020.',
  toolset_name: 'crm',
  transformations: { resize: 'fit' },
  allowed_callers: ['direct'],
  defer_loading: true,
  eager_input_streaming: true,
  input_examples: [{ a: 'b' }],
  output_schema: SCHEMA,
  subagent_id: 'a',
  subagent_items: [{}],
  clear_at: 'later',
  output_config: { effort: 'low' },
}
/** Members that stand for others, or belong to others: no object has them alone. */
const TOGETHER: ReadonlySet<string> = new Set([
  ...['file_id', 'file_url', 'file_data', 'image_url', 'media_type', 'data', 'url', 'signature', 'format'],
  // What an object is.
  ...['type', 'role'],
])

export function nestedSamples(): readonly NestedSample[] {
  return DIALECTS.flatMap((dialect) =>
    NESTED_PLACES.flatMap((place) =>
      Object.entries(NESTED[dialect][place]).flatMap(([type, object]) =>
        samplesOf({ dialect, place, type }, object),
      ),
    ),
  )
}

interface At {
  readonly dialect: Dialect
  readonly place: NestedPlace
  readonly type: string
}

function samplesOf(at: At, object: NestedObject | 'dropped' | 'refused'): readonly NestedSample[] {
  const { dialect, place, type } = at
  const least = OBJECTS[dialect][place][type] ?? { type }
  const field = nestedField(at)
  const whole: NestedSample = {
    ...{ dialect, field, withField: requestOf(at, least), without: requestOf(at, null) },
    class: typeof object === 'string' ? object : 'carried',
  }
  return typeof object === 'string'
    ? [whole]
    : [whole, ...memberSamples(at, object, { least, field, inner: [] })]
}

interface Within {
  readonly least: Body
  readonly field: string
  /** Members that lead to the object. */
  readonly inner: readonly string[]
}

function memberSamples(
  at: At,
  object: NestedObject,
  { least, field, inner }: Within,
): readonly NestedSample[] {
  const { carried, labels = [], dropped = [], refused = [] } = object
  const own = inner.reduce((one, name) => one[name] as Body, least)
  const sample = (name: string, of: NestedSample['class']): readonly NestedSample[] => {
    // The content of a document stands for its data.
    const isOther = at.type === 'document' && name === 'content'
    if (Object.hasOwn(own, name) || TOGETHER.has(name) || isOther) return []
    if (!Object.hasOwn(VALUES, name)) throw new Error(`there is no value of ${field} ${name}`)
    const set = withMember(least, [...inner, name], valueOf(at, name))
    return [
      {
        ...{ dialect: at.dialect, field: `${field}.${[...inner, name].join('.')}`, class: of },
        withField: requestOf(at, set),
        without: requestOf(at, least),
      },
    ]
  }
  return [
    ...carried.flatMap((name) => sample(name, 'carried')),
    ...labels.flatMap((name) => sample(name, 'label')),
    ...dropped.flatMap((name) => sample(name, 'dropped')),
    ...refused.flatMap((name) => sample(name, 'refused')),
    ...Object.entries(object.inner ?? {}).flatMap(([name, one]) =>
      memberSamples(at, one, { least, field, inner: [...inner, name] }),
    ),
  ]
}

/** Citations of a text are a list, those of a document an object. */
function valueOf({ type }: At, name: string): unknown {
  if (name === 'citations' && type === 'text') return [{ type: 'char_location', cited_text: 'a' }]
  return VALUES[name]
}

function withMember(object: Body, [name = '', ...rest]: readonly string[], value: unknown): Body {
  return { ...object, [name]: rest.length === 0 ? value : withMember(object[name] as Body, rest, value) }
}

/** @param object null: the request goes without it */
function requestOf({ dialect, place, type }: At, object: Body | null): Body {
  const some = object === null ? [] : [object]
  if (place === 'tools') return { ...REST[dialect](USERS[dialect]), ...(object !== null && { tools: some }) }
  if (place === 'turns') return REST[dialect](turnsWith(dialect, type, some))
  return REST[dialect](partsWith(dialect, type, some))
}

const USERS: Readonly<Record<Dialect, readonly object[]>> = {
  chat: [USER],
  responses: [ITEM_USER],
  messages: [USER],
}
const REST: Readonly<Record<Dialect, (turns: readonly object[]) => Body>> = {
  chat: (messages) => ({ messages }),
  responses: (input) => ({ input }),
  messages: (messages) => ({ max_tokens: 5_000, messages }),
}

function turnsWith(dialect: Dialect, type: string, some: readonly Body[]): readonly object[] {
  const user = USERS[dialect]
  // Calls and their results come together.
  if (some.length === 0 && RESULTS.has(type)) return user
  if (some.some((turn) => 'tool_calls' in turn)) return [...user, ...some, RESULT]
  if (dialect === 'chat' && type === 'tool') return [...user, CALL, ...some]
  if (type === 'function_call_output') return [...user, ITEM_CALL, ...some]
  if (type === 'custom_tool_call_output') return [...user, FREEFORM_CALL, ...some]
  const [call] = some
  if (call !== undefined && OUTPUTS[type] !== undefined)
    return [...user, call, { type: OUTPUTS[type], call_id: call['call_id'], output: '42' }]
  if (type === 'system' || type === 'developer') return [...some, ...user]
  return [...user, ...some, ...user]
}

const RESULTS: ReadonlySet<string> = new Set(['tool', 'function_call_output', 'custom_tool_call_output'])
/** Types of the results of calls. */
const OUTPUTS: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
}

/** Types of parts that a model has written. */
const OF_MODEL: ReadonlySet<string> = new Set([
  'refusal',
  'output_text',
  'tool_use',
  'thinking',
  'redacted_thinking',
])

function partsWith(dialect: Dialect, type: string, some: readonly Body[]): readonly object[] {
  const user = USERS[dialect]
  if (type === 'tool_result' && some.length === 0) return user
  if (type === 'tool_result')
    return [
      ...user,
      { role: 'assistant', content: [TOOL_USE] },
      { role: 'user', content: [...some, { type: 'text', text: 'So' }] },
    ]
  if (!OF_MODEL.has(type))
    return [
      {
        role: 'user',
        content: [{ type: dialect === 'responses' ? 'input_text' : 'text', text: 'Hi' }, ...some],
      },
    ]
  const text = { type: dialect === 'responses' ? 'output_text' : 'text', text: 'Hm' }
  const [use] = some
  const result = { type: 'tool_result', tool_use_id: use?.['id'], content: '42' }
  const next = type === 'tool_use' && use !== undefined ? [{ role: 'user', content: [result] }] : user
  return [...user, { role: 'assistant', content: [text, ...some] }, ...next]
}
