import t from 'tap'
import { isProxyRange, ProxyList } from '../../../src/schemas/values/proxies.ts'

const bytes = (...of: readonly number[]): ArrayBuffer => new Uint8Array(of).buffer
const mapped = (...of: readonly number[]): ArrayBuffer => bytes(...Array<number>(10).fill(0), 255, 255, ...of)

t.test('a peer is matched by address or range, also for an IPv4 address mapped to IPv6', async (t) => {
  const list = new ProxyList(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])
  t.equal(list.has(bytes(10, 1, 2, 3)), true)
  t.equal(list.has(mapped(10, 1, 2, 3)), true)
  t.equal(list.has(bytes(192, 0, 2, 7)), true)
  t.equal(list.has(bytes(192, 0, 2, 8)), false)
  t.equal(list.has(bytes(0x20, 0x01, 0x0d, 0xb8, ...Array<number>(12).fill(1))), true)
  t.equal(list.has(bytes(...Array<number>(16).fill(1))), false)
  t.equal(list.has(bytes()), false, 'a peer that is gone')
  t.equal(new ProxyList([]).isEmpty, true)
})

t.test('an entry is an address or a CIDR range', async (t) => {
  for (const good of ['10.0.0.0/8', '10.1.2.3', '::1', '2001:db8::/32'])
    t.equal(isProxyRange(good), true, good)
  for (const bad of ['10.0.0.0/33', '10.1', '::1/129', 'proxy', '10.0.0.0/8/8', '10.0.0.0/', ''])
    t.equal(isProxyRange(bad), false, bad)
})
