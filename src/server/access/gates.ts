import { fail, type Failure } from '../../schemas/failures.ts'
import type { AnyOperation } from '../operations/define.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'

/** Tells who asks on a hostname whose callers are promised a region. */
export interface RegionalHosts {
  /** @param host the request's `Host` as it was sent */
  has(host: string): boolean
}

/** @param names lower case, without a trailing dot */
export function regionalHosts(names: readonly string[]): RegionalHosts {
  const known = new Set(names)
  return { has: (host) => known.size > 0 && known.has(nameOf(host)) }
}

/**
 * What the facts of a workspace and of the hostname refuse, in the contract's order: outside of the programme
 * nobody learns that there is more to be refused. Null = go on to the operation's scope. §4.4, §5, B1.4,
 * B1.7.
 */
export function placeRefusal(
  { access }: AnyOperation,
  key: KeyRecord,
  isRegional: () => boolean,
): Failure | null {
  if (access.isOfProgramme === true && !key.isInProgramme) return PROGRAMME_CLOSED
  return access.refusesRegional === true && isRegional() ? REGIONAL_REFUSED : null
}

/** Asked behind the scope: what is not the key's to see is not said to be closed for writing. B1.4. */
export function writesRefusal({ access }: AnyOperation, key: KeyRecord): Failure | null {
  return access.writesVault === true && !key.mayWriteVault ? WRITES_DISABLED : null
}

const PROGRAMME_CLOSED = fail('programme_closed').failure
const REGIONAL_REFUSED = fail('regional_refused').failure
const WRITES_DISABLED = fail('vault_writes_disabled').failure

/** The name of a `Host` header: no port, no dot that ends an absolute name, lower case. */
function nameOf(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}
