import type { IncomingHttpHeaders } from 'node:http'
import { DASHBOARD_PATH } from '../../../schemas/api-prefix.ts'

/** The address that a browser sees. */
export interface SessionPlace {
  /** In lower case, with its port. */
  readonly host: string
  /** Whether the browser reaches it over TLS, by a proxy in front of the port. */
  readonly isTls: boolean
}

const SECRET_SHAPE = /^[A-Za-z0-9_-]{43}$/
const PORT = /:(\d{1,5})$/

/**
 * The cookie with the id of a session: for no script, no request that another site causes, and no path but
 * the dashboard's. It ends with the browser; the node ends the session earlier.
 */
export function sessionCookie(id: string, place: SessionPlace): string {
  return `${nameAt(place.host)}=${id}; ${attributesOf(place)}`
}

/** Makes the browser forget the cookie. */
export function noSessionCookie(place: SessionPlace): string {
  return `${nameAt(place.host)}=; ${attributesOf(place)}; Max-Age=0`
}

/**
 * Ids of sessions in the cookies of a request. There may be several: a browser sends the cookies of a host to
 * each of its ports, and any service of that host can set one with another path. All of them are tried: the
 * size of a request's head is their bound.
 */
export function sessionIdsIn({ cookie = '' }: IncomingHttpHeaders, host: string): readonly string[] {
  const name = nameAt(host)
  return cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
    .filter(isSecretShaped)
}

/** False for a text that cannot be half of a session. */
export function isSecretShaped(text: string): boolean {
  return SECRET_SHAPE.test(text)
}

/**
 * The name has the port, which the rules of cookies ignore: two nodes of a machine, or two tunnels, would
 * overwrite each other's cookies.
 */
function nameAt(host: string): string {
  const port = PORT.exec(host)?.[1]
  return port === undefined ? 'sluice-session' : `sluice-session-${port}`
}

function attributesOf({ isTls }: SessionPlace): string {
  return `Path=${DASHBOARD_PATH}; HttpOnly; SameSite=Strict${isTls ? '; Secure' : ''}`
}
