import t from 'tap'
import { readDetails, writeDetails } from '../../../../src/schemas/inference/forms/chat/reasoning-details.ts'
import type { AssistantPart } from '../../../../src/schemas/inference/forms/prompt.ts'
import { chatTurns, read } from '../../../support/inference/bodies/translated.ts'

const ANTHROPIC = 'anthropic-claude-v1'
const OPENAI = 'openai-responses-v1'
const GEMINI = 'google-gemini-v1'
const partsOf = (message: object): readonly AssistantPart[] =>
  (chatTurns({ role: 'assistant', ...message })[0]?.parts ?? []) as readonly AssistantPart[]
const part = {
  kind: 'reasoning',
  isSummary: false,
  signature: null,
  isRedacted: false,
  id: null,
  cache: null,
}

t.test(
  'a text is signed, a summary has its data behind it, and data alone stands for hidden reasoning',
  (t) => {
    const parts = partsOf({
      reasoning: 'all of it',
      reasoning_details: [
        { type: 'reasoning.text', text: 'a', signature: 'S1', format: ANTHROPIC, index: 0 },
        { type: 'reasoning.encrypted', data: 'S2', format: ANTHROPIC, index: 1 },
        { type: 'reasoning.text', text: '', signature: 'S3', format: ANTHROPIC, index: 2 },
        { type: 'reasoning.summary', summary: 'b', format: OPENAI, id: 'rs_1', index: 3 },
        { type: 'reasoning.encrypted', data: 'S4', format: OPENAI, id: 'rs_1', index: 3 },
        { type: 'reasoning.encrypted', data: 'S5', format: OPENAI, id: 'rs_2', index: 4 },
        { type: 'reasoning.unknown', x: 1 },
        null,
      ],
    })
    t.same(parts, [
      { ...part, text: 'a', signature: { format: ANTHROPIC, data: 'S1' } },
      { ...part, text: '', isRedacted: true, signature: { format: ANTHROPIC, data: 'S2' } },
      { ...part, text: '', signature: { format: ANTHROPIC, data: 'S3' } },
      { ...part, text: 'b', isSummary: true, id: 'rs_1', signature: { format: OPENAI, data: 'S4' } },
      { ...part, text: '', id: 'rs_2', signature: { format: OPENAI, data: 'S5' } },
    ])
    t.end()
  },
)

t.test('the signature of a call is known by the id of the call', (t) => {
  const parts = partsOf({
    reasoning: 'why',
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'S', format: GEMINI, id: 'c1' }],
    tool_calls: ['c1', 'c2'].map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '' } })),
  })
  t.match(parts, [
    { kind: 'reasoning', text: 'why', signature: null },
    { kind: 'call', id: 'c1', signature: { format: GEMINI, data: 'S' } },
    { kind: 'call', id: 'c2', signature: null },
  ])
  t.same(writeDetails(parts).at(-1), {
    ...{ type: 'reasoning.encrypted', data: 'S', id: 'c1', format: GEMINI, index: 1 },
  })
  t.end()
})

t.test('details of other types are named', (t) => {
  const reasoning_details = [{ type: 'reasoning.server_tool_call', tool_name: 'x' }]
  const { others } = read('chat', { messages: [{ role: 'assistant', reasoning_details }] })
  t.same(others, [{ name: 'reasoning_details', path: '/messages/0/reasoning_details' }])
  t.end()
})

t.test('text without details, and the older name of it, are reasoning', (t) => {
  t.same(partsOf({ reasoning: 'a', reasoning_content: 'b' }), [{ ...part, text: 'a' }])
  t.same(partsOf({ reasoning_content: 'b' }), [{ ...part, text: 'b' }])
  t.end()
})

t.test('what is written reads as the same, also where encrypted data follows a text', (t) => {
  const written: readonly AssistantPart[] = [
    { ...part, kind: 'reasoning', text: 'a', isSummary: true },
    { ...part, kind: 'reasoning', text: '', signature: { format: OPENAI, data: 'S' } },
    { ...part, kind: 'reasoning', text: '', isRedacted: true, signature: { format: ANTHROPIC, data: 'R' } },
  ]
  const details = writeDetails(written)
  t.same(readDetails(details, '', new Set()).parts, written)
  t.end()
})
