/** Issue 5, acceptance 9: every operation with every kind of key, on its own, on other workspaces' and on foreign things. */
import { randomUUID } from 'node:crypto'
import { KEY_PREFIXES, type KeyKind } from '../../src/schemas/api-keys.ts'
import { prefixOf, type AnyOperation } from '../../src/server/operations/define.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { pause } from '../support/spawned.ts'
import { startStand, type Stand } from '../support/stand.ts'
import { ask, deadKeys, FORM, keyOf, makeOwner, type Ask, type Owner, type Place, type Told } from './isolation/owners.ts'
import type { Program, Proof } from './proof.ts'

const KINDS = Object.keys(KEY_PREFIXES) as KeyKind[]
/** Longer than the grace in which a change reaches a front by the poll of the store alone. */
const OBEYED_MS = 1_500

export const program: Program = {
  text: 'Every operation with every kind of key: wrong kinds, dead keys, and foreign ids that look like missing ones (issue 5, acceptance 9)',
  async run(proof) {
    const stand = await startStand()
    proof.after(() => stand.stop())
    const [own, foreign] = [await makeOwner(stand, 'own'), await makeOwner(stand, 'foreign')]
    const dead = await deadKeys(stand, own)
    await pause(OBEYED_MS)
    await kinds(proof, stand, own)
    await deadOnes(proof, stand, dead)
    const before = await everything(stand, foreign)
    await foreignIds(proof, stand, { own, foreign })
    const after = await everything(stand, foreign)
    proof.check('what is foreign is as it was', before === after, before === after ? `${before.length} characters of answers` : 'it changed')
  },
}

/** A request of an operation with given path parameters. */
function requestOf(operation: AnyOperation, place: Params, query = ''): Wish {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(place[name] ?? 'some-name'))
  const method = operation.method === 'any' ? 'GET' : operation.method.toUpperCase()
  const prefix = prefixOf(operation)
  const { upload, body } = operation.input
  if (upload === 'form') return { method, path: `${prefix}${path}${query}`, ...FORM }
  const sent = upload === 'raw' ? 'some text' : body === undefined ? undefined : operation.example.body
  return { method, path: `${prefix}${path}${query}`, headers: {}, ...(sent === undefined || method === 'GET' ? {} : { body: sent }) }
}

