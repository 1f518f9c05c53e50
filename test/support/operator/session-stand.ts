/** The admin port, and what a browser sends to it that has the dashboard open. */
import { Sessions } from '../../../src/server/supervisor/admin-port/sessions.ts'
import type { Teardown } from '../teardown.ts'
import { adminStand, OPERATOR_KEY, publicStand, type Asked, type PublicStand } from './admin-port.ts'
import { echo } from './relay-stand.ts'

/** The halves of a session as a browser sends them. */
export interface Halves {
  /** `name=value`. */
  readonly cookie: string
  readonly pageToken: string
}

/** What a browser has of a session. */
export interface Browsing extends Halves {
  /** The whole header that set the cookie. */
  readonly setCookie: string
}

/** Headers besides those that a browser sends for the dashboard's page; an empty text leaves one out. */
export type SentHeaders = Readonly<Record<string, string>>

export interface SessionStand {
  readonly front: PublicStand
  readonly port: number
  /** `127.0.0.1:<port>`, as a browser sends it. */
  readonly host: string
  readonly sessions: Sessions
  /** Lets time pass on the clock of the sessions. */
  pass(milliseconds: number): void
  /** Any request of the dashboard's page. */
  send(method: string, path: string, headers: SentHeaders): Promise<Asked>
  /** Asks for a session, by the operator's key unless the headers say otherwise. */
  askForSession(headers?: SentHeaders): Promise<Asked>
  /** What a browser has after it was given a session. */
  signIn(headers?: SentHeaders): Promise<Browsing>
  signOut(browsing: Halves, headers?: SentHeaders): Promise<Asked>
  /** A read of the API by the dashboard's page: `GET keys`. */
  read(browsing: Halves, headers?: SentHeaders): Promise<Asked>
  /** A change by the dashboard's page: `POST keys`. */
  change(browsing: Halves, headers?: SentHeaders): Promise<Asked>
}

export async function sessionStand(t: Teardown): Promise<SessionStand> {
  let nowMs = 0
  const sessions = new Sessions(() => nowMs)
  const front: PublicStand = await publicStand(t, (request, response) => {
    if (!front.isRevoked) return echo(request, response)
    response.writeHead(REFUSED_STATUS).end()
  })
  const { port, ask } = await adminStand(t, front.port, { sessions })
  const host = `127.0.0.1:${port}`
  const send: SessionStand['send'] = (method, path, headers) => {
    const isRead = method === 'GET' || method === 'HEAD'
    const all = {
      'sec-fetch-site': 'same-origin',
      ...(isRead ? {} : { origin: `http://${host}` }),
      ...headers,
    }
    return ask(path, {
      method,
      headers: Object.fromEntries(Object.entries(all).filter(([, value]) => value !== '')),
    })
  }
  const askForSession: SessionStand['askForSession'] = (headers = {}) =>
    send('POST', '/dashboard/session', { authorization: `Bearer ${OPERATOR_KEY}`, ...headers })
  return {
    front,
    port,
    host,
    sessions,
    pass: (milliseconds) => void (nowMs += milliseconds),
    send,
    askForSession,
    async signIn(headers = {}) {
      const { status, headers: given, body } = await askForSession(headers)
      if (status !== 200) throw new Error(`no session: ${status} ${body.toString()}`)
      const [setCookie = ''] = given['set-cookie'] ?? []
      const { data } = JSON.parse(body.toString()) as { data: { page_token: string } }
      return { setCookie, cookie: setCookie.split(';', 1)[0] ?? '', pageToken: data.page_token }
    },
    signOut: (browsing, headers = {}) =>
      send('DELETE', '/dashboard/session', { ...headersOf(browsing), ...headers }),
    read: (browsing, headers = {}) => send('GET', KEYS_PATH, { ...headersOf(browsing), ...headers }),
    change: (browsing, headers = {}) => send('POST', KEYS_PATH, { ...headersOf(browsing), ...headers }),
  }
}

/** Of a front that knows of a revocation before the admin port does. */
const REFUSED_STATUS = 401
const KEYS_PATH = '/dashboard/api/v1/keys'

/** The headers of both halves. */
export function headersOf({ cookie, pageToken }: Halves): SentHeaders {
  return { cookie, 'x-sluice-page-token': pageToken }
}

/** Requests that reached the public port besides checks of keys. */
export function relayedTo({ asked }: PublicStand): readonly string[] {
  return asked.filter((one) => !one.endsWith('/admin/session'))
}
