import t, { type Test } from 'tap'
import { keptPrice } from '../../../../src/schemas/money/price-at.ts'
import type {
  Generation,
  GenerationFacts,
  Generations,
} from '../../../../src/server/ports/inference/generations.ts'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import {
  GENERATIONS_BATCH_ROWS,
  GENERATIONS_ORGANIZATION_WAITING_MAX,
  GENERATIONS_RETRY_MS,
  GENERATIONS_WRITE_MS_MAX,
  openGenerations,
} from '../../../../src/server/store/inference/generations.ts'
import { flatPrices } from '../../../support/inference/bounded-endpoints.ts'
import {
  FACTS,
  generation,
  generationAt,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  OTHER_WORKSPACE,
  WORKSPACE,
} from '../../../support/inference/generations.ts'
import { keptLog } from '../../../support/log.ts'
import { must, present } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { until } from '../../../support/wait.ts'
import { GENERATIONS_FLUSH_MS } from '../../../../src/schemas/inference/inference-limits.ts'

interface Opened extends Generations {
  readonly store: Store
  readonly counts: { written: number; lost: number }
  readonly log: ReturnType<typeof keptLog>
  close(): Promise<void>
}

async function open(t: Test, given?: Store): Promise<Opened> {
  const store = given ?? (await openTestStore(t))
  const log = keptLog()
  const counts = { written: 0, lost: 0 }
  const generations = openGenerations({ store, log, count: (outcome, rows) => (counts[outcome] += rows) })
  return {
    store,
    counts,
    log,
    keep: (one) => generations.keep(one),
    find: (sought) => generations.find(sought),
    close: () => generations.close(),
  }
}

const sought = (id: string, more: { organizationId?: string; workspaceId?: string | null } = {}) => ({
  organizationId: ORGANIZATION,
  workspaceId: WORKSPACE,
  id,
  ...more,
})
const isUnknown = { ok: false, failure: { name: 'generation_unknown' } }

t.test(
  `a record can be read GENERATIONS_FLUSH_MS (${GENERATIONS_FLUSH_MS}) after the call, unchanged`,
  async (t) => {
    t.ok(GENERATIONS_FLUSH_MS + GENERATIONS_RETRY_MS < 2_000, 'D33')
    const { keep, find, close } = await open(t)
    const kept = generation({ upstreamId: 'chatcmpl-1' })
    keep(kept)
    await until(async () => (await find(sought(kept.id))).ok)
    t.same(must(await find(sought(kept.id))), kept)
    t.same(must(await find(sought('chatcmpl-1'))), kept, "by the provider's id too")
    await close()
  },
)

t.test('another workspace and another organization do not find it, by either id', async (t) => {
  const { keep, find, close } = await open(t)
  const kept = generation({ upstreamId: 'chatcmpl-1' })
  keep(kept)
  await close()
  for (const id of [kept.id, 'chatcmpl-1']) {
    t.ok((await find(sought(id))).ok)
    t.ok((await find(sought(id, { workspaceId: null }))).ok, 'for a management key')
    t.match(await find(sought(id, { workspaceId: OTHER_WORKSPACE })), isUnknown)
    for (const workspaceId of [null, WORKSPACE])
      t.match(await find(sought(id, { organizationId: OTHER_ORGANIZATION, workspaceId })), isUnknown)
  }
  for (const id of ['gen_', `${kept.id}0`, kept.id.toUpperCase(), `gen_${'f'.repeat(32)}`, '%', "'"])
    t.match(await find(sought(id)), isUnknown, id)
})

t.test(
  "finds the newest of several calls with one provider id, and a call's own id takes precedence",
  async (t) => {
    const { keep, find, close } = await open(t)
    const first = generation({ upstreamId: 'same' })
    const nested = generation({ upstreamId: first.id })
    const last = generation({
      id: generationAt('2200-01-01T00:00:00Z').id,
      createdMs: Date.parse('2200-01-01'),
      upstreamId: 'same',
    })
    for (const one of [last, first, nested]) keep(one)
    await close()
    t.equal(must(await find(sought('same'))).id, last.id)
    t.equal(must(await find(sought(first.id))).id, first.id)
    t.equal(must(await find(sought(nested.id))).upstreamId, first.id)
  },
)

