/** Members that `sluice/echo-1` does not read, in all dialects. C25, D6, D35. */
import t from 'tap'
import { OTHERS_MAX } from '../../../../../src/dialects/prompt/others.ts'
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { AUTHORIZATION } from '../../../../support/front.ts'
import { openChat } from '../../../../support/inference/chat-front.ts'
import { DIALECT_PATHS } from '../../../../support/inference/forms-facts.ts'
import { ECHO_SEARCHED_BYTES_MAX } from '../../../../../src/server/upstream/inference/echo.ts'

const messages = [{ role: 'user', content: 'Hello there' }]
/** Members that the model reads. */
const READ: Readonly<Record<Dialect, object>> = {
  chat: { messages, n: 1, stop: ['x'], max_tokens: 9, tools: [], provider: {}, session_id: 's' },
  responses: { input: 'Hello there', instructions: 'Be brief.', max_output_tokens: 9, tools: [] },
  messages: { messages, max_tokens: 9, system: 'Be brief.', stop_sequences: ['x'] },
}
const DROPPED = 'x-sluice-dropped'

const { url } = await openChat(t)

async function ask(dialect: Dialect, more: object, headers: object = {}): Promise<string | null> {
  const response = await fetch(`${url}/api/v1${DIALECT_PATHS[dialect]}`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'sluice/echo-1', ...READ[dialect], ...more }),
  })
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
  return response.headers.get(DROPPED)
}

for (const dialect of ['chat', 'responses', 'messages'] as const) {
  t.test(`${dialect}: reports members that the built-in model ignores as dropped`, async (t) => {
    const asked = { temperature: 0.5, zebra: 1, 'a,b': [2] }
    t.equal(await ask(dialect, asked), 'temperature,zebra,a_b')
    t.equal(await ask(dialect, { ...asked, stream: true }), 'temperature,zebra,a_b')
  })

  t.test(`${dialect}: does not report members that it reads, or null and default values`, async (t) => {
    t.equal(await ask(dialect, {}), null)
    t.equal(await ask(dialect, { temperature: null, top_p: 1, store: false, zebra: null }), null)
  })
}

t.test('reports the features in the header `anthropic-beta` of a messages call', async (t) => {
  const named = await ask('messages', {}, { 'anthropic-beta': 'context-1m-2025-08-07, oauth:x' })
  t.equal(named, 'anthropic-beta.context-1m-2025-08-07,anthropic-beta.oauth_x')
})

t.test('reports a limited number of members, and `*` for the unsearched part of a large body', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 5 * OTHERS_MAX }, (_, n) => [`m${n}`, 1]))
  const names = (await ask('chat', many))?.split(',') ?? []
  t.equal(names.length, OTHERS_MAX + 1)
  t.equal(names.at(-1), '*')
  const silent = Object.fromEntries(Array.from({ length: 5 * OTHERS_MAX }, (_, n) => [`m${n}`, null]))
  t.equal(await ask('chat', silent), '*', 'members beyond the search may say something')
  const zebra = 'z'.repeat(ECHO_SEARCHED_BYTES_MAX)
  t.equal(await ask('chat', { temperature: 0.5, zebra }), 'temperature,*')
})

t.test('reports a limited number of features', async (t) => {
  const betas = Array.from({ length: 2 * OTHERS_MAX }, (_, n) => `b${n}`).join(',')
  const named = await ask('messages', {}, { 'anthropic-beta': betas })
  t.equal(named?.split(',').length, OTHERS_MAX)
})
