import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { checkCallbackUrl } from '../../src/schemas/webhooks/callback-urls.ts'
import { fail, ok, type Outcome } from '../../src/schemas/failures.ts'
import { openEgress } from '../../src/server/egress/egress.ts'
import { LOOKUPS_MAX } from '../../src/server/egress/lookups.ts'

/** @param looked result of looking up the name */
async function text(url: string, looked: Outcome<null> = ok(null)): Promise<unknown> {
  const gate = {
    vetted: ({ port }: { readonly port: number | null }) =>
      port === 22 ? fail('destination_refused') : ok({ check: () => Promise.resolve(looked) }),
  }
  const checked = await checkCallbackUrl(url, { path: '/callback_url', gate, holder: null })
  return checked.ok ? 'accepted' : checked.failure.metadata?.issues?.[0]?.message
}

t.test('a refusal names the invalid part of the address, and never the address itself', async (t) => {
  t.equal(await text('hooks.example/in'), 'is not a URL')
  t.equal(await text('https://hooks.example/\u00e9'), 'is not a URL')
  t.equal(await text('http://hooks.example/in?token=hush'), 'is not HTTPS')
  t.equal(await text('https:///hooks.example/in'), 'is not a URL')
  t.equal(await text('https://hooks.example\\@127.0.0.1/in'), 'is not a URL')
  t.equal(await text('https://user:hush@hooks.example/in'), 'contains a user name or password')
  t.equal(await text('https://hooks.example:22/in'), 'has a port or a host that is not allowed')
  t.equal(
    await text('https://hooks.example/in', fail('destination_refused')),
    'resolves to an address that is not allowed',
  )
})

t.test('accepts a name that cannot be looked up now, because every delivery looks it up again', async (t) => {
  t.equal(await text('https://hooks.example/in', fail('busy')), 'accepted')
  t.equal(await text('https://hooks.example:8443/in'), 'accepted')
})

t.test('names that never resolve use up the lookups of their own workspace only', async (t) => {
  const asked: string[] = []
  const ends: (() => void)[] = []
  const gate = openEgress({
    resolve: (name) =>
      new Promise((resolve) => (asked.push(name), ends.push(() => resolve(['203.0.113.9'])))),
  })
  t.teardown(() => gate.close())
  const check = (host: string, holder: string) =>
    checkCallbackUrl(`https://${host}/in`, { path: '/callback_url', gate, holder })
  const slow = Array.from({ length: LOOKUPS_MAX }, (_, nth) => check(`slow-${nth}.example`, 'one'))
  const other = check('quick.example', 'two')
  t.same(asked, ['slow-0.example', 'slow-1.example', 'quick.example'])
  let isOver = false
  const all = Promise.all([...slow, other]).then(() => (isOver = true))
  while (!isOver) {
    ends.splice(0).forEach((end) => end())
    await nextTurn()
  }
  await all
})
