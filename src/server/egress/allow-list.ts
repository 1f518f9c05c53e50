import ipaddr from 'ipaddr.js'
import { parseAllowEntry, type AllowEntry } from '../../schemas/egress/destinations.ts'
import type { Destination } from '../ports/egress/egress.ts'

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
