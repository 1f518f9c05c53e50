export const PROTOCOLS = ['openai', 'cohere', 'google', 'anthropic', 'local'] as const
export type Protocol = (typeof PROTOCOLS)[number]

/** The header in which a protocol carries its key. The key is never part of the URL, which logs would store. */
export const KEY_HEADERS: Readonly<Record<Protocol, string>> = {
  openai: 'authorization',
  cohere: 'authorization',
  google: 'x-goog-api-key',
  anthropic: 'x-api-key',
  local: 'authorization',
}

/** The protocol without an embeddings call. */
const WITHOUT_EMBEDDINGS = 'anthropic'
export type EmbeddingProtocolName = Exclude<Protocol, typeof WITHOUT_EMBEDDINGS>

/** Protocols with video calls. Design §10. */
const WITH_VIDEO = ['openai', 'google', 'local'] as const satisfies readonly Protocol[]
export type VideoProtocolName = (typeof WITH_VIDEO)[number]

export function hasVideo(protocol: Protocol): protocol is VideoProtocolName {
  return WITH_VIDEO.some((name) => name === protocol)
}

export function hasEmbeddings(protocol: Protocol): protocol is EmbeddingProtocolName {
  return protocol !== WITHOUT_EMBEDDINGS
}

/** Protocols in which endpoints of text models are called. */
export const TEXT_PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const
export type TextProtocol = (typeof TEXT_PROTOCOLS)[number]

/** The members in which a chat provider accepts the reasoning of earlier turns. */
export const REASONING_FIELDS = ['reasoning', 'reasoning_content', 'both', 'none'] as const
export type ReasoningField = (typeof REASONING_FIELDS)[number]
/** The member of an answer that contains its reasoning. */
export type ThinksIn = Exclude<ReasoningField, 'none'>

/**
 * What happens to the provider's stream when the caller disconnects: it is cancelled, or read to its end
 * because the provider charges the whole answer.
 */
export const LEAVE_KINDS = ['cancel', 'drain'] as const
export type LeaveKind = (typeof LEAVE_KINDS)[number]
