import t, { type Test } from 'tap'
import { BulkBytes } from '../../../../src/schemas/bodies.ts'
import {
  LEXICAL_DIMENSIONS_MAX,
  LEXICAL_TEXT_UNITS_MAX,
} from '../../../../src/schemas/embeddings/embedding-limits.ts'
import { openEgress } from '../../../../src/server/egress/egress.ts'
import type { EmbeddingsRequest } from '../../../../src/server/ports/embeddings/embeddings.ts'
import type { ShortJobs } from '../../../../src/server/ports/short-jobs.ts'
import { shapeOf } from '../../../../src/server/upstream/embeddings/input-shape.ts'
import {
  LEXICAL_ORGANIZATION_CALLS_MAX,
  LEXICAL_CALLS_MAX,
  LEXICAL_INPUT_BYTES_MAX,
  LEXICAL_NUMBERS_MAX,
  LexicalEmbeddings,
} from '../../../../src/server/upstream/embeddings/local.ts'
import { endpointOpener } from '../../../../src/server/upstream/embeddings/open-endpoint.ts'
import { TargetTable } from '../../../../src/server/upstream/routing/targets.ts'
import { openPools } from '../../../../src/workers/pool.ts'
import { callerBy } from '../../../support/keys/callers.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { present } from '../../../support/must.ts'
import { SILENT } from '../../../support/log.ts'
import { LEXICAL_SLICE_NUMBERS, LEXICAL_SLICE_UNITS } from '../../../../src/workers/embed-lexical.ts'

type Calling = Parameters<LexicalEmbeddings['embed']>[0]['call']

function opened(test: Test, answersBytesMax = 2 ** 28) {
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 100, log: SILENT })
  const egress = openEgress({ answersBytesMax })
  test.teardown(() => Promise.all([pools.close(), egress.close()]))
  const ran: string[] = []
  const jobs: ShortJobs = {
    run: (name, ...more) => (ran.push(name), pools.jobs.run(name, ...more)),
    here: (name, input) => (ran.push(`${name} here`), pools.jobs.here(name, input)),
  }
  const local = new LexicalEmbeddings(jobs, egress)
  const embed = (
    input: EmbeddingsRequest['input'],
    dimensions = 4,
    caller = 'k',
    call: Calling = new AbortController(),
  ) =>
    local.embed({
      request: { model: 'sluice/lexical-1', input, dimensions },
      shape: shapeOf(input),
      endsAt: Infinity,
      deadlineAt: Infinity,
      caller: callerBy(caller),
      call,
    })
  return { embed, egress, jobs: pools.jobs, ran }
}

const bulk = (texts: readonly string[]): BulkBytes =>
  new BulkBytes(Buffer.from(JSON.stringify(texts)), { kind: 'strings', count: texts.length })

t.test('refuses an input that would occupy a thread for long, before a job is created', async (t) => {
  const { embed } = opened(t)
  const many = Array.from({ length: LEXICAL_NUMBERS_MAX / LEXICAL_DIMENSIONS_MAX + 1 }, () => 'x')
  const cases: readonly (readonly [EmbeddingsRequest['input'], number, string])[] = [
    [bulk(many), LEXICAL_DIMENSIONS_MAX, '/input'],
    [bulk(Array.from({ length: 60_000 }, () => 'x')), LEXICAL_DIMENSIONS_MAX, '/input'],
    [bulk(['x'.repeat(LEXICAL_INPUT_BYTES_MAX)]), 1, '/input'],
    [['x', 'x'.repeat(LEXICAL_TEXT_UNITS_MAX + 1)], 1, '/input/1'],
    ['x'.repeat(LEXICAL_TEXT_UNITS_MAX + 1), 1, '/input'],
    ['x', LEXICAL_DIMENSIONS_MAX + 1, '/dimensions'],
  ]
  for (const [input, dimensions, path] of cases) {
    const failure = { name: 'body_invalid', metadata: { issues: [{ path }] } }
    t.match(await embed(input, dimensions), { ok: false, failure }, path)
  }
})

t.test('another job gets its turn between the slices of a call', async (t) => {
  const { embed, jobs } = opened(t)
  const texts = Array.from({ length: 6 }, () => 'word '.repeat(LEXICAL_SLICE_UNITS / 5))
  const ended: string[] = []
  const call = embed(bulk(texts)).then(() => ended.push('call'))
  const bytes = new Uint8Array(Buffer.from('{}'))
  const other = jobs
    .run('read_body', { body: 'embeddings', bytes }, { caller: callerBy('other') })
    .then(() => ended.push('other'))
  await Promise.all([call, other])
  t.same(ended, ['other', 'call'])
})

