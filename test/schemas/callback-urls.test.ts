import t from 'tap'
import { checkCallbackUrl } from '../../src/schemas/callback-urls.ts'
import { fail, ok, type Outcome } from '../../src/schemas/failures.ts'

/** @param looked what the name leads to */
async function said(url: string, looked: Outcome<null> = ok(null)): Promise<unknown> {
  const gate = {
    vetted: ({ port }: { readonly port: number | null }) => (port === 22 ? fail('destination_refused') : ok({ check: () => Promise.resolve(looked) })),
  }
  const checked = await checkCallbackUrl(url, '/callback_url', gate)
  return checked.ok ? 'accepted' : checked.failure.metadata?.issues?.[0]?.message
}

t.test('a refused address says which of its parts is wrong, and never the address', async (t) => {
  t.equal(await said('hooks.example/in'), 'is not a URL')
  t.equal(await said('https://hooks.example/\u00e9'), 'is not a URL')
  t.equal(await said('http://hooks.example/in?token=hush'), 'is not HTTPS')
  t.equal(await said('https:///hooks.example/in'), 'is not a URL')
  t.equal(await said('https://hooks.example\\@127.0.0.1/in'), 'is not a URL')
  t.equal(await said('https://user:hush@hooks.example/in'), 'carries credentials')
  t.equal(await said('https://hooks.example:22/in'), 'names a port or a host that is not allowed')
  t.equal(await said('https://hooks.example/in', fail('destination_refused')), 'leads to an address that is not allowed')
})

t.test('a name that cannot be looked up now is accepted: every delivery looks anew', async (t) => {
  t.equal(await said('https://hooks.example/in', fail('busy')), 'accepted')
  t.equal(await said('https://hooks.example:8443/in'), 'accepted')
})
