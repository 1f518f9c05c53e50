import { randomUUID } from 'node:crypto'
import { plantDelivery } from '../keys/isolation/owners.ts'
import { ENDPOINT_SCENARIOS } from './endpoint-scenarios.ts'
import { once, unique, type Change, type Request, type Scenario, type World } from './scenario.ts'
import { SCIM_SCENARIOS } from './scim-scenarios.ts'

const NOT_RUN = 'Sluice keeps records of interns and does not run them: always refused'
const CONTENT =
  'content of a workspace, which the ledger and the files tell of: not a change of what is managed'

/** What every operation but reads does to the log, by its id. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'chat.create': { unaudited: 'a call, which the ledger tells of' },
  'responses.create': { unaudited: 'a call, which the ledger tells of' },
  'messages.create': { unaudited: 'a call, which the ledger tells of' },
  'messages.count_tokens': { unaudited: 'it changes nothing, and costs nothing' },
  'embeddings.create': { unaudited: 'a call, which the ledger tells of' },
  'video.create': { unaudited: CONTENT },
  'video.cancel': { unaudited: CONTENT },
  'files.upload': { unaudited: CONTENT },
  'files.delete': { unaudited: CONTENT },
  'containers.promote': { unaudited: CONTENT },
  'containers.write_file': { unaudited: CONTENT },
  'egress.forward': {
    unaudited: 'it changes nothing: its releases and refusals of secrets have rows of their own',
  },

  'keys.create': {
    request: async ({ place }) => ({
      path: '/keys',
      body: { name: 'made', workspace_id: place.workspaceId },
    }),
    refused: async (_, done) => [
      { ...done, headers: { 'idempotency-key': 'once' } },
      { ...done, body: { name: 'made', workspace_id: randomUUID() } },
    ],
  },
  'keys.update': {
    request: async (world) => ({ path: `/keys/${await key(world)}`, body: { name: 'renamed' } }),
  },
  'keys.rotate': {
    request: async (world) => ({ path: `/keys/${await key(world)}/rotate`, body: {} }),
    refused: async (_, done) => [{ ...done, headers: { 'idempotency-key': 'once' } }],
  },
  'keys.delete': {
    request: async (world) => ({ path: `/keys/${await key(world)}` }),
    refused: async (_, done) => [done],
  },

  'interns.create': {
    request: async () => ({ path: '/interns', body: { name: 'Ada', provision: false }, headers: once() }),
    again: 'nothing',
    refused: reused,
  },
  'interns.update': {
    request: async (world) => ({ path: `/interns/${await intern(world)}`, body: { name: 'Bea' } }),
  },
  'interns.delete': {
    request: async (world) => ({ path: `/interns/${await intern(world)}` }),
    refused: async (_, done) => [done],
  },
  'interns.provision': { never: NOT_RUN },
  'interns.suspend': { never: NOT_RUN },

  'vault.put_secret': {
    request: async () => ({ path: `/vault/secrets/${name()}`, body: SECRET, by: 'inference' }),
    isNaming: true,
    refused: async (_, done) => [{ ...done, body: { ...SECRET, hosts: ['*.example.com'] } }],
  },
  'vault.delete_secret': {
    request: async (world) => ({ path: `/vault/secrets/${await secret(world)}`, by: 'inference' }),
    refused: async (_, done) => [done],
  },
  'vault.put_intern_secret': {
    request: async ({ place }) => ({
      path: `/vault/interns/${place.internId}/secrets/${name()}`,
      body: SECRET,
      by: 'inference',
    }),
    refused: async (_, done) => [{ ...done, body: { ...SECRET, hosts: [''] } }],
  },
  'vault.delete_intern_secret': {
    async request(world) {
      const path = `/vault/interns/${world.place.internId}/secrets/${name()}`
      await world.make('PUT', path, SECRET, 'inference')
      return { path, by: 'inference' }
    },
    refused: async (_, done) => [done],
  },
  'vault.copy_secrets': {
    request: async (world) => ({
      path: `/vault/interns/${world.place.internId}/secrets/copy`,
      body: { names: [await secret(world)] },
      by: 'inference',
    }),
    refused: async (world, done) => [{ ...done, body: { names: [await secret(world), 'nobodys_secret'] } }],
  },

  'presets.create_from_responses': saved('responses', { input: 'x' }),
  'presets.create_from_chat': saved('chat/completions', { messages: [{ role: 'user', content: 'x' }] }),
  'presets.create_from_messages': saved('messages', {
    messages: [{ role: 'user', content: 'x' }],
    max_tokens: 1,
  }),
  'presets.designate': {
    request: async (world) => ({
      path: `/presets/${await preset(world, 2)}/designate`,
      body: { version: 1 },
    }),
    again: 'nothing',
    async refused(world, done) {
      const slug = await preset(world, 2)
      await world.make('POST', `/presets/${slug}/archive`)
      return [
        { ...done, body: { version: 3 } },
        { path: `/presets/${slug}/designate`, body: { version: 1 } },
      ]
    },
  },
  'presets.archive': {
    request: async (world) => ({ path: `/presets/${await preset(world)}/archive` }),
    again: 'nothing',
  },

  'budgets.put': {
    request: async (world) => ({
      path: `/workspaces/${await workspace(world)}/budgets/daily`,
      body: { limit_usd: 5 },
    }),
    async refused({ make }, { path }) {
      await make('PUT', path.replace('daily', 'monthly'), { limit_usd: 50 })
      return [
        { path, body: { limit_usd: 50 } },
        { path: path.replace('daily', 'hourly'), body: { limit_usd: 1 } },
      ]
    },
  },
  'budgets.delete': {
    async request(world) {
      const path = `/workspaces/${await workspace(world)}/budgets/daily`
      await world.make('PUT', path, { limit_usd: 5 })
      return { path }
    },
    again: 'nothing',
  },
  'caps.update': {
    request: async () => ({ path: '/caps', body: { workspaces: 1_000 } }),
    refused: async (_, done) => [{ path: done.path, body: { workspaces: -1 } }],
  },
  'credits.add': {
    request: async () => ({ path: '/credits', body: { amount_usd: 1_000 }, headers: once() }),
    again: 'nothing',
    refused: async (world, done) => [
      ...(await reused(world, done)),
      { path: done.path, body: { amount_usd: 0 } },
    ],
  },

  'workspaces.create': {
    async request() {
      const slug = unique('made')
      return { path: '/workspaces', body: { name: slug, slug }, headers: once() }
    },
    again: 'nothing',
    refused: async (world, done) => [...(await reused(world, done)), { path: done.path, body: done.body }],
  },
  'workspaces.update': {
    request: async (world) => ({ path: `/workspaces/${await workspace(world)}`, body: { name: 'renamed' } }),
    refused: async ({ place }, done) => [{ ...done, body: { slug: place.slug } }],
  },
  'workspaces.delete': {
    request: async (world) => ({ path: `/workspaces/${await workspace(world)}` }),
    refused: async ({ place }, done) => [done, { path: `/workspaces/${place.workspaceId}` }],
  },

  'workspaces.add_members': {
    request: async (world) => ({
      path: `/workspaces/${await workspace(world)}/members/add`,
      body: { user_ids: [world.place.userId] },
    }),
    again: 'nothing',
    refused: async (_, done) => [{ ...done, body: { user_ids: [randomUUID()] } }],
  },
  'workspaces.remove_members': {
    async request(world) {
      const path = `/workspaces/${await workspace(world)}/members`
      const body = { user_ids: [world.place.userId] }
      await world.make('POST', `${path}/add`, body)
      return { path: `${path}/remove`, body }
    },
    again: 'nothing',
    refused: async (_, done) => [{ ...done, body: { user_ids: [randomUUID()] } }],
  },

  'byok.create': {
    request: async (world) => ({ path: '/byok', body: await newProviderKey(world) }),
    refused: async (_, done) => [done, { ...done, body: { provider: 'nobody', key: 'sk-one' } }],
  },
  'byok.update': {
    request: async (world) => ({ path: await providerKey(world), body: { key: 'sk-two' } }),
    refused: async (_, done) => [{ ...done, body: { key: 'sk-two', disabled: true } }],
  },
  'byok.delete': {
    request: async (world) => ({ path: await providerKey(world) }),
    refused: async (_, done) => [done],
  },

  'admin.replay_webhook': {
    request: async ({ stand, place }) => ({
      path: `/admin/webhooks/${await plantDelivery(stand, place.workspaceId)}/replay`,
    }),
    refused: async (_, done) => [done],
  },
  'admin.replay_dead_webhooks': {
    async request(world) {
      const id = await workspace(world)
      await plantDelivery(world.stand, id)
      return { path: '/admin/webhooks/replay', body: { workspace_id: id } }
    },
    again: 'nothing',
    refused: async (_, done) => [{ ...done, body: { workspace_id: randomUUID() } }],
  },
  'admin.test_webhook': { unaudited: 'it changes nothing: what is sent has a row of its own, as released' },

  ...ENDPOINT_SCENARIOS,
  ...SCIM_SCENARIOS,
}

/** The key of a request that was answered, with another body. */
function reused(_: World, done: Request): Promise<readonly Request[]> {
  return Promise.resolve([{ ...done, body: { ...(done.body as object), description: 'another' } }])
}

