/** What Anthropic refuses and callers of other forms send: each is written so that it is taken. */
import t from 'tap'
import { translateRequest } from '../../../src/dialects/translate.ts'
import { LAX, translated } from '../../support/inference/bodies/translated.ts'

const ofChat = ['chat', 'messages'] as const
const user = (content: unknown) => ({ role: 'user', content })
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
const fn = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })

const LIMITED = {
  type: 'object',
  properties: {
    a: { type: 'integer', minimum: 1, maximum: 9, description: 'A figure' },
    l: { type: 'array', minItems: 3, items: { type: 'string', minLength: 2 } },
    one: { type: 'array', minItems: 1 },
    minimum: { anyOf: [{ type: 'number', multipleOf: 2 }, { $ref: '#/$defs/d' }] },
  },
  $defs: { d: { type: 'object', properties: { s: { type: 'string', maxLength: 4 } } } },
}
const WRITTEN = {
  type: 'object',
  additionalProperties: false,
  properties: {
    a: { type: 'integer', description: 'A figure\n\n{minimum: 1, maximum: 9}' },
    l: {
      type: 'array',
      items: { type: 'string', description: '{minLength: 2}' },
      description: '{minItems: 3}',
    },
    one: { type: 'array', minItems: 1 },
    minimum: { anyOf: [{ type: 'number', description: '{multipleOf: 2}' }, { $ref: '#/$defs/d' }] },
  },
  $defs: {
    d: {
      type: 'object',
      additionalProperties: false,
      properties: { s: { type: 'string', description: '{maxLength: 4}' } },
    },
  },
}
const NAMES = ['maxLength', 'maximum', 'minItems', 'minLength', 'minimum', 'multipleOf']

t.test('limits of an enforced schema are moved into its descriptions, and reported as dropped', (t) => {
  const format = { type: 'json_schema', json_schema: { name: 'x', schema: LIMITED } }
  const asked = translated(ofChat, { response_format: format })
  t.same(asked.body['output_config'], { format: { type: 'json_schema', schema: WRITTEN } })
  t.same([...asked.dropped].sort(), NAMES)
  const strict = translated(ofChat, { tools: [fn('f', { parameters: LIMITED, strict: true })] })
  t.match(strict.body['tools'], [{ input_schema: WRITTEN }])
  t.equal(strict.paths.get('maximum'), '/tools/0/function/parameters')
  const lax = translated(ofChat, { tools: [fn('f', { parameters: LIMITED })] })
  t.match(lax.body['tools'], [{ input_schema: LIMITED }], 'a schema that is not enforced stays')
  t.same(lax.dropped, [])
  const others = translated(['messages', 'chat'], {
    output_config: { format: { type: 'json_schema', schema: LIMITED } },
  })
  t.match(others.body['response_format'], { json_schema: { schema: LIMITED } })
  t.end()
})

t.test('object alternatives at the top of a tool schema are merged into one object', (t) => {
  const branches = [
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a', 'b'] },
    { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
  ]
  const written = (schema: object) => translated(ofChat, { tools: [fn('f', { parameters: schema })] })
  const joined = written({ anyOf: branches, required: ['c'] })
  t.match(joined.body['tools'], [
    {
      input_schema: {
        type: 'object',
        anyOf: undefined,
        properties: { a: { anyOf: [{ type: 'string' }, { type: 'number' }] }, b: { type: 'string' } },
        required: ['c', 'a'],
      },
    },
  ])
  t.same([joined.dropped, joined.refused], [['anyOf'], []])
  t.match(written({ allOf: branches }).body['tools'], [{ input_schema: { required: ['a', 'b'] } }])
  const refused = written({ oneOf: [...branches, { type: 'string' }] }).refused
  t.match(refused, [{ path: '/tools/0/function/parameters' }])
  t.end()
})

t.test('a choice of some tools leaves out the others, in each form', (t) => {
  const tools = [fn('f'), fn('g'), fn('h')]
  const chosen = (mode: string) => ({
    tools,
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: [fn('f'), fn('h')] } },
  })
  const required = translated(ofChat, chosen('required')).body
  t.match([required['tools'], required['tool_choice']], [[{ name: 'f' }, { name: 'h' }], { type: 'any' }])
  t.match(translated(ofChat, chosen('auto')).body['tool_choice'], { type: 'auto' })
  const names = ['f', 'h'].map((name) => ({ type: 'function', name }))
  t.same(translated(['chat', 'responses'], chosen('required')).body['tool_choice'], {
    ...{ type: 'allowed_tools', mode: 'required', tools: names },
  })
  const back = { tools: ['f', 'g'].map((name) => ({ type: 'function', name })) }
  const some = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] }
  t.same(translated(['responses', 'chat'], { ...back, tool_choice: some }).body['tool_choice'], {
    ...{ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [fn('f')] } },
  })
  const calling = (mode: string) => translated(['chat', 'gemini'], chosen(mode)).body['toolConfig']
  const config = (mode: string) => ({ functionCallingConfig: { mode, allowedFunctionNames: ['f', 'h'] } })
  t.same([calling('required'), calling('auto')], [config('ANY'), config('VALIDATED')])
  const foreign = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'mcp' }] } }
  t.match(translated(ofChat, { tools, tool_choice: foreign }).refused, [{ path: '/tool_choice' }])
  t.end()
})

