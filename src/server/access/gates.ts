import { fail, type Failure } from '../../schemas/failures.ts'
import type { AnyOperation } from '../operations/define.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'

/** Tells whether a request came to a hostname that promises its callers a region. */
export interface RegionalHosts {
  /** @param host the request's `Host` as the client sent it */
  has(host: string): boolean
}

/** @param names lower case, without a trailing dot */
export function regionalHosts(names: readonly string[]): RegionalHosts {
  const known = new Set(names)
  return { has: (host) => known.size > 0 && known.has(nameOf(host)) }
}

/**
 * The refusal by facts of the workspace and of the hostname, in the contract's order: outside of the programme
 * the caller learns nothing of further refusals. Null: the check of the operation's scope follows. §4.4, §5,
 * B1.4, B1.7.
 */
export function placeRefusal(
  { access }: AnyOperation,
  key: KeyRecord,
  call: { readonly isRegional: boolean },
): Failure | null {
  if (access.isOfProgramme === true && !key.isInProgramme) return PROGRAMME_CLOSED
  return access.refusesRegional === true && call.isRegional ? REGIONAL_REFUSED : null
}

/**
 * Runs after the check of the scope: a key that may not see a vault is not told that the vault is closed for
 * writes. B1.4.
 */
export function writesRefusal({ access }: AnyOperation, key: KeyRecord): Failure | null {
  return access.writesVault === true && !key.mayWriteVault ? WRITES_DISABLED : null
}

const PROGRAMME_CLOSED = fail('programme_closed').failure
const REGIONAL_REFUSED = fail('regional_refused').failure
const WRITES_DISABLED = fail('vault_writes_disabled').failure

/**
 * The name in a `Host` header: without port and without the dot that ends an absolute name, in lower case.
 */
function nameOf(host: string): string {
  return host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase()
}
