import t from 'tap'
import type { AssistantPart } from '../../../src/dialects/prompt/prompt.ts'
import { chatTurns, read } from '../../support/inference/bodies/translated.ts'
import { readDetails, writeDetails } from '../../../src/dialects/chat/request-parts.ts'

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

t.test('a text has a signature, data follow their summary, and data alone are hidden reasoning', (t) => {
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
})

t.test('the signature of a call is found by the id of the call', (t) => {
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

t.test('signatures of each provider are written in the member that this provider uses', (t) => {
  const signed = (format: string, more: object = {}): AssistantPart => ({
    ...{ ...part, kind: 'reasoning', text: 'a', signature: { format, data: 'S' } },
    ...more,
  })
  const text = { type: 'reasoning.text', text: 'a' }
  for (const isSummary of [false, true])
    t.same(writeDetails([signed(ANTHROPIC, { isSummary })]), [
      { ...text, signature: 'S', format: ANTHROPIC, index: 0 },
    ])
  for (const format of [OPENAI, GEMINI, 'xai-responses-v1'])
    t.same(writeDetails([signed(format)]), [
      { ...text, format, index: 0 },
      { type: 'reasoning.encrypted', data: 'S', format, index: 1 },
    ])
  t.same(writeDetails([signed('unknown')]), [{ ...text, signature: 'S', format: 'unknown', index: 0 }])
  t.same(writeDetails([signed(OPENAI, { isSummary: true, id: 'rs_1' })]), [
    { type: 'reasoning.summary', summary: 'a', format: OPENAI, id: 'rs_1', index: 0 },
    { type: 'reasoning.encrypted', data: 'S', format: OPENAI, id: 'rs_1', index: 1 },
  ])
  t.end()
})

t.test('the signature of a call has the same id as the call in the message', (t) => {
  const calls: readonly AssistantPart[] = [
    {
      kind: 'call',
      id: 'long',
      name: 'f',
      arguments: '{}',
      cache: null,
      signature: { format: GEMINI, data: 'S' },
    },
  ]
  t.match(
    writeDetails(calls, (id) => `${id}er`),
    [{ type: 'reasoning.encrypted', id: 'longer' }],
  )
  t.end()
})

t.test('fragments with the same index are joined into one entry', (t) => {
  const text = (more: object): object => ({ type: 'reasoning.text', index: 0, ...more })
  const fragments = [
    text({ text: 'a' }),
    text({ text: 'b', format: ANTHROPIC }),
    text({ text: '', signature: 'S' }),
  ]
  t.same(readDetails(fragments, '', new Set()).parts, [
    { ...part, text: 'ab', signature: { format: ANTHROPIC, data: 'S' } },
  ])
  const summary = (index: number | undefined, text: string): object => ({
    type: 'reasoning.summary',
    summary: text,
    index,
  })
  const encrypted = { type: 'reasoning.encrypted', data: 'S', format: OPENAI, index: 0 }
  t.match(readDetails([summary(0, 'a'), summary(0, 'b'), encrypted], '', new Set()).parts, [
    { text: 'ab', isSummary: true, signature: { data: 'S' } },
  ])
  for (const [one, other] of [
    [summary(0, 'a'), summary(1, 'b')],
    [summary(undefined, 'a'), summary(undefined, 'b')],
    [text({ text: 'a', signature: 'S' }), text({ text: 'b' })],
    [text({ text: 'a' }), summary(0, 'b')],
  ] as const)
    t.match(readDetails([one, other], '', new Set()).parts, [{ text: 'a' }, { text: 'b' }])
  t.end()
})

t.test('details of other types are listed as dropped', (t) => {
  const reasoning_details = [{ type: 'reasoning.server_tool_call', tool_name: 'x' }]
  const { others } = read('chat', { messages: [{ role: 'assistant', reasoning_details }] })
  t.same(others, [{ name: 'reasoning_details', path: '/messages/0/reasoning_details' }])
  t.end()
})

t.test('a text without details is reasoning, also under its older name', (t) => {
  t.same(partsOf({ reasoning: 'a', reasoning_content: 'b' }), [{ ...part, text: 'a' }])
  t.same(partsOf({ reasoning_content: 'b' }), [{ ...part, text: 'b' }])
  t.end()
})

t.test('written details read back as the same parts, also when encrypted data follow a text', (t) => {
  const written: readonly AssistantPart[] = [
    { ...part, kind: 'reasoning', text: 'a', isSummary: true },
    { ...part, kind: 'reasoning', text: '', signature: { format: OPENAI, data: 'S' } },
    { ...part, kind: 'reasoning', text: '', isRedacted: true, signature: { format: ANTHROPIC, data: 'R' } },
  ]
  const details = writeDetails(written)
  t.same(readDetails(details, '', new Set()).parts, written)
  t.end()
})
