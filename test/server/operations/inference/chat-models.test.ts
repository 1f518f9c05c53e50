/** Chats with `models`: which model is tried after which failure, and what is reported and paid then. D11. */
import t from 'tap'
import { ATTEMPTS_MAX, FALLBACK_MODELS_MAX } from '../../../../src/schemas/inference/inference-limits.ts'
import { eventsOf } from '../../../support/inference/chat-front.ts'
import { openChatProvider } from '../../../support/inference/chat-provider-front.ts'
import { answersChat, bodyOf, chatError, refusesChat } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer, FakeProvider } from '../../../support/inference/fake-provider.ts'
import { streams } from '../../../support/inference/fake-stream.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'

const hello = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello there' }] }
const TOO_LONG = refusesChat(400, { code: 'context_length_exceeded', message: 'Too long.' })

/** The names by which a provider was asked for its models. */
function namesOf({ calls }: FakeProvider): readonly unknown[] {
  return calls.map((call) => bodyOf(call)['model'])
}

t.test('200: when the context of a model is too short, the next model answers. D11', async (t) => {
  const spend = keptSpend()
  const { post, first, second, rest } = await openChatProvider(t, { spend })
  const refusals: readonly FakeAnswer[] = [
    TOO_LONG,
    refusesChat(400, { type: 'exceed_context_size_error' }),
    refusesChat(
      400,
      '{"object":"error","message":"This model\'s maximum context length is 8 tokens.","code":400}',
    ),
    refusesChat(400, { code: 'content_filter' }),
    refusesChat(403, { code: 403, metadata: { error_type: 'content_policy_violation' } }),
  ]
  for (const refusal of refusals) {
    for (const stream of [true, false]) {
      first.script(refusal)
      const response = await post({ ...hello, models: ['acme/other'], stream })
      t.equal(response.headers.get('x-sluice-provider'), 'second')
      t.equal(response.headers.get('x-sluice-attempts'), '2')
      const text = await response.text()
      const models = stream
        ? eventsOf(text).chunks.map(({ model }) => model)
        : [(JSON.parse(text) as { model: string }).model]
      t.ok(models.length > 0 && models.every((model) => model === 'acme/other'), models.join())
      t.match(spend.holds.at(-1), { ask: { facts: { model: 'acme/chat' } }, end: { model: 'acme/other' } })
    }
  }
  t.equal(first.calls.length, 2 * refusals.length)
  t.ok(
    namesOf(second).every((name) => name === 'other-model'),
    'no other endpoint of the model was tried',
  )
  t.equal(await rest(), 0)
})

t.test('200: when a stream reports a refusal before its first output, the next model answers', async (t) => {
  const { post, first } = await openChatProvider(t)
  first.script(streams(() => [chatError({ code: 'context_length_exceeded' })]))
  const response = await post({ ...hello, models: ['acme/other'], stream: true })
  const { chunks, isDone } = eventsOf(await response.text())
  t.ok(isDone)
  t.equal(chunks.at(-1)?.model, 'acme/other')
})

t.test('200: every endpoint of a model is tried before the next model', async (t) => {
  const { post, first, second } = await openChatProvider(t)
  first.script(refusesChat(500))
  second.script(refusesChat(429))
  const response = await post({ ...hello, models: ['acme/other'] })
  t.match(await response.json(), { model: 'acme/other' })
  t.same([namesOf(first), namesOf(second)], [['first-model'], ['second-model', 'other-model']])
})

t.test('200: the built-in model can be one of the fallback models', async (t) => {
  const spend = keptSpend()
  const { post, first } = await openChatProvider(t, { spend })
  for (const stream of [true, false]) {
    first.script(TOO_LONG)
    const response = await post({ ...hello, model: 'acme/one', models: ['sluice/echo-1'], stream })
    t.equal(response.headers.get('x-sluice-provider'), 'local')
    const text = await response.text()
    t.match(text, /"model":"sluice\/echo-1"/)
    t.notMatch(text, /acme/)
  }
  const answer = await post({ ...hello, model: 'sluice/echo-1', models: ['acme/one'] })
  t.match(await answer.json(), { model: 'sluice/echo-1' })
  t.same(
    spend.holds.map(({ end }) => (end as { model?: string }).model),
    ['sluice/echo-1', 'sluice/echo-1', 'sluice/echo-1'],
  )
})

t.test('400: returns a refusal that is due to the request itself, and tries no other model', async (t) => {
  const { post, first, second } = await openChatProvider(t)
  first.script(refusesChat(400, { message: 'No such voice.' }))
  const response = await post({ ...hello, models: ['acme/other'] })
  t.equal(response.status, 400)
  t.match(await response.json(), { error: { message: /No such voice/ } })
  t.equal(second.calls.length, 0)
})

t.test('400: when every model refuses, returns the last refusal, with the earlier ones', async (t) => {
  const { post, first, second } = await openChatProvider(t)
  first.usually(refusesChat(429))
  second.script(TOO_LONG, TOO_LONG)
  const response = await post({ ...hello, models: ['acme/other'] })
  t.equal(response.status, 400)
  const previous_errors = [
    { provider: 'First', status: 429 },
    { provider: 'Second', code: 'context_length_exceeded', status: 400 },
  ]
  t.match(await response.json(), { error: { metadata: { provider_name: 'Second', previous_errors } } })
})

