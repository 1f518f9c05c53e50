/** Where JSON is translated: on the loop, or in a thread. */
import t from 'tap'
import { TRANSLATED_INLINE_BYTES_MAX } from '../../../../../src/schemas/inference/inference-limits.ts'
import {
  TRANSLATED_INLINE_PARTS_MAX,
  isTranslatedHere,
} from '../../../../../src/server/upstream/inference/translated/translation-job.ts'

const json = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))
const messages = (count: number, content: unknown = 'x'): Uint8Array =>
  json(Array.from({ length: count }, () => ({ role: 'user', content })))

t.test('a thread translates long texts, many messages and many parts', (t) => {
  const most = 'x'.repeat(TRANSLATED_INLINE_BYTES_MAX - 2)
  t.ok(isTranslatedHere(json(most)))
  t.notOk(isTranslatedHere(json(`${most}x`)))
  t.ok(isTranslatedHere(messages(TRANSLATED_INLINE_PARTS_MAX, [{ type: 'text', text: 'x' }])))
  t.notOk(isTranslatedHere(messages(TRANSLATED_INLINE_PARTS_MAX + 1, [{ type: 'text', text: 'x' }])))
  t.notOk(isTranslatedHere(messages(2 * TRANSLATED_INLINE_PARTS_MAX + 1)))
  const calls = Array.from({ length: 1_001 }, () => ({ id: 'c' }))
  t.notOk(isTranslatedHere(json({ messages: [{ role: 'assistant', tool_calls: calls }] })))
  t.end()
})

t.test('a text that is translated for several endpoints counts for each of them', (t) => {
  t.ok(isTranslatedHere(json('x'.repeat(TRANSLATED_INLINE_BYTES_MAX / 2 - 2)), 2))
  t.notOk(isTranslatedHere(json('x'.repeat(TRANSLATED_INLINE_BYTES_MAX / 2)), 2))
  t.notOk(isTranslatedHere(messages(TRANSLATED_INLINE_PARTS_MAX + 1), 2))
  t.end()
})
