/** The contract, typed a second time on purpose: what each operation must be, read from §4, §7, B1, B2 and C2. */
export interface ContractRow {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  readonly path: string
  readonly success: number
  /** Without 401, which every operation has (C2). */
  readonly statuses: readonly number[]
  readonly keys: readonly ('inference' | 'management' | 'intern')[]
  /** Refusals of access beside the key's kind: outside of the programme, on regional hostnames, while vault writes are disabled. */
  readonly gates?: readonly ('programme' | 'regional' | 'writes')[]
  readonly source: string
  /** Statuses that nothing can cause yet, with what they wait for; they need no test. */
  readonly uncaused: Readonly<Record<number, string>>
}

const EVERY_KEY = ['inference', 'management', 'intern'] as const
const NO_MISSING_ROW = 'a list is never missing'

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
}
