import t, { type Test } from 'tap'
import { VIDEO_CREDENTIAL_RETRY_MS } from '../../../../src/schemas/videos/video-provider-limits.ts'
import {
  VIDEO_UPSTREAM_ID_CHARS_MAX,
  isUpstreamId,
} from '../../../../src/server/upstream/videos/upstream-ids.ts'
import { CLIP } from '../../../support/videos/boxes.ts'
import { bytesOf } from '../../../support/videos/video-bytes.ts'
import {
  OPERATOR_KEY,
  openVideos,
  orderOf,
  timesOf,
  type OrderInput,
  type VideoStand,
} from '../../../support/videos/video-stand.ts'
import { VIDEO_ANSWER_BYTES_MAX } from '../../../../src/server/upstream/videos/video-link.ts'
import { VIDEO_INLINE_ANSWER_BYTES_MAX } from '../../../../src/server/upstream/videos/google-veo.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const DATA_URL = `data:image/png;base64,${PNG.toString('base64')}`

interface Taken extends VideoStand {
  readonly id: string
  readonly order: ReturnType<typeof orderOf>
}

async function taken(t: Test, prompt: string, input: OrderInput = {}): Promise<Taken> {
  const stand = await openVideos(t, {
    settings: { speaks: 'google', key: OPERATOR_KEY, tokenHeader: null, makeMs: 0 },
    video: { submit: 'blind', tokenHeader: null },
    provider: { protocol: 'google' },
  })
  const order = orderOf(prompt, input)
  const submitted = await stand.provider.submit(order, timesOf())
  if (submitted.kind !== 'taken') throw new Error(submitted.error)
  return { ...stand, order, id: submitted.upstreamId }
}

t.test('a job is an operation of its model, under our key', async (t) => {
  const passthrough = { negativePrompt: 'snow', sampleCount: 4 }
  const { fake, id } = await taken(t, 'a fox', {
    request: { aspectRatio: '16:9', resolution: '720p', seed: 9, passthrough },
  })
  t.match(id, /^models\/film-1\/operations\/\w+$/)
  t.match(fake.log.submissions[0], {
    path: '/v1beta/models/film-1:predictLongRunning',
    prompt: 'a fox',
    token: null,
  })
  const parameters = {
    durationSeconds: 4,
    aspectRatio: '16:9',
    resolution: '720p',
    seed: 9,
    negativePrompt: 'snow',
    sampleCount: 1,
  }
  t.match(fake.log.submissions[0]?.fields, parameters)
})

t.test('images are sent as bytes: first and last frame', async (t) => {
  const frames = [
    { frame: 'last_frame', url: DATA_URL },
    { frame: 'first_frame', url: DATA_URL },
  ] as const
  const { fake } = await taken(t, 'a fox', { request: { frames } })
  const image = { bytesBase64Encoded: PNG.toString('base64'), mimeType: 'image/png' }
  t.match(fake.log.submissions[0]?.fields, { image, lastFrame: image })
})

t.test('images are sent as bytes: references', async (t) => {
  const { fake } = await taken(t, 'a fox', { request: { references: [{ kind: 'image', url: DATA_URL }] } })
  t.match(fake.log.submissions[0]?.fields, {
    referenceImages: [{ image: { mimeType: 'image/png' }, referenceType: 'asset' }],
  })
})

t.test('a finished clip is fetched from the API itself, with the key', async (t) => {
  const { provider, order, id } = await taken(t, 'a fox')
  const polled = await provider.poll(order, id, timesOf())
  const source = polled.kind === 'made' ? polled.sources[0] : undefined
  t.match(source, { kind: 'url' })
  if (source !== undefined) t.same(await bytesOf(await provider.download(order, id, source, timesOf())), CLIP)
})

t.test('a clip inside the operation stays there until it is fetched, and no row contains it', async (t) => {
  const { provider, order, id } = await taken(t, 'a fox [inline]')
  const polled = await provider.poll(order, id, timesOf())
  t.same(polled, { kind: 'made', sources: [{ kind: 'content', index: 0 }] })
  t.same(await bytesOf(await provider.download(order, id, { kind: 'content', index: 0 }, timesOf())), CLIP)
  t.equal(
    await bytesOf(await provider.download(order, id, { kind: 'content', index: 1 }, timesOf())),
    'video_clip_gone',
  )
  t.ok(VIDEO_INLINE_ANSWER_BYTES_MAX > VIDEO_ANSWER_BYTES_MAX)
})

