import t, { type Test } from 'tap'
import { BulkBytes } from '../../../src/schemas/bodies.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { ShortJobs } from '../../../src/server/ports/short-jobs.ts'
import { createEmbedder } from '../../../src/server/inference/embedder.ts'
import { openPools } from '../../../src/workers/pool.ts'
import { callerBy } from '../../support/keys/callers.ts'
import { catalogueOf } from '../../support/models/catalogue.ts'
import { SILENT } from '../../support/log.ts'
import { keyRecords } from '../../support/front.ts'
import { FREE_PAYMENT } from '../../support/money/free-spend.ts'
import type { CallNotes } from '../../../src/server/ports/observe.ts'
import { present } from '../../support/must.ts'
import { refuses } from '../../support/embeddings/provider-behaviours.ts'
import { startProvider } from '../../support/embeddings/provider.ts'

/** A bulky input, which a job rewrites. */
const bulky = () =>
  new BulkBytes(Buffer.from(JSON.stringify(Array(20_000).fill('some text'))), {
    kind: 'strings',
    count: 20_000,
  })

/** An embedder with one model at two endpoints of a Cohere provider. */
async function opened(test: Test) {
  const provider = await startProvider()
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 10, log: SILENT })
  const egress = openEgress()
  test.teardown(() => Promise.all([pools.close(), egress.close(), provider.close()]))
  const ran: string[] = []
  const notes: CallNotes = {}
  const jobs: ShortJobs = {
    here: (name, input) => pools.jobs.here(name, input),
    run: (name, ...more) => (ran.push(name), pools.jobs.run(name, ...more)),
  }
  const embedder = createEmbedder({
    egress,
    jobs,
    credentials: new Map(),
    log: SILENT,
    meters: { upstream: () => undefined },
    now: () => performance.now(),
    random: () => 0.5,
  })
  const catalogue = catalogueOf(test, {
    providers: ['one', 'two'].map((slug) => ({
      slug,
      protocol: 'cohere',
      base_url: `${provider.origin}/v2`,
    })),
    models: [
      {
        id: 'acme/c',
        name: 'C',
        architecture: { output_modalities: ['embeddings'] },
        endpoints: ['one', 'two'].map((slug) => ({ provider: slug, upstream_model: 'c' })),
      },
    ],
  })
  const embed = async (call: AbortController) => {
    const { signal } = call
    const job = {
      operation: 'embeddings.create',
      id: 'emb_1',
      model: present(catalogue.resolve('acme/c')),
      request: { model: 'acme/c', input: bulky() },
      limits: null,
      caller: callerBy('k'),
      requestId: 'r',
      hops: 0,
      deadlineAt: performance.now() + 60_000,
      call: {
        key: present([...keyRecords().values()][0]),
        requestId: 'r',
        deadlineAt: performance.now() + 60_000,
        signal,
        hasEnded: false,
        notes,
        limited: () => undefined,
      },
    }
    return embedder.answer(job, FREE_PAYMENT)
  }
  return { provider, ran, embed, notes }
}

t.test('a call whose client disconnects while its body is rewritten is not sent', async (t) => {
  const { provider, embed } = await opened(t)
  const caller = new AbortController()
  const outcome = embed(caller)
  caller.abort()
  t.match(await outcome, { ok: false, failure: { name: 'client_gone' } })
  t.equal(provider.calls.length, 0)
})

t.test('a large body is rewritten once for all endpoints that need the same form', async (t) => {
  const { provider, ran, embed, notes } = await opened(t)
  provider.script(refuses(500))
  t.match(await embed(new AbortController()), { ok: true })
  t.equal(notes.attempts, 2)
  t.equal(provider.calls.length, 2)
  t.equal(provider.calls[0]?.text, provider.calls[1]?.text)
  t.equal(ran.filter((name) => name === 'encode_embeddings').length, 1)
})
