import t from 'tap'
import {
  errorTypeOf,
  openEndpoints,
  UPSTREAM_HOST,
  type Answer,
} from '../../../support/endpoints/endpoints-front.ts'
import { asks, CHAT_PATH, openTexts, serves, servesChat } from '../../../support/endpoints/text-endpoints.ts'
import { OTHER_KEY } from '../../../support/front.ts'
import { eventsOf } from '../../../support/inference/chat-front.ts'
import { DIALECT_ROWS, readBroken } from '../../../support/inference/dialect-rows.ts'
import { answersChat } from '../../../support/inference/fake-chat.ts'
import { Steps } from '../../../support/inference/fake-stream.ts'
import { until } from '../../../support/wait.ts'

const CHAT = '/chat/completions'
/** The name of the model at a server of each form. */
const SERVED = { chat: 'fake-model', responses: 'm', messages: 'fake-message' } as const
/** 9 tokens of the prompt and 4 of the answer, at the prices of the stand. */
const COST = 0.000049

const failureOf = async (response: Response): Promise<readonly unknown[]> => {
  const body = (await response.json()) as Answer['body']
  return [response.status, body.error?.metadata['error_type']]
}

for (const row of DIALECT_ROWS) {
  t.test(`a private endpoint answers ${row.name}, streamed and whole, and is charged exactly`, async (t) => {
    const stand = await openTexts(t, serves({ [`/v1${row.path}`]: row.answers() }))
    await stand.active({ upstream_model_id: SERVED[row.name] })
    const sent = stand.server.calls.length
    const streamed = await stand.write(row.path, { ...row.asks('acme/own', 'Hello'), stream: true })
    const text = await streamed.text()
    t.equal(streamed.headers.get('x-sluice-provider'), 'openai-compatible')
    t.match(text, row.terminator)
    t.match(text, `"cost":${COST}`)
    const whole = (await (await stand.write(row.path, row.asks('acme/own', 'Hello'))).json()) as object
    t.match(whole, { model: 'acme/own', usage: { cost: COST, is_byok: true } })
    t.equal(stand.server.calls.length, sent + 2)
    t.match(stand.server.calls.at(-1)?.headers, { 'x-sluice-hops': '1' })
  })
}

t.test(
  'cached input of a private endpoint is charged at its own price, or at the prompt price if it has none',
  async (t) => {
    const usage = {
      prompt_tokens: 1_000,
      prompt_tokens_details: { cached_tokens: 800 },
      completion_tokens: 10,
    }
    const stand = await openTexts(t, servesChat(answersChat({ usage })))
    const id = await stand.active()
    const costOf = async (): Promise<unknown> => {
      // Long enough that the usage is within the bound.
      const messages = [{ role: 'user', content: 'many words '.repeat(1_000) }]
      const response = await stand.write(CHAT, asks({ messages }))
      return ((await response.json()) as { usage: { cost: number } }).usage.cost
    }
    t.equal(await costOf(), 0.0011)
    const pricing = { prompt: '0.000001', completion: '0.00001', input_cache_read: '0.0000001' }
    await stand.call('put', `/private-endpoints/${id}/pricing`, { pricing })
    t.equal(await costOf(), 0.00038)
  },
)

t.test('calls only the API form that validation found, and translates other dialects into it', async (t) => {
  const stand = await openTexts(t, servesChat())
  await stand.active()
  const { length } = stand.server.calls
  const translated = await stand.write('/responses', { model: 'acme/own', input: 'Hello' })
  t.match(await translated.json(), { status: 'completed', usage: { cost: COST, is_byok: true } })
  t.same(
    stand.server.calls.slice(length).map(({ path }) => path),
    [CHAT_PATH],
  )
  const embedded = await stand.embed('acme/own')
  t.same([embedded.status, errorTypeOf(embedded)], [400, 'model_unfit'])
  t.equal(stand.server.calls.length, length + 1, 'nothing was sent')
  const embeds = await openEndpoints(t)
  await embeds.active()
  t.same(await failureOf(await embeds.write(CHAT, asks())), [400, 'model_unfit'])
})

