import t from 'tap'
import { lostIssues, nativeIssue } from '../../../src/dialects/table/lost-members.ts'
import { PROMPT_WRITERS } from '../../../src/dialects/writers.ts'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { LAX, read } from '../../support/inference/bodies/translated.ts'
import type { TextProtocol } from '../../../src/schemas/models/protocols.ts'

/** `path takers` of each member that an endpoint would leave out. */
function lost(dialect: Dialect, protocol: TextProtocol, more: object, isStrict = false): readonly string[] {
  const prompt = read(dialect, { ...more })
  const terms = { ...LAX, isStrict }
  return lostIssues(prompt, terms, PROMPT_WRITERS[protocol](prompt, terms)).map(
    ({ path, expected }) => `${path}: ${/supports (.*), or/.exec(expected)?.[1] ?? ''}`,
  )
}

const PICTURE = 'https://x.example/a.png'
const MORE = "with more fields than OpenAI's"

t.test('the path of a lost member is its path in the body of the caller', (t) => {
  const budget = { thinking: { type: 'enabled', budget_tokens: 2_000 } }
  t.same(lost('messages', 'responses', budget, true), [
    `/thinking/budget_tokens: messages or chat ${MORE} or gemini`,
  ])
  t.same(lost('messages', 'gemini', { metadata: { user_id: 'u' } }), [
    '/metadata/user_id: messages or chat or responses',
  ])
  const format = { type: 'json_schema', name: 'n', description: 'd', schema: {} }
  t.same(lost('responses', 'messages', { text: { format } }), [
    '/text/format/description: responses or chat or gemini',
  ])
  t.end()
})

t.test('the path of a member within turns and tools is the path of its part, turn or list of tools', (t) => {
  const part = { type: 'image_url', image_url: { url: PICTURE, detail: 'low' } }
  const messages = [
    { role: 'user', content: ['a', part].map((one) => (one === 'a' ? { type: 'text', text: one } : part)) },
  ]
  t.same(lost('chat', 'messages', { messages }), ['/messages/0/content/1: chat or responses'])
  const tools = [{ type: 'function', name: 'f', parameters: {}, strict: true }]
  t.same(lost('responses', 'gemini', { tools }), ['/tools: responses or chat or messages'])
  t.same(lost('chat', 'messages', { messages: [{ role: 'user', name: 'n', content: 'a' }] }), [
    '/messages/0/name: chat',
  ])
  t.end()
})

t.test('names the endpoints that accept a member', (t) => {
  t.same(lost('chat', 'messages', { reasoning: { summary: 'detailed' } }), [
    `/reasoning/summary: chat ${MORE} or responses`,
  ])
  t.same(lost('chat', 'messages', { seed: 7 }), ['/seed: chat or gemini'])
  t.same(lost('messages', 'chat', { top_k: 5 }, true), [
    `/top_k: messages or chat ${MORE} or responses ${MORE} or gemini`,
  ])
  t.end()
})

t.test('for a member that a strict provider lacks, names a fuller endpoint of the same form', (t) => {
  for (const [dialect, name, path] of [
    ['chat', 'top_k', '/top_k'],
    ['chat', 'reasoning.max_tokens', '/reasoning/max_tokens'],
    ['responses', 'reasoning.max_tokens', '/reasoning/max_tokens'],
    ['chat', 'model', '/messages'],
    ['responses', 'subagent_id', '/input'],
  ] as const)
    t.match(nativeIssue(dialect, name), {
      path,
      expected: `an endpoint that supports ${dialect} ${MORE}, or no \`require_parameters: true\``,
    })
  t.end()
})

t.test('reports the path of turns with state of another provider, and suggests that provider', (t) => {
  for (const [dialect, name, path] of [
    ['messages', 'reasoning', '/messages'],
    ['responses', 'reasoning', '/input'],
    ['responses', 'item_reference', '/input'],
  ] as const)
    t.match(nativeIssue(dialect, name), {
      path,
      expected: 'the provider that created it, or no `require_parameters: true`',
    })
  t.end()
})
