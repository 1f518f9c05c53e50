import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { ProviderLink } from '../link.ts'
import type { EmbeddingProtocol } from './protocol.ts'
import { RewrittenEmbeddings } from './rewritten.ts'

/** Gemini's `models/{model}:batchEmbedContents`: one request for each input, with text and inline media as parts. */
export function googleEmbeddings(endpoint: Endpoint, link: ProviderLink, jobs: ShortJobs): EmbeddingProtocol {
  const path = `/models/${encodeURIComponent(endpoint.upstreamModel)}:batchEmbedContents`
  return new RewrittenEmbeddings(endpoint, { protocol: 'google', path }, { link, jobs })
}
