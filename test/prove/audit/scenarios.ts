import { randomUUID } from 'node:crypto'
import { SCIM_PREFIX } from '../../../src/schemas/api-prefix.ts'
import type { KeyKind } from '../../../src/schemas/keys/api-keys.ts'
import type { Stand } from '../../support/nodes/stand.ts'
import { ask, plantDelivery, type Owner, type Place } from '../keys/isolation/owners.ts'

export interface World {
  readonly stand: Stand
  readonly owner: Owner
  /** The workspace `default` of `owner`. */
  readonly place: Place
  /** Management key of another organization. */
  readonly foreign: string
  /** Of the private endpoints' provider, which answers as it should. */
  readonly baseUrl: string
  /** Makes a group of an identity provider's. */
  group(): Promise<string>
  /** Throws at a refusal. @returns the answer, and the members of its `data` */
  make(method: string, path: string, body?: unknown, by?: KeyKind): Promise<Readonly<Record<string, unknown>>>
}

/** What a request has beside its operation's method and prefix. */
export interface Request {
  /** Below the prefix of its operations. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly by?: KeyKind
}

export interface Change {
  /** Makes what the change is of, and tells the request that changes it. */
  readonly request: (world: World) => Promise<Request>
  /** Rows beside that of the object itself: what ends with it. */
  readonly others?: number
  /** The same request a second time: it changes nothing. Left out: it changes something again. */
  readonly again?: 'nothing'
  /** It makes what its path names: of nobody's name there is nothing to be unknown. */
  readonly isNaming?: true
  /** Conflicts, and values that only the operation itself can refuse, behind a success of the request. */
  readonly refused?: (world: World, done: Request) => Promise<readonly Request[]>
}

/** `unaudited`: why its successes leave no row. `never`: why it has none. */
export type Scenario = Change | { readonly unaudited: string } | { readonly never: string }

const NOT_RUN = 'Sluice keeps records of interns and does not run them: always refused'
const CONTENT =
  'content of a workspace, which the ledger and the files tell of: not a change of what is managed'

const READ_BY_BODY = 'a read: its body only says of what'
const OUTDATED = { 'if-match': 'W/"77"' }

const patched = (operation: object): object => ({ Operations: [operation] })

const unique = (word: string): string => `${word}-${randomUUID().slice(0, 8)}`

