import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { KEY_PREFIXES, type KeyKind } from '../../../../src/schemas/keys/api-keys.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { createInternKey, createKey } from '../../../support/keys/make-keys.ts'
import { createScimToken } from '../../../../src/server/store/scim/scim-tokens.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { runtimeOf } from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { must } from '../../../support/must.ts'
import { plantGroup, plantUsers } from '../../../support/scim/directory.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import type { Stand } from '../../../support/nodes/stand.ts'
import { connected } from '../../../support/wire/connected.ts'
import { served } from '../../../support/wire/served.ts'

/** Kinds of keys that owners have. */
export const KINDS = Object.keys(KEY_PREFIXES) as KeyKind[]

/** One organization with something of each kind, in its workspace `default` and in another one. */
export interface Owner {
  readonly organizationId: string
  readonly management: string
  /** Of an identity provider. */
  readonly scimToken: string
  readonly places: { readonly default: Place; readonly other: Place }
}

/** What one workspace holds. */
export interface Place {
  readonly workspaceId: string
  readonly slug: string
  readonly inference: { readonly key: string; readonly hash: string }
  readonly internKey: string
  readonly internId: string
  readonly secret: string
  readonly fileId: string
  readonly presetSlug: string
  readonly containerId: string
  readonly containerFileId: string
  readonly endpointId: string
  readonly videoId: string
  /** A dead letter. */
  readonly deliveryId: string
  readonly groupId: string
  /** Its member. */
  readonly userId: string
  readonly mappingId: string
  /** Of the organization. */
  readonly syncId: string
}

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
  readonly text: string
}

export interface Ask {
  readonly method: string
  readonly path: string
  readonly key?: string | null
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * One request to the node, head and body in one write: one that is refused by its head is then sent all the
 * same.
 */
export function ask(stand: Stand, input: Ask): Promise<Answer> {
  return served(() => askOnce(stand, input))
}

function askOnce({ port }: Stand, { method, path, key = null, body, headers = {} }: Ask): Promise<Answer> {
  const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
  const type = body === undefined || typeof body === 'string' ? {} : { 'content-type': 'application/json' }
  const credential = key === null ? {} : { authorization: `Bearer ${key}` }
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(text) }
  return new Promise((resolve, reject) => {
    const req = request({
      port,
      host: '127.0.0.1',
      method,
      path,
      agent: false,
      headers: { connection: 'close', ...credential, ...type, ...length, ...headers },
    })
    req.once('error', reject)
    req.once('response', (res) => {
      let stated = ''
      res.setEncoding('utf8').on('data', (piece: string) => (stated += piece))
      res.once('error', reject)
      res.once('end', () => resolve({ status: res.statusCode ?? 0, body: parsed(stated), text: stated }))
    })
    req.end(text)
  })
}

/** A form with one part `file`. */
export const FORM = {
  headers: { 'content-type': 'multipart/form-data; boundary=edge' },
  body: '--edge\r\ncontent-disposition: form-data; name="file"; filename="text.txt"\r\n\r\nsome words of a plain text\n\r\n--edge--\r\n',
}

function parsed(text: string): Answer['body'] {
  try {
    return JSON.parse(text) as Answer['body']
  } catch {
    return {}
  }
}

const API = '/api/v1'
const VIDEO_MODEL = 'sluice/clip-1'
const LOOKS_MAX = 600
const LOOK_MS = 200

async function made(stand: Stand, given: Ask): Promise<Answer['body']> {
  const answer = await ask(stand, { ...given, path: API + given.path })
  if (answer.status >= 300) throw new Error(`${given.method} ${given.path}: ${answer.status} ${answer.text}`)
  const { data } = answer.body
  return typeof data === 'object' && data !== null ? { ...answer.body, ...data } : answer.body
}

