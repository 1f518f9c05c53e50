import t from 'tap'
import {
  VIDEO_CREDENTIAL_RETRY_MS,
  VIDEO_UNSENT_RETRY_MS,
} from '../../../../src/schemas/videos/video-provider-limits.ts'
import {
  VIDEO_ERROR_CHARS_MAX,
  VIDEO_RETRY_AFTER_MS_MAX,
} from '../../../../src/schemas/videos/video-limits.ts'
import { atPace } from '../../../support/load/pace.ts'
import { OPERATOR_KEY, openVideos, orderOf, timesOf, TOKEN } from '../../../support/videos/video-stand.ts'

t.test('an accepted job has the id from the provider, and was sent with its token and our key', async (t) => {
  const { fake, provider } = await openVideos(t, { settings: { key: OPERATOR_KEY } })
  const submitted = await provider.submit(orderOf('a fox'), timesOf())
  const [note] = fake.log.submissions
  t.same(submitted, { kind: 'taken', upstreamId: note?.id })
  t.match(note, {
    token: TOKEN,
    prompt: 'a fox',
    outcome: 'taken',
    path: '/v1/videos',
    fields: { model: 'film-1', seconds: '4', size: '1280x720' },
  })
})

t.test('the same order sent twice creates one job when the provider supports tokens', async (t) => {
  const { fake, provider } = await openVideos(t)
  const first = await provider.submit(orderOf('a fox'), timesOf())
  t.same(await provider.submit(orderOf('a fox'), timesOf()), first)
  t.equal(fake.jobs.size, 1)
})

t.test('nothing is sent when the job stops being ours in the tick of the write', async (t) => {
  const { fake, provider } = await openVideos(t)
  const submitted = await provider.submit(orderOf('a fox'), timesOf({ mayWrite: () => false }))
  t.equal(submitted.kind, 'unsent')
  t.equal(fake.heads.length, 0)
})

t.test('nothing is sent for an order that was ended before', async (t) => {
  const { fake, provider } = await openVideos(t)
  const submitted = await provider.submit(orderOf('a fox'), timesOf({ signal: AbortSignal.abort() }))
  t.equal(submitted.kind, 'unsent')
  t.equal(fake.heads.length, 0)
})

t.test('a provider that cannot be reached has not taken the job', async (t) => {
  const { fake, provider } = await openVideos(t)
  await fake.close()
  const error = /^provider_unavailable: Fake could not be reached\. The server refused the connection\.$/
  t.match(await provider.submit(orderOf('a fox'), timesOf()), {
    kind: 'unsent',
    retryInMs: VIDEO_UNSENT_RETRY_MS,
    error,
  })
})

t.test('a host that does not resolve has not taken the job', async (t) => {
  const { provider } = await openVideos(t, { provider: { baseUrl: 'http://nowhere.invalid/v1' } })
  t.equal((await provider.submit(orderOf('a fox'), timesOf())).kind, 'unsent')
})

t.test('a server that speaks no TLS where it should has not taken the job', async (t) => {
  const { fake, provider } = await openVideos(t, { provider: {} })
  const { provider: secure } = await openVideos(t, {
    provider: { baseUrl: fake.baseUrl.replace('http:', 'https:') },
  })
  t.equal((await secure.submit(orderOf('a fox'), timesOf())).kind, 'unsent')
  t.equal(fake.log.submissions.length, 0)
  t.ok(provider)
})

for (const word of [
  'hang-up-before',
  'hang-up-after',
  'html-after',
  'error-after',
  'error-after status=502',
  'error-after status=302',
] as const) {
  t.test(`it is unknown whether the job was taken: ${word}`, async (t) => {
    const { fake, provider } = await openVideos(t, { video: { submit: 'blind', tokenHeader: null } })
    const submitted = await provider.submit(orderOf(`a fox [${word}]`), timesOf())
    t.match(submitted, { kind: 'unknown', error: /^provider_outcome_unknown: Fake / })
    t.equal(fake.log.submissions.length, 1)
    t.notMatch(submitted, { error: /fox|127\.0\.0\.1/ })
  })
}

t.test('it is unknown whether the job was taken: hang-after', async (t) => {
  await atPace(200, async (ms) => {
    const { fake, provider } = await openVideos(t, { video: { submit: 'blind', tokenHeader: null } })
    const submitted = await provider.submit(orderOf('a fox [hang-after]'), timesOf({ ms }))
    // It was over before it went out.
    if (fake.log.submissions.length === 0) return false
    t.equal(fake.log.submissions.length, 1)
    t.match(submitted, { kind: 'unknown', error: /^provider_outcome_unknown: Fake / })
    t.notMatch(submitted, { error: /fox|127\.0\.0\.1/ })
    return true
  })
})

t.test('503 without Retry-After may be a proxy that lost the answer: the outcome is unknown', async (t) => {
  const { provider } = await openVideos(t)
  t.equal((await provider.submit(orderOf('a [busy status=503]'), timesOf())).kind, 'unknown')
})

