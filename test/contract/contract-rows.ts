import { ADMIN_ROWS } from './admin-rows.ts'
import { AUDIT_ROWS } from './audit-rows.ts'
import { MONEY_ROWS } from './money-rows.ts'
import { KEY_ROWS } from './key-rows.ts'
import { MAPPING_ROWS } from './mapping-rows.ts'
import { PRESET_ROWS } from './preset-rows.ts'
import { PRESET_SAVING_ROWS } from './preset-saving-rows.ts'
import { PRIVATE_ENDPOINT_ROWS } from './private-endpoint-rows.ts'
import { SCIM_DISCOVERY_ROWS } from './scim-discovery-rows.ts'
import { SCIM_RESOURCE_ROWS } from './scim-resource-rows.ts'
import { VIDEO_ROWS } from './video-rows.ts'
import { WORKSPACE_ROWS } from './workspace-rows.ts'

/**
 * The contract, typed a second time on purpose: what each operation must be, read from §4, §7, B1, B2 and C2.
 */
export interface ContractRow {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete' | 'any'
  readonly path: string
  readonly area?: 'scim'
  readonly success: number
  /** Without 401, which every operation has (C2). */
  readonly statuses: readonly number[]
  readonly keys: readonly ('inference' | 'management' | 'intern' | 'scim')[]
  /**
   * Refusals of access beside the key's kind: outside of the programme, on regional hostnames, while vault
   * writes are disabled.
   */
  readonly gates?: readonly ('programme' | 'regional' | 'writes')[]
  readonly source: string
  /** Statuses that nothing can cause yet, with what they wait for; they need no test. */
  readonly uncaused: Readonly<Record<number, string>>
}

const EVERY_KEY = ['inference', 'management', 'intern'] as const
const INTERN_ROW = [400, 403, 404, 408, 429, 500, 502, 503, 504]
const NO_BODY = 'it takes no body that could be slow'
const NO_UPSTREAM = 'nothing upstream'
const NO_MISSING_ROW = 'a list is never missing'
/** Of B2.4's head. */
const VAULT_STATUSES = [400, 403, 404, 408, 429, 500, 502, 503, 504] as const
const VAULT = { 502: 'the vault asks nobody else' } as const
const BODILESS_VAULT = { ...VAULT, 408: 'it has no body' } as const