t.test('a record from an older node is found by both ids, and the newest record comes first', async (t) => {
  const { store, keep, find, close } = await open(t)
  const older = generation({ upstreamId: 'same' })
  // As the versions before migration 33 write it, also while nodes of this one run.
  await store.sql`
    INSERT INTO generations (id, created_at, organization_id, workspace_id, upstream_id, facts)
    VALUES (${older.id}, to_timestamp(${older.createdMs}::float8 / 1000), ${ORGANIZATION}, ${WORKSPACE}, 'same',
      ${JSON.stringify(older.facts)}::text::jsonb)
    ON CONFLICT DO NOTHING`
  for (const id of [older.id, 'same']) t.same(must(await find(sought(id))), older)
  t.match(await find(sought('same', { workspaceId: OTHER_WORKSPACE })), isUnknown)
  const [before, after] = ['2001', '2200'].map((year) =>
    generationAt(`${year}-01-01T00:00:00Z`, { upstreamId: 'same' }),
  )
  keep(present(before))
  await close()
  t.equal(must(await find(sought('same'))).id, older.id)
  const again = await open(t, store)
  again.keep(present(after))
  await again.close()
  t.equal(must(await find(sought('same'))).id, after?.id)
  t.equal(must(await find(sought(older.id))).id, older.id)
})

/** All that an array in the text form of Postgres may misread. */
const ODD = `{"a'\\,\n}NULL \u{1f600}`
const WHOLE: GenerationFacts = {
  ...FACTS,
  ...{ requestId: ODD, sessionId: ODD, model: ODD, provider: 'null', finishReason: '', dropped: [ODD, ''] },
  ...{ isStreamed: false, isCancelled: true, isEstimated: true, isByok: true, images: 2, sounds: 3 },
  ...{ chargedNano: Number.MAX_SAFE_INTEGER, firstOutputMs: 0, serviceTier: ODD, unpricedTier: 'speed' },
  usage: {
    ...{ input: 1, cacheRead: 2, cacheWrite: 3, cacheWriteHour: 1, output: 5, reasoning: 6, searches: 7 },
    media: { audio: 1, image: 0, audioRead: 2, audioOutput: 3 },
  },
  price: keptPrice(flatPrices({ webSearchNano: 5 })),
}

t.test('returns each member of a record unchanged, even if other records of the batch lack it', async (t) => {
  const least: GenerationFacts = { ...FACTS, provider: null, finishReason: null, dropped: [] }
  for (const batch of [[least], [least, WHOLE, least]]) {
    const { keep, find, counts, close } = await open(t)
    const kept = batch.map((facts) => generation({ facts }))
    for (const one of kept) keep(one)
    await close()
    t.same(counts, { written: batch.length, lost: 0 })
    for (const one of kept) t.strictSame(must(await find(sought(one.id))), one)
  }
})

t.test('a record has the prices of its call, without the conditions of the endpoint', async (t) => {
  const { keep, find, close } = await open(t)
  const price = flatPrices()
  const kept = generation({ facts: { ...FACTS, price } })
  keep(kept)
  await close()
  t.strictSame(must(await find(sought(kept.id))).facts.price, keptPrice(price))
})

t.test(
  `many records are written with one statement for each GENERATIONS_BATCH_ROWS (${GENERATIONS_BATCH_ROWS})`,
  async (t) => {
    const { store, keep, counts, close } = await open(t)
    await store.sql.unsafe(`
    CREATE TABLE inserts (n int);
    CREATE FUNCTION inserted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO inserts VALUES (1); RETURN NULL; END $$;
    CREATE TRIGGER inserted AFTER INSERT ON generation_records FOR EACH STATEMENT EXECUTE FUNCTION inserted()`)
    for (let n = 0; n < 2 * GENERATIONS_BATCH_ROWS + 1; n++) keep(generation())
    await close()
    t.same(counts, { written: 2 * GENERATIONS_BATCH_ROWS + 1, lost: 0 })
    t.match(await store.sql`SELECT count(*)::int FROM inserts`, [{ count: 3 }])
  },
)

