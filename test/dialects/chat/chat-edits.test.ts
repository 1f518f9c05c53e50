import t from 'tap'
import { reasoningEdits, strictEdits } from '../../../src/dialects/chat/native-request.ts'
import { providerBody } from '../../../src/schemas/inference/provider-body.ts'
import { ChatTexts, writtenMembers } from '../../support/inference/chat-texts.ts'
import { FOREIGN, INSIDE, OURS, without } from '../../support/inference/cut-members.ts'
import { keptChat } from '../../support/inference/kept-chat.ts'
import { ownEdits } from '../../../src/server/upstream/inference/native-wire.ts'
import { KEPT_MARKS_MAX } from '../../../src/schemas/limits/limits.ts'

const OWN = ownEdits({ upstreamModel: 'up' })
const CASES = 1_000

interface Strict {
  readonly out: string
  readonly dropped: readonly string[]
}

function strict(text: string, isOnLoop = false): Strict {
  const { body } = keptChat(text, { isOnLoop })
  const { edits, dropped } = strictEdits(body)
  return {
    out: Buffer.concat(providerBody(body, edits, OWN)).toString(),
    dropped,
  }
}

type Value = Record<string, unknown>
const OF_ASSISTANTS = [
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'annotations',
  'images',
  'model',
]

/** The request that a strict provider has to get, made from the parsed body. */
function strictly(text: string): Value {
  const body = JSON.parse(text) as Value
  const { reasoning, ...others } = without(body, [...OURS, ...FOREIGN])
  const effort = (reasoning as Value | null | undefined)?.['effort']
  const messages = (body['messages'] as Value[]).map((message) => {
    const kept = without(message, [
      ...INSIDE,
      ...(message['role'] === 'assistant' ? OF_ASSISTANTS : []),
      ...(message['role'] === 'tool' ? ['name'] : []),
    ])
    const { content } = kept
    return Array.isArray(content) ? { ...kept, content: content.map((part) => without(part, INSIDE)) } : kept
  })
  const { tools } = body
  return {
    ...others,
    model: 'up',
    messages,
    ...(Array.isArray(tools) && { tools: tools.map((tool) => without(tool, INSIDE)) }),
    ...(typeof effort === 'string' && { reasoning_effort: effort }),
  }
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .map(([name, member]) => [name, sorted(member)] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

t.test('a strict provider gets the request without the members that it would refuse', async (t) => {
  for (let seed = 0; seed < CASES; seed++) {
    const { text } = new ChatTexts(seed).body()
    const { out } = strict(text, seed % 2 === 0)
    const [got, expected] = [sorted(JSON.parse(out)), sorted(strictly(text))]
    if (JSON.stringify(got) !== JSON.stringify(expected)) {
      t.same(got, expected, `seed ${seed}`)
      break
    }
  }
})

t.test('members that a strict provider accepts are sent byte for byte', async (t) => {
  const messages =
    '[ {"role":"user", "content":[{"type":"text","text":"a\\u0062","x":1.0}] },{"role" : "assistant","content":"1e400"}]'
  const { out, dropped } = strict(`{"model":"m" , "messages" : ${messages}, "seed":1,"tools":[ ]}`)
  t.same(
    writtenMembers(out).map(({ value }) => value),
    ['"up"', messages, '1', '[ ]'],
  )
  t.same(dropped, [])
})

const chat = '"model":"m","messages":[{"role":"user","content":"x"}]'
const top = '"model":"up","messages":[{"role":"user","content":"x"}]'

t.test('removed members are reported as dropped, unless their value is the default', async (t) => {
  for (const [member, named] of [
    ['"top_k":40', ['top_k']],
    ['"top_k":0', []],
    ['"top_k":0.0', []],
    ['"top_k":-1', []],
    ['"top_a":0.1', ['top_a']],
    ['"min_p":null', []],
    ['"repetition_penalty":1.0', []],
    ['"repetition_penalty":1.1', ['repetition_penalty']],
    ['"include_reasoning":true', []],
    ['"include_reasoning":false', ['include_reasoning']],
    ['"image_config":{ }', []],
    [`"image_config":{"a":"${'x'.repeat(200)}"}`, ['image_config']],
    ['"cache_control":{"type":"ephemeral"}', ['cache_control']],
    ['"prompt_cache_breakpoint":true', ['prompt_cache_breakpoint']],
    ['"top_k":40,"top_k":0', []],
    ['"top_k":1,"min_p":1', ['top_k', 'min_p']],
  ] as const) {
    const { out, dropped } = strict(`{${chat},${member}}`)
    t.equal(out, `{${top}}`, member)
    t.same(dropped, named, member)
  }
})

t.test('sends the effort of reasoning, and reports other members of reasoning as dropped', async (t) => {
  for (const [member, added, named] of [
    ['"reasoning":{"effort":"high"}', ',"reasoning_effort":"high"', []],
    ['"reasoning":{"effort":"high","enabled":true}', ',"reasoning_effort":"high"', []],
    ['"reasoning":{"effort":null,"max_tokens":9}', '', ['reasoning.max_tokens']],
    ['"reasoning":{"enabled":true,"summary":"auto"}', '', ['reasoning.enabled', 'reasoning.summary']],
    ['"reasoning":{"exclude":false}', '', []],
    ['"reasoning":{"exclude":true}', '', ['reasoning.exclude']],
    ['"reasoning":{"constructor":1,"a\\u000ab":2}', '', ['reasoning']],
    ['"reasoning":null', '', []],
    ['"reasoning":{}', '', []],
    [`"reasoning":{"effort":"low","x":"${'x'.repeat(10_000)}"}`, '', ['reasoning']],
    ['"reasoning_effort":"low","reasoning":{"effort":"low"}', ',"reasoning_effort":"low"', []],
    [
      '"reasoning_effort":"low","reasoning":{"effort":"high"}',
      ',"reasoning_effort":"high"',
      ['reasoning_effort'],
    ],
    ['"reasoning_effort":"low"', ',"reasoning_effort":"low"', []],
  ] as const) {
    const { out, dropped } = strict(`{${chat},${member}}`)
    t.equal(out, `{${top}${added}}`, member)
    t.same(dropped, named, member)
  }
})

t.test('members of messages, parts and tools are removed at their own depth only', async (t) => {
  const cache = '"cache_control":{"type":"ephemeral"}'
  const text = `{"model":"m","messages":[
    {"role":"user","content":[{${cache},"type":"text","text":"cache_control"},{"type":"x","deep":{${cache}},${cache}}],${cache}},
    {"reasoning":"r","role":"assistant","content":"y","reasoning_details":[{"type":"t"}],"images":[{}],"model":"m"},
    {"role":"user","content":"z","reasoning":"kept"}],
    "tools":[{"type":"function","function":{"name":"f","parameters":{${cache}}},${cache}}]}`
  const { out, dropped } = strict(text)
  t.equal(
    out,
    `{"model":"up","messages":[
    {"role":"user","content":[{"type":"text","text":"cache_control"},{"type":"x","deep":{${cache}}}]},
    {"role":"assistant","content":"y"},
    {"role":"user","content":"z","reasoning":"kept"}],
    "tools":[{"type":"function","function":{"name":"f","parameters":{${cache}}}}]}`,
  )
  t.same(dropped, ['cache_control', 'reasoning', 'reasoning_details', 'images', 'model'])
  const nulls =
    '{"role":"assistant","content":"y","reasoning":null,"reasoning_details":[],"cache_control":null}'
  t.same(strict(`{"model":"m","messages":[${nulls}]}`).dropped, [])
})

t.test('reasoning is removed from turns of the assistant under each of its names', async (t) => {
  const { out, dropped } = strict(
    '{"model":"m","messages":[{"role":"assistant","reasoning_content":"a","content":"x"},' +
      '{"role":"user","reasoning_content":"kept","content":"y"}]}',
  )
  t.equal(
    out,
    '{"model":"up","messages":[{"role":"assistant","content":"x"},' +
      '{"role":"user","reasoning_content":"kept","content":"y"}]}',
  )
  t.same(dropped, ['reasoning_content'])
})

t.test('the name of a tool is removed from its result, and names of people are kept', async (t) => {
  const { out, dropped } = strict(
    '{"model":"m","messages":[{"role":"user","name":"Ada","content":"x"},' +
      '{"role":"tool","name":"look","content":"rain","reasoning":"kept","tool_call_id":"c"}]}',
  )
  t.equal(
    out,
    '{"model":"up","messages":[{"role":"user","name":"Ada","content":"x"},' +
      '{"role":"tool","content":"rain","reasoning":"kept","tool_call_id":"c"}]}',
  )
  t.same(dropped, ['name'])
})

t.test('names and roles may contain escapes, and the last role counts', async (t) => {
  const of = (message: string): string => strict(`{"model":"m","messages":[{"content":"x",${message}}]}`).out
  const turn = '"role":"\\u0061ssistant","reasonin\\u0067":"r"'
  t.equal(of(turn), '{"model":"up","messages":[{"content":"x","role":"\\u0061ssistant"}]}')
  t.match(of('"reasoning":"r","role":"assistant","role":"user"'), '"reasoning":"r"')
  t.notMatch(of('"reasoning":"r","role":"user","role":"assistant"'), '"reasoning"')
})

t.test('nested members are removed up to the maximum number, and a body with more is refused', async (t) => {
  const part = '{"type":"text","text":"x","cache_control":1}'
  const of = (count: number): string =>
    `{"model":"m","messages":[{"role":"user","content":[${`${part},`.repeat(count - 1)}${part}]}]}`
  const { body } = keptChat(of(KEPT_MARKS_MAX))
  const { edits } = strictEdits(body)
  const out = Buffer.concat(providerBody(body, edits)).toString()
  t.equal(out, of(KEPT_MARKS_MAX).replaceAll(',"cache_control":1', ''))
  t.throws(() => keptChat(of(KEPT_MARKS_MAX + 1)), new RegExp(`more than ${KEPT_MARKS_MAX} extensions`))
})

t.test('reasoning of earlier turns is sent in the members that the endpoint accepts', (t) => {
  const assistant = (members: string) => `{"role":"assistant",${members},"content":"a}"}`
  const sent = (members: string, field?: 'reasoning' | 'reasoning_content' | 'none') => {
    const body = keptChat(`{"model":"m","messages":[${assistant(members)},${assistant('"x":1')}]}`).body
    const { edits, dropped } = reasoningEdits(body, field)
    const json = Buffer.concat(providerBody(body, edits)).toString()
    const { messages } = JSON.parse(json) as { messages: readonly Value[] }
    const { role: _, content: __, ...rest } = messages[0] ?? {}
    return [rest, dropped]
  }
  const [one, other] = ['"reasoning":"h\\n"', '"reasoning_content":"h\\n"']
  const both = { reasoning: 'h\n', reasoning_content: 'h\n' }
  t.same(sent(one), [both, []])
  t.same(sent(`${one},"tool_calls":[{"id":"}"}],${other}`)[0], { ...both, tool_calls: [{ id: '}' }] })
  t.same(sent(other), [{ reasoning_content: 'h\n' }, []])
  t.same(sent('"reasoning":null'), [{ reasoning: null }, []])
  t.same(sent(`${one},${other}`, 'reasoning'), [{ reasoning: 'h\n' }, []])
  t.same(sent(other, 'reasoning'), [{}, ['reasoning_content']])
  t.same(sent(`${one},${other}`, 'reasoning_content'), [{ reasoning_content: 'h\n' }, []])
  t.same(sent(`${one},"reasoning_details":[]`, 'none'), [{}, ['reasoning']])
  t.end()
})
