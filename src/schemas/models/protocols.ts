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

/** Forms of request and answer in which an endpoint of a model that writes is called. */
export const TEXT_PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const
export type TextProtocol = (typeof TEXT_PROTOCOLS)[number]

/** The members by which a provider of chat takes the reasoning of earlier turns. */
export const REASONING_FIELDS = ['reasoning', 'reasoning_content', 'both', 'none'] as const
export type ReasoningField = (typeof REASONING_FIELDS)[number]
/** The member in which an answer has its reasoning. */
export type ThinksIn = Exclude<ReasoningField, 'none'>

/**
 * What happens to the provider's stream of a caller who has left: it is ended, or read to its end because
 * the provider charges the whole answer.
 */
export const LEAVE_KINDS = ['cancel', 'drain'] as const
export type LeaveKind = (typeof LEAVE_KINDS)[number]