interface Wish {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

type Params = Readonly<Record<string, string>>

/** Where the key stands when `authorization` belongs to somebody else. */
function withKey(operation: AnyOperation, wish: Wish, key: string): Ask {
  const { header } = operation.access
  return header === undefined ? { ...wish, key } : { ...wish, headers: { ...wish.headers, [header]: key } }
}

/** Parameters of things that nobody has. */
function missing(operation: AnyOperation): Params {
  const uuid = randomUUID()
  const isOf = (word: string): boolean => operation.path.startsWith(word)
  return {
    id: uuid, job_id: `vid_${'0'.repeat(32)}`, workspace_ref: uuid, intern_id: uuid, hash: 'f'.repeat(64), name: 'secret_of_nobody', interval: 'monthly',
    file_id: isOf('/containers') ? `cfile_${Buffer.from('nothing.txt').toString('base64url')}` : `file_${'0'.repeat(32)}`,
    container_id: 'box-of-nobody', author: 'nobody', slug: 'nothing', model: 'nobody/nothing', host: 'api.example.com', path: 'x',
  }
}

function wrongKindStatus(operation: AnyOperation): number {
  return operation.statuses.includes(403) ? 403 : 401
}

async function kinds(proof: Proof, stand: Stand, own: Owner): Promise<void> {
  const wrong: string[] = []
  let asked = 0
  for (const operation of OPERATIONS) {
    for (const kind of KINDS) {
      if (operation.access.keys.includes(kind)) continue
      asked++
      const told = await ask(stand, withKey(operation, requestOf(operation, missing(operation)), keyOf(own.places.default, own, kind)))
      const isRight = told.status === wrongKindStatus(operation) && typeOf(told) === 'wrong_key_kind'
      if (!isRight) wrong.push(`${operation.id} with ${kind}: ${told.status} ${String(typeOf(told))}`)
    }
  }
  proof.check(
    'every wrong kind of key is refused as its operation lists', wrong.length === 0 && asked > 0, `${asked} requests, wrong: ${wrong.join('; ') || 'none'}`,
  )
}

async function deadOnes(proof: Proof, stand: Stand, dead: Awaited<ReturnType<typeof deadKeys>>): Promise<void> {
  const wrong: string[] = []
  for (const operation of OPERATIONS) {
    const expected = { disabled: wrongKindStatus(operation), deleted: 401, unknown: 401 } as const
    for (const [name, status] of Object.entries(expected)) {
      const told = await ask(stand, withKey(operation, requestOf(operation, missing(operation)), dead[name as keyof typeof dead]))
      if (told.status !== status) wrong.push(`${operation.id} with a ${name} key: ${told.status}`)
    }
    const told = await ask(stand, requestOf(operation, missing(operation)))
    if (told.status !== 401) wrong.push(`${operation.id} without a key: ${told.status}`)
  }
  proof.check('disabled, deleted, unknown and absent keys are refused everywhere', wrong.length === 0, wrong.join('; ') || `${4 * OPERATIONS.length} requests`)
}

function typeOf({ body }: Told): unknown {
  return (body as { error?: { metadata?: { error_type?: unknown } } }).error?.metadata?.error_type
}

interface Both {
  readonly own: Owner
  readonly foreign: Owner
}

/** Parameters of a thing that exists elsewhere. */
function elsewhere(operation: AnyOperation, place: Place): Params | null {
  const isOf = (word: string): boolean => operation.path.startsWith(word)
  const params: Record<string, string> = { ...missing(operation) }
  if (isOf('/workspaces/')) params['id'] = params['workspace_ref'] = place.workspaceId
  else if (isOf('/keys/')) params['hash'] = place.inference.hash
  else if (isOf('/private-endpoints/')) params['id'] = place.endpointId
  else if (isOf('/interns/')) params['intern_id'] = place.internId
  else if (isOf('/vault/interns/')) [params['intern_id'], params['name']] = [place.internId, place.secret]
  else if (isOf('/vault/secrets/') && operation.method !== 'put') params['name'] = place.secret
  else if (isOf('/videos/')) params['job_id'] = place.videoId
  else if (isOf('/files/')) params['file_id'] = place.fileId
  else if (isOf('/containers/') && operation.method !== 'put') [params['container_id'], params['file_id']] = [place.containerId, place.containerFileId]
  else return null
  return params
}

async function foreignIds(proof: Proof, stand: Stand, { own, foreign }: Both): Promise<void> {
  const differing: string[] = []
  let compared = 0
  const compare = async (what: string, key: string, operation: AnyOperation, [one, other]: readonly [Wish, Wish]) => {
    compared++
    const answers = [await ask(stand, withKey(operation, one, key)), await ask(stand, withKey(operation, other, key))] as const
    const [told, untold] = answers.map((told) => `${told.status} ${plain(told.text)}`)
    if (told !== untold) differing.push(`${operation.id}, ${what}: ${told?.slice(0, 160)} beside ${untold?.slice(0, 160)}`)
  }
  for (const operation of OPERATIONS) {
    for (const kind of operation.access.keys) {
      const key = keyOf(own.places.default, own, kind)
      for (const place of [foreign.places.default, foreign.places.other, ...(kind === 'management' ? [] : [own.places.other])]) {
        const params = elsewhere(operation, place)
        const absent = missing(operation)
        if (params !== null) await compare(`${kind} key, a thing elsewhere`, key, operation, [requestOf(operation, params), requestOf(operation, absent)])
        if (takesWorkspace(operation)) {
          const query = (id: string): string => `?workspace_id=${id}`
          await compare(`${kind} key, another workspace`, key, operation, [
            requestOf(operation, absent, query(place.workspaceId)), requestOf(operation, absent, query(randomUUID())),
          ])
        }
      }
    }
  }
  proof.check(
    'what is elsewhere answers as what is nowhere', differing.length === 0 && compared > 0, `${compared} pairs, differing: ${differing.join('\n  ') || 'none'}`,
  )
}

function takesWorkspace({ input }: AnyOperation): boolean {
  const query = input.query as { properties?: Readonly<Record<string, unknown>> } | undefined
  return query?.properties !== undefined && 'workspace_id' in query.properties
}

/** Without what differs between any two answers. */
function plain(text: string): string {
  return text.replace(/"request_id":"[^"]*"/g, '').replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UUID')
}

/** All that an owner can read of what it has. */
async function everything(stand: Stand, { management, places }: Owner): Promise<string> {
  const seen: string[] = []
  const read = async (path: string, key: string): Promise<void> => {
    const { status, text } = await ask(stand, { method: 'GET', path: `/api/v1${path}`, key })
    seen.push(`${path} ${status} ${plain(text)}`)
  }
  for (const place of Object.values(places)) {
    const { key } = place.inference
    for (const path of [
      `/files/${place.fileId}`, `/containers/${place.containerId}/files`, '/vault/secrets', `/videos/${place.videoId}`, '/videos',
    ]) await read(path, key)
    for (const path of [
      `/workspaces/${place.workspaceId}`, `/workspaces/${place.workspaceId}/budgets`, `/keys?workspace_id=${place.workspaceId}`,
      `/interns/${place.internId}`, `/private-endpoints/${place.endpointId}`,
    ]) await read(path, management)
  }
  return seen.join('\n')
}
