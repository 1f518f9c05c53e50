import t from 'tap'
import type { WriteTerms } from '../../../src/dialects/prompt/write-terms.ts'
import { translated } from '../../support/inference/bodies/translated.ts'

type Body = Readonly<Record<string, unknown>>

const ofChat = ['chat', 'messages'] as const
const ofResponses = ['responses', 'messages'] as const
const call = (id: string, json = '') => ({ id, type: 'function', function: { name: 'f', arguments: json } })
const user = (content: unknown) => ({ role: 'user', content })
const say = (text: string) => ({ type: 'text', text })
const turnsOf = (...messages: readonly unknown[]): unknown =>
  translated(ofChat, { messages }).body['messages']

t.test('adjacent turns of the same role are one message, with tool results first', (t) => {
  t.same(
    turnsOf(
      user('go'),
      { role: 'assistant', content: 'a' },
      { role: 'assistant', content: null, tool_calls: [call('x', '{"a":{"b":[1]}}'), call('y')] },
      { role: 'tool', tool_call_id: 'x', content: 'X' },
      { role: 'developer', content: 'wait' },
      user('more'),
      { role: 'tool', tool_call_id: 'y', content: '' },
    ),
    [
      user([say('go')]),
      {
        role: 'assistant',
        content: [
          say('a'),
          { type: 'tool_use', id: 'x', name: 'f', input: { a: { b: [1] } } },
          { type: 'tool_use', id: 'y', name: 'f', input: {} },
        ],
      },
      user([
        { type: 'tool_result', tool_use_id: 'x', content: [say('X')] },
        { type: 'tool_result', tool_use_id: 'y' },
        say('<system>\nwait\n</system>'),
        say('more'),
      ]),
    ],
  )
  t.end()
})

t.test('system text comes before all turns, and becomes the user turn if there is no other', (t) => {
  const system = { role: 'system', content: 'S' }
  t.match(translated(ofChat, { messages: [system, system, user('a')] }).body, {
    system: [say('S'), say('S')],
    messages: [user([say('a')])],
  })
  const alone = translated(ofChat, { messages: [system, user('')] }).body
  t.same([alone['system'], alone['messages']], [undefined, [user([say('S')])]])
  t.end()
})

t.test('a conversation that begins with the model gets an opening user turn', (t) => {
  const greeting = { role: 'assistant', content: 'Welcome' }
  t.same(turnsOf(greeting, user('')), [user([say('.')]), { role: 'assistant', content: [say('Welcome')] }])
  t.end()
})

