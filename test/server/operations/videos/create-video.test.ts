import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { hashOfKey } from '../../../../src/schemas/keys/api-keys.ts'
import { fail, ok, type Outcome } from '../../../../src/schemas/failures.ts'
import { JSON_BODY_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import type { Egress } from '../../../../src/server/ports/egress/egress.ts'
import { openIdempotency } from '../../../../src/server/store/base/idempotency.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { KEY, OTHER_KEY } from '../../../support/front.ts'
import { gate } from '../../../support/gate.ts'
import { NO_LIMITS } from '../../../support/money/key-money.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { openVideosFront } from '../../../support/videos/videos-front.ts'

/** The status of an error and its type. */
const refused = (status: number, type: string, more: object = {}): object => ({
  status,
  body: { error: { metadata: { error_type: type, ...more } } },
})

const BODY = { model: 'acme/clip', prompt: 'A paper boat' }

t.test('video.create 202: a job that is pending, and where to poll it', async (t) => {
  const front = await openVideosFront(t)
  const reply = await front.post(BODY)
  t.equal(reply.status, 202)
  const id = reply.body.id ?? ''
  t.same(reply.body, { id, polling_url: `/api/v1/videos/${id}`, status: 'pending' })
  t.equal(reply.headers.get('x-sluice-unpriced'), null)
})

t.test(
  'video.create 202: the job is created for the first endpoint that is set up, at its price',
  async (t) => {
    const front = await openVideosFront(t)
    await front.post(
      { ...BODY, model: 'acme/c', duration: 8, resolution: '1080p', user: 'u' },
      { 'x-session-id': 's' },
    )
    const [input] = front.videos.inputs
    t.match(input, {
      workspaceId: 'w',
      sessionId: 's',
      callbackUrl: null,
      once: null,
      costNano: 1_600_000_000,
      isUnpriced: false,
      key: { hash: hashOfKey(KEY) },
      target: {
        model: 'acme/clip',
        provider: 'second',
        endpoint: 'second/clip-2',
        upstreamModel: 'clip-2',
        ownSecret: null,
      },
      request: {
        prompt: 'A paper boat',
        seconds: 8,
        resolution: '1080p',
        aspectRatio: '16:9',
        size: { width: 1920, height: 1080 },
        user: 'u',
      },
    })
  },
)

t.test('video.create 202: a model without a price is free, and marked as unpriced', async (t) => {
  const front = await openVideosFront(t)
  const reply = await front.post({ ...BODY, model: 'acme/any' })
  t.equal(reply.headers.get('x-sluice-unpriced'), 'true')
  t.match(front.videos.inputs[0], { costNano: 0, isUnpriced: true })
})

t.test(
  'video.create 202: under a limit an unpriced endpoint is skipped if another one is available',
  async (t) => {
    const endpoints = [
      { provider: 'talk', upstream_model: 'a' },
      { provider: 'talk', upstream_model: 'b', video: { pricing_skus: { per_video: '1' } } },
    ]
    const models = catalogueOf(t, {
      providers: [{ slug: 'talk', protocol: 'local' }],
      models: [{ id: 'acme/clip', name: 'C', architecture: { output_modalities: ['video'] }, endpoints }],
    })
    const money = { ...NO_LIMITS, accountId: 'a' }
    const [open, limited] = await Promise.all([
      openVideosFront(t, { ports: { models } }),
      openVideosFront(t, { ports: { models }, keys: { money: { ...money, isKeyLimited: true } } }),
    ])
    await open.post(BODY)
    await limited.post(BODY)
    t.match(
      [open.videos.inputs[0], limited.videos.inputs[0]],
      [
        { target: { upstreamModel: 'a' }, isUnpriced: true },
        { target: { upstreamModel: 'b' }, isUnpriced: false, costNano: 1_000_000_000 },
      ],
    )
  },
)

t.test(
  'video.create 202: ignores unknown fields, prefers session_id over its header, and passes on trace',
  async (t) => {
    const front = await openVideosFront(t)
    const body = {
      ...BODY,
      session_id: 'body',
      trace: { trace_id: 't' },
      unknown: 'x',
      provider: { order: ['first'] },
    }
    const reply = await front.post(body, { 'x-session-id': 'head' })
    t.equal(reply.status, 202)
    t.equal(front.videos.inputs[0]?.sessionId, 'body')
    t.same(front.traced, [{ trace_id: 't' }])
  },
)

t.test('video.create 202: accepts a callback to a public address', async (t) => {
  const front = await openVideosFront(t)
  t.equal((await front.post({ ...BODY, callback_url: 'https://hooks.example/v' })).status, 202)
  t.equal(front.videos.inputs[0]?.callbackUrl, 'https://hooks.example/v')
})

const REFUSED_CALLBACKS = [
  'http://hooks.example/',
  'https://u:p@hooks.example/',
  'https://10.0.0.1/',
  'https://inside.example/',
  'https://hooks.example:22/',
  'x',
  '',
]

for (const url of REFUSED_CALLBACKS) {
  t.test(`video.create 400: refuses a callback to ${JSON.stringify(url)}`, async (t) => {
    const front = await openVideosFront(t)
    const reply = await front.post({ ...BODY, callback_url: url })
    t.match(reply, refused(400, 'callback_url_invalid', { issues: [{ path: '/callback_url' }] }))
    t.equal(front.videos.inputs.length, 0)
  })
}

t.test('video.create 500: no job is created after the deadline of its call', async (t) => {
  let go: (looked: Outcome<null>) => void = () => undefined
  const looked = new Promise<Outcome<null>>((resolve) => (go = resolve))
  const egress: Pick<Egress, 'vetted'> = { vetted: () => ok({ check: () => looked } as never) }
  const operations = OPERATIONS.map((operation) =>
    operation.id === 'video.create' ? { ...operation, deadlineMs: 20 } : operation,
  )
  const front = await openVideosFront(t, { operations, ports: { egress } })
  t.match(
    await front.post({ ...BODY, callback_url: 'https://slow.example/v' }),
    refused(500, 'deadline_exceeded'),
  )
  go(ok(null))
  await looked
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  t.equal(front.videos.inputs.length, 0)
})

t.test('no job is created after its call was refused because the node is shutting down', async (t) => {
  const [asked, looked] = [gate(), gate()]
  const check = async (): Promise<Outcome<null>> => {
    asked.open()
    await looked.opened
    return ok(null)
  }
  const egress: Pick<Egress, 'vetted'> = { vetted: () => ok({ check } as never) }
  const front = await openVideosFront(t, { ports: { egress } })
  const answer = front.post({ ...BODY, callback_url: 'https://slow.example/v' })
  await asked.opened
  await front.front.drain(0)
  t.match((await answer).body.error?.metadata, { error_type: 'draining' })
  looked.open()
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  t.equal(front.videos.inputs.length, 0)
})

t.test('video.create 400: names the invalid member, and never shows its value', async (t) => {
  const front = await openVideosFront(t)
  const frame = { type: 'image_url', image_url: { url: 'https://a/b' }, frame_type: 'middle-canary' }
  const reply = await front.post({ ...BODY, duration: 5, resolution: '480p', frame_images: [frame] })
  t.match(reply, refused(400, 'body_invalid', { issues: [{ path: '/frame_images/0/frame_type' }] }))
  t.notMatch(reply.bytes.toString(), 'canary')
  const sets = await front.post({ ...BODY, duration: 5, resolution: '480p' })
  t.match(sets.body.error?.metadata, {
    error_type: 'video_unsupported',
    issues: [
      { path: '/duration', expected: 'one of 4, 8' },
      { path: '/resolution', expected: 'one of "720p", "1080p"' },
    ],
  })
})

t.test(
  'video.create 400: a text model, a session id that is too long, and a body that is not JSON',
  async (t) => {
    const front = await openVideosFront(t)
    t.match(await front.post({ ...BODY, model: 'acme/chat' }), refused(400, 'model_unfit'))
    t.match(await front.post(BODY, { 'x-session-id': 's'.repeat(257) }), refused(400, 'header_invalid'))
    t.match(await front.post('{'), refused(400, 'body_malformed'))
  },
)

t.test('video.create 400: a body that is too large, since the operation lists no 413', async (t) => {
  const front = await openVideosFront(t)
  t.match(
    await front.post({ ...BODY, user: 'u'.repeat(JSON_BODY_BYTES_MAX) }),
    refused(400, 'body_too_large'),
  )
})

t.test('video.create 402, 429: the store refuses for lack of money, or for too many open jobs', async (t) => {
  const front = await openVideosFront(t)
  for (const [name, status] of [
    ['credit_exhausted', 402],
    ['key_limit_exceeded', 402],
    ['budget_exceeded', 402],
    ['video_jobs_full', 429],
  ] as const) {
    front.videos.refuse({ name, fields: { interval: 'daily', limit: 7 } })
    t.match(await front.post(BODY), {
      status,
      body: { error: { code: status, metadata: { error_type: name } } },
    })
  }
})

t.test('video.create 404: unknown, preset-like, forbidden and unconfigured models', async (t) => {
  const front = await openVideosFront(t, { keys: { allowedModels: ['acme/unset', 'acme/shut'] } })
  const type = async (model: string): Promise<unknown> => {
    const { status, body } = await front.post({ ...BODY, model })
    return [status, body.error?.metadata.error_type]
  }
  t.same(await type('acme/nothing'), [404, 'model_unknown'])
  t.same(await type('@preset/fast'), [404, 'preset_unknown'])
  t.same(await type('acme/clip@preset/fast'), [404, 'preset_unknown'])
  t.same(await type('acme/clip'), [404, 'model_not_allowed'])
  t.same(await type('acme/unset'), [404, 'endpoint_unconfigured'])
  t.same(await type('acme/shut'), [404, 'endpoint_unconfigured'], 'listed, and nobody makes it')
})

t.test('video.create 500: the store is unavailable, with the two members of video errors', async (t) => {
  const front = await openVideosFront(t)
  front.videos.refuse(fail('store_unavailable').failure)
  const { status, body } = await front.post(BODY)
  t.equal(status, 500)
  t.match(body, { error: { code: 500 }, sluice_metadata: null, user_id: null })
})

t.test(
  'errors before the operation runs have the two members of video errors too, and errors of other operations do not',
  async (t) => {
    const front = await openVideosFront(t)
    const { body } = await front.call('/videos', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-sluice-v1-nobody' },
    })
    t.match(body, { error: { code: 401 }, sluice_metadata: null, user_id: null })
    t.notOk('user_id' in (await front.call('/model/a/b')).body)
  },
)

