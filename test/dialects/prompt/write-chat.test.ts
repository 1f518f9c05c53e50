import t from 'tap'
import { translated } from '../../support/inference/bodies/translated.ts'

const ofMessages = ['messages', 'chat'] as const
const ofResponses = ['responses', 'chat'] as const
const use = (id: string, input: object = {}) => ({ type: 'tool_use', id, name: 'f', input })
const result = (id: string, more: object) => ({ type: 'tool_result', tool_use_id: id, ...more })
const messagesOf = (...messages: readonly unknown[]) =>
  translated(ofMessages, { messages }).body['messages'] as readonly Readonly<Record<string, unknown>>[]

t.test('system blocks come first, as one text, and later system turns stay in place', (t) => {
  const { body, dropped } = translated(ofMessages, {
    system: [
      { type: 'text', text: 'a' },
      { type: 'text', text: '' },
      { type: 'text', text: 'b' },
    ],
    messages: [
      { role: 'user', content: 'c' },
      { role: 'system', content: 'd' },
      { role: 'user', content: 'e' },
    ],
  })
  t.same(body['messages'], [
    { role: 'system', content: 'a\n\nb' },
    { role: 'user', content: 'c' },
    { role: 'system', content: 'd' },
    { role: 'user', content: 'e' },
  ])
  t.same(dropped, [])
  t.end()
})

t.test('each tool result is a message, errors are marked, and pictures follow the last result', (t) => {
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }
  t.same(
    messagesOf(
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'now' }, use('a', { x: { y: [1] } }), use('b')],
      },
      {
        role: 'user',
        content: [
          result('a', { content: [picture, { type: 'text', text: 'seen' }], is_error: true }),
          result('b', { is_error: true }),
          { type: 'text', text: 'and?' },
        ],
      },
    ).slice(1),
    [
      {
        role: 'assistant',
        content: 'now',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":{"y":[1]}}' } },
          { id: 'b', type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '[error]\n\nseen' },
      { role: 'tool', tool_call_id: 'b', content: '[error]' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Files of the tool result a:' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        ],
      },
      { role: 'user', content: 'and?' },
    ],
  )
  t.end()
})

t.test('a message with only calls has null content, and an empty turn has empty content', (t) => {
  const turns = messagesOf({ role: 'user', content: 'a' }, { role: 'assistant', content: [use('x')] })
  t.equal(turns[1]?.['content'], null)
  const { body } = translated(['responses', 'chat'], { input: [{ role: 'user', content: '' }] })
  t.same(body['messages'], [{ role: 'user', content: '' }])
  t.end()
})

t.test('text documents are sent as texts, and PDFs as files', (t) => {
  const source = { type: 'text', media_type: 'text/plain', data: 'ü\u0000' }
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }
  const [turn] = messagesOf({
    role: 'user',
    content: [
      { type: 'document', source, title: 'a' },
      { type: 'document', source: pdf, title: 'b.pdf' },
    ],
  })
  t.same(turn?.['content'], [
    { type: 'text', text: 'ü\u0000' },
    { type: 'file', file: { filename: 'b.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
  ])
  t.end()
})

t.test('cache marks are sent to endpoints that accept them, and reported as dropped for others', (t) => {
  const cache_control = { type: 'ephemeral', ttl: '1h' }
  const more = {
    system: [{ type: 'text', text: 'a', cache_control }],
    tools: [{ name: 'f', input_schema: {}, cache_control }],
  }
  const lax = translated(ofMessages, more)
  t.match(lax.body, {
    messages: [{ role: 'system', content: [{ type: 'text', text: 'a', cache_control }] }],
    tools: [{ type: 'function', function: { name: 'f', parameters: {} }, cache_control }],
  })
  t.same(lax.dropped, [])
  const strict = translated(ofMessages, more, { isStrict: true })
  t.notMatch(JSON.stringify(strict.body), 'cache_control')
  t.same(strict.dropped, ['cache_control'])
  t.end()
})

t.test('a cache mark is reported as dropped if the message has no member for it', (t) => {
  const cache_control = { type: 'ephemeral' }
  const marked = (...content: readonly object[]): readonly string[] =>
    translated(ofMessages, {
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content },
      ],
    }).dropped
  const call = { ...use('x'), cache_control }
  t.same(marked(call, use('y')), ['cache_control'])
  t.same(marked(use('y'), call), [], 'the last part has the mark of the message')
  t.same(marked({ type: 'text', text: 'a', cache_control }, use('y')), [])
  t.end()
})

