/** A destination that must not be reached, and what its name resolves to where it is one. */
export interface Hostile {
  readonly what: string
  readonly host: string
  /** Undefined = that of the trap. */
  readonly port?: number
  readonly resolves?: readonly string[]
}

/** Addresses that nobody may get to through us, by what they are. */
const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1', '127.0.0.53', '127.1.2.3', '127.255.255.254', '::1'],
  'this network': ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::'],
  private: ['10.0.0.1', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.255.254'],
  'link-local and metadata': ['169.254.0.1', '169.254.169.254', '169.254.170.2', 'fe80::1', 'fe80::a9fe:a9fe', 'fd00:ec2::254'],
  'carrier-grade NAT': ['100.64.0.1', '100.100.100.200', '100.127.255.255'],
  'the host of a virtual machine': ['168.63.129.16'],
  'documentation and benchmarking': ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '198.19.255.255', '2001:db8::1',
  '3fff::1', '2001:2::1'],
  'protocol assignments': ['192.0.0.1', '192.0.0.170', '192.88.99.1', '192.31.196.1', '192.52.193.1', '192.175.48.1',
  '2001:20::1', '5f00::1', '100::1'],
  'multicast, reserved and broadcast': ['224.0.0.1', '239.255.255.250', '240.0.0.1', '255.255.255.255', 'ff02::1', 'ff05::1:3'],
  'unique local and site local': ['fc00::1', 'fd12:3456:789a::1', 'fec0::1'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::a9fe:a9fe', '64:ff9b:1::7f00:1', '64:ff9b:1:ffff::a00:1'],
  '6to4': ['2002:7f00:1::1', '2002:a00:1::', '2002:a9fe:a9fe::1'],
  Teredo: ['2001:0:7f00:1::', '2001::a9fe:a9fe'],
  'IPv4 in IPv6': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::ffff:0:7f00:1', '::127.0.0.1', '::7f00:1'],
}

/** Other ways of writing 127.0.0.1 and 169.254.169.254; system resolvers take many of them. */
const DISGUISED = [
  '2130706433', '0x7f000001', '0x7F000001', '0x7f.1', '0x7f.0.0.1', '017700000001', '0177.0.0.1', '0177.1', '127.1', '127.0.1', '127.000.000.001',
  '0', '0x0', '00', '127.0.0.01', '0127.0.0.1', '127.0.0.1.', '127.0.0.0x1', '127.0.0.1.0x', '4294967295', '4294967296', '2852039166', '0xa9fea9fe',
  '169.254.43518', '１２７.0.0.1', '127。0。0。1', '①②⑦.0.0.1', '%31%32%37.0.0.1', '127.0.0.1%00', '127.0.0.1\0', ' 127.0.0.1', '127.0.0.1 ', '127.0.0.1\t',
  '[127.0.0.1]', '[::1', '::1', '::1]', '[::1%lo]', '[::1%251]', '[0:0:0:0:0:0:0:1]', '[0000::1]', '[::0001]',
  '[::FFFF:127.0.0.1]', '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]', '[64:ff9b::127.0.0.1]', '[::127.0.0.1]', '[::]:1', '[::1].example', '[[::1]]', '[]', '[v1.x]',
]

/** Hosts that a careless parser would take apart in another way than we do. */
const TRICKS = [
  '', '.', '..', 'localhost.', 'LOCALHOST', 'Good.example', 'good.example.', 'good..example', '.good.example', 'user@127.0.0.1',
  'good.example@127.0.0.1',
  'user:password@good.example', '127.0.0.1#@good.example', '127.0.0.1?@good.example', 'good.example\\@127.0.0.1',
  'good.example/../127.0.0.1', 'good.example:22',
  'good.example:80@127.0.0.1', 'https://127.0.0.1', '//127.0.0.1', 'good.example\r\nhost: x', 'good.example\0.trap', '*.example',
  '*', 'good_host.example', '-good.example',
  'good-.example', 'göod.example', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'localh\u00adost', 'xn--1.example', 'xn--a.example', 'xn--.example',
  'good.example\u2024trap', '\u202egood.example', `${'a'.repeat(64)}.example`,
  `${'a.'.repeat(127)}a`, '127.0.0.1,good.example',
  'good.example;127.0.0.1', '{127.0.0.1}', '127.0.0.1|good', '$HOME.example', 'unix:/run/docker.sock', 'file:///etc/passwd',
]

/** Names that are well-formed, and where they lead. */
const NAMES: readonly Hostile[] = [
  { what: 'a name of this machine', host: 'localhost', resolves: ['127.0.0.1', '::1'] },
  { what: 'a name below it', host: 'a.localhost', resolves: ['127.0.0.1'] },
  { what: 'the name of a metadata service', host: 'metadata.google.internal', resolves: ['169.254.169.254'] },
  { what: 'a name that spells an address', host: '127.0.0.1.nip.example', resolves: ['127.0.0.1'] },
  { what: 'punycode', host: 'xn--gd-fka.example', resolves: ['127.0.0.1'] },
  { what: 'mixed answers, the public one first', host: 'mixed.example', resolves: ['93.184.216.34', '127.0.0.1'] },
  { what: 'mixed answers, the private one first', host: 'mixed-too.example', resolves: ['10.0.0.1', '93.184.216.34'] },
  { what: 'one of ten that is not public', host: 'tenth.example', resolves: [...Array.from({ length: 9 }, (_, nth) => `93.184.216.${nth + 1}`), '::1'] },
  { what: 'an answer that is no address', host: 'nonsense.example', resolves: ['trap.example'] },
  { what: 'an answer with a zone', host: 'zone.example', resolves: ['fe80::1%lo'] },
  { what: 'an empty address', host: 'empty.example', resolves: [''] },
]

const PORTS = [0, -1, 1, 21, 22, 23, 25, 53, 80, 110, 143, 445, 444, 1023, 2375, 3306, 5432, 6379, 9200, 10250, 11211, 27017, 65536, 1e9, 443.5, NaN, Infinity]

/** Every one of them, each address both named by the caller and as the answer for a name. */
export function hostileDestinations(): readonly Hostile[] {
  const addresses = Object.entries(ADDRESSES).flatMap(([what, list]) => list.map((address) => ({ what, address })))
  return [
    ...addresses.map(({ what, address }) => ({ what, host: address.includes(':') ? `[${address}]` : address })),
    ...addresses.map(({ what, address }, nth) => ({ what: `${what}, by name`, host: `n${nth}.example`, resolves: [address] })),
    ...DISGUISED.map((host) => ({ what: 'an address in disguise', host })),
    ...TRICKS.map((host) => ({ what: 'a trick', host })),
    ...NAMES,
    ...PORTS.map((port) => ({ what: 'an odd port', host: 'good.example', port })),
  ]
}
