import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import { parseAllowEntry, type AllowEntry } from '../../schemas/egress/destinations.ts'
import type { Destination } from '../ports/egress/egress.ts'

/**
 * `never`: the operator's allow-list cannot admit the address. This covers the unspecified and the broadcast
 * address, multicast, and IPv4 addresses inside IPv6 ones, for which an IPv4 allow-list would not be
 * consulted.
 */
export type Standing = 'public' | 'private' | 'never'

const NEVER: ReadonlySet<string> = new Set(['unspecified', 'broadcast', 'multicast', 'ipv4Mapped', 'rfc6145'])

/** The address of the host of a virtual machine on Azure, which `ipaddr.js` treats as an ordinary public address. */
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

/**
 * Ports to which the gate never connects: the node's own on this machine, and those of the stores and of all
 * admin ports on any address that is not public. The addresses of other nodes are unknown, since their
 * operators assign them and networks translate them.
 */
export interface OwnPorts {
  readonly node: readonly number[]
  readonly stores: readonly number[]
  /** Admin ports of the installation's nodes, including this node. */
  readonly admin: () => ReadonlySet<number>
}

/**
 * True for the node's own listeners, the installation's stores and its admin ports. No entry of the allow-list
 * opens them: otherwise a caller could reach the admin port and the tables. The node's listening address does
 * not matter: it owns its port on each address of the machine.
 */
export function isOurs(address: string, port: number, own: OwnPorts): boolean {
  if (own.stores.includes(port) || own.admin().has(port)) return true
  return own.node.includes(port) && isThisMachine(address)
}

/** Not cached, since interfaces change; called only for connections to such a port. */
function isThisMachine(address: string): boolean {
  if (address === '::1' || address.startsWith('127.')) return true
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return interfaces.some((one) => canonical(one.address.replace(/%.*$/, '')) === canonical(address))
}

interface Range {
  readonly entry: AllowEntry
  readonly first: ipaddr.IPv4 | ipaddr.IPv6
}

/** The parsed SLUICE_EGRESS_ALLOW: the addresses that are not public and that callers may reach, and how. Design §9. */
export class AllowList {
  readonly #ranges: readonly Range[]

  /** @param texts entries that were checked at the start; invalid entries are skipped */
  constructor(texts: readonly string[]) {
    const entries = texts.map(parseAllowEntry).filter((entry) => typeof entry !== 'string')
    this.#ranges = entries.map((entry) => ({ entry, first: ipaddr.parse(entry.address) }))
  }

  /**
   * The scheme for an address that is not public; null when no entry admits the address. When several
   * entries do, one with `http:` decides, except for callbacks, which never use plain HTTP.
   */
  schemeFor(address: string, port: number, purpose: Destination['purpose']): 'http' | 'https' | null {
    const parsed = ipaddr.parse(address)
    const admitting = this.#ranges.filter(
      ({ entry, first }) =>
        parsed.kind() === first.kind() && (entry.port ?? port) === port && parsed.match(first, entry.bits),
    )
    if (admitting.length === 0) return null
    return purpose !== 'callback' && admitting.some(({ entry }) => entry.isPlain) ? 'http' : 'https'
  }
}
