import t from 'tap'
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { TEXT_PROTOCOLS } from '../../../../src/schemas/models/text-models.ts'
import { translated } from '../../../support/inference/bodies/translated.ts'

/** Parts of one turn: more than a call takes arguments, and too many for work that grows with their square. */
const MANY = 200_000

const many = <T>(part: T): readonly T[] => Array<T>(MANY).fill(part)
const result = { type: 'tool_result', tool_use_id: 'x', content: '' }
const signed = { type: 'thinking', thinking: '', signature: 'sl1.google-gemini-v1+call.S' }

/** Bodies of whose parts there are as many as a body of 32 MiB has. */
const BODIES: Readonly<Record<Dialect, readonly Readonly<Record<string, unknown>>[]>> = {
  chat: [
    { messages: [{ role: 'user', content: many({ type: 'text', text: 'a' }) }] },
    { messages: [{ role: 'assistant', reasoning_details: many({ type: 'reasoning.text', text: 'a' }) }] },
    {
      messages: [
        { role: 'tool', tool_call_id: 'x', content: many({ type: 'image_url', image_url: 'https://x' }) },
      ],
    },
  ],
  responses: [
    {
      input: Array(4_096).fill({
        role: 'assistant',
        content: Array(50).fill({ type: 'output_text', text: 'a' }),
      }),
    },
  ],
  messages: [
    { messages: [{ role: 'user', content: [...many({ type: 'text', text: 'a' }), ...many(result)] }] },
    { messages: [{ role: 'assistant', content: many(signed) }] },
    { messages: many({ role: 'user', content: 'a' }), system: many({ type: 'text', text: 'a' }) },
  ],
}

for (const dialect of DIALECTS)
  t.test(
    `many parts of ${dialect} take time that grows with their number alone`,
    { timeout: 20_000 },
    (t) => {
      for (const body of BODIES[dialect])
        for (const protocol of TEXT_PROTOCOLS) t.same(translated([dialect, protocol], body).refused, [])
      t.end()
    },
  )

t.test('many results for Gemini 3 take time that grows with their number alone', { timeout: 20_000 }, (t) => {
  const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '' } }
  const caller = (count: number) => ({ role: 'assistant', tool_calls: Array(count).fill(call) })
  const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
  const answer = { role: 'tool', tool_call_id: 'x', content: 'a' }
  const nothing = { role: 'user', content: '' }
  const conversations = [
    [caller(1), { ...answer, content: many(picture) }],
    [caller(MANY), ...many(answer)],
    many([caller(1), nothing]).flat(),
  ]
  for (const messages of conversations) {
    const { refused } = translated(['chat', 'gemini'], { messages }, { upstreamModel: 'gemini-3.1-pro' })
    t.same(refused, [])
  }
  t.end()
})
