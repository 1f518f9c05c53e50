import ipaddr from 'ipaddr.js'

type Range = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

export function isProxyRange(text: string): boolean {
  return rangeOf(text) !== null
}

/** The proxies in SLUICE_PROXIES, which are trusted to report the scheme of a request. */
export class ProxyList {
  readonly #ranges: readonly Range[]

  /** @param texts entries that were checked at the start */
  constructor(texts: readonly string[]) {
    this.#ranges = texts.flatMap((text) => {
      const range = rangeOf(text)
      return range === null ? [] : [range]
    })
  }

  get isEmpty(): boolean {
    return this.#ranges.length === 0
  }

  /** @param bytes of the peer's address: 4 or 16, including IPv4 mapped into IPv6; empty: unknown */
  has(bytes: ArrayBuffer): boolean {
    if (bytes.byteLength !== 4 && bytes.byteLength !== 16) return false
    const parsed = ipaddr.fromByteArray([...new Uint8Array(bytes)])
    const peer =
      parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed
    return this.#ranges.some(([address, bits]) => peer.kind() === address.kind() && peer.match(address, bits))
  }
}

function rangeOf(text: string): Range | null {
  const [address = '', bits, ...more] = text.split('/')
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(address)
  if (more.length > 0 || !(isV4 || ipaddr.IPv6.isValid(address)) || address.includes('%')) return null
  const most = isV4 ? 32 : 128
  if (bits !== undefined && !(/^\d{1,3}$/.test(bits) && Number(bits) <= most)) return null
  return [ipaddr.parse(address), bits === undefined ? most : Number(bits)]
}
