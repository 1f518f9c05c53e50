/** What becomes of calls whose answers streamed when their front died. D28. */
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import t from 'tap'
import { bootId } from '../../../src/server/journal/boot-id.ts'
import { recoverJournal } from '../../../src/server/journal/recovery.ts'
import { journalsFolder } from '../../../src/server/journal/segments.ts'
import { openNodeJournals } from '../../../src/server/main/journals.ts'
import type { OpenTake } from '../../../src/server/ports/money/lending.ts'
import { FACTS_DOCUMENT } from '../../../src/server/store/inference/generations.ts'
import { openFolder } from '../../support/files/storage.ts'
import { keptLog } from '../../support/log.ts'
import { booksOf, BOUND, COST, deadFront, LENT, type DeadFront } from '../../support/money/dead-front.ts'
import { waitLong } from '../../support/stores/postgres.ts'
import { nextCallId } from '../../../src/server/operations/model-calls.ts'

waitLong()

const TOLDOnce = [
  { costNano: 10 },
  {
    costNano: 300,
    provider: 'acme',
    model: 'acme/m',
    tokens: 7,
    text: { outputTokens: 21, cachedTokens: 2 },
  },
]
/** What the two settled calls and the last progress cost. */
const SPENT = 2 * COST + 300

/** Rows of the ledger that name the call. */
function rowsOf({ store: { sql } }: DeadFront) {
  return sql`SELECT kind, cost_nano::int AS nano, provider, tokens::int AS tokens, output_tokens::int AS output, cached_tokens::int AS cached FROM ledger
    WHERE kind <> 'usage' AND request_id NOT IN (SELECT id::text FROM journals) ORDER BY kind`
}

t.test('a stream is charged its cost so far, and the rest of its bound is returned', async (t) => {
  const front = await deadFront(t, { last: TOLDOnce })
  await recoverJournal(front.id, front.options)
  t.same(await rowsOf(front), [
    { kind: 'estimated', nano: 300, provider: 'acme', tokens: 7, output: 21, cached: 2 },
  ])
  const { spent, lent, wrong } = await booksOf(front)
  t.same([spent, lent, wrong], [SPENT, 0, []])
  t.match(front.log.events.at(-1)?.fields, { forfeits: 0 })
})

t.test('when the provider continues after a crash, the rest of the bound is forfeited', async (t) => {
  const front = await deadFront(t, { last: [...TOLDOnce, { costNano: 300, isDrained: true }] })
  await recoverJournal(front.id, front.options)
  const { ledger, spent, lent, wrong } = await booksOf(front)
  t.same(ledger, { estimated: 300, forfeit: BOUND - 300, usage: 2 * COST })
  t.same([spent, lent, wrong], [2 * COST + BOUND, 0, []])
  const [credit] = await front.store.sql`
    SELECT lifetime_spent_nano::int AS spent FROM accounts WHERE id = ${front.owners.accounts.organization}`
  t.same(credit, { spent: SPENT }, 'but not of credit')
})

t.test('a stream of a journal closed without its file turns forfeit into usage, once', async (t) => {
  const front = await deadFront(t, { last: TOLDOnce })
  const { lender } = front.options
  await lender.close({ journalId: front.id, rest: null, open: [], isComplete: false })
  const file = await openFolder(t)
  cpSync(front.folder, file, { recursive: true })
  for (const folder of [front.folder, file]) {
    await recoverJournal(front.id, { ...front.options, folder })
    t.same(await rowsOf(front), [
      { kind: 'estimated', nano: 300, provider: 'acme', tokens: 7, output: 21, cached: 2 },
    ])
    const { ledger, spent, lent, wrong } = await booksOf(front)
    t.equal(ledger['forfeit'], 2 * (LENT - SPENT))
    t.same([spent, lent, wrong], [LENT, 0, []])
  }
})

t.test('returns nothing of the bound after a machine crash that may lose later records', async (t) => {
  const front = await deadFront(t, { last: TOLDOnce })
  await recoverJournal(front.id, { ...front.options, bootId: 'another' })
  const { ledger, spent, lent, wrong } = await booksOf(front)
  t.equal(ledger['estimated'], 300)
  t.same([spent, lent, wrong], [LENT, 0, []])
})

