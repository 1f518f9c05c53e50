import { fail, type Failure } from '../../schemas/failures.ts'
import { GateBusy, NameUnresolved } from './lookups.ts'
import { DestinationRefused, refusal } from './vetting.ts'

/**
 * The failure for an error of a connection or a request. Its detail and its field `connection` contain the
 * kind of error but no name and no address, since callers see both.
 * @param isSent whether the request had a connection
 */
export function failureOf(cause: unknown, isSent: boolean): Failure {
  if (cause instanceof DestinationRefused) return refusal('address', cause)
  if (cause instanceof GateBusy) return { name: 'busy', cause }
  const connection = cause instanceof NameUnresolved ? 'name' : kindOf(codeOf(cause), isSent)
  return fail('upstream_failed', { detail: DETAILS[connection], fields: { connection }, cause }).failure
}

const DETAILS = {
  name: 'The host name does not resolve.',
  refused: 'The server refused the connection.',
  certificate: "The server's certificate was refused.",
  tls: 'The TLS handshake with the server failed.',
  timeout: 'The connection to the server timed out.',
  unroutable: 'The network has no route to the server.',
  reset: 'The server reset the connection.',
  invalid: "The server's response was not valid HTTP.",
  closed: 'The server closed the connection before its answer was complete.',
  unreached: 'The server could not be reached.',
}
type ConnectionKind = keyof typeof DETAILS

/** Codes of the system, of OpenSSL and of the HTTP clients; the first row that matches decides. */
const KINDS: readonly (readonly [RegExp, ConnectionKind])[] = [
  [/^(ENOTFOUND$|ENODATA$|EAI_)/, 'name'],
  [/^ECONNREFUSED$/, 'refused'],
  // Errors of OpenSSL's verification and of Node's check of the name.
  [/CERT|_VERIFY_|SELF_SIGNED|ISSUER|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE/, 'certificate'],
  [/^(ERR_SSL_|ERR_TLS_|EPROTO$)/, 'tls'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, 'timeout'],
  [/^(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL)$/, 'unroutable'],
  [/^(ECONNRESET|EPIPE|ECONNABORTED)$/, 'reset'],
  [/^(HTTP_INVALID$|HPE_)/, 'invalid'],
]

function kindOf(code: string, isSent: boolean): ConnectionKind {
  const known = KINDS.find(([codes]) => codes.test(code))
  return known?.[1] ?? (isSent ? 'closed' : 'unreached')
}

export function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}
