import ipaddr from 'ipaddr.js'

/**
 * `never`: the operator's allow-list cannot admit the address. This covers the unspecified and the broadcast
 * address, multicast, and IPv4 addresses inside IPv6 ones, for which an IPv4 allow-list would not be
 * consulted.
 */
export type Standing = 'public' | 'private' | 'never'

const NEVER: ReadonlySet<string> = new Set(['unspecified', 'broadcast', 'multicast', 'ipv4Mapped', 'rfc6145'])

/** The host of a virtual machine on Azure: `ipaddr.js` takes the address for an ordinary public one. */
const AZURE_HOST = '168.63.129.16'
/** All IPv6 addresses assigned so far. */
const GLOBAL = ipaddr.IPv6.parseCIDR('2000::/3')
/** Ranges of GLOBAL that contain other addresses (6to4, Teredo, NAT64) or are for documentation. */
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

/** The canonical text of an address, for comparisons; null when the text is not an address. */
export function canonical(address: string): string | null {
  return ipaddr.isValid(address) ? ipaddr.parse(address).toString() : null
}
