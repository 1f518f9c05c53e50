import ipaddr from 'ipaddr.js'
import { normalHost } from './hosts.ts'

/**
 * Ports above 1023 that no destination of a caller may have, with the services that usually listen there:
 * services that treat any bytes as commands, and services that control a machine. Neither HTTPS nor the
 * allow-list opens them. docs/operate/destinations.md lists them.
 */
export const REFUSED_PORTS: Readonly<Record<number, string>> = {
  1080: 'SOCKS proxy',
  3128: 'HTTP proxy',
  2222: 'SSH, alternate',
  22222: 'SSH, alternate',
  3389: 'remote desktop',
  5900: 'VNC',
  5901: 'VNC',
  5985: 'WinRM',
  5986: 'WinRM',
  6000: 'X11',
  9100: 'printer',
  2525: 'alternate mail submission',
  4190: 'mail filters',
  6667: 'IRC',
  6697: 'IRC',
  1433: 'SQL Server',
  1434: 'SQL Server',
  1521: 'Oracle',
  3306: 'MySQL',
  33060: 'MySQL',
  5432: 'PostgreSQL',
  5433: 'PostgreSQL, alternate',
  6432: 'PgBouncer',
  26257: 'CockroachDB',
  50000: 'Db2',
  7000: 'Cassandra',
  9042: 'Cassandra',
  27017: 'MongoDB',
  27018: 'MongoDB',
  27019: 'MongoDB',
  5984: 'CouchDB',
  8086: 'InfluxDB',
  6379: 'Redis',
  6380: 'Redis over TLS',
  16379: 'Redis cluster bus',
  26379: 'Redis Sentinel',
  11211: 'memcached',
  9200: 'Elasticsearch',
  9300: 'Elasticsearch',
  2181: 'ZooKeeper',
  9092: 'Kafka',
  1883: 'MQTT',
  4369: 'Erlang',
  5671: 'AMQP',
  5672: 'AMQP',
  15672: 'RabbitMQ',
  2049: 'NFS',
  2375: 'Docker',
  2376: 'Docker',
  2377: 'Docker Swarm',
  2379: 'etcd',
  2380: 'etcd',
  6443: 'Kubernetes API',
  10250: 'kubelet',
  10255: 'kubelet',
  10256: 'kube-proxy',
  8200: 'Vault',
  8300: 'Consul',
  8500: 'Consul',
}

/** Allows 443, and 1024 to 65535 without REFUSED_PORTS. */
export function isPortAllowed(port: number): boolean {
  if (!Number.isInteger(port) || Object.hasOwn(REFUSED_PORTS, port)) return false
  return port === 443 || (port >= 1_024 && port <= 65_535)
}

export type HostForm = 'name' | 'ipv4' | 'ipv6'

/**
 * The kind of a host, if it is in the only spelling that all programs read alike; otherwise null. A name has
 * the form of a secret's host: lower case, without a trailing dot, and not ending in a number, since
 * resolvers read `127.1` and `0x7f000001` as addresses. An IPv4 address has four plain numbers. An IPv6
 * address is in brackets, as RFC 5952 writes it, without a zone.
 */
export function hostFormOf(host: string): HostForm | null {
  if (host.startsWith('[')) return isIpv6(host.slice(1, -1)) && host.endsWith(']') ? 'ipv6' : null
  if (ipaddr.IPv4.isValidFourPartDecimal(host)) return 'ipv4'
  return normalHost(host) === host && isPunycodeSound(host) ? 'name' : null
}

/** Rejects labels in punycode that cannot be decoded, or decode to a text that is encoded differently: URL parsers refuse them. */
function isPunycodeSound(host: string): boolean {
  return (
    !host.includes('xn--') ||
    (URL.canParse(`https://${host}`) && new URL(`https://${host}`).hostname === host)
  )
}

/** Addresses that the operator allows although they are not public. Design §9. */
export interface AllowEntry {
  /** True for plain HTTP. */
  readonly isPlain: boolean
  /** An address without brackets. */
  readonly address: string
  /** Number of leading bits of the address that are compared. */
  readonly bits: number
  /** Null: every port that is allowed for destinations. */
  readonly port: number | null
}

const ENTRY =
  /^(http:)?(?:\[([0-9a-f:.]+)(?:\/(\d{1,3}))?\]|([0-9a-f:]*:[0-9a-f:]*:[0-9a-f:.]*)(?:\/(\d{1,3}))?|([0-9.]+)(?:\/(\d{1,2}))?)(?::(\d{1,5}))?$/

/**
 * Parses one entry of SLUICE_EGRESS_ALLOW: `[http:]CIDR[:port]`. A CIDR is an address with or without
 * `/bits`. An IPv6 CIDR with a port is in brackets: `10.0.0.0/8`, `http:10.0.0.7:8000`, `[fd00::/8]:8443`.
 * @returns the entry, or the grammar, to be read after "expected"
 */
export function parseAllowEntry(text: string): AllowEntry | string {
  const [, plain, bracketed, bracketedBits, ipv6, ipv6Bits, ipv4, ipv4Bits, port] =
    ENTRY.exec(text.toLowerCase()) ?? []
  const address = bracketed ?? ipv6 ?? ipv4 ?? ''
  const isV4 = ipv4 !== undefined
  if (isV4 ? !ipaddr.IPv4.isValidFourPartDecimal(address) : !isIpv6(address)) return GRAMMAR
  const most = isV4 ? 32 : 128
  const bits = Number(bracketedBits ?? ipv6Bits ?? ipv4Bits ?? most)
  if (bits > most) return `at most /${most}`
  const first = (isV4 ? ipaddr.IPv4 : ipaddr.IPv6).networkAddressFromCIDR(`${address}/${bits}`).toString()
  if (first !== address) return `${first}/${bits}, the start of that range`
  if (port !== undefined && !isPortAllowed(Number(port)))
    return 'an allowed port: 443, or 1024 to 65535 except forbidden ports'
  return { isPlain: plain !== undefined, address, bits, port: port === undefined ? null : Number(port) }
}

const GRAMMAR =
  'a comma-separated list of [http:]CIDR[:port]: 10.0.0.0/8, http:10.0.0.7:8000, [fd00::/8]:8443'

/** Accepts the spelling of RFC 5952, but no IPv4 address in IPv6 form. */
function isIpv6(text: string): boolean {
  if (!/^[0-9a-f:]+$/.test(text) || !ipaddr.IPv6.isValid(text)) return false
  const address = ipaddr.IPv6.parse(text)
  return address.toRFC5952String() === text && !address.isIPv4MappedAddress()
}
