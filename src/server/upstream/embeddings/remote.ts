import type { EmbeddingProtocolName } from '../../../schemas/models/protocols.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { cohereEmbeddings } from './cohere.ts'
import { googleEmbeddings } from './google.ts'
import { ProviderLink, type LinkDeps } from '../link.ts'
import { headerOf, type CredentialHeader } from '../credential.ts'
import { OpenAiEmbeddings } from './openai.ts'
import type { EmbeddingProtocol } from './protocol.ts'

export interface RemoteDeps extends Omit<LinkDeps, 'credentialHeader'> {
  /** Null: the header of the protocol. */
  readonly keyHeader?: CredentialHeader | null
  readonly jobs: ShortJobs
}

/** Opens a remote endpoint in its provider's protocol; null when the protocol has no embeddings or is local. */
export function openRemote(
  endpoint: Endpoint,
  { jobs, keyHeader = null, ...deps }: RemoteDeps,
): EmbeddingProtocol | null {
  const { provider } = endpoint
  if (!isRemote(provider.protocol)) return null
  const credentialHeader = keyHeader ?? headerOf(provider.protocol)
  const link = new ProviderLink(provider, { ...deps, credentialHeader })
  return REMOTE[provider.protocol](endpoint, link, jobs)
}

/** True when the protocol has embeddings over the network. */
export function isRemote(protocol: string): protocol is RemoteName {
  return Object.hasOwn(REMOTE, protocol)
}

type RemoteName = Exclude<EmbeddingProtocolName, 'local'>

type Open = (endpoint: Endpoint, link: ProviderLink, jobs: ShortJobs) => EmbeddingProtocol

const REMOTE: Readonly<Record<RemoteName, Open>> = {
  openai: (...deps) => new OpenAiEmbeddings(...deps),
  cohere: cohereEmbeddings,
  google: googleEmbeddings,
}
