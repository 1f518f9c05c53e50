import { readFileSync } from 'node:fs'
import t from 'tap'
import {
  hostFormOf,
  isPortAllowed,
  parseAllowEntry,
  REFUSED_PORTS,
} from '../../src/schemas/egress/destinations.ts'

t.test('allows port 443 and the ports from 1024 on, except the refused ones', async (t) => {
  const allowed = Array.from({ length: 65_537 }, (_, port) => port).filter(isPortAllowed)
  const refused = Object.keys(REFUSED_PORTS).map(Number)
  t.equal(allowed.length, 1 + 65_536 - 1_024 - refused.length)
  t.ok(refused.every((port) => port >= 1_024 && !isPortAllowed(port)))
  t.same([443, 444, 1_023, 1_024, 8_443, 65_535, 65_536, 443.5, -443].map(isPortAllowed), [
    true,
    false,
    false,
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})

t.test('the page on destinations names every refused port with the service that uses it', async (t) => {
  const page = readFileSync('docs/operate/destinations.md', 'utf8').replaceAll('\n', ' ')
  for (const [port, what] of Object.entries(REFUSED_PORTS)) {
    t.match(page, new RegExp(`[ (]${port}(, \\d+)* \\(${what}\\)`), `${port} ${what}`)
  }
})

t.test('names and addresses are accepted only in their canonical form', async (t) => {
  const good = {
    'good.example': 'name',
    localhost: 'name',
    'a-b.c1': 'name',
    '1a.example': 'name',
    '127.0.0.1.example': 'name',
    'xn--bcher-kva.example': 'name',
    [`${'a'.repeat(63)}.example`]: 'name',
    '8.8.8.8': 'ipv4',
    '0.0.0.0': 'ipv4',
    '[2606:4700::1111]': 'ipv6',
    '[::1]': 'ipv6',
  }
  for (const [host, form] of Object.entries(good)) t.equal(hostFormOf(host), form, host)
  for (const host of [
    '8.8.8.08',
    '8.8.8',
    '2606:4700::1111',
    '[2606:4700:0::1111]',
    '[::1',
    'A.example',
    'a.example.',
    'a.1',
    'a.0x1',
    '',
  ]) {
    t.equal(hostFormOf(host), null, host)
  }
})

t.test('an allow-list entry is a range, optionally with a port and plain HTTP', async (t) => {
  const entries = {
    '10.0.0.0/8': { isPlain: false, address: '10.0.0.0', bits: 8, port: null },
    '10.0.0.7': { isPlain: false, address: '10.0.0.7', bits: 32, port: null },
    'http:10.0.0.7:8000': { isPlain: true, address: '10.0.0.7', bits: 32, port: 8000 },
    'HTTP:10.0.0.0/8:8000': { isPlain: true, address: '10.0.0.0', bits: 8, port: 8000 },
    '0.0.0.0/0': { isPlain: false, address: '0.0.0.0', bits: 0, port: null },
    '::1': { isPlain: false, address: '::1', bits: 128, port: null },
    'fd00::/8': { isPlain: false, address: 'fd00::', bits: 8, port: null },
    '[fd00::/8]:8443': { isPlain: false, address: 'fd00::', bits: 8, port: 8443 },
    'http:[FD00::1]:8000': { isPlain: true, address: 'fd00::1', bits: 128, port: 8000 },
    'http:fd00::/8': { isPlain: true, address: 'fd00::', bits: 8, port: null },
  }
  for (const [text, entry] of Object.entries(entries)) t.same(parseAllowEntry(text), entry, text)
})

t.test('explains what is wrong with an entry', async (t) => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['10.0.0.7/8', /^10\.0\.0\.0\/8, the start of that range$/],
    ['[fd00::1/8]:443', /^fd00::\/8, the start/],
    ['10.0.0.0/33', /^at most \/32$/],
    ['fd00::/129', /^at most \/128$/],
    ['10.0.0.1:80', /^an allowed port/],
    ['10.0.0.1:6379', /^an allowed port/],
    ['10.0.0.1:0', /^an allowed port/],
    ['10.0.0.1:65536', /^an allowed port/],
    ...[
      '10.0.0',
      '10.0.0.01',
      '0x0a.0.0.1',
      '10.0.0.0/',
      '10.0.0.0/8:',
      'https:10.0.0.1',
      'http://10.0.0.1',
      'private.example',
      '*',
      '::ffff:10.0.0.1',
      '[fd00::1',
      'fd00::1]',
      '[10.0.0.1]:443',
      'fe80::1%eth0',
      '10.0.0.0-10.0.0.9',
      'http:',
      '',
    ].map((text) => [text, /^a comma-separated list of/] as const),
  ]
  for (const [text, stated] of wrong) t.match(parseAllowEntry(text), stated, text)
})
