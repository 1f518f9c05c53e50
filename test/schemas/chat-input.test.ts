import fc from 'fast-check'
import t from 'tap'
import { chatInputOf } from '../../src/schemas/inference/chat-input.ts'
import type { ChatBody } from '../../src/schemas/inference/chat.ts'

const of = (more: Partial<ChatBody>) => {
  const made = chatInputOf({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more })
  if (!made.ok) throw new Error('refused')
  return made.value
}

t.test('words are counted as a match of each of them counts', async (t) => {
  const text = fc.string({
    unit: fc.constantFrom(
      'a',
      'ü',
      '😀',
      ' ',
      '\n',
      '\t',
      '\u00a0',
      '\u2028',
      '\u200b',
      '\u3000',
      '\x1f',
      '\x0b',
    ),
  })
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const messages = texts.map((content) => ({ role: 'user' as const, content }))
      const words = texts.reduce((sum, one) => sum + (one.match(/\S+/g)?.length ?? 0), 0)
      return of({ messages }).promptWords === words
    }),
    { numRuns: 2_000 },
  )
  t.end()
})

t.test(
  'the last text is that of the last message of the user, its parts on lines of their own',
  async (t) => {
    const parts = [
      { type: 'text' as const, text: 'one' },
      { type: 'image_url', image_url: {} },
      { type: 'text' as const, text: 'two' },
    ]
    const messages = [
      { role: 'user' as const, content: 'before' },
      { role: 'user' as const, content: parts },
      { role: 'assistant' as const, content: null },
      { role: 'tool' as const, content: 'a result', tool_call_id: 'x' },
    ]
    t.match(of({ messages }), { last: 'one\ntwo', promptWords: 5 })
    t.equal(of({ messages: [{ role: 'system', content: 'x' }] }).last, '')
  },
)

t.test('members that are null count as left out', async (t) => {
  const nulls = Object.fromEntries(
    [
      'stream',
      'stream_options',
      'n',
      'stop',
      'max_tokens',
      'reasoning',
      'tools',
      'tool_choice',
      'response_format',
    ].map((name) => [name, null]),
  )
  t.same(of(nulls), of({}))
  t.match(of({ max_tokens: 3, max_completion_tokens: 2 }), { tokensMax: 2 })
  t.match(of({ reasoning: { effort: 'none' }, reasoning_effort: 'high' }), { isReasoning: false })
})