/** @param name distinguishes what this owner has from what others have */
export async function makeOwner(stand: Stand, name: string): Promise<Owner> {
  const { id, key, token } = await inStore(stand, async (store) => {
    const { id, key } = await makeOrganization(store, name)
    const made = await createScimToken(store, { organizationId: id, name, expiresAt: null }, CLI)
    return { id, key, token: must(made).key }
  })
  const workspaces = (await ask(stand, { method: 'GET', path: `${API}/workspaces`, key })).body['data'] as {
    id: string
    slug: string
  }[]
  const first = workspaces.find(({ slug }) => slug === 'default')
  if (first === undefined) throw new Error('an organization without its default workspace')
  const slug = `${name}-other`
  const other = await made(stand, { method: 'POST', path: '/workspaces', key, body: { name: slug, slug } })
  return {
    organizationId: id,
    management: key,
    scimToken: token,
    places: {
      default: await fill(stand, {
        name: `${name}_one`,
        organizationId: id,
        management: key,
        workspaceId: first.id,
        slug: 'default',
      }),
      other: await fill(stand, {
        name: `${name}_two`,
        organizationId: id,
        management: key,
        workspaceId: String(other['id']),
        slug,
      }),
    },
  }
}

/** As the command line makes them, whose start costs a second of a core. */
export async function makeOrganization(
  store: Store,
  name: string,
): Promise<{ readonly id: string; readonly key: string }> {
  const actor = { ...CLI, operation: 'cli.organizations-create' }
  const { id } = must(await createOrganization(store, { name }, actor)).organization
  const birth = { kind: 'management', organizationId: id, workspaceId: null, ...PLAIN_KEY, name } as const
  return { id, key: must(await createKey(store, birth, CLI)).key }
}

const PLAIN_KEY = { rateLimitRpm: null, expiresAt: null }