t.test(
  'a job can continue a completed job of the workspace, at the same provider and with the same credential',
  async (t) => {
    const front = await openVideosFront(t)
    const first = (await front.post(BODY)).body.id ?? ''
    const again = { ...BODY, previous_job_id: first }
    t.match(await front.post(again), refused(400, 'video_unfinished'))
    front.videos.put({ id: first, status: 'completed' })
    t.equal((await front.post(again)).status, 202)
    t.equal(front.videos.inputs[1]?.request.previousUpstreamId, `up-${first}`)
    front.videos.put(
      { id: first },
      {
        previous: {
          provider: 'second',
          upstreamId: 'x',
          ownSecret: 'second_api_key',
          seconds: 5,
          costNano: 0,
        },
      },
    )
    t.match(await front.post(again), refused(400, 'video_previous_unfit'))
    front.videos.put({ id: first, workspaceId: 'another' })
    t.match(await front.post(again), refused(404, 'video_unknown'))
    t.match(await front.post({ ...again, model: 'acme/any' }), {
      status: 400,
      body: { error: { metadata: { issues: [{ path: '/previous_job_id' }] } } },
    })
  },
)

t.test('a remix is as long as the original clip, and costs no less at any resolution', async (t) => {
  const front = await openVideosFront(t)
  const first = (await front.post({ ...BODY, duration: 8, resolution: '1080p' })).body.id ?? ''
  front.videos.put({ id: first, status: 'completed' })
  const remix = { ...BODY, previous_job_id: first, resolution: '720p' }
  t.match(await front.post({ ...remix, duration: 4 }), {
    status: 400,
    body: { error: { metadata: { issues: [{ path: '/duration', expected: '8' }] } } },
  })
  t.equal((await front.post(remix)).status, 202)
  t.match(front.videos.inputs[1], { costNano: 1_600_000_000, request: { seconds: 8 } })
})

