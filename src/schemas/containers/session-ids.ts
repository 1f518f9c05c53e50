import { fail, type Outcome } from '../failures.ts'
import { SESSION_ID_CHARS_MAX } from '../limits/limits.ts'

/** Characters are code points (C31), of which a text has at most as many as UTF-16 units. */
export function isSessionIdTooLong(sessionId: string): boolean {
  return sessionId.length > SESSION_ID_CHARS_MAX && [...sessionId].length > SESSION_ID_CHARS_MAX
}

/** The failure for the header `x-session-id`; a session id in a body is refused with the body. */
export function sessionIdTooLong(): Outcome<never> {
  const expected = `at most ${SESSION_ID_CHARS_MAX} characters`
  return fail('header_invalid', {
    metadata: { issues: [{ path: '/x-session-id', message: 'is too long', expected }] },
  })
}
