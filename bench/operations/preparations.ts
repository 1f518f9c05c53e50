/**
 * The preparation of each operation by its id. An operation without an entry sends the example of its definition.
 */
import { FAILURES } from '../../src/schemas/failures.ts'
import type { AnyOperation } from '../../src/server/operations/define.ts'
import { ask, plantDelivery } from '../../test/prove/keys/isolation/owners.ts'
import { STAND_MODEL } from '../../test/support/nodes/stand.ts'
import { until } from '../../test/support/wait.ts'
import { DIRECTORY } from './preparations-directory.ts'
import { ENDPOINTS } from './preparations-endpoints.ts'
import { again, fresh, type Preparation } from './preparation.ts'
import { OPEN_VIDEO_MODEL, type World } from './world.ts'

const refused = again(({ place }) => [{ params: { intern_id: place.internId } }], {
  status: FAILURES.not_supported.status[0],
})

const withFile = again(({ place }) => [{ params: { file_id: place.fileId } }])
const withContainer = again(({ place }) => [
  { params: { container_id: place.containerId, file_id: place.containerFileId } },
])
const withVideo = again(({ place }) => [{ params: { job_id: place.videoId } }])
const withIntern = again(({ place }) => [{ params: { intern_id: place.internId } }])
const withPreset = again(({ place }) => [{ params: { slug: place.presetSlug } }])
const withWorkspace = again(({ place }) => [
  { params: { id: place.workspaceId, workspace_ref: place.workspaceId } },
])
const withKey = again(({ place }) => [{ params: { hash: place.inference.hash } }])

const MODELS: Readonly<Record<string, Preparation>> = {
  'embeddings.create': again(() => [
    {
      body: {
        model: STAND_MODEL,
        input: 'The quick brown fox jumps over the lazy dog.',
        encoding_format: 'float',
      },
    },
  ]),
}

