import t from 'tap'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { Provider } from '../../../src/server/ports/models/models.ts'
import { ProviderLink } from '../../../src/server/upstream/link.ts'
import { headerOf } from '../../../src/server/upstream/credential.ts'
import { callerBy } from '../../support/keys/callers.ts'
import { startProvider } from '../../support/embeddings/provider.ts'

for (const [credentialHeader, header, before] of [
  [headerOf('openai'), 'authorization', 'Bearer '],
  [headerOf('google'), 'x-goog-api-key', ''],
] as const) {
  t.test(`a key is sent in ${header}, and is redacted as it was set, whatever it begins with`, async (t) => {
    const server = await startProvider()
    const egress = openEgress()
    t.teardown(() => Promise.all([egress.close(), server.close()]))
    const provider: Provider = {
      slug: 'p',
      name: 'P',
      protocol: 'openai',
      baseUrl: `${server.origin}/v1`,
      apiKeyEnv: 'K',
      timeoutMs: 1,
      rename: {},
      video: null,
    }
    const key = 'Bearer of news'
    const link = new ProviderLink(provider, { origin: egress.trusted(server.origin), key, credentialHeader })
    t.same(link.redacted, { credential: key, others: [], host: '127.0.0.1' })
    const attempt = { endsAt: performance.now() + 20_000, call: new AbortController(), caller: callerBy('k') }
    await link.post('/embeddings', '{"input":"x"}', attempt)
    t.equal(server.calls[0]?.headers[header], before + key)
  })
}