t.test('reasoning is requested in the form of the endpoint', (t) => {
  const asked = (
    more: object,
    terms: object = {},
    pair: typeof ofMessages | typeof ofResponses = ofMessages,
  ) => {
    const { body, dropped } = translated(pair, { ...more }, terms)
    return [body['reasoning'] ?? body['reasoning_effort'], dropped]
  }
  const strict = { isStrict: true }
  const adaptive = { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }
  t.same(asked(adaptive), ['high', ['output_config.effort']], 'the efforts of every server')
  t.same(asked(adaptive, { efforts: ['max'] }), ['max', []])
  t.same(asked({ reasoning: { effort: 'minimal' } }, {}, ofResponses), ['low', ['reasoning.effort']])
  t.same(asked({ reasoning: { effort: 'low', max_tokens: 9 } }, {}, ofResponses), [
    'low',
    ['reasoning.max_tokens'],
  ])
  t.same(asked(adaptive, strict), ['max', []])
  const budget = (tokens: number) => ({
    thinking: { type: 'enabled', budget_tokens: tokens },
    max_tokens: 10_000,
  })
  t.same(asked(budget(2_000)), [{ max_tokens: 2_000 }, []])
  const efforts = [1_024, 3_500, 9_500].map((tokens) => asked(budget(tokens), strict))
  t.same(
    efforts,
    ['low', 'medium', 'high'].map((effort) => [effort, ['thinking.budget_tokens']]),
  )
  t.same(asked({ ...budget(2_000), output_config: { effort: 'low' } }, strict), [
    'low',
    ['thinking.budget_tokens'],
  ])
  t.same(asked({ thinking: { type: 'disabled' } }), [{ enabled: false }, []])
  t.same(asked({ thinking: { type: 'disabled' } }, strict), [undefined, []], 'the default is not named')
  t.same(asked({ reasoning: { effort: 'none' } }, strict, ofResponses), ['none', []])
  t.same(asked({ reasoning: { enabled: false } }, strict, ofResponses), [undefined, ['reasoning.enabled']])
  t.same(asked({ reasoning: { summary: 'auto' } }, strict, ofResponses), [undefined, ['reasoning.summary']])
  t.end()
})

t.test(
  'reasoning is sent back with signatures of every format, with its name; strict providers get none',
  (t) => {
    const carrier = { type: 'thinking', thinking: '', signature: 'sl1.google-gemini-v1+call.G' }
    const messages = [
      { role: 'user', content: 'a' },
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: 'hm', signature: 'S' }, use('x'), carrier],
      },
    ]
    const given = (terms: object) => {
      const { body, dropped } = translated(ofMessages, { messages }, terms)
      const [, turn] = body['messages'] as readonly Readonly<Record<string, unknown>>[]
      const { reasoning, reasoning_content, reasoning_details } = turn ?? {}
      return [reasoning, reasoning_content, reasoning_details, dropped]
    }
    const text = { type: 'reasoning.text', text: 'hm', index: 0 }
    const ofCall = { type: 'reasoning.encrypted', data: 'G', id: 'x', format: 'google-gemini-v1', index: 1 }
    const signed = { ...text, signature: 'S', format: 'anthropic-claude-v1' }
    t.same(given({ signatureFormats: ['unknown'] }), ['hm', 'hm', [signed, ofCall], []])
    t.same(given({ reasoningField: 'reasoning' }), ['hm', undefined, [signed, ofCall], []])
    t.same(given({ reasoningField: 'reasoning_content' }), [undefined, 'hm', undefined, []])
    t.same(given({ reasoningField: 'none' }), [undefined, undefined, undefined, ['reasoning']])
    t.same(given({ isStrict: true }), [undefined, undefined, undefined, ['reasoning']])
    t.end()
  },
)