t.test('the same submission under one Idempotency-Key makes one job; another body is refused', async (t) => {
  const idempotency = openIdempotency({
    store: await openTestStore(t),
    now: () => performance.now(),
    random: Math.random,
  })
  t.teardown(() => idempotency.close())
  const front = await openVideosFront(t, { ports: { idempotency } })
  const send = (body: unknown, key = KEY) =>
    front.post(body, { 'idempotency-key': 'once', authorization: `Bearer ${key}` })
  const [one, two] = await Promise.all([send(BODY), send(BODY)])
  t.same([one.status, two.status, one.body.id], [202, 202, two.body.id])
  t.same([one, two].map(({ headers }) => headers.get('idempotent-replayed')).sort(), [null, 'true'].sort())
  t.match(await send({ ...BODY, prompt: 'Another' }), refused(400, 'idempotency_mismatch'))
  t.equal(front.videos.inputs.length, 1)
  t.not((await send(BODY, OTHER_KEY)).body.id, one.body.id)
})

t.test('the store is given the answer to keep, and the hash of the body', async (t) => {
  const idempotency = openIdempotency({
    store: await openTestStore(t),
    now: () => performance.now(),
    random: Math.random,
  })
  t.teardown(() => idempotency.close())
  const front = await openVideosFront(t, { ports: { idempotency } })
  const { body } = await front.post(BODY, { 'idempotency-key': 'once' })
  const once = front.videos.inputs[0]?.once
  t.match(once?.bodySha256, /^[0-9a-f]{64}$/)
  const view = {
    id: body.id ?? '',
    workspaceId: 'w',
    status: 'pending',
    generationId: null,
    error: null,
    outputs: 0,
    usage: null,
  } as const
  t.same(JSON.parse(once?.answer(view) ?? ''), body)
})