t.test('creates a missing partition for a day, and writes a repeated record as one row', async (t) => {
  const { store, keep, find, counts, close } = await open(t)
  const days = ['2001-02-03T23:59:59.999Z', '2001-02-04T00:00:00.000Z', '2199-12-31T12:00:00.123Z']
  const kept = days.map((day) => generationAt(day))
  for (const one of [...kept, ...kept]) keep(one)
  await close()
  for (const one of kept) t.same(must(await find(sought(one.id))), one)
  t.equal(counts.lost, 0)
  const rows =
    await store.sql`SELECT tableoid::regclass::text AS day FROM generation_records ORDER BY created_at`
  t.same(
    rows.map(({ day }) => day as string),
    ['generation_records_2001_02_03', 'generation_records_2001_02_04', 'generation_records_2199_12_31'],
  )
})

t.test('a record that the store permanently refuses is logged, and does not hold up others', async (t) => {
  const { keep, find, counts, log, close } = await open(t)
  const kept = [generation(), generation({ facts: { ...FACTS, sessionId: 'a\n"b' } })]
  keep(present(kept[0]))
  keep(generation({ workspaceId: 'no uuid' }))
  keep(generation({ upstreamId: 'a\0b' }))
  keep(present(kept[1]))
  await close()
  for (const one of kept) t.same(must(await find(sought(one.id))), one)
  t.same(counts, { written: 2, lost: 2 })
  t.equal(log.events.filter(({ event }) => event === 'generations.refused').length, 2)
  keep(generation())
  t.equal(counts.lost, 3, 'a closed one takes nothing')
})

t.test(
  'while the store is unavailable an organization loses records beyond its places, and the rest is written later',
  async (t) => {
    const store = await openTestStore(t)
    const away = Object.create(store) as Store
    let [isAway, tries] = [true, 0]
    away.within = (ms, run) => {
      tries += ms === GENERATIONS_WRITE_MS_MAX ? 1 : 0
      return isAway
        ? Promise.reject(Object.assign(new Error('away'), { code: 'ECONNREFUSED' }))
        : store.within(ms, run)
    }
    const { keep, find, counts, log, close } = await open(t, away)
    const kept = generation()
    keep(kept)
    await until(() => tries > 0)
    for (let n = 0; n < GENERATIONS_ORGANIZATION_WAITING_MAX + 5; n++) keep(generation())
    t.equal(counts.lost, 5)
    const other = generation({ organizationId: OTHER_ORGANIZATION, workspaceId: OTHER_WORKSPACE })
    keep(other)
    isAway = false
    await until(() => counts.written === GENERATIONS_ORGANIZATION_WAITING_MAX + 2)
    t.ok((await find(sought(kept.id))).ok)
    t.ok((await find({ organizationId: OTHER_ORGANIZATION, workspaceId: OTHER_WORKSPACE, id: other.id })).ok)
    await close()
    t.match(log.events, [{ event: 'generations.lost', fields: { rows: 5 } }])
  },
)

t.test('a store that never returns loses all records at shutdown, and their number is logged', async (t) => {
  const store = openStore({
    url: 'postgres://nobody@127.0.0.1:1/none',
    poolMax: 1,
    applicationName: 'sluice-test',
  })
  t.teardown(() => store.close())
  const { keep, find, counts, log, close } = await open(t, store)
  const some: readonly Generation[] = [generation(), generation()]
  for (const one of some) keep(one)
  await close()
  t.same(counts, { written: 0, lost: 2 })
  t.match(log.events, [{ event: 'generations.lost', fields: { rows: 2 } }])
  t.match(await find(sought('x')), { ok: false, failure: { name: 'store_unavailable' } })
})