t.test('pictures and documents are written as sources, with their cache marks', (t) => {
  const cache_control = { type: 'ephemeral' }
  const [turn] = turnsOf(
    user([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' }, cache_control },
      { type: 'image_url', image_url: { url: 'https://x.example/a.png' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
      { type: 'file', file: { file_data: 'data:text/csv;base64,YSxi' } },
      { type: 'file', file: { file_data: 'https://x.example/a.pdf' } },
    ]),
  ) as readonly [Body]
  t.same(turn['content'], [
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' }, cache_control },
    { type: 'image', source: { type: 'url', url: 'https://x.example/a.png' } },
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
      title: 'a.pdf',
    },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
    { type: 'document', source: { type: 'url', url: 'https://x.example/a.pdf' } },
  ])
  t.end()
})

const OLD: Partial<WriteTerms> = { upstreamModel: 'claude-sonnet-4-20250514' }
const NEW: Partial<WriteTerms> = { upstreamModel: 'claude-opus-4-6' }
const NEWEST: Partial<WriteTerms> = { upstreamModel: 'claude-opus-5' }

const ADAPTIVE = { type: 'adaptive', display: 'summarized' }

function thinking(more: Body, terms: Partial<WriteTerms>): readonly unknown[] {
  const { body, dropped } = translated(ofChat, { max_tokens: 10_000, ...more }, terms)
  return [body['thinking'], body['output_config'], dropped]
}

t.test('an effort becomes a share of the budget, or stays an effort if the model decides itself', (t) => {
  const budgets = { minimal: 1_024, low: 2_000, medium: 5_000, high: 8_000, xhigh: 9_500, max: 9_500 }
  for (const [effort, budget_tokens] of Object.entries(budgets)) {
    const asked = { reasoning: { effort } }
    t.same(thinking(asked, OLD), [{ type: 'enabled', budget_tokens }, undefined, []], effort)
    const reported = effort === 'minimal' ? 'low' : effort
    t.same(thinking(asked, NEW), [ADAPTIVE, { effort: reported }, []], effort)
  }
  const budget = { reasoning: { max_tokens: 2_500 } }
  t.same(thinking(budget, NEW), [{ type: 'enabled', budget_tokens: 2_500 }, undefined, []])
  t.same(thinking(budget, NEWEST), [ADAPTIVE, undefined, ['reasoning.max_tokens']])
  t.same(thinking({ reasoning: { enabled: true, exclude: true } }, OLD)[0], {
    ...{ type: 'enabled', budget_tokens: 5_000, display: 'omitted' },
  })
  t.same(thinking({ reasoning_effort: 'none' }, NEW), [{ type: 'disabled' }, undefined, []])
  t.same(thinking({}, NEW), [undefined, undefined, []])
  t.end()
})

t.test('a thinking budget stays below the maximum of the answer, or is left out without room', (t) => {
  const asked = { reasoning: { max_tokens: 60_000 } }
  t.same(thinking(asked, OLD), [{ type: 'enabled', budget_tokens: 9_500 }, undefined, []])
  t.same(thinking({ ...asked, max_tokens: 1_078 }, OLD)[0], { type: 'enabled', budget_tokens: 1_024 })
  for (const max_tokens of [1, 1_024, 1_077])
    t.same(thinking({ ...asked, max_tokens }, OLD), [undefined, undefined, ['reasoning']])
  t.end()
})

t.test('drops fields that Anthropic refuses together with reasoning, or drops the reasoning itself', (t) => {
  const reasoning = { effort: 'high' }
  const sampled = { reasoning, temperature: 0.2, top_k: 5, top_p: 0.5 }
  const { body, dropped } = translated(ofChat, { ...sampled, max_tokens: 5_000 }, OLD)
  t.match(body, { thinking: {}, temperature: undefined, top_k: undefined, top_p: undefined })
  t.same([...dropped].sort(), ['temperature', 'top_k', 'top_p'])
  const tools = [{ type: 'function', function: { name: 'f' } }]
  t.same(thinking({ reasoning, tools, tool_choice: 'required' }, OLD), [undefined, undefined, ['reasoning']])
  const messages = [
    user('a'),
    { role: 'assistant', content: null, tool_calls: [call('x')] },
    { role: 'tool', tool_call_id: 'x', content: 'X' },
  ]
  t.same(
    thinking({ reasoning, tools, messages }, OLD),
    [undefined, undefined, ['reasoning']],
    'a step without',
  )
  t.same(thinking({ reasoning, tools, messages }, NEW)[0], ADAPTIVE)
  t.end()
})

t.test('own signatures are sent back, and foreign signatures are left out with their reasoning', (t) => {
  const reasoning_details = [
    { type: 'reasoning.text', text: 'a', signature: 'S', format: 'anthropic-claude-v1' },
    { type: 'reasoning.encrypted', data: 'R', format: 'anthropic-claude-v1' },
    { type: 'reasoning.summary', summary: 'b', id: 'rs' },
    { type: 'reasoning.encrypted', data: 'E', format: 'openai-responses-v1', id: 'rs' },
    { type: 'reasoning.encrypted', data: 'G', format: 'google-gemini-v1', id: 'x' },
  ]
  const messages = [user('q'), { role: 'assistant', reasoning_details, tool_calls: [call('x')] }]
  const blocksOf = (signatureFormats: readonly string[]) => {
    const { body, dropped } = translated(ofChat, { messages }, { signatureFormats })
    return [(body['messages'] as readonly [Body, Body])[1]['content'], dropped]
  }
  const own = [
    { type: 'thinking', thinking: 'a', signature: 'S' },
    { type: 'redacted_thinking', data: 'R' },
  ]
  const used = { type: 'tool_use', id: 'x', name: 'f', input: {} }
  t.same(blocksOf(['anthropic-claude-v1']), [[...own, used], ['reasoning']])
  t.same(blocksOf([]), [[used], ['reasoning']])
  t.same(blocksOf(['anthropic-claude-v1', 'openai-responses-v1', 'google-gemini-v1']), [
    [
      ...own,
      { type: 'thinking', thinking: 'b', signature: 'sl1.openai-responses-v1.E' },
      used,
      { type: 'thinking', thinking: '', signature: 'sl1.google-gemini-v1+call.G' },
    ],
    [],
  ])
  t.end()
})

t.test('numbers that Anthropic refuses are reported as dropped, unless they change nothing', (t) => {
  const { body, dropped } = translated(ofChat, { temperature: 1.5, top_p: 1, top_k: 0, seed: 1, min_p: 0 })
  t.match(body, { temperature: 1, top_p: undefined, top_k: undefined })
  t.same(dropped, ['seed', 'temperature'])
  t.same(translated(ofChat, { temperature: 0, top_p: 0.9 }).dropped, ['top_p'])
  const newest = translated(ofChat, { temperature: 0.5, top_k: 7 }, NEWEST)
  t.same([newest.body['temperature'], newest.dropped], [undefined, ['temperature', 'top_k']])
  t.same(translated(ofChat, { temperature: 1 }, NEWEST).dropped, [])
  t.end()
})

t.test('writes tools, the tool choice and the number of calls in one answer', (t) => {
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { properties: {} }, strict: true } },
    { type: 'function', function: { name: 'g', description: 'G', strict: false } },
  ]
  t.same(translated(ofChat, { tools }).body['tools'], [
    {
      name: 'f',
      input_schema: { type: 'object', properties: {}, additionalProperties: false },
      strict: true,
    },
    { name: 'g', description: 'G', input_schema: { type: 'object', properties: {} } },
  ])
  const choice = (more: object) => translated(ofChat, { tools, ...more }).body['tool_choice']
  t.same(choice({ parallel_tool_calls: false }), { type: 'auto', disable_parallel_tool_use: true })
  t.same(choice({ parallel_tool_calls: true }), undefined)
  t.same(choice({ tool_choice: 'required' }), { type: 'any' })
  t.same(choice({ tool_choice: 'none', parallel_tool_calls: false }), { type: 'none' })
  const named = { type: 'function', function: { name: 'g' } }
  t.same(choice({ tool_choice: named, parallel_tool_calls: false }), {
    ...{ type: 'tool', name: 'g', disable_parallel_tool_use: true },
  })
  t.end()
})

