import t from 'tap'
import { translated } from '../../support/inference/bodies/translated.ts'

const ofChat = ['chat', 'responses'] as const
const ofMessages = ['messages', 'responses'] as const
const call = (id: string, json = '') => ({ id, type: 'function', function: { name: 'f', arguments: json } })
const user = (content: unknown) => ({ role: 'user', content })
const inputText = (text: string) => ({ type: 'input_text', text })
const message = (role: string, ...content: readonly unknown[]) => ({ type: 'message', role, content })

t.test('the first system text becomes the instructions, and later system turns stay in place', (t) => {
  const one = { role: 'developer', content: 'S' }
  t.match(translated(ofChat, { messages: [one, one, user('a'), one] }).body, {
    instructions: 'S',
    input: [
      message('system', inputText('S')),
      message('user', inputText('a')),
      message('system', inputText('S')),
    ],
    store: false,
  })
  const blocks = translated(ofMessages, {
    system: [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ],
  })
  t.match(blocks.body, {
    instructions: undefined,
    input: [message('system', inputText('a'), inputText('b')), message('user', inputText('Hi'))],
  })
  t.end()
})

t.test('calls, results and texts are items in the order of the turns', (t) => {
  const messages = [
    user([
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'high' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE' } },
      { type: 'file', file: { file_data: 'https://x.example/a.pdf', filename: 'a.pdf' } },
    ]),
    { role: 'assistant', content: 'a', refusal: 'no', tool_calls: [call('x', '{"a":{"b":1}}'), call('y')] },
    { role: 'tool', tool_call_id: 'x', content: 'X' },
    {
      role: 'tool',
      tool_call_id: 'y',
      content: [
        { type: 'text', text: '1' },
        { type: 'text', text: '2' },
      ],
    },
    user(''),
  ]
  t.same(translated(ofChat, { messages }).body['input'], [
    message(
      'user',
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'high' },
      { type: 'input_file', filename: 'file', file_data: 'data:application/pdf;base64,JVBE' },
      { type: 'input_file', filename: 'a.pdf', file_url: 'https://x.example/a.pdf' },
    ),
    message('assistant', { type: 'output_text', text: 'a' }, { type: 'refusal', refusal: 'no' }),
    { type: 'function_call', call_id: 'x', name: 'f', arguments: '{"a":{"b":1}}' },
    { type: 'function_call', call_id: 'y', name: 'f', arguments: '{}' },
    { type: 'function_call_output', call_id: 'x', output: 'X' },
    { type: 'function_call_output', call_id: 'y', output: [inputText('1'), inputText('2')] },
    { type: 'message', role: 'user', content: '' },
  ])
  t.end()
})

t.test('a result that is an error is marked as one, with its pictures', (t) => {
  const source = { type: 'base64', media_type: 'image/png', data: 'AA==' }
  const content = [
    { type: 'tool_result', tool_use_id: 'x', is_error: true, content: 'bad' },
    { type: 'tool_result', tool_use_id: 'y', is_error: true, content: [{ type: 'image', source }] },
    { type: 'tool_result', tool_use_id: 'z' },
  ]
  t.same(translated(ofMessages, { messages: [user(content)] }).body['input'], [
    { type: 'function_call_output', call_id: 'x', output: '[error] bad' },
    {
      type: 'function_call_output',
      call_id: 'y',
      output: [
        inputText('[error]'),
        { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'auto' },
      ],
    },
    { type: 'function_call_output', call_id: 'z', output: '' },
  ])
  t.end()
})

t.test('reasoning with encrypted data is sent back, and reasoning without it is left out', (t) => {
  const reasoning_details = [
    { type: 'reasoning.text', text: 'a', signature: 'S', format: 'anthropic-claude-v1' },
    { type: 'reasoning.summary', summary: 'b', id: 'rs_1' },
    { type: 'reasoning.encrypted', data: 'E', format: 'openai-responses-v1', id: 'rs_1' },
    { type: 'reasoning.encrypted', data: 'G', format: 'google-gemini-v1', id: 'x' },
  ]
  const messages = [user('q'), { role: 'assistant', reasoning_details, tool_calls: [call('x')] }]
  const itemsOf = (signatureFormats: readonly string[]) => {
    const { body, dropped } = translated(ofChat, { messages }, { signatureFormats })
    return [(body['input'] as readonly unknown[]).slice(1), body['include'], dropped]
  }
  const called = { type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' }
  const own = {
    ...{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'b' }] },
    encrypted_content: 'E',
  }
  const include = ['reasoning.encrypted_content']
  t.same(itemsOf(['openai-responses-v1']), [[own, called], include, ['reasoning']])
  t.same(itemsOf([]), [[called], include, ['reasoning']])
  t.same(itemsOf(['openai-responses-v1', 'anthropic-claude-v1', 'google-gemini-v1'])[0], [
    {
      ...{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'a' }] },
      encrypted_content: 'sl1.anthropic-claude-v1.S',
    },
    own,
    called,
    { type: 'reasoning', summary: [], encrypted_content: 'sl1.google-gemini-v1+call.G' },
  ])
  t.end()
})

