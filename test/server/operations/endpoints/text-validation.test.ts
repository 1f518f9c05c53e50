import t from 'tap'
import { PROBE_TOKENS_MAX } from '../../../../src/schemas/endpoints/endpoint-limits.ts'
import { activate, errorTypeOf, validate, type Answer } from '../../../support/endpoints/endpoints-front.ts'
import {
  CHAT_PATH,
  MESSAGES_PATH,
  openTexts,
  SERVED_MODEL,
  serves,
  servesChat,
  type TextStand,
} from '../../../support/endpoints/text-endpoints.ts'
import { answersChat, refusesChat, wholeChat } from '../../../support/inference/fake-chat.ts'
import { answersMessages } from '../../../support/inference/fake-messages.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'

const HEAD = { 'content-type': 'text/event-stream' }
const CHOICE = '{"index":0,"delta":{"content":"x"},"finish_reason":null}'
const CHUNK = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"${SERVED_MODEL}","choices":[${CHOICE}]}\n\n`

/** The begin of a stream, and then nothing. */
const fallsSilent =
  (begin: string): FakeAnswer =>
  async (call, reply) => {
    await reply.head(200, HEAD)
    if (begin !== '') await reply.write(begin)
    await call.closed
  }

const neverEnds: FakeAnswer = async (call, reply) => {
  await reply.head(200, HEAD)
  while (!call.isClosed) await reply.write(CHUNK.repeat(400))
}

const failedOf = ({ body }: Answer): readonly unknown[] =>
  body.data?.checks?.filter(({ passed }) => passed === false) ?? []

t.test('a server that breaks the rules of its form fails the check for that rule', async (t) => {
  const stand = await openTexts(t, servesChat())
  const id = await stand.draft({ forms: ['chat'] })
  const cases: readonly (readonly [string, FakeAnswer, object])[] = [
    [
      'another model',
      answersChat({ more: { model: 'other' } }),
      { name: 'model_ok', reason: 'model_mismatch', actual_model: 'other' },
    ],
    ['no usage', answersChat({ usage: 'missing' }), { name: 'usage_ok', reason: 'missing_usage' }],
    [
      'a cut stream',
      answersChat({}, { cutAt: 300, ending: 'fin' }),
      { name: 'stream_ok', reason: 'invalid_stream' },
    ],
    [
      'a broken connection',
      answersChat({}, { cutAt: 300, ending: 'rst' }),
      { name: 'stream_ok', reason: 'invalid_stream' },
    ],
    ['no stream', wholeChat(), { name: 'stream_ok', reason: 'invalid_stream' }],
    ['no end', neverEnds, { name: 'stream_ok', reason: 'invalid_stream' }],
    [
      'a redirect',
      refusesChat(307, {}, { location: 'https://elsewhere.example/' }),
      { name: 'response_ok', reason: 'upstream_error' },
    ],
    [
      'no path',
      refusesChat(404, 'Not Found'),
      { name: 'response_ok', reason: 'upstream_error', upstream_status: 404 },
    ],
    ['no such key', refusesChat(401), { name: 'auth_ok', reason: 'upstream_error', upstream_status: 401 }],
    [
      'no such model',
      refusesChat(404, { message: 'The model does not exist' }),
      { name: 'model_ok', reason: 'model_not_found' },
    ],
  ]
  for (const [name, answer, check] of cases) {
    stand.server.usually(servesChat(answer))
    const reported = await validate(stand, id)
    t.match(reported.body.data, { passed: false, forms: [{ form: 'chat', passed: false }] }, name)
    t.match(failedOf(reported), [check], name)
  }
  t.equal(errorTypeOf(await activate(stand, id)), 'not_validated')
  stand.server.usually(servesChat())
  t.match((await validate(stand, id)).body.data, { passed: true })
})

t.test('a silent server fails after the probe time limit, before and after its first event', async (t) => {
  const stand = await openTexts(t, servesChat())
  const [id, activated] = [await stand.draft({ forms: ['chat'] }), await stand.validated({ forms: ['chat'] })]
  const other = await stand.draft({ forms: ['messages'] })
  stand.server.usually(serves({ [CHAT_PATH]: fallsSilent(CHUNK), [MESSAGES_PATH]: fallsSilent('') }))
  const [behind, before, active] = await Promise.all([
    validate(stand, id),
    validate(stand, other),
    activate(stand, activated),
  ])
  for (const reported of [behind, before])
    t.match(failedOf(reported), [{ name: 'response_ok', upstream_message: /within 5 s/ }])
  t.same([active.status, errorTypeOf(active)], [408, 'probe_slow'])
})

t.test(
  'without `forms` a validation stores the forms that it found, and each probe costs 16 tokens at most',
  async (t) => {
    const stand = await openTexts(
      t,
      serves({ [CHAT_PATH]: answersChat(), [MESSAGES_PATH]: answersMessages() }),
    )
    const id = await stand.draft()
    const reported = await validate(stand, id)
    t.match(reported.body.data, {
      passed: true,
      checks: [
        {},
        {},
        {},
        {},
        { name: 'credential_ok' },
        { name: 'auth_ok' },
        { name: 'response_ok' },
        { name: 'stream_ok' },
      ],
      forms: [
        { form: 'embeddings', passed: false },
        { form: 'chat', passed: true },
        { form: 'responses', passed: false },
        { form: 'messages', passed: false, checks: [{}, {}, {}, {}, { reason: 'model_mismatch' }, {}] },
      ],
    })
    const sent = new Map(
      stand.server.calls.map(({ path, body }) => [path, JSON.parse(String(body)) as object]),
    )
    t.match(sent.get(CHAT_PATH), {
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: PROBE_TOKENS_MAX,
    })
    t.match(sent.get(MESSAGES_PATH), { stream: true, max_tokens: PROBE_TOKENS_MAX })
    t.match((await stand.call('get', `/private-endpoints/${id}`)).body.data, {
      forms: null,
      speaks: ['chat'],
    })
    const { length } = stand.server.calls
    t.equal((await activate(stand, id)).status, 200)
    t.same(
      stand.server.calls.slice(length).map(({ path }) => path),
      [CHAT_PATH],
      'what was found is probed again',
    )
  },
)

t.test('a validation fails unless the endpoint serves every form of its draft', async (t) => {
  const stand = await openTexts(t, servesChat())
  const id = await stand.draft({ forms: ['chat', 'messages'] })
  t.match((await validate(stand, id)).body.data, { passed: false })
  t.match(failedOf(await validate(stand, id)), [{ name: 'response_ok', upstream_status: 404 }])
  const foreign = await stand.draft({ provider_slug: 'cohere', forms: ['chat'] })
  t.match(failedOf(await validate(stand, foreign)), [{ name: 'provider_ok', reason: 'provider_not_found' }])
  t.equal(
    (
      await stand.call('patch', `/private-endpoints/${id}`, {
        upstream_model_id: SERVED_MODEL,
        forms: ['video'],
      })
    ).status,
    400,
  )
})

/** The fields of the stand's drafts. */
async function draftOf(stand: TextStand): Promise<object> {
  const { body } = await stand.call('get', `/private-endpoints/${await stand.draft()}`)
  const { base_url, upstream_model_id, provider_slug, secret_name } = body.data ?? {}
  return { model_permaslug: 'acme/own', base_url, upstream_model_id, provider_slug, secret_name }
}

t.test('when no form passes, each form is listed with its own cause', async (t) => {
  const refused = refusesChat(401, { message: 'no such key' })
  const stand = await openTexts(
    t,
    serves({ [CHAT_PATH]: answersChat({ usage: 'missing' }), [MESSAGES_PATH]: refused }),
  )
  const reported = await validate(stand, await stand.draft())
  t.match(failedOf(reported), [{ name: 'usage_ok', reason: 'missing_usage', form: 'chat' }])
  t.match(reported.body.data?.['forms'], [
    { form: 'embeddings', checks: [{}, { name: 'response_ok', upstream_status: 404 }] },
    { form: 'chat', checks: [{}, {}, {}, {}, {}, { reason: 'missing_usage' }] },
    { form: 'responses', checks: [{}, { name: 'response_ok', upstream_status: 404 }] },
    { form: 'messages', checks: [{}, { name: 'auth_ok', upstream_status: 401 }] },
  ])
  const body = { ...(await draftOf(stand)), activate: { workspace_id: stand.workspaceId } }
  const created = await stand.call('post', '/private-endpoints', body)
  t.same([created.status, errorTypeOf(created)], [502, 'probe_failed'])
  t.match(
    created.body.error?.message,
    /Answers by API: embeddings: Not Found; chat: missing_usage; .*messages: no such key/,
  )
})

t.test(
  'private_endpoints.validate 200: probes the forms in the request instead of the forms of the draft',
  async (t) => {
    const stand = await openTexts(t, servesChat())
    const id = await stand.draft({ forms: ['chat', 'messages'] })
    const as = (forms: unknown): Promise<Answer> =>
      stand.call('post', `/private-endpoints/${id}/validate`, { workspace_id: stand.workspaceId, forms })
    t.match((await as(['chat'])).body.data, { passed: true, forms: [{ form: 'chat', passed: true }] })
    const { body } = await stand.call('get', `/private-endpoints/${id}`)
    t.match(body.data, { forms: ['chat', 'messages'], speaks: ['chat'] })
    t.equal(
      ((await as(null)).body.data?.['forms'] as readonly unknown[]).length,
      2,
      'null: those of the draft',
    )
    for (const forms of [[], ['video'], ['chat', 'chat'], 'chat']) t.equal((await as(forms)).status, 400)
  },
)
