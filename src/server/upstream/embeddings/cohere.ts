import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { ProviderLink } from '../link.ts'
import type { EmbeddingProtocol } from './protocol.ts'
import { RewrittenEmbeddings } from './rewritten.ts'

/**
 * Cohere's `POST /v2/embed`: texts, or texts and images in `inputs`; vectors come back by type under
 * `embeddings`, tokens under `meta.billed_units`. Sluice always requests floats and encodes base64 itself.
 */
export function cohereEmbeddings(endpoint: Endpoint, link: ProviderLink, jobs: ShortJobs): EmbeddingProtocol {
  return new RewrittenEmbeddings(endpoint, { protocol: 'cohere', path: '/embed' }, { link, jobs })
}
