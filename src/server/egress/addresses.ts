import ipaddr from 'ipaddr.js'

/**
 * `never` may not even be admitted by the operator: nobody's address, everybody's, and IPv4 in disguise,
 * which an allow-list for IPv4 would not be asked about.
 */
export type Standing = 'public' | 'private' | 'never'

const NEVER: ReadonlySet<string> = new Set(['unspecified', 'broadcast', 'multicast', 'ipv4Mapped', 'rfc6145'])

/**
 * Of the addresses that `ipaddr.js` calls ordinary these are not what they seem: the host of a virtual
 * machine on Azure answers at an address that looks public, and all that IPv6 has given out lies below
 * 2000::/3, less what carries other addresses inside (6to4, Teredo, NAT64) or belongs to documents.
 */
const AZURE_HOST = '168.63.129.16'
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')
const NOT_GLOBAL = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map((range) =>
  ipaddr.IPv6.parseCIDR(range),
)

/** @param address as resolvers and sockets write it */
export function standingOf(address: string): Standing {
  if (!ipaddr.isValid(address)) return 'never'
  const parsed = ipaddr.parse(address)
  const range = parsed.range()
  if (NEVER.has(range)) return 'never'
  if (range !== 'unicast') return 'private'
  if (parsed instanceof ipaddr.IPv4) return address === AZURE_HOST ? 'private' : 'public'
  const isGlobal = parsed.match(GLOBAL) && !NOT_GLOBAL.some((other) => parsed.match(other))
  return isGlobal ? 'public' : 'private'
}

/** One way of writing each address, so that two can be compared; null for what is none. */
export function canonical(address: string): string | null {
  return ipaddr.isValid(address) ? ipaddr.parse(address).toString() : null
}
