export const PROTOCOLS = ['openai', 'cohere', 'google', 'anthropic', 'local'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** The header in which a protocol carries its key. The key never travels in the address, which logs would keep. */
export const KEY_HEADERS: Readonly<Record<Protocol, string>> = {
  openai: 'authorization',
  cohere: 'authorization',
  google: 'x-goog-api-key',
  anthropic: 'x-api-key',
  local: 'authorization',
}

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
