/** Members whose values a reader cannot use: each is named, or the call is refused. D6. */
import t from 'tap'
import { translateRequest } from '../../../src/dialects/translate.ts'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { LAX } from '../../support/inference/bodies/translated.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../src/schemas/models/protocols.ts'

type Members = Readonly<Record<string, unknown>>

const user = { role: 'user', content: 'Hi' }
const assistant = (more: Members): Members => ({
  messages: [user, { role: 'assistant', content: 'a', ...more }, user],
})
const part = (one: Members): Members => ({ messages: [{ role: 'user', content: [one] }] })
const item = (...items: readonly Members[]): Members => ({ input: [...items, user] })
const called = (call: Members): Members =>
  assistant({ tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', ...call } }] })
const block = (role: string, one: Members): Members => ({ messages: [user, { role, content: [one] }] })
const chatTool = (more: Members): Members => ({
  tools: [{ type: 'function', function: { name: 'f', ...more } }],
})
const image = { type: 'input_image', image_url: 'https://a.example/' }
const JSON_TEXT = '{"type":"object"}'

const bodyOf = (dialect: Dialect, more: Members): Members => ({
  model: 'm',
  ...(dialect === 'responses' ? { input: [user] } : { messages: [user] }),
  ...(dialect === 'messages' && { max_tokens: 5_000 }),
  ...more,
})

function translated(dialect: Dialect, protocol: TextProtocol, more: Members) {
  const body = Buffer.from(JSON.stringify(bodyOf(dialect, more)))
  return translateRequest({ dialect, protocol, body, terms: LAX })
}

const othersOf = (dialect: Dialect): readonly TextProtocol[] =>
  TEXT_PROTOCOLS.filter((one) => one !== dialect)

const REFUSED: readonly (readonly [Dialect, path: string, Members])[] = [
  ['chat', '/tools/0/function/parameters', chatTool({ parameters: JSON_TEXT })],
  ['chat', '/tools/0/function/parameters', chatTool({ parameters: true })],
  ['chat', '/messages/1/tool_calls', assistant({ tool_calls: { id: 'c', function: { name: 'f' } } })],
  ['chat', '/messages/1/tool_calls/0/function/arguments', called({ arguments: [1] })],
  ['chat', '/response_format/schema', { response_format: { type: 'json_object', schema: JSON_TEXT } }],
  ['responses', '/tools/0/parameters', { tools: [{ type: 'function', name: 'f', parameters: JSON_TEXT }] }],
  [
    'responses',
    '/input/0/output',
    item({ type: 'custom_tool_call_output', call_id: 'c', output: { type: 'input_text', text: 'x' } }),
  ],
  [
    'responses',
    '/input/0/input',
    item({ type: 'custom_tool_call', call_id: 'c', name: 'f', input: { a: 1 } }),
  ],
  [
    'messages',
    '/messages/1/content/0/input',
    block('assistant', { type: 'tool_use', id: 't', name: 'f', input: '{}' }),
  ],
  [
    'messages',
    '/messages/1/content/0/content',
    block('user', { type: 'tool_result', tool_use_id: 't', content: { type: 'text', text: 'x' } }),
  ],
]

for (const [dialect, path, more] of REFUSED)
  t.test(`${dialect} is refused when ${path} has a wrong type`, async (t) => {
    for (const protocol of othersOf(dialect)) {
      const reported = translated(dialect, protocol, more)
      t.match(reported, { ok: false, issues: [{ path }] }, protocol)
    }
  })

const DROPPED: readonly (readonly [Dialect, name: string, Members])[] = [
  ['chat', 'description', chatTool({ description: ['x'], parameters: { type: 'object' } })],
  ['chat', 'reasoning', assistant({ reasoning: { text: 'why' } })],
  ['chat', 'reasoning_content', assistant({ reasoning_content: ['why'] })],
  ['chat', 'reasoning_details', assistant({ reasoning_details: { type: 'reasoning.text', text: 'why' } })],
  ['chat', 'refusal', assistant({ refusal: ['no'] })],
  ['chat', 'reasoning_effort', { reasoning: { effort: 'low' }, reasoning_effort: 'high' }],
  [
    'chat',
    'response_format.strict',
    { response_format: { type: 'json_schema', strict: true, json_schema: { name: 'n', schema: {} } } },
  ],
  [
    'chat',
    'file_id',
    part({ type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', file_id: 'f' } }),
  ],
  ['responses', 'file_id', { input: [{ role: 'user', content: [{ ...image, file_id: 'f' }] }] }],
  ['responses', 'reasoning', item({ type: 'reasoning', id: 'rs_1', summary: [image] })],
  ['responses', 'reasoning', item({ type: 'reasoning', id: 'rs_1', summary: 'why' })],
  [
    'messages',
    'is_error',
    block('user', { type: 'tool_result', tool_use_id: 't', content: 'x', is_error: 'true' }),
  ],
  ['messages', 'thinking.budget_tokens', { thinking: { type: 'adaptive', budget_tokens: 2_000 } }],
  [
    'messages',
    'output_format',
    {
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      output_format: { type: 'json_schema', schema: { type: 'string' } },
    },
  ],
]

for (const [dialect, name, more] of DROPPED)
  t.test(
    `${dialect} reports ${name} as dropped when it has a wrong type or another member takes precedence`,
    async (t) => {
      for (const protocol of othersOf(dialect)) {
        const reported = translated(dialect, protocol, more)
        t.ok(reported.ok && reported.dropped.includes(name), `${protocol} ${JSON.stringify(reported)}`)
      }
    },
  )

t.test('the schema of a json_object format is the schema of the answer', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }
  const format = { type: 'json_object', schema }
  for (const [dialect, more] of [
    ['chat', { response_format: format }],
    ['responses', { text: { format } }],
  ] as const)
    for (const protocol of othersOf(dialect)) {
      const reported = translated(dialect, protocol, more)
      t.ok(
        reported.ok && Buffer.from(reported.body).toString().includes(JSON.stringify(schema)),
        `${dialect} ${protocol}`,
      )
      t.same(reported.ok && reported.dropped, [])
    }
})

t.test('empty values are not reported as dropped', async (t) => {
  const silent = {
    reasoning: null,
    reasoning_content: '',
    reasoning_details: [],
    refusal: null,
    tool_calls: [],
  }
  for (const protocol of othersOf('chat')) {
    const reported = translated('chat', protocol, { ...assistant(silent), ...chatTool({ parameters: null }) })
    t.same(reported.ok && reported.dropped, [], protocol)
  }
})