export async function inStore<T>(
  { dataDir }: Pick<Stand, 'dataDir'>,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const url = runtimeOf(dataDir)?.databaseUrl ?? ''
  const store = await connected(openStore({ url, poolMax: 1, applicationName: 'sluice-prove' }))
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

interface Filling {
  readonly name: string
  readonly organizationId: string
  readonly management: string
  readonly workspaceId: string
  readonly slug: string
}

async function fill(
  stand: Stand,
  { name, organizationId, management, workspaceId, slug }: Filling,
): Promise<Place> {
  const asManager = (method: string, path: string, body?: unknown) =>
    made(stand, { method, path, key: management, body })
  const key = await asManager('POST', '/keys', { name, workspace_id: workspaceId })
  const inference = { key: String(key['key']), hash: String(key['hash']) }
  await asManager('PUT', `/workspaces/${workspaceId}/budgets/monthly`, { limit_usd: 100 })
  const intern = await asManager('POST', `/interns?workspace_id=${workspaceId}`, { name, provision: false })
  const internKey = await keyOfIntern(stand, name, String(intern['id']))
  const secret = `secret_of_${name}`
  await made(stand, {
    method: 'PUT',
    path: `/vault/secrets/${secret}`,
    key: inference.key,
    body: { hosts: ['api.example.com'], value: 'a value' },
  })
  const endpoint = await asManager('POST', '/private-endpoints', {
    model_permaslug: `${slug}/embed`,
    provider_slug: 'openai-compatible',
    upstream_model_id: 'm',
    base_url: 'https://models.acme.example/v1',
    declared_region: 'europe',
    declared_zdr: true,
    pricing: { prompt: '0', completion: '0' },
    secret_name: secret,
    workspace_id: workspaceId,
  })
  const container = await fillContainer(stand, `box-${name.replaceAll('_', '-')}`, inference.key)
  const file = await made(stand, { method: 'POST', path: '/files', key: inference.key, ...FORM })
  const video = await made(stand, {
    method: 'POST',
    path: '/videos',
    key: inference.key,
    body: { model: VIDEO_MODEL, prompt: `clip of ${name}`, duration: 1 },
  })
  const presetSlug = `preset-of-${name.replaceAll('_', '-')}`
  await asManager('POST', `/presets/${presetSlug}/responses?workspace_id=${workspaceId}`, {
    model: VIDEO_MODEL,
    input: 'x',
  })
  const { groupId, userId } = await makeGroup(stand, organizationId)
  const mapping = await asManager('POST', '/scim/group-mappings', {
    scim_group_id: groupId,
    workspace_id: workspaceId,
    role: 'member',
  })
  return {
    workspaceId,
    slug,
    inference,
    secret,
    ...container,
    groupId,
    userId,
    presetSlug,
    mappingId: String(mapping['id']),
    deliveryId: await plantDelivery(stand, workspaceId),
    syncId: String((await asManager('POST', '/scim/sync-jobs'))['id']),
    videoId: await ended(stand, String(video['id']), inference.key),
    internId: String(intern['id']),
    internKey,
    fileId: String(file['id']),
    endpointId: String(endpoint['id']),
  }
}

/** A container of one file. */
async function fillContainer(
  stand: Stand,
  containerId: string,
  key: string,
): Promise<Pick<Place, 'containerId' | 'containerFileId'>> {
  await made(stand, {
    method: 'PUT',
    path: `/containers/${containerId}/files/note.txt`,
    key,
    body: 'a note',
  })
  const listed = await made(stand, {
    method: 'GET',
    path: `/containers/${containerId}/files`,
    key,
  })
  return {
    containerId,
    containerFileId: String((listed['data'] as { id: string }[] | undefined)?.[0]?.id),
  }
}

async function keyOfIntern(stand: Stand, name: string, internId: string): Promise<string> {
  const input = { internId, organizationId: null, name, ...PLAIN_KEY }
  return inStore(stand, async (store) => must(await createInternKey(store, input, CLI)).key)
}

/** A group of an identity provider's with one member. */
export async function makeGroup(
  stand: Stand,
  organizationId: string,
): Promise<{ readonly groupId: string; readonly userId: string }> {
  return inStore(stand, async (store) => {
    const [userId = ''] = await plantUsers(store, organizationId, [randomUUID()])
    return { groupId: await plantGroup(store, organizationId, randomUUID(), [userId]), userId }
  })
}

/** A dead letter of a workspace, whose receiver cannot be reached. @returns its id */
export async function plantDelivery(stand: Pick<Stand, 'dataDir'>, workspaceId: string): Promise<string> {
  return inStore(stand, async (store) => {
    const id = newId()
    await store.sql`
      INSERT INTO webhook_deliveries (id, workspace_id, job_id, idempotency_key, url, host, body, state, tries, last_reason, ended_at)
      VALUES (${id}, ${workspaceId}, ${`job-of-${id}`}, ${`${id}-completed`}, 'https://receiver.invalid/in', 'receiver.invalid', '{}', 'dead', 8,
        'unreachable', clock_timestamp())`
    return id
  })
}

/** A clip is there to be asked for, and nothing of it changes any more. @returns its id */
async function ended(stand: Stand, id: string, key: string): Promise<string> {
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const { body } = await ask(stand, { method: 'GET', path: `${API}/videos/${id}`, key })
    if (body['status'] === 'completed') return id
    await pause(LOOK_MS)
  }
  throw new Error('a clip of one second was not made')
}

/** Keys without any rights, besides those of owners. */
export async function deadKeys(
  stand: Stand,
  owner: Owner,
): Promise<Readonly<Record<'disabled' | 'deleted' | 'unknown', string>>> {
  const make = async (): Promise<Answer['body']> =>
    made(stand, { method: 'POST', path: '/keys', key: owner.management, body: { name: 'dead' } })
  const [disabled, deleted] = [await make(), await make()]
  await made(stand, {
    method: 'PATCH',
    path: `/keys/${String(disabled['hash'])}`,
    key: owner.management,
    body: { disabled: true },
  })
  await made(stand, { method: 'DELETE', path: `/keys/${String(deleted['hash'])}`, key: owner.management })
  return {
    disabled: String(disabled['key']),
    deleted: String(deleted['key']),
    unknown: `sk-sluice-v1-${'x'.repeat(43)}`,
  }
}

export function keyOf(place: Place, owner: Owner, kind: KeyKind): string {
  const keys = {
    management: owner.management,
    scim: owner.scimToken,
    intern: place.internKey,
    inference: place.inference.key,
  }
  return keys[kind]
}