t.test('the billing line of Claude Code is not sent to providers of another form', (t) => {
  const line = 'x-anthropic-billing-header: cc_version=2; cch=ab12;'
  const system = (...texts: readonly string[]) =>
    translated(['messages', 'chat'], { system: texts.map((text) => ({ type: 'text', text })) })
  const alone = system(line, 'You are an agent.')
  t.match(alone.body['messages'], [{ role: 'system', content: 'You are an agent.' }, { role: 'user' }])
  t.same(alone.dropped, [])
  t.match(system(`${line}\nYou are.`).body['messages'], [{ content: 'You are.' }, { role: 'user' }])
  t.match(system(`Not at the start: ${line}`).body['messages'], [{ content: `Not at the start: ${line}` }])
  t.match(translated(['messages', 'gemini'], { system: line }).body, { systemInstruction: undefined })
  t.end()
})

t.test('the type of a picture comes from its first bytes; unknown types are refused with their path', (t) => {
  const sent = (type: string, data: string) =>
    translated(ofChat, {
      messages: [user([{ type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }])],
    })
  const typeOf = (type: string, data: string) =>
    JSON.stringify(sent(type, data).body).match(/image\/\w+/)?.[0]
  const jpeg = Buffer.from('ffd8ffe000104a46', 'hex').toString('base64')
  t.equal(typeOf('image/jpg', 'AAAA'), 'image/jpeg')
  t.equal(typeOf('image/png', jpeg), 'image/jpeg')
  t.match(sent('image/svg+xml', 'AAAA').refused, [{ path: '/messages/0/content/0' }])
  t.match(sent('application/pdf', 'AAAA').refused, [{ path: '/messages/0/content/0' }])
  const gemini = (type: string) =>
    translated(['messages', 'gemini'], {
      messages: [user([{ type: 'image', source: { type: 'base64', media_type: type, data: 'AAAA' } }])],
    })
  t.match(gemini('image/jpg').body, { contents: [{ parts: [{ inlineData: { mimeType: 'image/jpeg' } }] }] })
  t.match(gemini('image/svg+xml').refused, [{ path: '/messages/0/content/0' }])
  t.end()
})

t.test('repeated call ids are made unique, with their results in the same order', (t) => {
  const messages = [
    user('go'),
    { role: 'assistant', content: null, tool_calls: [call('c'), call('c')] },
    { role: 'tool', tool_call_id: 'c', content: '1' },
    { role: 'tool', tool_call_id: 'c', content: '2' },
    { role: 'assistant', content: null, tool_calls: [call('c'), call('c_2')] },
    { role: 'tool', tool_call_id: 'c', content: '3' },
    { role: 'tool', tool_call_id: 'c_2', content: '4' },
  ]
  const body = Buffer.from(JSON.stringify({ model: 'm', messages }))
  const done = translateRequest({ dialect: 'chat', protocol: 'messages', body, terms: LAX })
  t.ok(done.ok)
  const json = done.ok ? Buffer.from(done.body).toString() : ''
  const ids = [...json.matchAll(/"tool_use","id":"(\w+)"/g)].map(([, id]) => id)
  const answered = [...json.matchAll(/"tool_use_id":"(\w+)"/g)].map(([, id]) => id)
  t.same(ids, ['c', 'c_3', 'c_4', 'c_2'])
  t.same(answered, ids)
  t.end()
})

t.test('trailing white space of the last text of the model is removed', (t) => {
  const messages = [user('go'), { role: 'assistant', content: 'a \n' }]
  const text = (more: readonly object[]) =>
    JSON.stringify(translated(ofChat, { messages: [...messages, ...more] }).body['messages'])
  t.ok(text([]).includes('"text":"a"'))
  t.ok(text([user('on')]).includes('"text":"a \\n"'), 'earlier turns stay')
  t.end()
})

t.test('the cache mark of an empty text moves to the part before it, or is reported as dropped', (t) => {
  const cache_control = { type: 'ephemeral' }
  const text = (stated: string, more: object = {}) => ({ type: 'text', text: stated, ...more })
  const silent = text('', { cache_control })
  const marked = { role: 'user', content: [text('a', { cache_control })] }
  for (const protocol of ['chat', 'messages'] as const) {
    const dialect = protocol === 'chat' ? 'messages' : 'chat'
    const moved = translated([dialect, protocol], { messages: [user([text('a'), silent])] })
    t.match([moved.body['messages'], moved.dropped], [[marked], []])
    const lost = translated([dialect, protocol], { messages: [user([silent, text('a')])] })
    t.same(lost.dropped, ['cache_control'])
  }
  const between = [user('a'), { role: 'assistant', content: [silent] }, user('b')]
  t.match(translated(['messages', 'chat'], { messages: between }).body['messages'], [user('a\n\nb')])
  t.match(translated(ofChat, { messages: [user([text('a'), text(' ', { cache_control })])] }).body, {
    messages: [marked],
  })
  t.end()
})
