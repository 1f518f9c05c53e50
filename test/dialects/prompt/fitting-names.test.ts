import t from 'tap'
import { translateRequest } from '../../../src/dialects/translate.ts'
import { LAX } from '../../support/inference/bodies/translated.ts'
import { TEXT_PROTOCOLS } from '../../../src/schemas/models/protocols.ts'

const LONG = `mcp__${'server_'.repeat(9)}__look`
const NAMES = [LONG, 'fs.read', 'fs:read', '2nd', '-', 'ä', 'fs_read', 'plain']

function written(dialect: 'chat' | 'messages', protocol: (typeof TEXT_PROTOCOLS)[number], body: object) {
  const answer = translateRequest({ dialect, protocol, body: Buffer.from(JSON.stringify(body)), terms: LAX })
  if (!answer.ok) throw new Error(JSON.stringify(answer.issues))
  return { json: Buffer.from(answer.body).toString(), origins: answer.origins ?? [] }
}

const chat = (names: readonly string[], more: object = {}): object => ({
  model: 'm',
  messages: [
    { role: 'user', content: 'a' },
    {
      role: 'assistant',
      tool_calls: names.map((name, nth) => ({
        ...{ id: `c${nth}`, type: 'function' },
        function: { name, arguments: '{}' },
      })),
    },
    ...names.map((_, nth) => ({ role: 'tool', tool_call_id: `c${nth}`, content: 'b' })),
  ],
  tools: names.map((name) => ({ type: 'function', function: { name } })),
  ...more,
})

for (const protocol of TEXT_PROTOCOLS.filter((one) => one !== 'chat'))
  t.test(`names that not all providers accept are replaced for ${protocol}, each by one other name`, (t) => {
    const { json, origins } = written('chat', protocol, chat(NAMES))
    const sent = [...json.matchAll(/"name":"([^"]*)"/g)].map(([, name = '']) => name)
    for (const name of sent) t.match(name, /^[A-Za-z_][\w-]{0,63}$/)
    t.equal(new Set(sent).size, NAMES.length, 'of declarations, calls and results together')
    t.same(
      origins.map(({ origin }) => origin.name),
      NAMES.filter((name) => name !== 'fs_read' && name !== 'plain'),
    )
    t.notOk(origins.some(({ called }) => called === 'fs_read'))
    t.end()
  })

t.test('a tool gets the same name in every request that declares the same tools', (t) => {
  const first = written('chat', 'messages', chat(NAMES)).origins
  t.same(written('chat', 'messages', chat(NAMES, { temperature: 1 })).origins, first)
  t.end()
})

t.test('a tool choice names the replaced name of the declared tool', (t) => {
  const tool_choice = { type: 'function', function: { name: 'fs.read' } }
  const { json, origins } = written('chat', 'messages', chat(['fs.read', 'fs_read'], { tool_choice }))
  const called = origins[0]?.called
  t.match(JSON.parse(json), { tool_choice: { type: 'tool', name: called } })
  t.end()
})

t.test('names that all providers accept are kept, and are not used to replace others', (t) => {
  const { json, origins } = written('chat', 'messages', chat(['plain', 'Fs-read_2']))
  t.same(origins, [])
  t.match(JSON.parse(json), { tools: [{ name: 'plain' }, { name: 'Fs-read_2' }] })
  t.end()
})

t.test('a name of the maximum length at Anthropic is replaced by one that OpenAI accepts', (t) => {
  const { json, origins } = written('messages', 'responses', {
    ...{ model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'a' }] },
    tools: [{ name: LONG, input_schema: { type: 'object' } }],
  })
  t.match(JSON.parse(json), { tools: [{ name: origins[0]?.called }] })
  t.equal(origins[0]?.origin.name, LONG)
  t.end()
})