export const CONTRACT_ROWS: Readonly<Record<string, ContractRow>> = {
  'embeddings.create': {
    method: 'post',
    path: '/embeddings',
    success: 200,
    statuses: [400, 402, 403, 404, 408, 413, 429, 500, 502, 503, 504, 524, 529],
    keys: ['inference', 'intern'],
    source: '§4.3, §7 embeddings',
    uncaused: { 402: 'money' },
  },
  'models.get': {
    method: 'get',
    path: '/model/{author}/{slug}',
    success: 200,
    statuses: [403, 404, 500],
    keys: EVERY_KEY,
    source: '§4.11, §7 model read',
    uncaused: {},
  },
  'models.list': {
    method: 'get',
    path: '/models',
    success: 200,
    statuses: [400, 403, 500],
    keys: EVERY_KEY,
    source: 'B2.3',
    uncaused: {},
  },
  'models.count': {
    method: 'get',
    path: '/models/count',
    success: 200,
    statuses: [400, 403, 500],
    keys: EVERY_KEY,
    source: 'B2.3',
    uncaused: {},
  },
  'models.list_for_user': {
    method: 'get',
    path: '/models/user',
    success: 200,
    statuses: [403, 404, 500],
    keys: EVERY_KEY,
    source: 'B2.3',
    uncaused: { 404: NO_MISSING_ROW },
  },
  'models.endpoints': {
    method: 'get',
    path: '/models/{author}/{slug}/endpoints',
    success: 200,
    statuses: [403, 404, 500],
    keys: EVERY_KEY,
    source: 'B2.3',
    uncaused: {},
  },
  'models.retrieve': {
    method: 'get',
    path: '/models/{model}',
    success: 200,
    statuses: [403, 404, 500],
    keys: EVERY_KEY,
    source: "our extension: OpenAI's clients read one model so (B3.2); statuses of §7 model read",
    uncaused: {},
  },
  'models.retrieve_by_author': {
    method: 'get',
    path: '/models/{author}/{slug}',
    success: 200,
    statuses: [403, 404, 500],
    keys: EVERY_KEY,
    source: 'our extension: as models.retrieve, for an id whose slash is not encoded',
    uncaused: {},
  },
  'embeddings.list_models': {
    method: 'get',
    path: '/embeddings/models',
    success: 200,
    statuses: [400, 500],
    keys: EVERY_KEY,
    source: 'B2.3',
    uncaused: {},
  },
  'files.upload': {
    method: 'post',
    path: '/files',
    success: 200,
    statuses: [400, 403, 413, 429, 500, 502, 503],
    keys: ['inference', 'intern'],
    gates: ['regional'],
    source: '§4.7, §7 file upload, B1.7',
    uncaused: {},
  },
  'files.list': {
    method: 'get',
    path: '/files',
    success: 200,
    statuses: [400, 403, 429, 500, 502, 503],
    keys: ['inference', 'intern'],
    gates: ['regional'],
    source: 'B2.7',
    uncaused: {},
  },
  'files.get': {
    method: 'get',
    path: '/files/{file_id}',
    success: 200,
    statuses: [403, 404, 429, 500, 502, 503],
    keys: ['inference', 'intern'],
    gates: ['regional'],
    source: 'B2.7',
    uncaused: {},
  },
  'files.content': {
    method: 'get',
    path: '/files/{file_id}/content',
    success: 200,
    statuses: [400, 403, 404, 429, 500, 502, 503],
    keys: ['inference', 'intern'],
    gates: ['regional'],
    source: 'B2.7',
    uncaused: {},
  },
  'files.delete': {
    method: 'delete',
    path: '/files/{file_id}',
    success: 200,
    statuses: [403, 404, 429, 500, 502, 503],
    keys: ['inference', 'intern'],
    gates: ['regional'],
    source: 'B2.7',
    uncaused: {},
  },
  'containers.list_files': {
    method: 'get',
    path: '/containers/{container_id}/files',
    success: 200,
    statuses: [400, 403, 429, 500, 503],
    keys: ['inference', 'intern'],
    source: 'B2.8',
    uncaused: {},
  },
  'containers.get_file': {
    method: 'get',
    path: '/containers/{container_id}/files/{file_id}',
    success: 200,
    statuses: [400, 403, 404, 429, 500, 503],
    keys: ['inference', 'intern'],
    source: 'B2.8',
    uncaused: {},
  },
  'containers.file_content': {
    method: 'get',
    path: '/containers/{container_id}/files/{file_id}/content',
    success: 200,
    statuses: [400, 403, 404, 429, 500, 503],
    keys: ['inference', 'intern'],
    source: '§4.9, §7 container file content',
    uncaused: {},
  },
  'containers.promote': {
    method: 'post',
    path: '/containers/{container_id}/files/{file_id}/promote',
    success: 200,
    statuses: [400, 403, 404, 413, 429, 500, 503],
    keys: ['inference', 'intern'],
    gates: ['regional'],
    source: '§4.8, §7 container file promote, B1.8',
    uncaused: {},
  },
  'containers.write_file': {
    method: 'put',
    path: '/containers/{container_id}/files/{file_id}',
    success: 200,
    statuses: [400, 403, 413, 429, 500, 503],
    keys: ['inference', 'intern'],
    source: 'our extension: C22; statuses of the container reads, and 413',
    uncaused: {},
  },
  'interns.create': {
    method: 'post',
    path: '/interns',
    success: 201,
    statuses: [...INTERN_ROW, 413, 415],
    keys: ['management'],
    source: 'B2.4, C6',
    uncaused: { 502: NO_UPSTREAM },
  },
  'interns.list': {
    method: 'get',
    path: '/interns',
    success: 200,
    statuses: INTERN_ROW,
    keys: ['management'],
    source: 'B2.4, C6',
    uncaused: { 408: NO_BODY, 502: NO_UPSTREAM },
  },
  'interns.get': {
    method: 'get',
    path: '/interns/{intern_id}',
    success: 200,
    statuses: INTERN_ROW,
    keys: ['management'],
    source: 'B2.4, C6',
    uncaused: { 400: 'it has no input that can be wrong', 408: NO_BODY, 502: NO_UPSTREAM },
  },
  'interns.update': {
    method: 'patch',
    path: '/interns/{intern_id}',
    success: 200,
    statuses: [...INTERN_ROW, 413, 415],
    keys: ['management'],
    source: 'B2.4, C6',
    uncaused: { 502: NO_UPSTREAM },
  },
  'interns.delete': {
    method: 'delete',
    path: '/interns/{intern_id}',
    success: 202,
    statuses: INTERN_ROW,
    keys: ['management'],
    source: 'B2.4, C6',
    uncaused: { 400: 'it has no input that can be wrong', 408: NO_BODY, 502: NO_UPSTREAM },
  },
  'interns.provision': {
    method: 'post',
    path: '/interns/{intern_id}/provision',
    success: 202,
    statuses: INTERN_ROW,
    keys: ['management'],
    source: 'B2.4, C6',
    uncaused: { 202: 'Sluice does not run interns', 408: NO_BODY, 502: NO_UPSTREAM },
  },
  'interns.suspend': {
    method: 'post',
    path: '/interns/{intern_id}/suspend',
    success: 200,
    statuses: INTERN_ROW,
    keys: ['management'],
    source: 'B2.4, C6',
    uncaused: { 200: 'Sluice does not run interns', 408: NO_BODY, 502: NO_UPSTREAM },
  },
  'vault.list_secrets': {
    method: 'get',
    path: '/vault/secrets',
    success: 200,
    statuses: VAULT_STATUSES,
    keys: ['inference', 'intern'],
    gates: ['programme', 'regional'],
    source: 'B2.4',
    uncaused: BODILESS_VAULT,
  },
  'vault.put_secret': {
    method: 'put',
    path: '/vault/secrets/{name}',
    success: 200,
    statuses: [...VAULT_STATUSES, 413],
    keys: ['inference', 'intern'],
    gates: ['programme', 'regional', 'writes'],
    source: '§4.4, §7 vault secret store, B1.4',
    uncaused: VAULT,
  },
  'vault.delete_secret': {
    method: 'delete',
    path: '/vault/secrets/{name}',
    success: 204,
    statuses: VAULT_STATUSES,
    keys: ['inference', 'intern'],
    gates: ['programme', 'regional', 'writes'],
    source: 'B2.4, C6',
    uncaused: BODILESS_VAULT,
  },
  'vault.list_intern_secrets': {
    method: 'get',
    path: '/vault/interns/{intern_id}/secrets',
    success: 200,
    statuses: VAULT_STATUSES,
    keys: ['inference', 'intern'],
    gates: ['programme', 'regional'],
    source: 'B2.4',
    uncaused: BODILESS_VAULT,
  },
  'vault.put_intern_secret': {
    method: 'put',
    path: '/vault/interns/{intern_id}/secrets/{name}',
    success: 200,
    statuses: [...VAULT_STATUSES, 409, 413],
    keys: ['inference', 'intern'],
    gates: ['programme', 'regional', 'writes'],
    source: 'B2.4',
    uncaused: VAULT,
  },
  'vault.delete_intern_secret': {
    method: 'delete',
    path: '/vault/interns/{intern_id}/secrets/{name}',
    success: 204,
    statuses: VAULT_STATUSES,
    keys: ['inference', 'intern'],
    gates: ['programme', 'regional', 'writes'],
    source: 'B2.4, C6',
    uncaused: BODILESS_VAULT,
  },
  'vault.copy_secrets': {
    method: 'post',
    path: '/vault/interns/{intern_id}/secrets/copy',
    success: 200,
    statuses: [...VAULT_STATUSES, 409, 413],
    keys: ['inference', 'intern'],
    gates: ['programme', 'regional', 'writes'],
    source: 'B2.4',
    uncaused: VAULT,
  },
  'vault.list_effective_secrets': {
    method: 'get',
    path: '/vault/interns/{intern_id}/effective-secrets',
    success: 200,
    statuses: VAULT_STATUSES,
    keys: ['inference', 'intern'],
    gates: ['programme', 'regional'],
    source: 'B2.4',
    uncaused: BODILESS_VAULT,
  },
  'egress.forward': {
    method: 'any',
    path: '/egress/{host}/{path}',
    success: 200,
    statuses: [400, 403, 408, 413, 429, 500, 502, 503, 504],
    keys: ['inference', 'intern'],
    source: 'our extension: C4, C5, C11, C23, C29',
    uncaused: {},
  },
  ...PRESET_ROWS,
  ...PRIVATE_ENDPOINT_ROWS,
  ...MONEY_ROWS,
  ...AUDIT_ROWS,
  ...ADMIN_ROWS,
  ...SCIM_DISCOVERY_ROWS,
  ...VIDEO_ROWS,
  ...KEY_ROWS,
  ...WORKSPACE_ROWS,
  ...MAPPING_ROWS,
  ...PRESET_SAVING_ROWS,
  ...SCIM_RESOURCE_ROWS,
}