t.test('OpenAI itself gets its own names of members', (t) => {
  const more = {
    max_tokens: 9,
    stream: true,
    metadata: { user_id: 'u'.repeat(65) },
    service_tier: 'standard_only',
  }
  t.match(translated(ofMessages, more).body, {
    ...{ model: 'up', max_tokens: 9, stream: true, stream_options: { include_usage: true } },
    ...{ user: 'u'.repeat(65), service_tier: 'default' },
  })
  const maker = translated(ofMessages, more, { isMaker: true, isStrict: true })
  t.match(maker.body, { max_completion_tokens: 9, max_tokens: undefined, user: undefined })
  t.same(maker.dropped, ['metadata.user_id'])
  const named = { metadata: { a: 'b' }, max_output_tokens: null }
  t.same(translated(ofResponses, named, { isMaker: true }).dropped, ['metadata'])
  t.same(translated(ofResponses, named, { tokensMax: 70 }).body['max_tokens'], 70)
  t.end()
})

t.test('call ids fit the endpoint, and a call and its result have the same id', (t) => {
  const input = [
    { type: 'function_call', call_id: 'x'.repeat(64), name: 'f', arguments: '' },
    { type: 'function_call_output', call_id: 'x'.repeat(64), output: 'r' },
  ]
  const idsOf = (terms: object): readonly string[] => {
    const [call, answer] = translated(ofResponses, { input }, terms).body['messages'] as [
      { tool_calls: [{ id: string }] },
      { tool_call_id: string },
    ]
    return [call.tool_calls[0].id, answer.tool_call_id]
  }
  for (const terms of [{}, { isStrict: true }, { isStrict: true, isMaker: true }]) {
    const [one, other] = idsOf(terms)
    t.equal(one, other)
    t.match(one, /^[a-z0-9]{9}$/)
  }
  t.end()
})

t.test('ignores a tool choice without tools', (t) => {
  const { body } = translated(ofMessages, { tool_choice: { type: 'any', disable_parallel_tool_use: true } })
  t.match(body, { tool_choice: undefined, parallel_tool_calls: undefined })
  const tools = [{ name: 'f', input_schema: {} }]
  const chosen = translated(ofMessages, {
    tools,
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
  })
  t.match(chosen.body, { tool_choice: 'required', parallel_tool_calls: false })
  t.end()
})

t.test('a turn with only reasoning is left out for strict endpoints, and reported as dropped', (t) => {
  const input = [
    { role: 'user', content: 'a' },
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] },
    { role: 'user', content: 'b' },
  ]
  const strict = translated(ofResponses, { input }, { isStrict: true })
  t.same(strict.body['messages'], [
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b' },
  ])
  t.same(strict.dropped, ['reasoning'])
  t.match(translated(ofResponses, { input }).body['messages'], { 1: { role: 'assistant', reasoning: 'hm' } })
  t.end()
})

t.test('results directly follow their calls, whatever the caller put between them', (t) => {
  const { body } = translated(ofResponses, {
    input: [
      { role: 'user', content: 'a' },
      { type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'y', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'x', output: 'X' },
      { role: 'user', content: 'wait' },
      { role: 'developer', content: 'be brief' },
      { type: 'function_call_output', call_id: 'y', output: 'Y' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
    ],
  })
  t.match(body['messages'], [
    { role: 'user', content: 'a' },
    { role: 'assistant', tool_calls: [{}, {}] },
    { role: 'tool', tool_call_id: 'x' },
    { role: 'tool', tool_call_id: 'y' },
    { role: 'user', content: 'wait' },
    { role: 'system', content: 'be brief' },
    { role: 'assistant', content: 'b' },
    { role: 'user', content: 'c' },
  ])
  t.end()
})

t.test('a conversation with only reasoning gets a turn for providers that accept no reasoning', (t) => {
  const messages = [
    { role: 'assistant', content: '', reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] },
  ]
  const { body, dropped } = translated(['chat', 'chat'], { messages }, { isStrict: true })
  t.same(body['messages'], [{ role: 'user', content: '.' }])
  t.same(dropped, ['reasoning'])
  t.end()
})