t.test('a call of a tool that is no longer declared gets a declaration, with tool choice `none`', (t) => {
  const messages = [user('a'), { role: 'assistant', tool_calls: [call('x'), call('y')] }]
  t.match(translated(ofChat, { messages }).body, {
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    tool_choice: { type: 'none' },
  })
  t.end()
})

t.test('a maximum is always sent: from the caller, else from the endpoint, else the default', (t) => {
  t.equal(
    translated(ofChat, { max_tokens: 3, max_completion_tokens: 5 }, { tokensMax: 7 }).body['max_tokens'],
    5,
  )
  t.equal(translated(ofChat, {}, { tokensMax: 7 }).body['max_tokens'], 7)
  t.equal(translated(ofChat, {}).body['max_tokens'], 8_192)
  t.end()
})

t.test('a schema becomes the format of the answer', (t) => {
  const schema = { type: 'object', additionalProperties: false }
  const format = { type: 'json_schema', name: 'n', schema, description: 'd', strict: true }
  const { body, dropped } = translated(ofResponses, { text: { format, verbosity: 'low' } })
  t.same(body['output_config'], { format: { type: 'json_schema', schema } })
  t.same(dropped, ['text.verbosity', 'text.format.description'])
  t.end()
})

t.test('tiers and names of end users are translated', (t) => {
  const tier = (service_tier: string) => {
    const { body, dropped } = translated(ofChat, { service_tier })
    return [body['service_tier'], dropped]
  }
  t.same(tier('auto'), [undefined, []])
  t.same(tier('default'), ['standard_only', []])
  t.same(tier('flex'), [undefined, ['service_tier']])
  const { body, dropped } = translated(ofChat, { user: 'u', metadata: { a: 'b' }, prompt_cache_key: 'k' })
  t.same([body['metadata'], dropped], [{ user_id: 'u' }, ['prompt_cache_key', 'metadata']])
  t.end()
})

t.test('call ids have only letters, digits, `_` and `-`', (t) => {
  const text = JSON.stringify(
    turnsOf(
      user('a'),
      { role: 'assistant', tool_calls: [call('functions.f:0')] },
      { role: 'tool', tool_call_id: 'functions.f:0', content: 'r' },
    ),
  )
  const [, one, other] = /"id":"([\w-]+)".*"tool_use_id":"([\w-]+)"/.exec(text) ?? []
  t.ok(one !== undefined && one === other)
  t.end()
})

t.test('texts of white space are left out, and a conversation without a text gets a turn', (t) => {
  const blank = { type: 'text', text: ' \n', cache_control: { type: 'ephemeral' } }
  const messages = [
    { role: 'system', content: ' ' },
    { role: 'user', content: [blank, { type: 'text', text: ' a' }] },
    { role: 'assistant', content: '\t' },
    { role: 'user', content: 'b' },
  ]
  const { body, dropped } = translated(ofChat, { messages })
  t.equal(body['system'], undefined)
  t.same(body['messages'], [
    {
      role: 'user',
      content: [
        { type: 'text', text: ' a' },
        { type: 'text', text: 'b' },
      ],
    },
  ])
  t.same(dropped, ['cache_control'])
  for (const input of ['', ' ', []])
    t.same(translated(ofResponses, { input }).body['messages'], [
      { role: 'user', content: [{ type: 'text', text: '.' }] },
    ])
  t.end()
})

t.test('reports `detail` of pictures as dropped, also in tool results', (t) => {
  const picture = { type: 'input_image', image_url: 'https://x.example/a.png', detail: 'low' }
  const input = [
    { role: 'user', content: 'a' },
    { type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'x', output: [picture] },
  ]
  t.same(translated(['responses', 'messages'], { input }).dropped, ['detail'])
  t.end()
})