t.test('a clip that is said to lie at a private address is not fetched', async (t) => {
  const { provider, order, id } = await taken(t, 'a fox [url=https://10.0.0.7/clip]')
  const polled = await provider.poll(order, id, timesOf())
  const source = polled.kind === 'made' ? polled.sources[0] : undefined
  if (source === undefined) throw new Error(polled.kind)
  t.equal(await bytesOf(await provider.download(order, id, source, timesOf())), 'destination_refused')
})

for (const [word, code] of [
  ['fail', 'provider_filtered'],
  ['error', 'provider_failed'],
] as const) {
  t.test(`an operation without a clip has failed, and its reason omits the prompt: ${word}`, async (t) => {
    const { provider, order, id } = await taken(t, `a fox in snow [${word}]`)
    const polled = await provider.poll(order, id, timesOf())
    t.match(polled, {
      kind: 'failed',
      error: new RegExp(`^${code}: Fake (filtered|reported).*: (Filtered|Not possible)`),
    })
    t.notMatch(polled, { error: /fox/ })
  })
}

t.test('an operation runs until it is done', async (t) => {
  const { provider, order, id } = await taken(t, 'a fox [never]')
  t.same(await provider.poll(order, id, timesOf()), { kind: 'running', retryInMs: null })
})

t.test('a job that continues an earlier clip looks up that clip first', async (t) => {
  const { fake, provider, id } = await taken(t, 'a fox')
  t.equal(
    (await provider.submit(orderOf('it runs', { request: { previousUpstreamId: id } }), timesOf())).kind,
    'taken',
  )
  t.match(fake.log.submissions[1]?.fields, { video: { uri: /:download/ } })
  const gone = await provider.submit(
    orderOf('it runs', { request: { previousUpstreamId: 'models/film-1/operations/none' } }),
    timesOf(),
  )
  t.equal(gone.kind === 'taken', false)
})

t.test('a job waits, and is not refused, while an earlier clip cannot be requested', async (t) => {
  const { fake, provider, id } = await taken(t, 'a fox')
  const order = orderOf('it runs', { request: { previousUpstreamId: id } })
  fake.set({ key: 'another' })
  t.match(await provider.submit(order, timesOf()), { kind: 'unsent', retryInMs: VIDEO_CREDENTIAL_RETRY_MS })
  fake.set({ key: OPERATOR_KEY })
  t.equal((await provider.submit(order, timesOf())).kind, 'taken')
})

t.test('a submission with a lost answer is never found: there is no list', async (t) => {
  const { fake, provider } = await taken(t, 'a fox')
  t.equal((await provider.submit(orderOf('a cat [hang-up-after]'), timesOf())).kind, 'unknown')
  t.match(await provider.lookup(orderOf('a cat [hang-up-after]'), 0, timesOf()), { kind: 'unavailable' })
  t.equal(fake.log.submissions.length, 2)
})

t.test('a 400 from Google that our key is wrong makes the job wait', async (t) => {
  const { fake, provider } = await taken(t, 'a fox')
  fake.set({ key: 'another' })
  t.equal((await provider.submit(orderOf('a cat'), timesOf())).kind, 'unsent')
})

t.test('an operation name that points to another path is refused', async (t) => {
  for (const id of [
    '../files/secret',
    'models/../x',
    '/x',
    'a?b=c',
    '',
    'a b',
    'x'.repeat(VIDEO_UPSTREAM_ID_CHARS_MAX + 1),
  ]) {
    const { provider, order } = await taken(t, 'a fox')
    t.equal((await provider.poll(order, id, timesOf())).kind, 'failed', id)
  }
  t.equal(isUpstreamId('video_1'), true)
  t.equal(isUpstreamId(7), false)
})

t.test('cancelling calls no provider: there is no call for it', async (t) => {
  const { fake, provider, order, id } = await taken(t, 'a fox')
  const before = fake.heads.length
  await provider.cancel(order, id, timesOf())
  t.equal(fake.heads.length, before)
})
