import t, { type Test } from 'tap'
import { BulkBytes } from '../../../src/schemas/bodies.ts'
import {
  LEXICAL_CALLS_MAX,
  LEXICAL_DIMENSIONS_MAX,
  LEXICAL_INPUT_BYTES_MAX,
  LEXICAL_NUMBERS_MAX,
  LEXICAL_SLICE_NUMBERS,
  LEXICAL_SLICE_UNITS,
  LEXICAL_TEXT_UNITS_MAX,
} from '../../../src/schemas/limits.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { EmbeddingsRequest } from '../../../src/server/ports/embeddings.ts'
import { shapeOf } from '../../../src/server/upstream/input-shape.ts'
import { LexicalEmbeddings } from '../../../src/server/upstream/local.ts'
import { openPools } from '../../../src/workers/pool.ts'
import { SILENT } from '../../support/log.ts'

function opened(test: Test, answersBytesMax = 2 ** 28) {
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 100, log: SILENT })
  const egress = openEgress({ answersBytesMax })
  test.teardown(() => Promise.all([pools.close(), egress.close()]))
  const local = new LexicalEmbeddings(pools.jobs, egress)
  const embed = (input: EmbeddingsRequest['input'], dimensions = 4) =>
    local.embed({
      request: { model: 'sluice/lexical-1', input, dimensions },
      shape: shapeOf(input),
      endsAt: Infinity,
      deadlineAt: Infinity,
      call: new AbortController(),
    })
  return { embed, egress, jobs: pools.jobs }
}

const bulk = (texts: readonly string[]): BulkBytes =>
  new BulkBytes(Buffer.from(JSON.stringify(texts)), 'strings', texts.length)

t.test('what would hold a thread for long is refused before a job is made of it', async (t) => {
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
  const other = jobs.run('read_body', { body: 'embeddings', bytes }).then(() => ended.push('other'))
  await Promise.all([call, other])
  t.same(ended, ['other', 'call'])
})

t.test('slices by numbers and by text join to one list in order, which is held until it is released', async (t) => {
  const { embed, egress } = opened(t)
  for (const dimensions of [1, LEXICAL_SLICE_NUMBERS / 32]) {
    const outcome = await embed(Array.from({ length: 100 }, (_, nth) => `text ${nth}`), dimensions)
    if (!outcome.ok) throw new Error(outcome.failure.name)
    const data = Buffer.concat(outcome.value.data)
    const items = JSON.parse(data.toString()) as { index: number; embedding: number[] }[]
    t.same([items.length, items[99]?.index, items[99]?.embedding.length], [100, 99, dimensions])
    t.equal(outcome.value.promptTokens, 200)
    t.ok(egress.load.heldBytes >= data.length)
    outcome.value.release()
    t.equal(egress.load.heldBytes, 0)
  }
})

t.test('a call whose answer finds no room in the budget is busy and holds nothing', async (t) => {
  const { embed, egress } = opened(t, 1_000)
  t.match(await embed('x', 4096), { ok: false, failure: { name: 'busy' } })
  const texts = Array.from({ length: 3 }, () => 'word '.repeat(LEXICAL_SLICE_UNITS / 5))
  t.match(await embed(bulk(texts), 256), { ok: false, failure: { name: 'busy' } })
  t.equal(egress.load.heldBytes, 0)
})

t.test('calls beyond those that may run at once are busy', async (t) => {
  const { embed } = opened(t)
  const calls = Array.from({ length: LEXICAL_CALLS_MAX + 1 }, () => embed('x'))
  const outcomes = await Promise.all(calls)
  t.same(outcomes.filter((outcome) => !outcome.ok).length, 1)
  t.match(outcomes.at(-1), { ok: false, failure: { name: 'busy' } })
  t.equal((await embed('x')).ok, true)
})
