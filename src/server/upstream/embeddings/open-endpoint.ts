import { hasEmbeddings } from '../../../schemas/models/protocols.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { Credential } from '../credential.ts'
import { openOwn } from '../endpoints/own-embeddings.ts'
import { operatorAccess } from '../provider-headers.ts'
import { LexicalEmbeddings } from './local.ts'
import type { EmbeddingProtocol } from './protocol.ts'
import { openRemote } from './remote.ts'

export interface OpenEndpointDeps {
  readonly egress: Egress
  readonly jobs: ShortJobs
  /** Keys of the operator by the name of their environment variable; a provider without its key is not used. */
  readonly credentials: ReadonlyMap<string, Credential>
}

/**
 * Opens endpoints for embeddings; null when the operator's key for the provider is not set, or the endpoint
 * or its protocol has no embeddings.
 */
export function endpointOpener({
  egress,
  jobs,
  credentials,
}: OpenEndpointDeps): (endpoint: Endpoint) => EmbeddingProtocol | null {
  const lexical = new LexicalEmbeddings(jobs, egress)
  return (endpoint) => {
    const { provider, ownWay } = endpoint
    if (endpoint.embeds === false || !hasEmbeddings(provider.protocol)) return null
    if (provider.protocol === 'local') return lexical
    if (ownWay !== undefined) return openOwn(endpoint, ownWay, { egress, jobs })
    const access = operatorAccess(provider, credentials)
    if (access === null) return null
    return openRemote(endpoint, { origin: egress.trusted(new URL(provider.baseUrl).origin), jobs, ...access })
  }
}
