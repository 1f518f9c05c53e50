import type { Secret } from '../../../schemas/vault/secret.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { Endpoint, OwnWay } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { EmbeddingProtocol } from '../embeddings/protocol.ts'
import { openRemote } from '../embeddings/remote.ts'
import { ofOwnKey, OwnCredential } from './own-credential.ts'
import { ownAccess } from './own-origin.ts'

const OPERATION = 'embeddings.create'

interface Deps {
  readonly egress: Pick<Egress, 'vetted' | 'trusted'>
  readonly jobs: ShortJobs
}

/**
 * An endpoint of the workspace, or an endpoint of the catalogue under the workspace's key; null when the gate refuses
 * the host or port, or the protocol has no embeddings.
 */
export function openOwn(endpoint: Endpoint, way: OwnWay, { egress, jobs }: Deps): EmbeddingProtocol | null {
  const access = ownAccess(endpoint, way, egress)
  if (access === null) return null
  const open = (secret: Secret | null): EmbeddingProtocol | null =>
    openRemote(endpoint, { ...access, key: secret?.reveal() ?? null, jobs })
  // The protocol without a credential is asked only for the supported inputs, and makes no calls.
  const bare = open(null)
  if (bare === null) return null
  const credential = new OwnCredential(way, (secret) => open(secret) ?? bare)
  const isOwnKey = way.destination === null
  return {
    takes: (shape) => bare.takes(shape),
    unsent: (request) => bare.unsent(request),
    embed(attempt) {
      const { caller, requestId } = attempt
      const by = { caller, requestId: requestId ?? null, operation: OPERATION }
      const embedded = credential.under(by, (protocol) => protocol.embed(attempt))
      return isOwnKey ? embedded.then((outcome) => ofOwnKey(outcome, way.secretName)) : embedded
    },
  }
}
