/** The protocols of providers. */
export const PROTOCOLS = ['openai', 'cohere', 'google', 'anthropic', 'local'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** A protocol without a call for embeddings. */
const WITHOUT_EMBEDDINGS = 'anthropic'
export type EmbeddingProtocolName = Exclude<Protocol, typeof WITHOUT_EMBEDDINGS>

/** Protocols with calls for video. Design §10. */
const WITH_VIDEO = ['openai', 'google', 'local'] as const satisfies readonly Protocol[]
export type VideoProtocolName = (typeof WITH_VIDEO)[number]

export function hasVideo(protocol: Protocol): protocol is VideoProtocolName {
  return WITH_VIDEO.some((name) => name === protocol)
}

export function hasEmbeddings(protocol: Protocol): protocol is EmbeddingProtocolName {
  return protocol !== WITHOUT_EMBEDDINGS
}
