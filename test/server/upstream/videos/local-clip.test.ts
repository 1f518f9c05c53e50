import t, { type Test } from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import type { ShortJobMore, ShortJobTypes } from '../../../../src/server/ports/short-jobs.ts'
import {
  createVideoProviders,
  type VideoProvidersOptions,
} from '../../../../src/server/upstream/videos/video-providers.ts'
import { openEgress } from '../../../../src/server/egress/egress.ts'
import type { VideoProvider } from '../../../../src/server/ports/videos/video-providers.ts'
import type { VideoRequest } from '../../../../src/server/ports/videos/videos.ts'
import { openPools } from '../../../../src/workers/pool.ts'
import { SILENT } from '../../../support/log.ts'
import { present } from '../../../support/must.ts'
import { bytesOf } from '../../../support/videos/video-bytes.ts'
import { fakeEndpoint, orderOf, timesOf, TOKEN } from '../../../support/videos/video-stand.ts'

const CONTENT = { kind: 'content', index: 0 } as const
const SIZE = { width: 360, height: 360 }
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

function local(t: Test, jobs: VideoProvidersOptions['jobs']): VideoProvider {
  const egress = openEgress()
  t.teardown(() => egress.close())
  const endpoint = fakeEndpoint('', { provider: { protocol: 'local', apiKeyEnv: null } })
  const providers = createVideoProviders({
    catalogue: { models: [{ endpoints: [endpoint] }] },
    egress,
    jobs,
    credentials: new Map(),
    now: () => 0,
    releases: { release: () => Promise.resolve(fail('store_unavailable')) },
  })
  return present(providers.of({ endpoint: 'fake/film-1', provider: 'fake' }))
}

type Rendered = { readonly input: ShortJobTypes['render_clip']['in']; readonly more: ShortJobMore }

/** Notes what is asked for. */
function noting(rendered: Rendered[]): VideoProvidersOptions['jobs'] {
  return {
    run: (_name, input, more) => {
      rendered.push({ input: input as Rendered['input'], more })
      return Promise.resolve(ok(Buffer.from('mp4')))
    },
  }
}

t.test('a clip is rendered when it is downloaded, and is a playable MP4', async (t) => {
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 10, log: SILENT })
  t.teardown(() => pools.close())
  const provider = local(t, pools.jobs)
  const order = orderOf('a fox', { request: { seconds: 1, size: SIZE, seed: 4 } })
  t.same(await provider.submit(order, timesOf()), { kind: 'taken', upstreamId: `clip_${TOKEN}` })
  t.same(await provider.poll(order, `clip_${TOKEN}`, timesOf()), { kind: 'made', sources: [CONTENT] })
  const clip = await bytesOf(await provider.download(order, '', CONTENT, timesOf({ ms: 60_000 })))
  t.equal(clip.toString('latin1', 4, 8), 'ftyp')
  const other = orderOf('a fox', { jobId: 'job-2', request: { seconds: 1, size: SIZE, seed: 4 } })
  const again = await provider.download(other, '', CONTENT, timesOf({ ms: 60_000 }))
  t.same(await bytesOf(again), clip)
})

t.test('without a seed a job has one of its own, the same in each try', async (t) => {
  const rendered: Rendered[] = []
  const provider = local(t, noting(rendered))
  for (const jobId of ['one', 'one', 'two'])
    await provider.download(orderOf('a fox', { jobId }), '', CONTENT, timesOf())
  const [first, second, third] = rendered.map(({ input }) => input.seed)
  t.equal(first, second)
  t.not(first, third)
  t.match(rendered[0]?.input, {
    prompt: 'a fox',
    seconds: 4,
    width: 1280,
    height: 720,
  })
})

t.test('workspaces take turns on the threads, and a job no longer needed is not started', async (t) => {
  const rendered: Rendered[] = []
  const times = timesOf()
  await local(t, noting(rendered)).download(orderOf('a fox'), '', CONTENT, times)
  t.match(rendered[0]?.more, {
    caller: { organizationId: 'org-1', workspaceId: 'ws-1', key: 'hash-1' },
    endsAt: times.endsAt,
  })
})

t.test('the seed of the scene depends on seed, prompt and images', async (t) => {
  const rendered: Rendered[] = []
  const provider = local(t, noting(rendered))
  const imageUrl = (more: string): string =>
    `data:image/png;base64,${Buffer.concat([PNG, Buffer.from(more)]).toString('base64')}`
  const [url, other] = [imageUrl(''), imageUrl('another image')]
  const requests: readonly Partial<VideoRequest>[] = [
    {},
    { seed: 1 },
    { seed: -7 },
    { seed: 2 ** 53 - 1 },
    { prompt: 'a bear' },
    { prompt: `${'a fox '.repeat(5_000)}1` },
    { prompt: `${'a fox '.repeat(5_000)}2` },
    { prompt: null },
    { frames: [{ frame: 'first_frame', url }] },
    { frames: [{ frame: 'last_frame', url }] },
    { frames: [{ frame: 'first_frame', url: other }] },
    { references: [{ kind: 'image', url }] },
    {
      references: [
        { kind: 'image', url },
        { kind: 'image', url: other },
      ],
    },
  ]
  for (const request of [...requests, ...requests])
    t.ok((await provider.download(orderOf('a fox', { request }), '', CONTENT, timesOf())).ok)
  const seeds = rendered.map(({ input }) => input.seed)
  t.equal(new Set(seeds).size, requests.length)
  t.same(seeds.slice(requests.length), seeds.slice(0, requests.length))
})

t.test('without a size, the size follows from resolution and aspect ratio', async (t) => {
  const rendered: Rendered[] = []
  const provider = local(t, noting(rendered))
  await provider.download(
    orderOf('a', { request: { size: null, resolution: '480p', aspectRatio: '9:16' } }),
    '',
    CONTENT,
    timesOf(),
  )
  await provider.download(orderOf('a', { request: { size: null } }), '', CONTENT, timesOf())
  t.match(
    rendered.map(({ input: { width, height } }) => `${width}x${height}`),
    ['480x854', '854x480'],
  )
})

t.test('an image that cannot be read ends the job, and the error names its place', async (t) => {
  const provider = local(t, noting([]))
  const unread = orderOf('a', {
    request: { frames: [{ frame: 'first_frame', url: 'data:text/plain,hello' }] },
  })
  t.match(await provider.download(unread, '', CONTENT, timesOf()), {
    failure: { name: 'upstream_refused', detail: /^reference_unusable: frame_images\[0\]/ },
  })
})

t.test('when the pool has no room, the clip is rendered later', async (t) => {
  const provider = local(t, { run: () => Promise.resolve(fail('busy')) })
  t.match(await provider.download(orderOf('a'), '', CONTENT, timesOf()), { failure: { name: 'busy' } })
})

t.test('nothing is started for a job that is no longer ours', async (t) => {
  t.equal(
    (await local(t, noting([])).submit(orderOf('a'), timesOf({ mayWrite: () => false }))).kind,
    'unsent',
  )
})

t.test('an endpoint that the catalogue does not have has no provider', (t) => {
  const providers = createVideoProviders({
    catalogue: { models: [] },
    egress: openEgress(),
    jobs: noting([]),
    credentials: new Map(),
    now: () => 0,
    releases: { release: () => Promise.resolve(fail('store_unavailable')) },
  })
  t.equal(providers.of({ endpoint: 'fake/film-1', provider: 'fake' }), null)
  t.same(providers.all, [])
  t.end()
})