t.test('signatures of other responses providers are sent back to them unchanged', (t) => {
  for (const format of ['xai-responses-v1', 'azure-openai-responses-v1']) {
    const messages = [
      user('q'),
      { role: 'assistant', reasoning_details: [{ type: 'reasoning.encrypted', data: 'E', format }] },
    ]
    const { body, dropped } = translated(ofChat, { messages }, { signatureFormats: [format] })
    t.same((body['input'] as readonly unknown[])[1], {
      type: 'reasoning',
      summary: [],
      encrypted_content: 'E',
    })
    t.same(body['include'], ['reasoning.encrypted_content'], 'the next one is to come back, too')
    t.same(dropped, [])
  }
  t.end()
})

t.test('requested reasoning is shown and signed, unless it is hidden', (t) => {
  const asked = (more: Readonly<Record<string, unknown>>, terms: object = {}) => {
    const { body, dropped } = translated(ofChat, more, { isStrict: true, ...terms })
    return [body['reasoning'], body['include'], dropped]
  }
  const include = ['reasoning.encrypted_content']
  t.same(asked({ reasoning_effort: 'high' }), [{ effort: 'high', summary: 'auto' }, include, []])
  t.same(asked({ reasoning: { effort: 'low', exclude: true } }), [
    ...[{ effort: 'low' }, include, ['reasoning.exclude']],
  ])
  t.same(asked({ reasoning: { effort: 'none' } }), [{ effort: 'none' }, undefined, []])
  t.same(asked({ reasoning: { max_tokens: 20_000 } }), [
    ...[{ effort: 'high', summary: 'auto' }, include, ['reasoning.max_tokens']],
  ])
  t.same(asked({}), [undefined, undefined, []], 'models that do not reason refuse the words')
  t.same(asked({ reasoning: { max_tokens: 9 } }, { isStrict: false })[0], { effort: 'low', summary: 'auto' })
  t.end()
})

t.test('functions keep the strictness of the request', (t) => {
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { type: 'object' }, strict: true } },
    { type: 'function', function: { name: 'g' } },
  ]
  const choice = { type: 'function', function: { name: 'g' } }
  const { body } = translated(ofChat, { tools, tool_choice: choice, parallel_tool_calls: false })
  t.match(body, {
    tools: [
      { type: 'function', name: 'f', parameters: { type: 'object' }, strict: true },
      { type: 'function', name: 'g', parameters: null, strict: false },
    ],
    tool_choice: { type: 'function', name: 'g' },
    parallel_tool_calls: false,
  })
  t.end()
})

t.test('formats and verbosity become members of `text`', (t) => {
  const schema = { type: 'object' }
  const response_format = { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } }
  t.same(translated(ofChat, { response_format, verbosity: 'low' }).body['text'], {
    format: { type: 'json_schema', name: 'n', schema, strict: true },
    verbosity: 'low',
  })
  t.same(translated(ofChat, { response_format: { type: 'json_object' } }).body['text'], {
    format: { type: 'json_object' },
  })
  t.same(
    translated(ofMessages, { output_config: { format: { type: 'json_schema', schema } } }).body['text'],
    {
      format: { type: 'json_schema', name: 'output', schema },
    },
  )
  t.end()
})

t.test('OpenAI itself gets no smaller maximum than it accepts, and no members of other providers', (t) => {
  const more = { max_tokens: 1, top_k: 4, presence_penalty: 1, cache_control: { type: 'ephemeral' }, seed: 3 }
  const { body, dropped } = translated(ofChat, more, { isMaker: true, isStrict: true })
  t.same(Object.keys(body).sort(), ['input', 'max_output_tokens', 'model', 'store'])
  t.equal(body['max_output_tokens'], 16)
  t.same([...dropped].sort(), ['cache_control', 'presence_penalty', 'seed', 'top_k'])
  const lax = translated(ofChat, more)
  t.match(lax.body, {
    max_output_tokens: 1,
    top_k: 4,
    presence_penalty: 1,
    cache_control: { type: 'ephemeral' },
  })
  t.same(lax.dropped, ['seed'])
  t.end()
})

t.test('cache marks on parts are reported as dropped', (t) => {
  const messages = [user([{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }])]
  const { body, dropped } = translated(ofMessages, { messages })
  t.notMatch(JSON.stringify(body), 'cache_control')
  t.same(dropped, ['cache_control'])
  t.end()
})
