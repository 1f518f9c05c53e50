import t, { type Test } from 'tap'
import { VIDEO_CLIP_BYTES_MAX } from '../../../../src/schemas/videos/video-limits.ts'
import {
  VIDEO_DOWNLOAD_BEGIN_MS,
  VIDEO_DOWNLOAD_STALL_MS,
} from '../../../../src/schemas/videos/video-provider-limits.ts'
import type { VideoSource } from '../../../../src/server/ports/videos/video-providers.ts'
import { ClipReader, readerOf } from '../../../../src/server/upstream/videos/clip-download.ts'
import { CLIP } from '../../../support/videos/boxes.ts'
import { startTarget, type Target } from '../../../support/egress/vetted-stand.ts'
import {
  OPERATOR_KEY,
  openVideos,
  orderOf,
  timesOf,
  type VideoStand,
} from '../../../support/videos/video-stand.ts'
import { bytesOf } from '../../../support/videos/video-bytes.ts'
import { VIDEO_REDIRECTS_MAX } from '../../../../src/server/upstream/outside.ts'

const CONTENT: VideoSource = { kind: 'content', index: 0 }

/** What a download of a job with that prompt comes to: its bytes, or why not. */
async function downloaded(
  t: Test,
  prompt: string,
  { source = CONTENT, ms }: { source?: VideoSource; ms?: number } = {},
): Promise<Buffer | string> {
  const { provider, rest } = await openVideos(t, { settings: { makeMs: 0 } })
  const order = orderOf(prompt)
  const submitted = await provider.submit(order, timesOf())
  if (submitted.kind !== 'taken') return submitted.error
  const read = await bytesOf(
    await provider.download(order, submitted.upstreamId, source, timesOf(ms === undefined ? {} : { ms })),
  )
  await rest()
  return read
}

t.test('a clip has the bytes of the provider', async (t) => {
  t.same(await downloaded(t, 'a fox'), CLIP)
})

for (const [word, failure] of [
  ['truncate', 'upstream_failed'],
  ['type', 'upstream_invalid'],
  ['html', 'upstream_invalid'],
  ['json', 'upstream_invalid'],
  ['gone', 'video_clip_gone'],
  ['broken', 'upstream_failed'],
  ['announce', 'upstream_too_large'],
] as const) {
  t.test(`an answer that is not a clip fails: ${word}`, async (t) => {
    t.equal(await downloaded(t, `a fox [${word}]`), failure)
  })
}

t.test('a stalled clip download is aborted when the call ends', async (t) => {
  t.equal(await downloaded(t, 'a fox [stall]', { ms: 150 }), 'upstream_slow')
  t.ok(VIDEO_DOWNLOAD_STALL_MS > 0 && VIDEO_DOWNLOAD_BEGIN_MS > 0)
})

t.test('an endless clip is cut at the maximum size', async (t) => {
  let left = 5
  const endless = {
    next: () => Promise.resolve({ ok: true as const, value: left-- > 0 ? Buffer.alloc(100) : null }),
    close: () => void (left = 0),
  }
  t.equal(await bytesOf({ ok: true, value: new ClipReader(endless, timesOf(), 250) }), 'upstream_too_large')
  t.equal(left, 0)
  t.ok(VIDEO_CLIP_BYTES_MAX > 250)
})

t.test('a clip of ten gigabytes is not downloaded: closing the reader closes the connection', async (t) => {
  const { egress, provider, rest } = await openVideos(t, { settings: { makeMs: 0 } })
  const order = orderOf('a fox [huge]')
  const submitted = await provider.submit(order, timesOf())
  const opened = await provider.download(
    order,
    submitted.kind === 'taken' ? submitted.upstreamId : '',
    CONTENT,
    timesOf(),
  )
  t.ok(opened.ok && (await opened.value.next()).ok)
  if (opened.ok) opened.value.close()
  await rest()
  t.equal(egress.load.calls, 0)
})

t.test('a download ends with its call', async (t) => {
  const { provider, rest } = await openVideos(t, { settings: { makeMs: 0 } })
  const order = orderOf('a fox [stall]')
  const submitted = await provider.submit(order, timesOf())
  const ending = new AbortController()
  const opened = await provider.download(
    order,
    submitted.kind === 'taken' ? submitted.upstreamId : '',
    CONTENT,
    timesOf({ signal: ending.signal }),
  )
  setTimeout(() => ending.abort(), 20)
  t.equal(await bytesOf(opened), 'client_gone')
  await rest()
})

t.test('nothing is fetched for a job that is not ours any more', async (t) => {
  const { fake, provider } = await openVideos(t)
  const opened = await provider.download(
    orderOf('a fox'),
    'video_1',
    CONTENT,
    timesOf({ mayWrite: () => false }),
  )
  t.match(opened, { ok: false, failure: { name: 'client_gone' } })
  t.equal(fake.heads.length, 0)
})

t.test('inline bytes count as a clip too', async (t) => {
  t.same(await downloaded(t, 'a fox', { source: { kind: 'inline', base64: CLIP.toString('base64') } }), CLIP)
  t.same(await bytesOf({ ok: true, value: readerOf(Buffer.alloc(0)) }), Buffer.alloc(0))
})

interface Elsewhere extends VideoStand {
  readonly elsewhere: Target
  fetch(url: string): Promise<Buffer | string>
}

