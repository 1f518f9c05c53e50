import t from 'tap'
import { COUNT_DEADLINE_MS } from '../../../../src/schemas/inference/inference-limits.ts'
import { countTokens } from '../../../../src/server/operations/inference/count-tokens.ts'
import { PROVIDER_KEY } from '../../../support/inference/chat-provider-front.ts'
import { fail } from '../../../../src/schemas/failures.ts'
import { answersChat, PROMPT_TOKENS, silentChat } from '../../../support/inference/fake-chat.ts'
import { answersMessages, refusesMessages } from '../../../support/inference/fake-messages.ts'
import { streams } from '../../../support/inference/fake-stream.ts'
import { openMessagesProvider } from '../../../support/inference/messages-front.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import { present } from '../../../support/must.ts'
import { COUNT_BYTES_MAX } from '../../../../src/server/inference/send.ts'

const hello = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello there' }], system: 'é' }
const BELOW = '/count_tokens'

t.test('messages.count_tokens 200: the provider counts the tokens, and nothing is charged', async (t) => {
  const spend = keptSpend()
  const { send, first, rest } = await openMessagesProvider(t, { spend })
  const response = await send({ ...hello, provider: { order: ['first'] } }, {}, BELOW)
  t.equal(response.status, 200)
  t.same(await response.json(), { input_tokens: PROMPT_TOKENS })
  t.equal(response.headers.get('request-id'), response.headers.get('x-request-id'))
  const call = present(first.calls[0])
  t.equal(call.path, '/v1/messages/count_tokens')
  t.match(call.headers, { 'x-api-key': PROVIDER_KEY, 'anthropic-version': '2023-06-01' })
  t.equal(call.body.toString(), JSON.stringify({ ...hello, model: 'first-model' }))
  t.same(spend.holds, [])
  t.equal(await rest(), 0)
})

t.test('the built-in model counts words', async (t) => {
  const { send } = await openMessagesProvider(t)
  const response = await send({ ...hello, model: 'sluice/echo-1' }, {}, BELOW)
  t.same(await response.json(), { input_tokens: 3 })
})

t.test('messages.count_tokens 404: no provider supports counting; calls to them still work', async (t) => {
  const { send, first, second, breakers } = await openMessagesProvider(t)
  for (const provider of [first, second])
    provider.usually((call, reply) =>
      call.path.endsWith(BELOW)
        ? refusesMessages(404, { type: 'not_found_error' })(call, reply)
        : answersMessages()(call, reply),
    )
  const asked = Array.from({ length: 50 }, () => send(hello, {}, BELOW))
  for (const response of await Promise.all(asked)) {
    t.equal(response.status, 404)
    t.match(await response.json(), {
      type: 'error',
      error: { type: 'not_found_error', metadata: { error_type: 'count_unavailable' } },
    })
  }
  t.same(breakers(), [])
  const answer = await send({ ...hello, max_tokens: 9 })
  t.equal(answer.headers.get('x-sluice-provider'), 'first')
})

t.test('when one endpoint fails to count, another one counts, and no breaker opens', async (t) => {
  const { send, first, second, breakers } = await openMessagesProvider(t)
  const odd = [
    refusesMessages(500),
    refusesMessages(429),
    refusesMessages(404),
    answersChat(),
    streams([{ data: '{"input_tokens":-1}' }]),
    streams([{ data: 'x'.repeat(COUNT_BYTES_MAX + 1) }]),
  ]
  for (const [nth, answer] of odd.entries()) {
    first.script(answer)
    t.same(await (await send(hello, {}, BELOW)).json(), { input_tokens: PROMPT_TOKENS })
    t.equal(second.calls.length, nth + 1)
  }
  t.same(breakers(), [])
})

t.test(
  'messages.count_tokens 400, 502, 529: refusals and failures have the error format of the dialect',
  async (t) => {
    const { send, first, second } = await openMessagesProvider(t)
    const answer = async (body: object): Promise<unknown> => (await send(body, {}, BELOW)).json()
    first.script(refusesMessages(400, { message: 'No such role.' }))
    t.match(await answer(hello), { error: { type: 'invalid_request_error', message: /No such role/ } })
    t.equal(second.calls.length, 0)
    t.match(await answer({ ...hello, messages: 'x' }), {
      error: { code: 400, metadata: { error_type: 'body_invalid' } },
    })
    t.match(await answer({ ...hello, model: 'openai/gpt-5-mini' }), {
      error: { metadata: { error_type: 'endpoint_unconfigured' } },
    })
    first.script(refusesMessages(500))
    second.script(refusesMessages(503))
    t.match(await answer(hello), { type: 'error', error: { type: 'api_error', code: 502 } })
    for (const provider of [first, second]) provider.script(refusesMessages(429))
    t.match(await answer(hello), { type: 'error', error: { type: 'overloaded_error', code: 529 } })
  },
)

t.test('messages.count_tokens 503, 524: store unavailable, and provider without an answer', async (t) => {
  const find = () => Promise.resolve(fail('store_unavailable', { retryAfterS: 1 }))
  const away = await openMessagesProvider(t, { presetConfigs: { find } })
  const refused = await away.send({ ...hello, model: '@preset/x' }, {}, BELOW)
  t.equal(refused.status, 503)
  t.equal(countTokens.deadlineMs, COUNT_DEADLINE_MS)
  const { send, first, second } = await openMessagesProvider(t, { deadlineMs: 100 })
  for (const provider of [first, second]) provider.usually(silentChat)
  const late = await send(hello, {}, BELOW)
  t.match(await late.json(), { error: { type: 'timeout_error', code: 524 } })
})
