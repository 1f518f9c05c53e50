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