/** What every operation but reads does to the log, by its id. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
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

  'private_endpoints.create': {
    request: async (world) => ({ path: '/private-endpoints', body: endpoint(world), headers: once() }),
    again: 'nothing',
    async refused(world, done) {
      return [
        { ...done, body: endpoint(world) },
        { path: done.path, body: { ...endpoint(world), base_url: 'https://user@models.acme.example/v1' } },
      ]
    },
  },
  'private_endpoints.update': {
    request: async (world) => ({
      path: `/private-endpoints/${await draft(world)}`,
      body: { upstream_model_id: 'another' },
    }),
    refused: async (world) => [
      { path: `/private-endpoints/${await active(world)}`, body: { upstream_model_id: 'another' } },
    ],
  },
  'private_endpoints.delete': {
    request: async (world) => ({ path: `/private-endpoints/${await draft(world)}` }),
    refused: async (world, done) => [
      done,
      { path: `/private-endpoints/${await active(world)}?draft_only=true` },
    ],
  },
  'private_endpoints.validate': {
    request: async (world) => ({
      path: `/private-endpoints/${await draft(world)}/validate`,
      body: { workspace_id: world.place.workspaceId },
    }),
    refused: async (world) => [
      {
        path: `/private-endpoints/${await active(world)}/validate`,
        body: { workspace_id: world.place.workspaceId },
      },
    ],
  },
  'private_endpoints.activate': {
    request: async (world) => ({ path: `/private-endpoints/${await validated(world)}/activate` }),
    refused: async (world, done) => [done, { path: `/private-endpoints/${await draft(world)}/activate` }],
  },
  'private_endpoints.disable': {
    request: async (world) => ({ path: `/private-endpoints/${await active(world)}/disable` }),
    refused: async (world, done) => [done, { path: `/private-endpoints/${await draft(world)}/disable` }],
  },
  'private_endpoints.enable': {
    async request(world) {
      const id = await active(world)
      await world.make('POST', `/private-endpoints/${id}/disable`)
      return { path: `/private-endpoints/${id}/enable` }
    },
    refused: async (world, done) => [done, { path: `/private-endpoints/${await draft(world)}/enable` }],
  },
  'private_endpoints.set_pricing': {
    request: async (world) => ({
      path: `/private-endpoints/${await draft(world)}/pricing`,
      body: { pricing: { prompt: '0.1', completion: '0' } },
    }),
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

  'scim.refuse_me': { never: 'a token stands for no user' },
  'scim.refuse_bulk': { never: 'one request at a time' },
  'scim.refuse_search': { never: 'each kind of resources is searched alone' },
  'scim.create_mapping': {
    async request({ place, group }) {
      return {
        path: '/scim/group-mappings',
        body: { scim_group_id: await group(), workspace_id: place.workspaceId, role: 'member' },
      }
    },
    again: 'nothing',
    refused: async (_, done) =>
      [{ role: 'admin' }, { scim_group_id: randomUUID() }, { workspace_id: randomUUID() }].map((more) => ({
        ...done,
        body: { ...(done.body as object), ...more },
      })),
  },
  'scim.update_mapping': {
    request: async (world) => ({
      path: `/scim/group-mappings/${await mapping(world)}`,
      body: { role: 'admin' },
    }),
    again: 'nothing',
  },
  'scim.delete_mapping': {
    request: async (world) => ({ path: `/scim/group-mappings/${await mapping(world)}?keep_members=true` }),
    refused: async (world, done) => [done, { path: `/scim/group-mappings/${await mapping(world)}` }],
  },
  'scim.start_sync': { request: async () => ({ path: '/scim/sync-jobs' }) },

  'scim.search_users': { unaudited: READ_BY_BODY },
  'scim.create_user': {
    request: async () => ({ path: '/Users', body: { userName: unique('made') }, by: 'scim' }),
    refused: async (_, done) => [done, { ...done, body: { displayName: 'nameless' } }],
  },
  'scim.replace_user': {
    request: async (world) => ({
      path: `/Users/${await provided(world, 'Users')}`,
      body: { userName: unique('replaced') },
      by: 'scim',
    }),
    again: 'nothing',
    refused: async (_, done) => [
      { ...done, body: { userName: '' } },
      { ...done, headers: OUTDATED },
    ],
  },
  'scim.patch_user': {
    async request(world) {
      const change = { op: 'replace', path: 'active', value: false }
      return { path: `/Users/${await provided(world, 'Users')}`, body: patched(change), by: 'scim' }
    },
    again: 'nothing',
    refused: async (_, done) => [
      { ...done, body: patched({ op: 'remove', path: 'userName' }) },
      { ...done, headers: OUTDATED },
    ],
  },
  'scim.delete_user': {
    request: async (world) => ({ path: `/Users/${await provided(world, 'Users')}`, by: 'scim' }),
    refused: async (_, done) => [done],
  },
  'scim.search_groups': { unaudited: READ_BY_BODY },
  'scim.create_group': {
    request: async () => ({ path: '/Groups', body: { displayName: unique('made') }, by: 'scim' }),
    refused: async (_, done) => [
      done,
      { ...done, body: { displayName: unique('made'), members: [{ value: randomUUID() }] } },
    ],
  },
  'scim.replace_group': {
    request: async (world) => ({
      path: `/Groups/${await provided(world, 'Groups')}`,
      body: { displayName: unique('replaced') },
      by: 'scim',
    }),
    again: 'nothing',
    refused: async (_, done) => [
      { ...done, body: { displayName: '' } },
      { ...done, headers: OUTDATED },
    ],
  },
  'scim.patch_group': {
    async request(world) {
      const add = { op: 'add', path: 'members', value: [{ value: await provided(world, 'Users') }] }
      return { path: `/Groups/${await provided(world, 'Groups')}`, body: patched(add), by: 'scim' }
    },
    again: 'nothing',
    refused: async (_, done) => [
      { ...done, body: patched({ op: 'add', path: 'members', value: [{ value: randomUUID() }] }) },
      { ...done, headers: OUTDATED },
    ],
  },
  'scim.delete_group': {
    request: async (world) => ({ path: `/Groups/${await provided(world, 'Groups')}`, by: 'scim' }),
    refused: async (_, done) => [done],
  },
}

const once = (): Readonly<Record<string, string>> => ({ 'idempotency-key': randomUUID() })

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

/** @param form of the request's path behind the slug */
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

/** What an identity provider has made. @returns its id */
async function provided({ stand, owner }: World, kind: 'Users' | 'Groups'): Promise<string> {
  const body = kind === 'Users' ? { userName: unique('user') } : { displayName: unique('group') }
  return String(
    (await ask(stand, { method: 'POST', path: `${SCIM_PREFIX}/${kind}`, body, key: owner.scimToken })).body[
      'id'
    ],
  )
}

async function mapping({ make, place, group }: World): Promise<string> {
  const body = { scim_group_id: await group(), workspace_id: place.workspaceId, role: 'member' }
  return String((await make('POST', '/scim/group-mappings', body))['id'])
}

async function workspace({ make }: World): Promise<string> {
  const slug = unique('made')
  return String((await make('POST', '/workspaces', { name: slug, slug }))['id'])
}

async function secret({ make }: World): Promise<string> {
  const made = name()
  await make('PUT', `/vault/secrets/${made}`, SECRET, 'inference')
  return made
}

export const UPSTREAM_SECRET = 'audited_upstream'

function endpoint({ baseUrl, place }: World): object {
  return {
    model_permaslug: `audited/${unique('embed')}`,
    provider_slug: 'openai-compatible',
    upstream_model_id: 'm',
    base_url: baseUrl,
    pricing: { prompt: '0', completion: '0' },
    secret_name: UPSTREAM_SECRET,
    workspace_id: place.workspaceId,
  }
}

async function draft(world: World): Promise<string> {
  return String((await world.make('POST', '/private-endpoints', endpoint(world)))['id'])
}

async function validated(world: World): Promise<string> {
  const id = await draft(world)
  const { passed } = await world.make('POST', `/private-endpoints/${id}/validate`, {
    workspace_id: world.place.workspaceId,
  })
  if (passed !== true) throw new Error('a sound endpoint is not validated')
  return id
}

async function active(world: World): Promise<string> {
  const id = await validated(world)
  await world.make('POST', `/private-endpoints/${id}/activate`)
  return id
}
