import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { PAGE_TOKEN_HEADER } from '../../../schemas/api-prefix.ts'
import { failed, json, type Answer } from './answers.ts'
import { keyIn, type OperatorKeys } from './operator-keys.ts'
import { hostOf, isFromOwnPage, isPageTls } from './page-origin.ts'
import { isSecretShaped, noSessionCookie, sessionCookie, sessionIdsIn } from './session-cookie.ts'
import type { OpenSession, Sessions } from './sessions.ts'

/** The session behind a request of the page, or the response for a request that may not pass. */
export type Entered =
  | { readonly kind: 'open'; readonly session: OpenSession }
  | { readonly kind: 'refused'; readonly answer: Answer }

const FOREIGN = { name: 'page_foreign' } as const
const ENDED = { name: 'session_ended' } as const
/** Milliseconds that a check of a key may be old where the key is checked anew, as at a sign-in. */
export const CHECKED_MS_MAX = -1

/**
 * Where the dashboard signs in and out, and shows who is signed in. A request passes when it comes from the
 * dashboard's own page and brings both halves of one session. C29.
 */
export class SessionDoor {
  readonly #keys: Pick<OperatorKeys, 'check'>
  readonly #sessions: Sessions

  constructor(keys: Pick<OperatorKeys, 'check'>, sessions: Sessions) {
    this.#keys = keys
    this.#sessions = sessions
  }

  /** Serves the path of the session: POST begins one, DELETE ends it. */
  async answer(request: IncomingMessage): Promise<Answer> {
    switch (request.method) {
      case 'POST':
        return this.#signIn(request)
      case 'DELETE':
        return this.#signOut(request)
      default:
        return failed({ name: 'method_not_allowed', fields: { allowed: 'POST, DELETE' } })
    }
  }

  enter(request: IncomingMessage): Entered {
    if (!isFromOwnPage(request)) return { kind: 'refused', answer: failed(FOREIGN) }
    const session = this.#find(request)
    return session === null ? { kind: 'refused', answer: failed(ENDED) } : { kind: 'open', session }
  }

  /** Exchanges a key for a session. Each sign-in has halves of its own, whatever cookies came with it. */
  async #signIn(request: IncomingMessage): Promise<Answer> {
    const { headers } = request
    if (!isFromOwnPage(request)) return failed(FOREIGN)
    const check = await this.#keys.check(headers.authorization, CHECKED_MS_MAX)
    const key = keyIn(headers.authorization)
    if (check.kind !== 'operator') return check.answer
    if (key === undefined) return failed(ENDED)
    const place = { host: hostOf(headers), isTls: isPageTls(headers) }
    this.#end(request)
    const { id, pageToken } = this.#sessions.begin(key, place.host)
    return withCookie(json({ data: { page_token: pageToken } }), sessionCookie(id, place))
  }

  #signOut(request: IncomingMessage): Answer {
    if (!isFromOwnPage(request)) return failed(FOREIGN)
    if (!this.#end(request)) return failed(ENDED)
    const { headers } = request
    const place = { host: hostOf(headers), isTls: isPageTls(headers) }
    return withCookie(json({ data: { deleted: true } }), noSessionCookie(place))
  }

  /** Ends the session that the page had until now. @returns false when there was none */
  #end({ headers }: IncomingMessage): boolean {
    const pageToken = pageTokenIn(headers)
    return pageToken !== null && this.#sessions.end({ pageToken, host: hostOf(headers) })
  }

  #find({ headers }: IncomingMessage): OpenSession | null {
    const pageToken = pageTokenIn(headers)
    if (pageToken === null) return null
    const host = hostOf(headers)
    for (const id of sessionIdsIn(headers, host)) {
      const session = this.#sessions.open({ id, pageToken, host })
      if (session !== null) return session
    }
    return null
  }
}

/** Null when the page sent none, or a text that cannot be one. */
function pageTokenIn(headers: IncomingHttpHeaders): string | null {
  const pageToken = String(headers[PAGE_TOKEN_HEADER] ?? '')
  return isSecretShaped(pageToken) ? pageToken : null
}

function withCookie(answer: Answer, cookie: string): Answer {
  return { ...answer, headers: { ...answer.headers, 'set-cookie': cookie } }
}
