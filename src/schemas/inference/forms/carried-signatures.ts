/** Signatures in members of forms that have no place for their format. Part D, mapping table. */
import type { Signature } from './prompt.ts'

/** Format of the signatures of each provider's own protocol, by which `@openrouter/sdk` knows them. */
export const SIGNATURE_FORMATS = {
  messages: 'anthropic-claude-v1',
  responses: 'openai-responses-v1',
  gemini: 'google-gemini-v1',
} as const

/** Stands for the format of a signature whose sender does not tell it. */
export const UNKNOWN_FORMAT = 'unknown'

const MARK = 'sl1.'

/** A signature as a member has it whose own format needs no words. */
export function carriedSignature({ format, data }: Signature, ownFormat: string): string {
  return format === ownFormat ? data : `${MARK}${format}.${data}`
}

/** The signature that a member has. @param ownFormat of one that stands there as it is */
export function signatureOf(carried: string, ownFormat: string): Signature {
  const end = carried.startsWith(MARK) ? carried.indexOf('.', MARK.length) : -1
  if (end <= MARK.length) return { format: ownFormat, data: carried }
  return { format: carried.slice(MARK.length, end), data: carried.slice(end + 1) }
}

/**
 * Providers that sign calls of tools. In forms whose calls have no signature, it stands before its call as
 * reasoning without a text.
 */
export const CALL_SIGNING: ReadonlySet<string> = new Set([SIGNATURE_FORMATS.gemini])