const SECRET = { hosts: ['api.example.com'], value: 'a value' }
const name = (): string => unique('secret').replaceAll('-', '_')

async function key({ make, place }: World): Promise<string> {
  return String((await make('POST', '/keys', { name: 'made', workspace_id: place.workspaceId }))['hash'])
}

async function intern({ make }: World): Promise<string> {
  return String((await make('POST', '/interns', { name: 'Ada', provision: false }))['id'])
}

/** @param form the part of the request's path after the slug */
function saved(form: string, body: object): Change {
  return {
    request: async () => ({
      path: `/presets/${unique('saved')}/${form}`,
      body: { model: 'acme/text', ...body },
      headers: once(),
    }),
    again: 'nothing',
    isNaming: true,
    refused: async (_, done) => [
      { ...done, body: { ...body, model: 'acme/other' } },
      { path: done.path, body: { ...body, model: 'm', temperature: 'hot' } },
    ],
  }
}

/** @returns its slug */
async function preset({ make }: World, versions = 1): Promise<string> {
  const slug = unique('preset')
  for (let version = 1; version <= versions; version++)
    await make('POST', `/presets/${slug}/responses`, { model: `acme/${version}`, input: 'x' })
  return slug
}

async function workspace({ make }: World): Promise<string> {
  const slug = unique('made')
  return String((await make('POST', '/workspaces', { name: slug, slug }))['id'])
}

/** The body of a key for a workspace that has none. */
async function newProviderKey(world: World): Promise<object> {
  return { provider: 'openai', key: 'sk-one', workspace_id: await workspace(world) }
}

/** @returns its path */
async function providerKey(world: World): Promise<string> {
  return `/byok/${String((await world.make('POST', '/byok', await newProviderKey(world)))['id'])}`
}

async function secret({ make }: World): Promise<string> {
  const made = name()
  await make('PUT', `/vault/secrets/${made}`, SECRET, 'inference')
  return made
}
