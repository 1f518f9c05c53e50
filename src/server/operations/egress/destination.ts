import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Destination } from '../../ports/egress/egress.ts'

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:@[\]%\\]+)(?::(\d{1,5}))?$/

/**
 * The destination of a request: the host, or host and port, of its path. The gate decides which destinations
 * are allowed. Failure: destination_refused.
 */
export function destinationOf(authority: string): Outcome<Destination> {
  const [, name, port] = AUTHORITY.exec(authority.toLowerCase()) ?? []
  if (name === undefined)
    return fail('destination_refused', { detail: 'The destination is not `host` or `host:port`.' })
  const host = name.endsWith('.') ? name.slice(0, -1) : name
  return ok({ host, port: port === undefined ? null : Number(port), purpose: 'caller' })
}
