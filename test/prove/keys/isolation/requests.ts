import { randomUUID } from 'node:crypto'
import { providerKeyId } from '../../../../src/schemas/workspaces/byok.ts'
import { prefixOf, type AnyOperation } from '../../../../src/server/operations/define.ts'
import { failureOf } from '../../../support/scim/scim-errors.ts'
import { FORM, type Ask, type Place, type Answer } from './owners.ts'

/** A request of an operation with given path parameters. */
export function requestOf(operation: AnyOperation, place: Params, query = requiredQuery(operation)): Input {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(place[name] ?? 'some-name'),
  )
  const method = operation.method === 'any' ? 'GET' : operation.method.toUpperCase()
  const prefix = prefixOf(operation)
  const { upload, body } = operation.input
  if (upload === 'form') return { method, path: `${prefix}${path}${query}`, ...FORM }
  const sent = upload === 'raw' ? 'some text' : body === undefined ? undefined : operation.example.body
  return {
    method,
    path: `${prefix}${path}${query}`,
    headers: {},
    ...(sent === undefined || method === 'GET' ? {} : { body: sent }),
  }
}

/** Without it the request would be about nothing. */
function requiredQuery({ input, example }: AnyOperation): string {
  const { required = [] } = (input.query ?? {}) as { readonly required?: readonly string[] }
  const values = Object.entries((example.query ?? {}) as Record<string, unknown>).filter(([name]) =>
    required.includes(name),
  )
  return values.length === 0 ? '' : `?${values.map(([name, value]) => `${name}=${String(value)}`).join('&')}`
}

export interface Input {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

export type Params = Readonly<Record<string, string>>

/** The place of the key when `authorization` belongs to the destination. */
export function withKey(operation: AnyOperation, request: Input, key: string): Ask {
  const { header } = operation.access
  return header === undefined
    ? { ...request, key }
    : { ...request, headers: { ...request.headers, [header]: key } }
}

/** Parameters of objects that do not exist. */
export function missing(operation: AnyOperation): Params {
  const uuid = randomUUID()
  const isOf = (word: string): boolean => operation.path.startsWith(word)
  return {
    id: uuid,
    job_id: `vid_${'0'.repeat(32)}`,
    workspace_ref: uuid,
    intern_id: uuid,
    hash: 'f'.repeat(64),
    name: 'secret_of_nobody',
    interval: 'monthly',
    file_id: isOf('/containers')
      ? `cfile_${Buffer.from('nothing.txt').toString('base64url')}`
      : `file_${'0'.repeat(32)}`,
    container_id: 'box-of-nobody',
    author: 'nobody',
    slug: 'nothing',
    version: '1',
    model: 'nobody/nothing',
    host: 'api.example.com',
    path: 'x',
  }
}

export function wrongKindStatus(operation: AnyOperation): number {
  return operation.statuses.includes(403) ? 403 : 401
}

/** Bodies of SCIM have no error type: there the text shows it. */
export function typeOf({ body }: Answer): unknown {
  const { detail } = body
  if (typeof detail === 'string') return failureOf(detail)
  return (body as { error?: { metadata?: { error_type?: unknown } } }).error?.metadata?.error_type
}

/** They make what their path names. */
const SAVED = /\/(responses|completions|messages)$/

/** Parameters of a thing that exists elsewhere. */
export function elsewhere(operation: AnyOperation, place: Place): Params | null {
  const isOf = (word: string): boolean => operation.path.startsWith(word)
  const params: Record<string, string> = { ...missing(operation) }
  if (isOf('/workspaces/')) params['id'] = params['workspace_ref'] = place.workspaceId
  else if (isOf('/scim/group-mappings/')) params['id'] = place.mappingId
  else if (isOf('/Groups/{id}')) params['id'] = place.groupId
  else if (isOf('/scim/sync-jobs/')) params['id'] = place.syncId
  else if (isOf('/byok/'))
    params['id'] = providerKeyId({ workspaceId: place.workspaceId, provider: 'openai' })
  else if (isOf('/presets/') && !SAVED.test(operation.path))
    [params['slug'], params['version']] = [place.presetSlug, '1']
  else if (isOf('/Users/')) params['id'] = place.userId
  else if (isOf('/keys/')) params['hash'] = place.inference.hash
  else if (isOf('/private-endpoints/')) params['id'] = place.endpointId
  else if (isOf('/interns/')) params['intern_id'] = place.internId
  else if (isOf('/vault/interns/')) [params['intern_id'], params['name']] = [place.internId, place.secret]
  else if (isOf('/vault/secrets/') && operation.method !== 'put') params['name'] = place.secret
  else if (isOf('/videos/')) params['job_id'] = place.videoId
  else if (isOf('/admin/jobs/')) params['job_id'] = place.videoId
  else if (isOf('/admin/webhooks/{id}')) params['id'] = place.deliveryId
  else if (isOf('/files/')) params['file_id'] = place.fileId
  else if (isOf('/containers/') && operation.method !== 'put')
    [params['container_id'], params['file_id']] = [place.containerId, place.containerFileId]
  else return null
  return params
}

export function takesWorkspace({ input }: AnyOperation): boolean {
  const query = input.query as { properties?: Readonly<Record<string, unknown>> } | undefined
  return query?.properties !== undefined && 'workspace_id' in query.properties
}