const WRITING: Readonly<Record<string, Preparation>> = {
  'generations.read': again(async (world) => {
    const body = { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there' }] }
    const { id } = await world.made('inference', { method: 'POST', path: '/chat/completions', body })
    const path = `/api/v1/generation?id=${String(id)}`
    const key = world.keyOf('inference')
    // Records are written beside the calls.
    await until(async () => (await ask(world.stand, { method: 'GET', path, key })).status === 200)
    return [{ query: { id: String(id) } }]
  }),
}

const VIDEO_BODY = {
  model: OPEN_VIDEO_MODEL,
  prompt: 'A paper boat on a quiet lake',
  duration: 4,
  resolution: '720p',
}

const VIDEOS: Readonly<Record<string, Preparation>> = {
  // The jobs stay open, and a runner keeps trying them.
  'video.create': again(() => [{ body: VIDEO_BODY }], { most: 500 }),
  'video.get': withVideo,
  'video.get_content': withVideo,
  'video.cancel': fresh(60, async (world) => {
    const { id } = await world.made('inference', { method: 'POST', path: '/videos', body: VIDEO_BODY })
    return { params: { job_id: String(id) } }
  }),
}

/** Two versions of one preset. */
async function twoVersions(world: World): Promise<string> {
  const slug = 'bench-two'
  for (const temperature of [0.1, 0.2]) await savePreset(world, slug, temperature)
  return slug
}

function savePreset(world: World, slug: string, temperature: number): Promise<unknown> {
  const body = { model: 'acme/text', temperature, messages: [{ role: 'user', content: 'Hello' }] }
  return world.made('management', { method: 'POST', path: `/presets/${slug}/chat/completions`, body })
}

const saved = again(() => [{ params: { slug: 'bench-saved' } }])

const PRESETS: Readonly<Record<string, Preparation>> = {
  'presets.get': withPreset,
  'presets.list_versions': withPreset,
  'presets.get_version': again(({ place }) => [{ params: { slug: place.presetSlug, version: '1' } }]),
  'presets.diff': again(async (world) => [{ params: { slug: await twoVersions(world) } }]),
  'presets.designate': again(async (world) => {
    const slug = await twoVersions(world)
    return [1, 2].map((version) => ({ params: { slug }, body: { version } }))
  }),
  'presets.archive': fresh(60, async (world, nth) => {
    const slug = `bench-archived-${nth}`
    await savePreset(world, slug, 0.1)
    return { params: { slug } }
  }),
  'presets.create_from_responses': saved,
  'presets.create_from_chat': saved,
  'presets.create_from_messages': saved,
}

async function uploaded(world: World): Promise<string> {
  const { container_id: box, file_id: file } = {
    container_id: world.place.containerId,
    file_id: world.place.containerFileId,
  }
  return String(
    (await world.made('inference', { method: 'POST', path: `/containers/${box}/files/${file}/promote` }))[
      'id'
    ],
  )
}

const FILES: Readonly<Record<string, Preparation>> = {
  'files.upload': again(() => [{}], { most: 2_000 }),
  'files.get': withFile,
  // Promoted files can be read back.
  'files.content': again(async (world) => [{ params: { file_id: await uploaded(world) } }]),
  'files.delete': fresh(100, async (world) => ({ params: { file_id: await uploaded(world) } })),
  'containers.list_files': withContainer,
  'containers.get_file': withContainer,
  'containers.file_content': withContainer,
  'containers.promote': again(
    ({ place }) => [{ params: { container_id: place.containerId, file_id: place.containerFileId } }],
    { most: 2_000 },
  ),
  'containers.write_file': again(({ place }) => [
    { params: { container_id: place.containerId, file_id: 'bench/report.csv' }, body: 'name,value\none,1\n' },
  ]),
}

async function newKey(world: World): Promise<string> {
  return String(
    (await world.made('management', { method: 'POST', path: '/keys', body: { name: 'bench' } }))['hash'],
  )
}

async function newIntern(world: World, name: string): Promise<string> {
  return String(
    (await world.made('management', { method: 'POST', path: '/interns', body: { name, provision: false } }))[
      'id'
    ],
  )
}

const KEYS: Readonly<Record<string, Preparation>> = {
  'keys.create': again(() => [{ body: { name: 'bench' } }], { most: 2_000 }),
  'keys.get': withKey,
  'keys.update': again(async (world) => {
    const hash = await newKey(world)
    return [50, 60].map((limit) => ({ params: { hash }, body: { limit } }))
  }),
  'keys.delete': fresh(100, async (world) => ({ params: { hash: await newKey(world) } })),
  'keys.rotate': fresh(60, async (world) => ({ params: { hash: await newKey(world) } })),
  'interns.create': fresh(200, (_, nth) => ({ body: { name: `Bench ${nth}`, provision: false } })),
  'interns.get': withIntern,
  'interns.update': again(({ place }) =>
    ['One', 'Two'].map((name) => ({ params: { intern_id: place.internId }, body: { name } })),
  ),
  'interns.delete': fresh(60, async (world, nth) => ({
    params: { intern_id: await newIntern(world, `Leaving ${nth}`) },
  })),
  'interns.provision': refused,
  'interns.suspend': refused,
}

const SECRET_BODY = { hosts: ['api.example.com'], value: 'a value that nobody reads back' }

const VAULT: Readonly<Record<string, Preparation>> = {
  'vault.put_secret': again(() => [{ params: { name: 'bench_secret' } }]),
  'vault.delete_secret': fresh(100, async (world, nth) => {
    const name = `bench_leaving_${nth}`
    await world.made('inference', { method: 'PUT', path: `/vault/secrets/${name}`, body: SECRET_BODY })
    return { params: { name } }
  }),
  'vault.list_intern_secrets': withIntern,
  'vault.put_intern_secret': again(({ place }) => [
    { params: { intern_id: place.internId, name: 'bench_secret' } },
  ]),
  'vault.delete_intern_secret': fresh(100, async (world, nth) => {
    const [name, intern] = [`bench_leaving_${nth}`, world.place.internId]
    await world.made('inference', {
      method: 'PUT',
      path: `/vault/interns/${intern}/secrets/${name}`,
      body: SECRET_BODY,
    })
    return { params: { intern_id: intern, name } }
  }),
  'vault.copy_secrets': again(({ place }) => [
    { params: { intern_id: place.internId }, body: { names: [place.secret] } },
  ]),
  'vault.list_effective_secrets': withIntern,
}

async function newWorkspace(world: World, slug: string): Promise<string> {
  return String(
    (await world.made('management', { method: 'POST', path: '/workspaces', body: { name: slug, slug } }))[
      'id'
    ],
  )
}

const MONEY: Readonly<Record<string, Preparation>> = {
  'budgets.list': withWorkspace,
  'budgets.get': withWorkspace,
  'budgets.put': again(({ place }) =>
    [250, 300].map((limit) => ({ params: { workspace_ref: place.workspaceId }, body: { limit_usd: limit } })),
  ),
  'budgets.delete': fresh(40, async (world, nth) => {
    const workspace = await newWorkspace(world, `bench-budget-${nth}`)
    await world.made('management', {
      method: 'PUT',
      path: `/workspaces/${workspace}/budgets/monthly`,
      body: { limit_usd: 100 },
    })
    return { params: { workspace_ref: workspace, interval: 'monthly' } }
  }),
  'caps.update': again(() => [200, 300].map((workspaces) => ({ body: { workspaces } }))),
  'workspaces.create': fresh(100, (_, nth) => ({
    body: { name: `Bench ${nth}`, slug: `bench-made-${nth}` },
  })),
  'workspaces.get': withWorkspace,
  'workspaces.update': again(({ owner }) =>
    ['One', 'Two'].map((name) => ({ params: { id: owner.places.other.workspaceId }, body: { name } })),
  ),
  'workspaces.delete': fresh(40, async (world, nth) => ({
    params: { id: await newWorkspace(world, `bench-leaving-${nth}`) },
  })),
  'workspaces.list_members': withWorkspace,
  'workspaces.add_members': again(({ owner, place }) =>
    ['admin', 'member'].map((role) => ({
      params: { id: owner.places.other.workspaceId },
      body: { user_ids: [place.userId], role },
    })),
  ),
  'workspaces.remove_members': again(({ owner, place }) => [
    { params: { id: owner.places.other.workspaceId }, body: { user_ids: [place.userId] } },
  ]),
}

async function newProviderKey(world: World, slug: string): Promise<string> {
  const body = { provider: 'openai', key: 'sk-0123456789', workspace_id: await newWorkspace(world, slug) }
  return String((await world.made('management', { method: 'POST', path: '/byok', body }))['id'])
}

const PROVIDER_KEYS: Readonly<Record<string, Preparation>> = {
  'byok.create': fresh(40, async (world, nth) => ({
    body: {
      provider: 'openai',
      key: 'sk-0123456789',
      workspace_id: await newWorkspace(world, `bench-keyed-${nth}`),
    },
  })),
  'byok.get': again(async (world) => [{ params: { id: await newProviderKey(world, 'bench-key-read') } }]),
  'byok.update': again(async (world) => {
    const id = await newProviderKey(world, 'bench-key-replaced')
    return ['sk-one', 'sk-two'].map((key) => ({ params: { id }, body: { key } }))
  }),
  'byok.delete': fresh(40, async (world, nth) => ({
    params: { id: await newProviderKey(world, `bench-key-leaving-${nth}`) },
  })),
}

const ADMIN: Readonly<Record<string, Preparation>> = {
  'admin.get_job': withVideo,
  'admin.get_job_content': withVideo,
  // Of a name that is nobody's: the attempt fails, and the call tells so.
  'admin.test_webhook': again(({ place }) => [
    { body: { workspace_id: place.workspaceId, url: 'https://hooks.acme.example/sluice' } },
  ]),
  'admin.list_webhook_events': again(({ place }) => [{ query: { workspace_id: place.workspaceId } }]),
  'admin.replay_webhook': fresh(60, async ({ stand, place }) => ({
    params: { id: await plantDelivery(stand, place.workspaceId) },
  })),
}

/** By the id of an operation. */
export const PREPARATIONS: Readonly<Record<string, Preparation>> = {
  ...MODELS,
  ...WRITING,
  ...VIDEOS,
  ...PRESETS,
  ...FILES,
  ...KEYS,
  ...VAULT,
  ...ENDPOINTS,
  ...MONEY,
  ...PROVIDER_KEYS,
  ...DIRECTORY,
  ...ADMIN,
}

/** The operation's example unchanged. */
const EXAMPLE = again(() => [{}])

export function preparationOf({ id }: Pick<AnyOperation, 'id'>): Preparation {
  return PREPARATIONS[id] ?? EXAMPLE
}
