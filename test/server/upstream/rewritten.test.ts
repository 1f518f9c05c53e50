import t, { type Test } from 'tap'
import { BulkBytes } from '../../../src/schemas/bodies.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import { createEmbedder } from '../../../src/server/upstream/embedder.ts'
import { openPools } from '../../../src/workers/pool.ts'
import { catalogueOf } from '../../support/catalogue.ts'
import { SILENT } from '../../support/log.ts'
import { present } from '../../support/must.ts'
import { startProvider } from '../../support/provider.ts'

/** A bulky input, which a job writes anew. */
const BULKY = new BulkBytes(Buffer.from(JSON.stringify(Array(20_000).fill('some text'))), 'strings', 20_000)

/** An embedder with one model at two endpoints of a Cohere provider. */
async function opened(test: Test) {
  const provider = await startProvider()
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 10, log: SILENT })
  const egress = openEgress()
  test.teardown(() => Promise.all([pools.close(), egress.close(), provider.close()]))
  const embedder = createEmbedder({
    egress,
    jobs: pools.jobs,
    credentials: new Map(),
    log: SILENT,
    meters: { upstream: () => undefined },
    now: () => performance.now(),
    random: () => 0.5,
  })
  const catalogue = catalogueOf(test, {
    providers: ['one', 'two'].map((slug) => ({ slug, protocol: 'cohere', base_url: `${provider.origin}/v2` })),
    models: [{
      id: 'acme/c', name: 'C', architecture: { output_modalities: ['embeddings'] },
      endpoints: ['one', 'two'].map((slug) => ({ provider: slug, upstream_model: 'c' })),
    }],
  })
  const embed = (call: AbortController) => embedder.embed({
    model: present(catalogue.resolve('acme/c')),
    request: { model: 'acme/c', input: BULKY },
    caller: 'k',
    deadlineAt: performance.now() + 60_000,
    call,
  })
  return { provider, jobs: pools.jobs, egress, embed }
}

t.test('a call whose client leaves while its body is written anew is not sent', async (t) => {
  const { provider, embed } = await opened(t)
  const caller = new AbortController()
  const outcome = embed(caller)
  caller.abort()
  t.match(await outcome, { ok: false, failure: { name: 'client_gone' } })
  t.equal(provider.calls.length, 0)
})