t.test(
  'slices by count and by text length are joined in order into one list, held until it is released',
  async (t) => {
    const { embed, egress } = opened(t)
    for (const dimensions of [1, LEXICAL_SLICE_NUMBERS / 32]) {
      const outcome = await embed(
        Array.from({ length: 100 }, (_, nth) => `text ${nth}`),
        dimensions,
      )
      if (!outcome.ok) throw new Error(outcome.failure.name)
      const data = Buffer.concat(outcome.value.data)
      const items = JSON.parse(data.toString()) as { index: number; embedding: number[] }[]
      t.same([items.length, items[99]?.index, items[99]?.embedding.length], [100, 99, dimensions])
      t.equal(outcome.value.promptTokens, 200)
      t.ok(egress.load.heldBytes >= data.length)
      outcome.value.release()
      t.equal(egress.load.heldBytes, 0)
    }
  },
)

t.test('a call without room for its answer is busy and holds nothing', async (t) => {
  const { embed, egress } = opened(t, 1_000)
  t.match(await embed('x', 4096), { ok: false, failure: { name: 'busy' } })
  const texts = Array.from({ length: 3 }, () => 'word '.repeat(LEXICAL_SLICE_UNITS / 5))
  t.match(await embed(bulk(texts), 256), { ok: false, failure: { name: 'busy' } })
  t.equal(egress.load.heldBytes, 0)
})

t.test(
  'refuses an organization with unread answers before making a job, and answers another one',
  async (t) => {
    const { embed, egress, ran } = opened(t, 60_000)
    const unread = await Promise.all([embed('x', 4096, 'flood'), embed('x', 4096, 'flood')])
    t.same(
      unread.map(({ ok }) => ok),
      [true, true],
    )
    t.match(await embed(['x', 'y'], 8192, 'flood'), { ok: false, failure: { name: 'busy', retryAfterS: 1 } })
    t.equal(ran.filter((name) => name === 'embed_lexical').length, 2)
    t.equal((await embed('x', 8192, 'other')).ok, true)
    for (const one of unread) if (one.ok) one.value.release()
    t.equal((await embed(['x', 'y'], 8192, 'flood')).ok, true, 'once they are read')
    t.ok(egress.load.heldBytes > 0)
  },
)

t.test(
  'a running call stops at its next slice once its organization must read answers, and holds no memory',
  async (t) => {
    const { embed, egress, ran } = opened(t)
    const texts = Array.from({ length: 6 }, () => 'word '.repeat(LEXICAL_SLICE_UNITS / 5))
    const call = {
      signal: new AbortController().signal,
      get hasRoomToRead() {
        return ran.filter((name) => name === 'embed_lexical').length < 2
      },
    }
    t.match(await embed(bulk(texts), 4, 'k', call), {
      ok: false,
      failure: { name: 'busy', detail: /answers that its clients do not read/ },
    })
    t.equal(ran.filter((name) => name === 'embed_lexical').length, 2)
    t.equal(egress.load.heldBytes, 0)
  },
)

t.test('calls above the limit of concurrent calls fail with busy', async (t) => {
  const { embed } = opened(t)
  const calls = Array.from({ length: LEXICAL_CALLS_MAX + 1 }, (_, nth) => embed('x', 4, `caller ${nth}`))
  const outcomes = await Promise.all(calls)
  t.same(outcomes.filter((outcome) => !outcome.ok).length, 1)
  t.match(outcomes.at(-1), { ok: false, failure: { name: 'busy' } })
  t.equal((await embed('x')).ok, true)
})

t.test('one caller can use only its share of concurrent calls, and leaves the rest to others', async (t) => {
  const { embed } = opened(t)
  const calls = Array.from({ length: LEXICAL_ORGANIZATION_CALLS_MAX + 1 }, () => embed('x'))
  const other = embed('x', 4, 'another')
  t.same((await Promise.all(calls)).filter((outcome) => !outcome.ok).length, 1)
  t.equal((await other).ok, true)
  t.equal((await embed('x')).ok, true)
})

t.test('concurrent calls are counted for the whole front, over all endpoints', async (t) => {
  const { egress, jobs } = opened(t)
  const endpoint = { provider: 'here', upstream_model: 'lexical-1' }
  const [model] = catalogueOf(t, {
    providers: [{ slug: 'here', protocol: 'local' }],
    models: [{ id: 'a/b', name: 'B', endpoints: [endpoint, { ...endpoint, upstream_model: 'lexical-2' }] }],
  }).models
  const open = endpointOpener({ egress, jobs, credentials: new Map() })
  const table = new TargetTable({ open, random: () => 0 })
  const [first, second] = present(model).endpoints.map((one) => present(table.of(one)).protocol)
  t.ok(first !== undefined && first === second)
})

t.test('a bulky input is parsed only in jobs, and gives the same vectors as plain texts', async (t) => {
  const { embed, ran } = opened(t)
  const texts = Array.from({ length: 40 }, (_, nth) => `text ${nth} `.repeat(200))
  const [bulky, plain] = [await embed(bulk(texts)), await embed(texts)]
  if (!bulky.ok || !plain.ok) throw new Error('both answer')
  t.same(Buffer.concat(bulky.value.data), Buffer.concat(plain.value.data))
  t.same(
    ran.filter((name) => name.startsWith('slice')),
    ['slice_texts', 'slice_texts here'],
  )
})
