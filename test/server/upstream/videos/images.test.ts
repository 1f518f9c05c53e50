import t, { type Test } from 'tap'
import {
  VIDEO_IMAGES_MS,
  VIDEO_UNSENT_RETRY_MS,
} from '../../../../src/schemas/videos/video-provider-limits.ts'
import type { EgressOptions } from '../../../../src/server/egress/egress.ts'
import { startTarget, type Target } from '../../../support/egress/vetted-stand.ts'
import { openVideos, orderOf, timesOf, type VideoStand } from '../../../support/videos/video-stand.ts'
import { VIDEO_IMAGES_MAX, VIDEO_IMAGE_BYTES_MAX } from '../../../../src/server/upstream/videos/images.ts'

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')
const JPEG = Buffer.from('ffd8ffe000104a464946', 'hex')

/** Milliseconds of a submission whose time is not what a test is about. */
const UNHURRIED_MS = 600_000

interface ImageStand extends VideoStand {
  readonly host: Target
  /** Submits a job with that first frame. */
  submit(url: string, ms?: number): Promise<{ kind: string; error?: string; retryInMs?: number }>
}

async function opened(t: Test, gate: EgressOptions = {}, takesUrls = false): Promise<ImageStand> {
  const stand = await openVideos(t, { gate, video: { takesUrls } })
  const host = await startTarget()
  t.teardown(() => host.close())
  const submit = (url: string, ms = UNHURRIED_MS): ReturnType<ImageStand['submit']> =>
    stand.provider.submit(
      orderOf('a fox', { request: { frames: [{ frame: 'first_frame', url }] } }),
      timesOf({ ms }),
    )
  return { ...stand, host, submit }
}