t.test('the audit log records the release of a credential under the operation of the call', async (t) => {
  const stand = await openTexts(t, servesChat())
  await stand.active()
  for (const { name, path, asks: body } of DIALECT_ROWS) {
    const response = await stand.write(path, body('acme/own', 'Hello'))
    t.equal(response.status, 200)
    await response.text()
    t.equal(stand.vault.asked.at(-1)?.operation, `${name}.create`)
    // A changed secret ends the credential, so that the next call needs a release.
    await stand.vault.put('acme_key', name, [UPSTREAM_HOST])
  }
})

t.test(
  'require_parameters skips a private endpoint only for fields that would not be sent to its server',
  async (t) => {
    const stand = await openTexts(t, servesChat())
    await stand.active()
    const provider = { require_parameters: true }
    const known = asks({ temperature: 0.5, top_k: 5, provider })
    for (const path of [CHAT, '/messages']) t.equal((await stand.write(path, known)).status, 200, path)
    const dropped = await stand.write('/messages', asks({ unseen: 1, provider }))
    t.same(await failureOf(dropped), [400, 'field_unsupported'])
  },
)

t.test('another workspace does not know the model, and a key with a model list must list it', async (t) => {
  const stand = await openTexts(t, servesChat())
  await stand.active()
  t.same(await failureOf(await stand.write(CHAT, asks(), { key: OTHER_KEY })), [404, 'model_unknown'])
  const bound = await openTexts(t, servesChat(), { keys: { allowedModels: ['acme/chat'] } })
  await bound.active()
  t.same(await failureOf(await bound.write(CHAT, asks())), [403, 'model_not_allowed'])
})

t.test('a server whose name resolves to a non-public address is not called', async (t) => {
  let address = '127.0.0.1'
  const stand = await openTexts(t, servesChat(), { resolve: () => Promise.resolve([address]) })
  await stand.active()
  t.equal((await stand.write(CHAT, asks())).status, 200)
  const { length } = stand.server.calls
  address = '10.0.0.1'
  stand.server.cut()
  await until(() => stand.server.connections.open === 0)
  t.same(await failureOf(await stand.write(CHAT, asks({ stream: true }))), [502, 'upstream_failed'])
  t.equal(stand.server.calls.length, length, 'nothing was sent')
})

t.test('a stream continues when its endpoint is deleted, and the next call gets 404', async (t) => {
  const steps = new Steps()
  const stand = await openTexts(t, servesChat())
  const id = await stand.active()
  stand.server.usually(servesChat(answersChat({}, { steps })))
  const nth = stand.server.calls.length
  const answered = stand.write(CHAT, asks({ stream: true }))
  await stand.server.arrived(nth)
  steps.allow(4)
  const response = await answered
  await stand.call('delete', `/private-endpoints/${id}`)
  t.same(await failureOf(await stand.write(CHAT, asks())), [404, 'model_unknown'])
  steps.allow(100)
  t.equal(eventsOf(await response.text()).isDone, true)
})

t.test(
  'a disconnect of the caller ends the stream of the server, and a stream that breaks off ends with an error',
  async (t) => {
    const stand = await openTexts(t, servesChat())
    await stand.active()
    stand.server.usually(
      servesChat(answersChat({}, { cutAt: DIALECT_ROWS[0]?.secondAt ?? 0, ending: 'fin' })),
    )
    const broken = await stand.write(CHAT, asks({ stream: true }))
    t.match(await readBroken(broken), '"finish_reason":"error"')
    const nth = stand.server.calls.length
    const leaving = new AbortController()
    stand.server.usually(serves({ [CHAT_PATH]: (call) => call.closed }))
    const left = stand.write(CHAT, asks({ stream: true }), { signal: leaving.signal })
    const call = await stand.server.arrived(nth)
    leaving.abort()
    await t.rejects(left)
    await call.closed
  },
)
