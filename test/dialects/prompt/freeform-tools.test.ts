/** Tools whose input is a text, and tools of namespaces, at protocols that have functions alone. D6. */
import t from 'tap'
import { translateRequest } from '../../../src/dialects/translate.ts'
import { LAX, read, translated } from '../../support/inference/bodies/translated.ts'
import { TEXT_PROTOCOLS } from '../../../src/schemas/models/protocols.ts'

const PATCH = '*** Begin Patch\n"\\é'
const GRAMMAR = 'start: "x"'
const SCHEMA = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
}
const RESPONSES_TOOL = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  format: { type: 'grammar', syntax: 'lark', definition: GRAMMAR },
}
const ASKED = {
  responses: {
    tools: [RESPONSES_TOOL],
    tool_choice: { type: 'custom', name: 'apply_patch' },
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: PATCH },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'Done' },
    ],
  },
  chat: {
    tools: [
      {
        type: 'custom',
        custom: {
          name: 'apply_patch',
          description: 'Edits files.',
          format: { type: 'grammar', grammar: { syntax: 'lark', definition: GRAMMAR } },
        },
      },
    ],
    tool_choice: { type: 'custom', custom: { name: 'apply_patch' } },
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'apply_patch', input: PATCH } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'Done' },
    ],
  },
} as const
const FREEFORM_DIALECTS = ['chat', 'responses'] as const

for (const dialect of FREEFORM_DIALECTS)
  t.test(`a freeform tool of ${dialect} becomes a function of one text, with its calls and results`, (t) => {
    const { tools, toolChoice, turns, others } = read(dialect, ASKED[dialect])
    t.match(tools, [{ name: 'apply_patch', schema: SCHEMA }])
    t.match(tools[0]?.description, /^Edits files\.\n\n.*\(lark\):\nstart: "x"$/)
    t.same(toolChoice, { kind: 'tool', name: 'apply_patch' })
    t.match(turns[1], { parts: [{ name: 'apply_patch', arguments: JSON.stringify({ input: PATCH }) }] })
    t.match(turns[2], { role: 'tool', callId: 'c1', parts: [{ text: 'Done' }] })
    t.same(others, [])
    for (const protocol of TEXT_PROTOCOLS)
      t.same(translated([dialect, protocol], ASKED[dialect]).refused, [], protocol)
    t.end()
  })

t.test('each protocol gets that function in its own form', (t) => {
  const bodyOf = (protocol: 'chat' | 'messages' | 'gemini') =>
    translated(['responses', protocol], ASKED.responses).body
  t.match(bodyOf('chat')['tools'], [
    { type: 'function', function: { name: 'apply_patch', parameters: SCHEMA } },
  ])
  t.match(bodyOf('messages')['messages'], [
    {},
    { content: [{ type: 'tool_use', name: 'apply_patch', input: { input: PATCH } }] },
    { content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ text: 'Done' }] }] },
  ])
  t.match(bodyOf('messages')['tool_choice'], { type: 'tool', name: 'apply_patch' })
  t.match(bodyOf('gemini')['tools'], [
    { functionDeclarations: [{ name: 'apply_patch', parametersJsonSchema: SCHEMA }] },
  ])
  t.end()
})

const f = (name: string, more: object = {}) => ({ type: 'function', name, ...more })
const space = (name: string, tools: readonly object[], more: object = {}) => ({
  type: 'namespace',
  name,
  tools,
  ...more,
})
const namesOf = (tools: readonly object[]): readonly string[] =>
  read('responses', { tools }).tools.map(({ name }) => name)

t.test('tools of namespaces become functions with unique names', (t) => {
  t.same(namesOf([f('get'), space('crm', [f('get'), { ...RESPONSES_TOOL, name: 'note' }])]), [
    'get',
    'crm__get',
    'crm__note',
  ])
  t.same(namesOf([space('mcp__x__', [f('get')]), space('mcp', [f('mcp__y')])]), ['mcp__x__get', 'mcp__y'])
  const same = namesOf([f('a__b__c'), space('a', [f('b__c')]), space('a__b', [f('c')])])
  t.equal(new Set(same).size, 3)
  const long = namesOf([space('n'.repeat(60), [f('one_tool'), f('one_tool_more')])])
  t.ok(long.every((name) => /^[\w-]{1,64}$/.test(name)))
  t.equal(new Set(long).size, 2)
  t.same(namesOf([space('my space', [f('get')])]), ['my_space__get'])
  t.end()
})

t.test('a call in the conversation gets the name of its tool, whether the tool is declared or not', (t) => {
  const call = { type: 'function_call', call_id: 'c', name: 'get', namespace: 'crm', arguments: '{}' }
  const tools = [f('crm__get'), space('crm', [f('get')])]
  for (const more of [{ tools }, {}]) {
    const prompt = read('responses', { ...more, input: [call] })
    const declared = prompt.tools.at(-1)?.name ?? 'crm__get'
    t.match(prompt.turns[0], { parts: [{ kind: 'call', name: declared }] })
    t.same(prompt.others, [])
  }
  t.end()
})

t.test('a tool choice finds its tool within a namespace', (t) => {
  const asked = { tools: [space('crm', [f('get')])], tool_choice: f('get') }
  t.same(read('responses', asked).toolChoice, { kind: 'tool', name: 'crm__get' })
  t.end()
})

t.test('the description of a namespace is written once, before the description of its first tool', (t) => {
  const tools = [space('crm', [f('get', { description: 'Gets.' }), f('put')], { description: 'Customers.' })]
  t.same(
    read('responses', { tools }).tools.map(({ description }) => description),
    ['Customers.\n\nGets.', null],
  )
  t.end()
})

t.test('a translation reports the origin of its functions', (t) => {
  const tools = [f('plain'), RESPONSES_TOOL, space('crm', [f('get')])]
  const body = new TextEncoder().encode(JSON.stringify({ model: 'm', input: 'Hi', tools }))
  t.match(translateRequest({ dialect: 'responses', protocol: 'chat', body, terms: LAX }), {
    ok: true,
    origins: [
      { called: 'apply_patch', origin: { name: 'apply_patch', namespace: null, isFreeform: true } },
      { called: 'crm__get', origin: { name: 'get', namespace: 'crm', isFreeform: false } },
    ],
  })
  t.end()
})

t.test('refuses other kinds of tools with their path', (t) => {
  const tools = [space('crm', [f('get'), { type: 'mcp' }]), { type: 'custom' }]
  for (const protocol of TEXT_PROTOCOLS.filter((one) => one !== 'responses'))
    t.same(
      translated(['responses', protocol], { tools }).refused.map(({ path }) => path),
      ['/tools/0/tools/1'],
    )
  t.end()
})
