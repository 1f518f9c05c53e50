import { fail, ok, type Outcome } from '../failures.ts'
import { SESSION_ID_CHARS_MAX } from '../limits/limits.ts'

/** UTF-16 units at each end of a text that are used to recognize a conversation. Decision. */
export const AFFINITY_TEXT_UNITS_MAX = 256
/** System texts, and texts of the first user turn, that are used to recognize a conversation. Decision. */
export const AFFINITY_TEXTS_MAX = 4

/** Members of a call's body that identify its conversation. */
export interface Conversation {
  /** The caller's name for the conversation or for its user (`prompt_cache_key`, `metadata.user_id`). */
  readonly name: string | null
  /** Hash of the texts that every turn of the conversation begins with. */
  readonly prefix: number
}

/**
 * Headers in which coding agents name a conversation, the most important first. `x-claude-code-session-id`:
 * Claude Code, by its gateway protocol reference of 2026. `session-id`: Codex CLI 0.149 and later; the
 * `session_id` of older versions never arrives, since the front end does not accept header names with
 * underscores.
 */
export const CONVERSATION_HEADERS = ['x-claude-code-session-id', 'session-id'] as const

/**
 * @param name of any type: Sluice does not check the type and uses only a text
 * @param system texts of the system
 * @param user texts of the first turn of the user
 */
export function conversationOf(
  name: unknown,
  { system, user }: { readonly system: readonly string[]; readonly user: readonly string[] },
): Conversation {
  let prefix = HASH_BEGIN
  for (const text of system.slice(0, AFFINITY_TEXTS_MAX)) prefix = hashedEnds(prefix, text)
  prefix = hashed(prefix, '\0')
  for (const text of user.slice(0, AFFINITY_TEXTS_MAX)) prefix = hashedEnds(prefix, text)
  return { name: typeof name === 'string' && name !== '' ? name : null, prefix }
}

/** The first line of Claude Code's system text, which only Anthropic uses. */
const BILLING = /^x-anthropic-billing-header:[^\n]*\n*/

/**
 * A system text without that line: it differs in each request, so a prompt that begins with it would never be
 * found in a cache.
 */
export function withoutBilling(text: string): string {
  return text.startsWith('x-anthropic-') ? text.replace(BILLING, '') : text
}

/** Hashes only the length and both ends of a long text. */
function hashedEnds(hash: number, text: string): number {
  const { length } = text
  if (length <= 2 * AFFINITY_TEXT_UNITS_MAX) return hashed(hash, text)
  const ends = hashed(hashed(hash, text, AFFINITY_TEXT_UNITS_MAX), text.slice(-AFFINITY_TEXT_UNITS_MAX))
  return Math.imul(ends ^ length, HASH_PRIME)
}

/** FNV-1a of 32 bits, over UTF-16 units. */
export const HASH_BEGIN = 0x811c9dc5
const HASH_PRIME = 0x01000193

/** @param most the most units of the text that are hashed */
export function hashed(hash: number, text: string, most = text.length): number {
  for (let at = 0; at < most; at++) hash = Math.imul(hash ^ text.charCodeAt(at), HASH_PRIME)
  return hash
}

/** Characters are code points; a text never has more of them than UTF-16 units. */
function isSessionIdTooLong(sessionId: string): boolean {
  return sessionId.length > SESSION_ID_CHARS_MAX && [...sessionId].length > SESSION_ID_CHARS_MAX
}

/** The session of a call, from the body (already checked with it) or from the header `x-session-id`. */
export function sessionIdOf(
  inBody: string | null | undefined,
  inHeader: string | undefined,
): Outcome<string | null> {
  const sessionId = inBody ?? inHeader ?? null
  if (sessionId === null) return NO_SESSION
  return isSessionIdTooLong(sessionId) ? sessionIdTooLong() : ok(sessionId)
}

const NO_SESSION = ok(null)

/** The failure for the header `x-session-id`; a session id in a body is refused with the body. */
function sessionIdTooLong(): Outcome<never> {
  const expected = `at most ${SESSION_ID_CHARS_MAX} characters`
  return fail('header_invalid', {
    metadata: { issues: [{ path: '/x-session-id', message: 'is too long', expected }] },
  })
}
