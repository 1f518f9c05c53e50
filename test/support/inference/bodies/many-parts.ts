/** Bodies of whose parts there are as many as a body of 32 MiB has: work that grows with their square shows. */
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import type { Body } from './body-values.ts'

/** What stands in a body of responses. */
const ITEMS_MAX = 4_096

const result = { type: 'tool_result', tool_use_id: 'x', content: '' }
const signed = { type: 'thinking', thinking: '', signature: 'sl1.google-gemini-v1+call.S' }

/** @param count of the parts of one turn */
export function bodiesOfMany(count: number): Readonly<Record<Dialect, readonly Body[]>> {
  const many = <T>(part: T): readonly T[] => Array<T>(count).fill(part)
  const output = Array(Math.ceil(count / ITEMS_MAX)).fill({ type: 'output_text', text: 'a' })
  return {
    chat: [
      { messages: [{ role: 'user', content: many({ type: 'text', text: 'a' }) }] },
      { messages: [{ role: 'assistant', reasoning_details: many({ type: 'reasoning.text', text: 'a' }) }] },
      {
        messages: [
          { role: 'tool', tool_call_id: 'x', content: many({ type: 'image_url', image_url: 'https://x' }) },
        ],
      },
    ],
    responses: [{ input: Array(ITEMS_MAX).fill({ role: 'assistant', content: output }) }],
    messages: [
      { messages: [{ role: 'user', content: [...many({ type: 'text', text: 'a' }), ...many(result)] }] },
      { messages: [{ role: 'assistant', content: many(signed) }] },
      { messages: many({ role: 'user', content: 'a' }), system: many({ type: 'text', text: 'a' }) },
    ],
  }
}

const call = { id: 'x', type: 'function', function: { name: 'f', arguments: '' } }
const caller = (count: number): Body => ({ role: 'assistant', tool_calls: Array(count).fill(call) })
const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
const answer = { role: 'tool', tool_call_id: 'x', content: 'a' }
const nothing = { role: 'user', content: '' }

/** Messages of chat with many results, or many calls. */
export function resultsOfMany(count: number): readonly (readonly object[])[] {
  const many = <T>(part: T): readonly T[] => Array<T>(count).fill(part)
  return [
    [caller(1), { ...answer, content: many(picture) }],
    [caller(count), ...many(answer)],
    many([caller(1), nothing]).flat(),
  ]
}