for (const [words, retryInMs] of [
  ['status=429', VIDEO_UNSENT_RETRY_MS],
  ['status=429 retry=7', 7_000],
  ['status=529', VIDEO_UNSENT_RETRY_MS],
  ['status=503 retry=3', 3_000],
  ['status=408', VIDEO_UNSENT_RETRY_MS],
  ['status=409', VIDEO_UNSENT_RETRY_MS],
  ['status=429 retry=999999', VIDEO_RETRY_AFTER_MS_MAX],
  ['status=429 retry=soon', VIDEO_UNSENT_RETRY_MS],
] as const) {
  t.test(`a provider without room has not taken the job: ${words}`, async (t) => {
    const { provider } = await openVideos(t)
    const order = orderOf(`a fox [busy ${words}]`)
    t.match(await provider.submit(order, timesOf()), { kind: 'unsent', retryInMs })
    t.equal((await provider.submit(order, timesOf())).kind, 'taken')
  })
}

for (const status of [400, 404, 413, 422]) {
  t.test(`a refusal of the input ends the job: ${status}`, async (t) => {
    const { fake, provider } = await openVideos(t)
    const order = orderOf(`a fox in the snow [refuse status=${status}]`)
    const submitted = await provider.submit(order, timesOf())
    t.match(submitted, {
      kind: 'refused',
      error: new RegExp(`^provider_refused: Fake answered ${status}: We cannot make`),
    })
    t.notMatch(submitted, { error: /fox/ })
    t.equal(fake.jobs.size, 0)
  })
}

t.test("when the operator's key is refused, the job waits for the operator to fix it", async (t) => {
  const { provider } = await openVideos(t, { settings: { key: 'another' } })
  t.match(await provider.submit(orderOf('a fox'), timesOf()), {
    kind: 'unsent',
    retryInMs: VIDEO_CREDENTIAL_RETRY_MS,
  })
})

t.test("without the operator's key nothing is sent", async (t) => {
  const { fake, provider } = await openVideos(t, { provider: { apiKeyEnv: 'NOT_SET' } })
  t.match(await provider.submit(orderOf('a fox'), timesOf()), {
    kind: 'unsent',
    retryInMs: VIDEO_CREDENTIAL_RETRY_MS,
  })
  t.equal(fake.heads.length, 0)
})

t.test('passthrough fields cannot change the fields that determine the price', async (t) => {
  const { fake, provider } = await openVideos(t)
  const passthrough = { seconds: '60', model: 'dearest', size: '9x9', quality: 'high', shots: [1] }
  await provider.submit(orderOf('a fox', { request: { passthrough } }), timesOf())
  t.match(fake.log.submissions[0]?.fields, {
    seconds: '4',
    model: 'film-1',
    size: '1280x720',
    quality: 'high',
    shots: '[1]',
  })
})

t.test(
  'fields have the names that the provider uses, and optional ones are sent only if the catalogue lists them',
  async (t) => {
    const endpoint = { supportedParameters: ['user', 'aspect_ratio'] }
    const { fake, provider } = await openVideos(t, {
      provider: { rename: { seconds: 'duration' } },
      endpoint,
    })
    await provider.submit(
      orderOf('a fox', { request: { user: 'me', aspectRatio: '16:9', resolution: '720p', seed: 7 } }),
      timesOf(),
    )
    const fields = fake.log.submissions[0]?.fields ?? {}
    t.match(fields, { duration: '4', user: 'me', aspect_ratio: '16:9', seed: '7' })
    t.notOk('seconds' in fields || 'resolution' in fields || 'generate_audio' in fields)
  },
)

t.test('a job that continues another is a remix of it', async (t) => {
  const { fake, provider } = await openVideos(t)
  await provider.submit(orderOf('at night', { request: { previousUpstreamId: 'video_1' } }), timesOf())
  t.match(fake.log.submissions[0], { path: '/v1/videos/video_1/remix', prompt: 'at night' })
})

t.test('bounds the text of a failed job', async (t) => {
  const { provider } = await openVideos(t, { provider: { name: 'N'.repeat(2 * VIDEO_ERROR_CHARS_MAX) } })
  const submitted = await provider.submit(orderOf('a fox [refuse]'), timesOf())
  t.equal(submitted.kind === 'refused' ? submitted.error.length : 0, VIDEO_ERROR_CHARS_MAX)
})

t.test('no memory is held after all submissions have ended', async (t) => {
  const { egress, provider, rest } = await openVideos(t)
  const prompts = ['a', 'b [hang-up-after]', 'c [html-after]', 'd [refuse]']
  await Promise.all(
    prompts.map((prompt, nth) => provider.submit(orderOf(prompt, { submitToken: `${nth}` }), timesOf())),
  )
  await rest()
  t.same(egress.load, { heldBytes: 0, calls: 0 })
})
