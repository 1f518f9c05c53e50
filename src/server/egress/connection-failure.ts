import { fail, type Failure } from '../../schemas/failures.ts'
import { GateBusy, NameUnresolved } from './lookups.ts'
import { DestinationRefused, refusal } from './vetting.ts'

/**
 * The failure for an error of a connection or a request.
 * @param isSent whether the request had a connection
 */
export function failureOf(cause: unknown, isSent: boolean): Failure {
  if (cause instanceof DestinationRefused) return refusal('address', cause)
  if (cause instanceof GateBusy) return { name: 'busy', cause }
  return fail('upstream_failed', { detail: detailOf(cause, isSent), cause }).failure
}

function detailOf(cause: unknown, isSent: boolean): string {
  if (isSent) return 'The connection to it broke.'
  if (cause instanceof NameUnresolved) return 'Its name does not resolve.'
  if (CERTIFICATE.test(codeOf(cause))) return 'Its certificate was refused.'
  return 'It could not be reached.'
}

/** Codes of OpenSSL's verification and of Node's check of the name. */
const CERTIFICATE = /CERT|_VERIFY_|SELF_SIGNED|ISSUER|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE/

export function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}