t.test('an answer under own credentials is charged where BYOK counts, and takes no credit', async (t) => {
  const paid = { organization: false, workspace: true, key: false }
  const front = await deadFront(t, { last: [{ costNano: 300, isByok: true, isDrained: true, paid }] })
  await recoverJournal(front.id, front.options)
  const { ledger, spent, lent, wrong } = await booksOf(front)
  t.same(ledger, { estimated: 300, forfeit: BOUND - 300, usage: 2 * COST })
  t.same([spent, lent, wrong], [2 * COST, 0, []])
})

t.test(
  'a recovery that crashes anywhere, or runs twice, books a stream once and keeps one record',
  async (t) => {
    const id = nextCallId('gen_')
    const note = {
      id,
      upstreamId: 'chatcmpl-1',
      sessionId: 'a session',
      firstOutputMs: 120,
      stalledMs: 3,
      attempts: 2,
      dropped: ['seed'],
      images: 1,
      sounds: 0,
    }
    const front = await deadFront(t, {
      bootId: bootId(),
      last: [...TOLDOnce, { ...TOLDOnce[1], note: JSON.stringify(note) }],
    })
    const dataDir = await openFolder(t)
    mkdirSync(journalsFolder(dataDir), { recursive: true })
    const config = { dataDir, objects: { kind: 'disk' as const, folder: dataDir } }
    const place = { databaseUrl: front.store.options.url, config, onCleared: () => undefined }
    const recover = async (): Promise<void> => {
      // As it was before the first try: files are removed last.
      cpSync(front.folder, journalsFolder(dataDir), { recursive: true })
      const journals = openNodeJournals(place, keptLog())
      journals.start()
      await journals.settled(20_000)
      await journals.close()
      t.same(readdirSync(journalsFolder(dataDir)), [])
    }
    const kept: OpenTake[] = []
    const dying = { ...front.options, keep: async (takes: readonly OpenTake[]) => void kept.push(...takes) }
    const lender = { ...front.options.lender, close: () => Promise.reject(new Error('killed')) }
    await t.rejects(recoverJournal(front.id, { ...dying, lender }))
    t.equal(kept.length, 1)
    await recover()
    await recover()
    t.same(await rowsOf(front), [
      { kind: 'estimated', nano: 300, provider: 'acme', tokens: 7, output: 21, cached: 2 },
    ])
    const rows = await front.store.sql<{ id: string; upstream_id: string; facts: object }[]>`
    SELECT id, upstream_id, ${front.store.sql.unsafe(FACTS_DOCUMENT)} AS facts FROM generation_records`
    t.equal(rows.length, 1)
    t.match(rows[0], {
      id,
      upstream_id: 'chatcmpl-1',
      facts: {
        model: 'acme/m',
        provider: 'acme',
        isStreamed: true,
        isCancelled: false,
        finishReason: 'error',
        isEstimated: true,
        chargedNano: 300,
        usage: { input: 5, cacheRead: 2, output: 21 },
        sessionId: 'a session',
        attempts: 2,
        firstOutputMs: 120,
        images: 1,
      },
    })
  },
)

t.test('a note that cannot be read or written loses the record, but no money', async (t) => {
  const refused = `{"id":"${nextCallId('gen_')}","upstreamId":null,"sessionId":"\\u0000"}`
  for (const note of ['{"id":', refused]) await t.resolves(withoutRecord(t, note))
})

async function withoutRecord(t: Parameters<typeof deadFront>[0], note: string): Promise<void> {
  const front = await deadFront(t, { bootId: bootId(), last: [{ ...TOLDOnce[1], note }] })
  const dataDir = await openFolder(t)
  cpSync(front.folder, journalsFolder(dataDir), { recursive: true })
  const config = { dataDir, objects: { kind: 'disk' as const, folder: dataDir } }
  const journals = openNodeJournals(
    { databaseUrl: front.store.options.url, config, onCleared: () => undefined },
    keptLog(),
  )
  journals.start()
  await journals.settled(20_000)
  await journals.close()
  const kept = await front.store.sql`SELECT id FROM generation_records`
  if (kept.length > 0) throw new Error('a record was kept')
  const { ledger, wrong } = await booksOf(front)
  if (ledger['estimated'] !== 300 || wrong.length > 0) throw new Error(JSON.stringify({ ledger, wrong }))
}