async function withElsewhere(t: Test): Promise<Elsewhere> {
  const stand = await openVideos(t, { settings: { key: OPERATOR_KEY, makeMs: 0 } })
  const elsewhere = await startTarget()
  elsewhere.answer((_, res) => void res.writeHead(200, { 'content-type': 'video/mp4' }).end(CLIP))
  t.teardown(() => elsewhere.close())
  const fetch = async (url: string): Promise<Buffer | string> =>
    bytesOf(await stand.provider.download(orderOf('a fox'), 'video_1', { kind: 'url', url }, timesOf()))
  return { ...stand, elsewhere, fetch }
}

t.test(
  'a clip on another host is fetched through the egress gate, without the key of the provider',
  async (t) => {
    const { elsewhere, fetch } = await withElsewhere(t)
    let headers: object = {}
    elsewhere.answer((req, res) => {
      headers = req.headers
      res.writeHead(200, { 'content-type': 'application/octet-stream' }).end(CLIP)
    })
    t.same(await fetch(`https://cdn.example:${elsewhere.port}/clip?x=1`), CLIP)
    t.notMatch(JSON.stringify(headers), OPERATOR_KEY)
  },
)

t.test('the provider may redirect a download to another host, which does not get the key', async (t) => {
  const { fake, elsewhere, provider } = await withElsewhere(t)
  let headers: object = {}
  elsewhere.answer((req, res) => {
    headers = req.headers
    res.writeHead(200, { 'content-type': 'video/mp4' }).end(CLIP)
  })
  const order = orderOf(`a fox [redirect url=https://cdn.example:${elsewhere.port}/clip]`)
  const submitted = await provider.submit(order, timesOf())
  t.same(
    await bytesOf(
      await provider.download(
        order,
        submitted.kind === 'taken' ? submitted.upstreamId : '',
        CONTENT,
        timesOf(),
      ),
    ),
    CLIP,
  )
  t.notMatch(JSON.stringify(headers), OPERATOR_KEY)
  t.equal(fake.log.downloads.length, 1)
})

for (const [why, url] of [
  ['plain HTTP', 'http://cdn.example/clip'],
  ['a file', 'file:///etc/passwd'],
  ['no address', 'clip.mp4'],
  ['a bucket', 'gs://bucket/clip'],
  ['a credential in it', 'https://me:secret@cdn.example/clip'],
  ['a port of a database', 'https://cdn.example:5432/clip'],
] as const) {
  t.test(`an address that may not be fetched is refused: ${why}`, async (t) => {
    const { fetch } = await withElsewhere(t)
    t.equal(await fetch(url), 'destination_refused')
  })
}

for (const url of [
  'https://10.0.0.7/clip',
  'https://169.254.169.254/latest',
  'https://[::1]/clip',
  'https://[::ffff:127.0.0.1]/clip',
]) {
  t.test(`a private address is refused: ${url}`, async (t) => {
    const { provider } = await openVideos(t, { gate: { allow: [] } })
    t.equal(
      await bytesOf(await provider.download(orderOf('a'), 'video_1', { kind: 'url', url }, timesOf())),
      'destination_refused',
    )
  })
}

t.test('a name that leads to a private address is refused', async (t) => {
  const { provider } = await openVideos(t, {
    gate: { allow: [], resolve: () => Promise.resolve(['93.184.215.14', '10.0.0.7']) },
  })
  t.equal(
    await bytesOf(
      await provider.download(orderOf('a'), 'v', { kind: 'url', url: 'https://cdn.example/c' }, timesOf()),
    ),
    'destination_refused',
  )
})

t.test('a redirect from a foreign host to another host, or in a loop, is not followed', async (t) => {
  const { elsewhere, fetch } = await withElsewhere(t)
  let asked = 0
  elsewhere.answer((req, res) => {
    asked++
    if (req.url === '/clip') return void res.writeHead(200, { 'content-type': 'video/mp4' }).end(CLIP)
    res
      .writeHead(302, {
        location: req.url === '/away' ? `https://other.example:${elsewhere.port}/clip` : '/round',
      })
      .end()
  })
  t.equal(await fetch(`https://cdn.example:${elsewhere.port}/away`), 'upstream_failed')
  asked = 0
  t.equal(await fetch(`https://cdn.example:${elsewhere.port}/round`), 'upstream_failed')
  t.equal(asked, VIDEO_REDIRECTS_MAX + 1)
})

t.test('a redirect within a host is followed', async (t) => {
  const { elsewhere, fetch } = await withElsewhere(t)
  elsewhere.answer(
    (req, res) =>
      void (req.url === '/there'
        ? res.writeHead(200, { 'content-type': 'binary/octet-stream' }).end(CLIP)
        : res.writeHead(307, { location: '/there' }).end()),
  )
  t.same(await fetch(`https://cdn.example:${elsewhere.port}/here`), CLIP)
})

t.test('a clip in an encoding that was not requested counts as invalid', async (t) => {
  const { elsewhere, fetch } = await withElsewhere(t)
  elsewhere.answer(
    (_, res) => void res.writeHead(200, { 'content-type': 'video/mp4', 'content-encoding': 'gzip' }).end('x'),
  )
  t.equal(await fetch(`https://cdn.example:${elsewhere.port}/clip`), 'upstream_invalid')
})
