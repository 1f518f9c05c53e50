/**
 * Parts of an answer that a caller sends back, in each dialect, are those that the model wrote. Part D,
 * mapping table.
 */
import t from 'tap'
import type { AssistantPart } from '../../../../src/dialects/prompt/prompt.ts'
import { SIGNATURE_FORMATS } from '../../../../src/dialects/prompt/signatures.ts'
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import type { Members } from '../../../support/inference/accumulated.ts'
import { wholeOfParts } from '../../../support/inference/written-answers.ts'
import type { WrittenPart } from '../../../../src/dialects/parts.ts'
import { PROMPT_READERS } from '../../../../src/dialects/translate.ts'

const { messages: CLAUDE, responses: OPENAI, gemini: GEMINI } = SIGNATURE_FORMATS
const reasoning = (text: string, more: object = {}): WrittenPart => ({
  kind: 'reasoning',
  choice: 0,
  text,
  ...more,
})
const signed = (format: string, data: string, of: 'reasoning' | 'redacted' | 'call'): WrittenPart => ({
  kind: 'signature',
  choice: 0,
  signature: { format, data },
  of,
})
const called = (id: string, json: string): readonly WrittenPart[] => [
  { kind: 'tool', choice: 0, id, name: 'f' },
  { kind: 'arguments', choice: 0, text: json },
]
const END: WrittenPart = {
  kind: 'finish',
  choice: 0,
  reason: 'tool_calls',
  native: 'x',
  stopSequence: null,
}

/** The conversation in which the answer is the last turn but one. */
function bodyOf(dialect: Dialect, answer: Members): Members {
  const user = { role: 'user', content: 'Go on.' }
  if (dialect === 'responses') return { input: [user, ...(answer['output'] as readonly object[]), user] }
  const [choice] = (answer['choices'] ?? []) as readonly { readonly message: object }[]
  const turn = dialect === 'chat' ? choice?.message : { role: 'assistant', content: answer['content'] }
  return { messages: [user, turn, user], max_tokens: 9 }
}

function givenBack(dialect: Dialect, parts: readonly WrittenPart[]): readonly AssistantPart[] {
  const prompt = PROMPT_READERS[dialect](bodyOf(dialect, wholeOfParts(dialect, [...parts, END])))
  return prompt.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
}

/** The part that each signature belongs to. */
function signaturesOf(parts: readonly AssistantPart[]): readonly unknown[] {
  return parts.flatMap((part) => {
    if (part.kind === 'call') return [[part.id, JSON.parse(part.arguments), part.signature]]
    if (part.kind !== 'reasoning') return []
    return [[part.isRedacted ? 'redacted' : part.text, part.signature]]
  })
}

t.test('signatures stay with the parts that they sign, in every dialect and of every format', async (t) => {
  const cases: readonly (readonly [readonly WrittenPart[], readonly unknown[]])[] = [
    [
      [
        ...[reasoning('a'), reasoning('b'), signed(CLAUDE, 'S', 'reasoning')],
        ...[signed(CLAUDE, 'R', 'redacted'), reasoning('c'), signed(CLAUDE, 'T', 'reasoning')],
        ...called('c1', '{"a":1}'),
      ],
      [
        ['ab', { format: CLAUDE, data: 'S' }],
        ['redacted', { format: CLAUDE, data: 'R' }],
        ['c', { format: CLAUDE, data: 'T' }],
        ['c1', { a: 1 }, null],
      ],
    ],
    [
      [reasoning('a', { isSummary: true }), signed(OPENAI, 'E', 'reasoning'), ...called('c1', '{}')],
      [
        ['a', { format: OPENAI, data: 'E' }],
        ['c1', {}, null],
      ],
    ],
    [
      [
        ...[reasoning('a'), ...called('c1', '{}'), signed(GEMINI, 'G', 'call')],
        ...[...called('c2', '{}'), ...called('c3', '{}'), signed(GEMINI, 'H', 'call')],
      ],
      [
        ['a', null],
        ['c1', {}, { format: GEMINI, data: 'G' }],
        ['c2', {}, null],
        ['c3', {}, { format: GEMINI, data: 'H' }],
      ],
    ],
    [
      [signed(CLAUDE, 'S', 'reasoning'), signed(OPENAI, 'E', 'reasoning'), ...called('c1', '{}')],
      [
        ['', { format: CLAUDE, data: 'S' }],
        ['', { format: OPENAI, data: 'E' }],
        ['c1', {}, null],
      ],
    ],
  ]
  for (const dialect of DIALECTS)
    for (const [nth, [parts, expected]] of cases.entries())
      t.same(signaturesOf(givenBack(dialect, parts)), expected, `${dialect}, case ${nth}`)
})
