import fc from 'fast-check'
import t from 'tap'
import { normalHost, normalHosts } from '../../src/schemas/egress/hosts.ts'
import {
  HOST_CHARS_MAX,
  HOST_LABEL_CHARS_MAX,
  HOST_NORMALIZED_CHARS_MAX,
} from '../../src/schemas/vault/vault-limits.ts'
import { ISSUES_MAX } from '../../src/schemas/limits/limits.ts'
import { NEAR_MISSES, REFUSED_HOSTS, SAME_HOSTS } from '../support/egress/near-hosts.ts'

t.test('a host is lower-cased and loses one trailing dot', async (t) => {
  for (const text of SAME_HOSTS) t.equal(normalHost(text), 'api.example.com', text)
})

t.test(
  'refuses schemes, ports, paths, wildcards, user info, addresses, other scripts and empty labels',
  async (t) => {
    for (const text of REFUSED_HOSTS) t.equal(normalHost(text), null, JSON.stringify(text))
  },
)

t.test('a near miss is never normalized to the host that it resembles', async (t) => {
  t.same(
    NEAR_MISSES.filter((text) => normalHost(text) === 'api.example.com'),
    [],
  )
  t.ok(NEAR_MISSES.length >= 60, `${NEAR_MISSES.length} near misses`)
})

t.test('a host has at most 253 characters without its trailing dot, and labels of at most 63', async (t) => {
  const label = 'a'.repeat(HOST_LABEL_CHARS_MAX)
  const longest = [
    label,
    label,
    label,
    'a'.repeat(HOST_NORMALIZED_CHARS_MAX - 3 * (HOST_LABEL_CHARS_MAX + 1)),
  ].join('.')
  t.equal(longest.length, HOST_NORMALIZED_CHARS_MAX)
  t.equal(normalHost(longest), longest)
  t.equal(normalHost(`${longest}.`), longest, `${HOST_CHARS_MAX} characters with the dot`)
  t.equal(normalHost(`${longest}a`), null)
  t.equal(normalHost(`${longest}a.`), null)
  t.equal(normalHost(`${label}a.com`), null)
})

t.test('duplicates are merged after normalization, and the result is sorted', async (t) => {
  const { hosts } = normalHosts(['b.example', 'A.example', 'a.example.', 'B.EXAMPLE'], '/hosts')
  t.same(hosts, ['a.example', 'b.example'])
})

t.test('an issue names the position of a host, never its text', async (t) => {
  const { issues } = normalHosts(['good.example', 'https://hidden.example'], '/hosts')
  t.match(issues, [{ path: '/hosts/1', message: 'has a scheme' }])
  t.notMatch(JSON.stringify(issues), 'hidden')
  t.equal(
    normalHosts(
      Array.from({ length: 2 * ISSUES_MAX }, () => '*'),
      '/hosts',
    ).issues?.length,
    ISSUES_MAX,
  )
})

t.test('normalizing is idempotent, and the URL parser leaves a normalized host unchanged', async (t) => {
  const label = fc.stringMatching(/^[A-Za-z0-9-]{1,8}$/)
  const text = fc.oneof(
    fc.string(),
    fc.array(label, { minLength: 1, maxLength: 5 }).map((labels) => labels.join('.')),
  )
  fc.assert(
    fc.property(text, (given) => {
      const host = normalHost(given)
      if (host === null) return
      t.equal(normalHost(host), host)
      // A punycode label that does not decode is a name that no URL takes; equality is all that counts.
      if (!host.includes('xn--')) t.equal(new URL(`https://${host}/`).hostname, host)
    }),
    { numRuns: 500 },
  )
})
