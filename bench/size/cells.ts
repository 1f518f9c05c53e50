/** The requests to a node of either size. */
import type { LoadRequest } from '../../test/support/load/load-plan.ts'
import type { SizedNode } from './node.ts'
import { aliasAt, fileIdAt, keyAt, modelAt } from './objects.ts'

export interface Cell {
  readonly name: string
  /** Warm: repeated requests, sent once before they count. Cold: objects without an earlier request. */
  readonly warmth: 'warm' | 'cold'
  /** Requests that are sent in turn. @param round 0 for the first repeat */
  requests(node: SizedNode, round: number): readonly LoadRequest[]
}

/** Objects of one warm cell, of all objects of a node. */
const WARM_MAX = 1_000
/** Objects of one cold cell: more than a node answers in its time. */
const COLD = 20_000
/** Page sizes of models and of files: the small node can fill one of each from every offset. */
const [MODELS_PAGE, FILES_PAGE] = [20, 5]

export const CELLS: readonly Cell[] = [
  warm('embeddings, ten keys', (node) =>
    some(Math.min(10, node.sizes.keys), (at) => embeddings(keyAt(at), modelAt(1))),
  ),
  warm('embeddings, many keys', (node) => warmOf(node.sizes.keys, (at) => embeddings(keyAt(at), modelAt(1)))),
  warm('embeddings, many aliases', (node) =>
    warmOf(node.sizes.models / 2, (at) => embeddings(firstKey(node), aliasAt(2 * at + 1))),
  ),
  warm('a model', (node) => warmOf(node.sizes.models, (at) => get(node, `/model/${modelAt(at)}`))),
  warm('a page of models', (node) =>
    some(5, (at) => get(node, `/models?limit=${MODELS_PAGE}&offset=${at * FILES_PAGE}`)),
  ),
  warm('a page of models, filtered and sorted', (node) =>
    some(3, (at) =>
      get(
        node,
        `/models?limit=${MODELS_PAGE}&arch=${['gpt', 'llama', 'other'][at]}&output_modalities=all&sort=newest`,
      ),
    ),
  ),
  warm('a file', (node) => warmOf(node.sizes.files, (at) => get(node, `/files/${fileIdAt(at)}`))),
  warm('a page of files', (node) =>
    some(5, (at) =>
      get(node, `/files?limit=${FILES_PAGE}&after=${fileIdAt(Math.floor((node.sizes.files * at) / 5))}`),
    ),
  ),
  warm('bytes of a small file', (node) => node.stored.map((id) => get(node, `/files/${id}/content`))),
  cold('embeddings, a new key each', 'keys', (_, at) => embeddings(keyAt(at), modelAt(1))),
  cold('a model, a new one each', 'models', (node, at) => get(node, `/model/${modelAt(at)}`)),
  cold('a search for models, a new one each', 'models', (node, at) =>
    get(node, `/models?limit=${MODELS_PAGE}&q=model-${at}&output_modalities=all`),
  ),
  cold('a file, a new one each', 'files', (node, at) => get(node, `/files/${fileIdAt(at)}`)),
]

function warm(name: string, requests: (node: SizedNode) => readonly LoadRequest[]): Cell {
  return { name, warmth: 'warm', requests }
}

/** A cell of cold requests; empty where a node has too few objects for them. */
function cold(
  name: string,
  size: keyof SizedNode['sizes'],
  request: (node: SizedNode, at: number) => LoadRequest,
): Cell {
  return {
    name,
    warmth: 'cold',
    requests(node, round) {
      const all = node.sizes[size]
      const first = WARM_MAX + round * COLD
      return some(Math.max(0, Math.min(COLD, all - first)), (at) => request(node, scattered(first + at, all)))
    },
  }
}

function warmOf(count: number, request: (at: number) => LoadRequest): readonly LoadRequest[] {
  const all = Math.floor(count)
  return some(Math.min(WARM_MAX, all), (at) => request(scattered(at, all)))
}

/**
 * Step between two objects, so that consecutive requests do not share a page of an index. The prime divides
 * no number of objects.
 */
const STRIDE = 15_485_863

function scattered(at: number, count: number): number {
  return (at * STRIDE) % count
}

function some(count: number, request: (at: number) => LoadRequest): readonly LoadRequest[] {
  return Array.from({ length: count }, (_, at) => request(at))
}

function firstKey({ stand }: SizedNode): string {
  return stand.keys.inference_key
}

function get(node: SizedNode, path: string): LoadRequest {
  return {
    method: 'GET',
    path: `/api/v1${path}`,
    headers: { authorization: `Bearer ${firstKey(node)}` },
    body: '',
  }
}

function embeddings(apiKey: string, model: string): LoadRequest {
  return {
    method: 'POST',
    path: '/api/v1/embeddings',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({
      model,
      input: 'The quick brown fox jumps over the lazy dog.',
      encoding_format: 'float',
    }),
  }
}