t.test(
  'an image is sent as a file of the type that its bytes have, whatever type its host reports',
  async (t) => {
    const { fake, host, submit, egress, rest } = await opened(t)
    host.answer((_, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end(PNG))
    t.equal((await submit(`https://images.example:${host.port}/a?b`)).kind, 'taken')
    t.match(fake.log.submissions[0]?.fields['input_reference'], {
      file: 'image.png',
      type: 'image/png',
      bytes: PNG.length,
    })
    await rest()
    t.same(egress.load, { heldBytes: 0, calls: 0 })
  },
)

t.test('an image in a data: URL is sent as a file', async (t) => {
  const { fake, submit } = await opened(t)
  t.equal((await submit(`data:image/jpeg;base64,${JPEG.toString('base64')}`)).kind, 'taken')
  t.match(fake.log.submissions[0]?.fields['input_reference'], { type: 'image/jpeg', bytes: JPEG.length })
})

t.test('a provider that takes URLs gets the URL, and the image is not fetched', async (t) => {
  const { fake, host, submit } = await opened(t, {}, true)
  const url = `https://images.example:${host.port}/a`
  t.equal((await submit(url)).kind, 'taken')
  t.match(fake.log.submissions[0]?.fields, {
    input_reference: { image_url: url },
    seconds: '4',
    model: 'film-1',
  })
  t.equal(host.connections, 0)
})

for (const [why, url, words] of [
  ['not a base64 `data:` URL', 'data:image/png,abc', 'not a base64 `data:` URL'],
  ['broken base64', 'data:image/png;base64,%%%', 'not valid base64'],
  ['empty', 'data:image/png;base64,', 'not valid base64'],
  ['a text', 'data:image/png;base64,aGVsbG8=', 'not PNG, JPEG, WebP or GIF'],
  ['plain HTTP', 'http://images.example/secret-path', 'not HTTPS'],
  ['a port of a database', 'https://images.example:5432/x', 'port'],
] as const) {
  t.test(`an invalid image ends the job, with its place in the request: ${why}`, async (t) => {
    const { fake, submit } = await opened(t)
    const submitted = await submit(url)
    t.match(submitted, { kind: 'refused', error: /^reference_unusable: frame_images\[0\]: / })
    t.match(submitted.error, words)
    t.notMatch(submitted.error, /secret-path|images\.example/)
    t.equal(fake.log.submissions.length, 0)
  })
}

t.test('an image that is too large is refused, by its announced, received or encoded size', async (t) => {
  const { host, submit } = await opened(t)
  host.answer((_, res) => void res.writeHead(200, { 'content-length': VIDEO_IMAGE_BYTES_MAX + 1 }).write(PNG))
  t.match(await submit(`https://images.example:${host.port}/a`), { kind: 'refused', error: /more than/ })
  host.answer((_, res) => void res.writeHead(200).end(Buffer.alloc(VIDEO_IMAGE_BYTES_MAX + 1)))
  t.match(await submit(`https://images.example:${host.port}/a`), { kind: 'refused', error: /more than/ })
  t.match(
    await submit(`data:image/png;base64,${'A'.repeat(Math.ceil((VIDEO_IMAGE_BYTES_MAX * 4) / 3) + 8)}`),
    { kind: 'refused', error: /more than/ },
  )
})

t.test('an image host that does not answer, fails, stalls or redirects elsewhere ends the job', async (t) => {
  const { host, submit } = await opened(t)
  const url = `https://images.example:${host.port}/a`
  host.answer((_, res) => void res.writeHead(404).end())
  t.match(await submit(url), { kind: 'refused', error: /returned 404/ })
  host.answer(
    ({ headers }, res) =>
      void (headers.host?.startsWith('other') === true
        ? res.writeHead(200).end(PNG)
        : res.writeHead(302, { location: `https://other.example:${host.port}/a` }).end()),
  )
  t.match(await submit(url), { kind: 'refused', error: /redirects/ })
  host.answer((_, res) => void res.writeHead(200).write(PNG))
  // A timer may fire a part of a millisecond before its time: of many one does.
  const slow = await Promise.all(Array.from({ length: 4 }, (_, nth) => submit(url, 250 + nth * 9.9)))
  t.same(
    slow.filter(
      ({ kind, error }) => kind !== 'refused' || error?.includes('did not arrive in time') !== true,
    ),
    [],
  )
  await host.close()
  t.match(await submit(url), { kind: 'refused', error: /The server refused the connection/ })
  t.ok(VIDEO_IMAGES_MS > 150)
})

for (const url of [
  'https://10.0.0.7/a',
  'https://127.0.0.1/a',
  'https://[fd00::1]/a',
  'https://169.254.169.254/latest/meta-data',
]) {
  t.test(`an image at an address that is not public is not fetched: ${url}`, async (t) => {
    const { submit } = await opened(t, { allow: [] })
    t.match(await submit(url), {
      kind: 'refused',
      error: 'reference_unusable: frame_images[0]: The host resolves to an address that is not public.',
    })
  })
}

t.test('a name that resolves to a private address the second time is not called', async (t) => {
  const answers = [['93.184.215.14'], ['10.0.0.7']]
  const { submit } = await opened(t, {
    allow: [],
    resolve: () => Promise.resolve(answers.pop() ?? ['127.0.0.1']),
  })
  t.match(await submit('https://rebound.example/a'), { kind: 'refused', error: /not public/ })
})

t.test('images for which there is no memory leave the job waiting', async (t) => {
  const { fake, submit } = await opened(t, { answersBytesMax: VIDEO_IMAGE_BYTES_MAX - 1 })
  t.match(await submit(`data:image/png;base64,${PNG.toString('base64')}`), {
    kind: 'unsent',
    retryInMs: VIDEO_UNSENT_RETRY_MS,
  })
  t.equal(fake.log.submissions.length, 0)
})

t.test('two images are refused for OpenAI, which accepts one', async (t) => {
  const { provider } = await openVideos(t)
  const references = [1, 2].map(() => ({ kind: 'image', url: 'data:image/png;base64,aGVsbG8=' }) as const)
  t.match(await provider.submit(orderOf('a', { request: { references } }), timesOf()), {
    kind: 'refused',
    error: /accepts only one image/,
  })
})

t.test('more images than can be sent are not fetched', async (t) => {
  const { provider } = await openVideos(t, {
    settings: { speaks: 'google' },
    provider: { protocol: 'google' },
  })
  const references = Array.from(
    { length: VIDEO_IMAGES_MAX + 1 },
    () => ({ kind: 'image', url: 'https://images.example/a' }) as const,
  )
  t.match(await provider.submit(orderOf('a', { request: { references } }), timesOf()), {
    kind: 'refused',
    error: /At most/,
  })
})

t.test('audio and video references are dropped for a provider that accepts only images', async (t) => {
  const { fake, provider } = await openVideos(t)
  const references = [
    { kind: 'audio', url: 'https://a.example/a' },
    { kind: 'video', url: 'https://a.example/v' },
  ] as const
  t.equal((await provider.submit(orderOf('a', { request: { references } }), timesOf())).kind, 'taken')
  t.notOk('input_reference' in (fake.log.submissions[0]?.fields ?? {}))
})
