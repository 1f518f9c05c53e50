import t from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import {
  VIDEO_CREDENTIAL_RETRY_MS,
  VIDEO_UNSENT_RETRY_MS,
} from '../../../../src/schemas/videos/video-provider-limits.ts'
import type { ReleaseRequest, SecretReleases } from '../../../../src/server/ports/vault/vault.ts'
import { fakeEndpoint, openVideos, orderOf, OWN_KEY, timesOf } from '../../../support/videos/video-stand.ts'
import {
  VIDEO_OWN_KEYS_MAX,
  VIDEO_OWN_KEY_MS,
  VideoKeys,
} from '../../../../src/server/upstream/videos/video-providers.ts'

const OWN = { target: { ownSecret: 'fake_api_key' } }
const { provider: PROVIDER } = fakeEndpoint('https://films.example/v1')

function vault(value: string | null): { releases: SecretReleases; asked: ReleaseRequest[] } {
  const asked: ReleaseRequest[] = []
  const release = (request: ReleaseRequest) => {
    asked.push(request)
    return Promise.resolve(
      value === null
        ? fail('secret_not_released', { fields: { name: request.name } })
        : ok(new Secret(value)),
    )
  }
  return { asked, releases: { release } }
}

t.test(
  "a job under a workspace's own key is sent with that key, released for the host of the provider",
  async (t) => {
    const { fake, provider, releases } = await openVideos(t, {
      settings: { key: OWN_KEY },
      host: 'localhost',
    })
    t.equal((await provider.submit(orderOf('a fox', OWN), timesOf())).kind, 'taken')
    t.match(releases, [
      {
        scope: { organizationId: 'org-1', workspaceId: 'ws-1' },
        name: 'fake_api_key',
        host: 'localhost',
        operation: 'video.create',
      },
    ])
    t.match(releases[0]?.by, { actor: { kind: 'key', id: 'hash-1' }, requestId: 'req-1' })
    t.equal(fake.log.refused, 0)
  },
)

t.test('a workspace key that its provider refuses ends the job, and is not in the error', async (t) => {
  const { provider } = await openVideos(t, { settings: { key: 'another' }, host: 'localhost' })
  const submitted = await provider.submit(orderOf('a fox', OWN), timesOf())
  t.match(submitted, { kind: 'refused', error: /^provider_key_refused: Fake answered 401/ })
  t.notMatch(submitted, { error: new RegExp(OWN_KEY) })
})

t.test(
  "a job whose workspace key was deleted ends, and nothing is sent, not even with the operator's key",
  async (t) => {
    const { fake, provider } = await openVideos(t, { host: 'localhost' })
    const submitted = await provider.submit(
      orderOf('a fox', { target: { ownSecret: 'gone_api_key' } }),
      timesOf(),
    )
    t.match(submitted, { kind: 'refused', error: 'provider_key_refused: There is no key for Fake.' })
    const polled = await provider.poll(
      orderOf('a', { target: { ownSecret: 'gone_api_key' } }),
      'v',
      timesOf(),
    )
    t.match(polled, { kind: 'unavailable', retryInMs: VIDEO_CREDENTIAL_RETRY_MS })
    t.equal(fake.heads.length, 0)
  },
)

t.test('a job whose workspace key cannot be read now waits', async (t) => {
  const releases: SecretReleases = { release: () => Promise.resolve(fail('store_unavailable')) }
  const { provider } = await openVideos(t, { host: 'localhost', more: { releases } })
  t.match(await provider.submit(orderOf('a fox', OWN), timesOf()), {
    kind: 'unsent',
    retryInMs: VIDEO_UNSENT_RETRY_MS,
  })
})

t.test('a key is released once for many calls, and again when its time is over', async (t) => {
  let now = 0
  const { releases, asked } = vault(OWN_KEY)
  const keys = new VideoKeys({ credentials: new Map(), releases, now: () => now })
  const order = orderOf('a fox', OWN)
  await Promise.all(Array.from({ length: 20 }, () => keys.of(order, PROVIDER)))
  now = VIDEO_OWN_KEY_MS - 1
  t.match(await keys.of(order, PROVIDER), { ok: true, value: { text: OWN_KEY, isOwn: true } })
  t.equal(asked.length, 1)
  now = VIDEO_OWN_KEY_MS
  await keys.of(order, PROVIDER)
  t.equal(asked.length, 2)
})

t.test('a release that throws is tried again by the next call', async (t) => {
  const { releases } = vault(OWN_KEY)
  let tries = 0
  const release: SecretReleases['release'] = (request) =>
    tries++ === 0 ? Promise.reject(new Error('a bug')) : releases.release(request)
  const keys = new VideoKeys({ credentials: new Map(), releases: { release }, now: () => 0 })
  await t.rejects(keys.of(orderOf('a fox', OWN), PROVIDER), /a bug/)
  t.match(await keys.of(orderOf('a fox', OWN), PROVIDER), { ok: true, value: { text: OWN_KEY } })
})

t.test('caches the key of each workspace separately, VIDEO_OWN_KEYS_MAX keys at most', async (t) => {
  const { releases, asked } = vault(OWN_KEY)
  const keys = new VideoKeys({ credentials: new Map(), releases, now: () => 0 })
  for (let nth = 0; nth <= VIDEO_OWN_KEYS_MAX; nth++)
    await keys.of(orderOf('a', { ...OWN, workspaceId: `${nth}` }), PROVIDER)
  t.equal(asked.length, VIDEO_OWN_KEYS_MAX + 1)
  await keys.of(orderOf('a', { ...OWN, workspaceId: '1' }), PROVIDER)
  t.equal(asked.length, VIDEO_OWN_KEYS_MAX + 1)
  await keys.of(orderOf('a', { ...OWN, workspaceId: '0' }), PROVIDER)
  t.equal(asked.length, VIDEO_OWN_KEYS_MAX + 2)
})

t.test('a secret that is not a valid header value is not accepted as a key', async (t) => {
  const keys = new VideoKeys({
    credentials: new Map(),
    releases: vault('two\r\nlines').releases,
    now: () => 0,
  })
  t.match(await keys.of(orderOf('a', OWN), PROVIDER), {
    ok: false,
    failure: { name: 'credential_unavailable' },
  })
})

t.test('a provider at an IP address cannot be called with a workspace key', async (t) => {
  const { releases, asked } = vault(OWN_KEY)
  const keys = new VideoKeys({ credentials: new Map(), releases, now: () => 0 })
  t.match(await keys.of(orderOf('a', OWN), fakeEndpoint('https://10.0.0.7/v1').provider), {
    ok: false,
    failure: { name: 'credential_unavailable' },
  })
  t.equal(asked.length, 0)
})

t.test('a provider that needs no key gets none', async (t) => {
  const keys = new VideoKeys({ credentials: new Map(), releases: vault(null).releases, now: () => 0 })
  t.match(await keys.of(orderOf('a'), { ...PROVIDER, apiKeyEnv: null }), {
    ok: true,
    value: { text: null, isOwn: false },
  })
})
