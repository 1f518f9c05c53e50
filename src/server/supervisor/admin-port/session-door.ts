import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { DASHBOARD_PATH, PAGE_TOKEN_HEADER } from '../../../schemas/api-prefix.ts'
import { failed, json, type Answer } from './answers.ts'
import { keyIn, type OperatorKeys } from './operator-keys.ts'
import type { OpenSession, Sessions } from './sessions.ts'

/** The session of a page's request, or the response for a request that may not pass. */
export type Entered =
  | { readonly kind: 'open'; readonly session: OpenSession }
  | { readonly kind: 'refused'; readonly answer: Answer }

const FOREIGN = { name: 'page_foreign' } as const
const ENDED = { name: 'session_ended' } as const
/** Greatest age of a key's check in milliseconds when the key must be checked anew, as at a sign-in. */
export const CHECKED_MS_MAX = -1

/**
 * Where the dashboard signs in and out, and shows who is signed in. A request passes when it comes from the
 * dashboard's own page and carries both halves of one session.
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

  /** Exchanges a key for a session. Each sign-in gets new halves, whatever cookies the request has. */
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

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * True unless the headers of a browser show that a page other than the dashboard at this very address made the request.
 * A page of another port of the same host is another page. A browser sends `Origin` with every request except reads;
 * another request without it does not come from a page.
 */
function isFromOwnPage({ method = '', headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  const { origin, 'sec-fetch-site': site = 'same-origin' } = headers
  if (site !== 'same-origin') return false
  if (origin === undefined) return READS.has(method)
  return originOf(origin)?.host === hostOf(headers)
}

/** Whether the page of the request was loaded over TLS. */
function isPageTls({ origin = '' }: IncomingMessage['headers']): boolean {
  return originOf(origin)?.protocol === 'https:'
}

/** The host that the request was sent to, in lower case, with its port. */
function hostOf({ host = '' }: IncomingMessage['headers']): string {
  return host.toLowerCase()
}

/** Null for a text that is no origin, such as `null`. */
function originOf(text: string): URL | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  return url.origin === text.toLowerCase() ? url : null
}

/** The address that a browser sees. */
interface SessionPlace {
  /** In lower case, with its port. */
  readonly host: string
  /** Whether the browser uses TLS, through a proxy in front of the port. */
  readonly isTls: boolean
}

const SECRET_SHAPE = /^[A-Za-z0-9_-]{43}$/
const PORT = /:(\d{1,5})$/

/**
 * The cookie with the id of a session. Scripts cannot read it, other sites cannot make the browser send it, and it is
 * sent only to the dashboard's paths. It ends with the browser; the node ends the session earlier.
 */
function sessionCookie(id: string, place: SessionPlace): string {
  return `${nameAt(place.host)}=${id}; ${attributesOf(place)}`
}

/** Makes the browser forget the cookie. */
function noSessionCookie(place: SessionPlace): string {
  return `${nameAt(place.host)}=; ${attributesOf(place)}; Max-Age=0`
}

/**
 * Ids of sessions in the cookies of a request. There may be several: a browser sends the cookies of a host to each of
 * its ports, and any service of that host can set one with another path. All of them are tried; the maximum size of a
 * request's head limits their number.
 */
function sessionIdsIn({ cookie = '' }: IncomingHttpHeaders, host: string): readonly string[] {
  const name = nameAt(host)
  return cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
    .filter(isSecretShaped)
}

/** False for a text that cannot be half of a session. */
function isSecretShaped(text: string): boolean {
  return SECRET_SHAPE.test(text)
}

/**
 * The name contains the port, since browsers ignore ports when they match cookies: two nodes or tunnels on one machine
 * would overwrite each other's cookies.
 */
function nameAt(host: string): string {
  const port = PORT.exec(host)?.[1]
  return port === undefined ? 'sluice-session' : `sluice-session-${port}`
}

function attributesOf({ isTls }: SessionPlace): string {
  return `Path=${DASHBOARD_PATH}; HttpOnly; SameSite=Strict${isTls ? '; Secure' : ''}`
}
