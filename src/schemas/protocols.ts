/** What providers speak. */
export const PROTOCOLS = ['openai', 'cohere', 'google', 'anthropic', 'local'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** It has no call for embeddings. */
const WITHOUT_EMBEDDINGS = 'anthropic'
export type EmbeddingProtocolName = Exclude<Protocol, typeof WITHOUT_EMBEDDINGS>

export function hasEmbeddings(protocol: Protocol): protocol is EmbeddingProtocolName {
  return protocol !== WITHOUT_EMBEDDINGS
}