t.test('502: a call makes ATTEMPTS_MAX attempts at most over all its models. D18', async (t) => {
  const { post, first, second } = await openChatProvider(t)
  first.usually(refusesChat(500))
  const response = await post({ ...hello, model: 'acme/one', models: ['acme/many', 'acme/other'] })
  t.equal(response.status, 502)
  t.match(await response.json(), {
    error: { message: 'The provider First failed. The provider answered 500.' },
  })
  t.equal(first.calls.length, ATTEMPTS_MAX)
  t.equal(second.calls.length, 0)
})

t.test('400 404 403: the refusal of a fallback model contains its path', async (t) => {
  const { post, first } = await openChatProvider(t)
  const path = '/models/1'
  const refused = async (name: string): Promise<unknown> => {
    const response = await post({ ...hello, models: ['acme/other', name] })
    return { status: response.status, body: await response.json() }
  }
  const reported = (type: string) => ({
    error: { type, param: 'models[1]', metadata: { issues: [{ path }] } },
  })
  t.match(await refused('acme/none'), { status: 404, body: reported('model_unknown') })
  t.match(await refused('sluice/lexical-1'), { status: 400, body: reported('model_unfit') })
  const bound = await openChatProvider(t, { keys: { allowedModels: ['acme/chat', 'acme/one'] } })
  const response = await bound.post({ ...hello, models: ['acme/one', 'acme/other'] })
  t.equal(response.status, 403)
  t.match(await response.json(), reported('model_not_allowed'))
  const fallbacks = await bound.post({ ...hello, fallbacks: [{ model: 'other-1' }] })
  t.equal(fallbacks.status, 403)
  t.match(await fallbacks.json(), { error: { type: 'model_not_allowed', param: 'fallbacks' } })
  t.equal(first.calls.length + bound.first.calls.length, 0)
})

t.test('400: more models than FALLBACK_MODELS_MAX are refused; repeated ones are tried once', async (t) => {
  const { post, first } = await openChatProvider(t)
  const models = Array.from({ length: FALLBACK_MODELS_MAX }, (_, at) =>
    at % 2 === 0 ? 'acme/one' : 'acme/bounded',
  )
  const tooMany = await post({ ...hello, models: [...models, 'acme/one'] })
  t.equal(tooMany.status, 400)
  t.match(await tooMany.json(), { error: { metadata: { issues: [{ path: '/models' }] } } })
  first.usually(TOO_LONG)
  const response = await post({ ...hello, model: 'acme/one', models: [...models.slice(0, -1), 'acme/other'] })
  t.match(await response.json(), { model: 'acme/other' })
  t.equal(first.calls.length, 2)
})

t.test(
  '200: the maximum cost covers the endpoints of all models, except endpoints whose cost has no bound',
  async (t) => {
    const money = { isCreditLimited: true, isWorkspaceLimited: false, isKeyLimited: false }
    const keys = { money: { ...money, workspaceCountsByok: false, keyCountsByok: false } } as object
    const asked = { ...hello, model: 'acme/one', max_tokens: 10 }
    const boundOf = async (otherFacts: object, models?: readonly string[]): Promise<number | null> => {
      const spend = keptSpend()
      const { post } = await openChatProvider(t, {
        spend,
        keys,
        otherFacts: otherFacts as Record<string, unknown>,
      })
      t.equal((await post({ ...asked, models })).status, 200)
      return spend.holds[0]?.ask.bound.anyNano ?? null
    }
    const dear = { pricing: { prompt: '0.000001', completion: '0.1' } }
    const alone = await boundOf({})
    t.ok(alone !== null && alone < 1e9)
    const both = await boundOf(dear, ['acme/other'])
    t.ok(both !== null && both > 1e9)
    const unpriced = await boundOf({ pricing: undefined }, ['acme/other'])
    t.ok(unpriced !== null && unpriced < 1e9)
  },
)

t.test('200: a model without a suitable endpoint is skipped', async (t) => {
  const { post } = await openChatProvider(t)
  const response = await post({
    ...hello,
    model: 'acme/one',
    models: ['acme/other'],
    provider: { only: ['second'] },
  })
  t.match(await response.json(), { model: 'acme/other' })
  const none = await post({ ...hello, models: ['acme/other'], provider: { only: ['third'] } })
  t.equal(none.status, 404)
  t.match(await none.json(), { error: { type: 'endpoint_excluded' } })
})

t.test('200: no other model continues a stream that breaks off after its first output', async (t) => {
  const { post, first, second } = await openChatProvider(t)
  first.script(answersChat({}, { cutAt: 1_000, ending: 'rst' }))
  const response = await post({ ...hello, models: ['acme/other'], stream: true })
  await response.text().catch(() => null)
  t.equal(second.calls.length, 0)
})
