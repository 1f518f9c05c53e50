import { fail, ok, type Outcome } from '../failures.ts'
import { SESSION_ID_CHARS_MAX } from '../limits/limits.ts'

/** Characters are code points (C31), of which a text has at most as many as UTF-16 units. */
function isSessionIdTooLong(sessionId: string): boolean {
  return sessionId.length > SESSION_ID_CHARS_MAX && [...sessionId].length > SESSION_ID_CHARS_MAX
}

/**
 * The session of a call: its body's, which was checked with the body, or that of its header `x-session-id`.
 */
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
