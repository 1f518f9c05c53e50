/** A ledger of a million rows slows neither those who read their spend nor those who write it. */
import { openApiKeys } from '../../../src/server/store/keys/api-key-management.ts'
import { openActivity, sumActivity } from '../../../src/server/store/money/activity.ts'
import { openBudgets } from '../../../src/server/store/money/budgets.ts'
import { openCredits } from '../../../src/server/store/money/credits.ts'
import { openLender } from '../../../src/server/store/money/lender.ts'
import { migrate } from '../../../src/server/store/migrations/migrate.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { clusterHome } from '../../support/nodes/cluster-home.ts'
import { SILENT } from '../../support/log.ts'
import {
  limitCredit,
  makeOwners,
  openJournal,
  setLimit,
  settlement,
  type Owners,
  type TestJournal,
} from '../../support/money/money.ts'
import { must } from '../../support/must.ts'
import { openTestStore, plantMany, waitLong } from '../../support/stores/postgres.ts'
import { median, type Program, type Proof } from '../proof.ts'

const FULL = { rows: 1_000_000, reads: 21, pairs: 40, batch: 1_000 }
const SHORT = { rows: 20_000, reads: 3, pairs: 3, batch: 200 }
const DAYS = 396
const KEYS = 8
const MODELS = 6
const READ_MS_MAX = 50
const FLUSH_SHARE_MIN = 0.9

export const program: Program = {
  text: 'a ledger of a million rows: reads of spend within 50 ms, flushes as fast as into an empty one',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    proof.teardown(waitLong())
    const [full, empty] = await openStores(proof)
    const owners = await load(full, size.rows)
    const [counted] = await full.sql<{ rows: number; months: number }[]>`
      SELECT count(*)::int AS rows, count(DISTINCT date_trunc('month', day))::int AS months FROM ledger`
    const { rows, months } = counted ?? { rows: 0, months: 0 }
    proof.check(
      'the ledger is as large as it should be',
      rows === size.rows && months >= 13,
      `${rows} rows of ${months} months`,
    )
    await reads(proof, full, owners, size.reads)
    await flushes(proof, { full, owners, empty }, size)
  },
}

/** Two databases of one server; in the long form it has the settings of a node. */
async function openStores(proof: Proof): Promise<[Store, Store]> {
  const teardown = (done: () => Promise<void> | void): void => proof.after(async () => done())
  if (proof.isShort) return [await openTestStore({ teardown }), await openTestStore({ teardown })]
  const { url } = await clusterHome({ teardown }).start({})
  const open = async (name: string): Promise<Store> => {
    const at = new URL(url)
    at.pathname = `/${name}`
    const store = openStore({ url: at.href, poolMax: 4, applicationName: 'sluice-prove' })
    teardown(() => store.close())
    await migrate(at.href, SILENT)
    return store
  }
  const first = await open(new URL(url).pathname.slice(1))
  await first.sql`CREATE DATABASE other`
  return [first, await open('other')]
}

/** Rows as flushes would have left them, with their roll-up and their counters, by SQL. */
async function load(store: Store, rows: number): Promise<readonly Owners[]> {
  const owners: Owners[] = []
  for (let nth = 0; nth < KEYS; nth++) owners.push(await makeOwners(store, `o${nth}`))
  const [first] = owners
  if (first === undefined) throw new Error('there are no owners')
  for (const span of ['daily', 'weekly', 'monthly', 'lifetime'] as const)
    await setLimit(store.sql, first.accounts.workspace, span, Number.MAX_SAFE_INTEGER)
  await limitCredit(store.sql, first.organizationId, Number.MAX_SAFE_INTEGER)
  const keys = JSON.stringify(owners)
  await store.sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`
    await tx`SELECT ledger_partition((utc_today() - n * interval '1 month')::date) FROM generate_series(0, 14) AS n`
    // All keys are the first organization's: its reads have them all to look at.
    await tx`
      INSERT INTO ledger (day, at, request_id, kind, organization_id, workspace_id, key_hash, operation, model, provider, tokens, milliseconds, cost_nano)
      SELECT utc_today() - (n % ${DAYS}::int), now(), gen_random_uuid()::text, 'usage', ${first.organizationId}::uuid, ${first.workspaceId}::uuid,
        k.hashes[1 + n / ${DAYS}::int % ${KEYS}::int], 'embeddings.create', 'acme/m' || n % ${MODELS}::int, 'acme', 100, 50, 1000 + n % 977
      FROM generate_series(0, ${rows - 1}::int) AS n,
        (SELECT array_agg(o->>'keyHash') AS hashes FROM json_array_elements(${keys}::text::json) AS o) AS k`
    await tx`
      INSERT INTO activity (organization_id, day, workspace_id, key_hash, model, requests, tokens, milliseconds, spent_nano, byok_nano, forfeited_nano)
      SELECT organization_id, day, workspace_id, key_hash, model, count(*), sum(tokens), sum(milliseconds), sum(cost_nano), 0, 0
      FROM ledger GROUP BY 1, 2, 3, 4, 5`
  })
  await plantMany(store, (tx) => tx.unsafe('ANALYZE'))
  return owners
}

async function reads(proof: Proof, store: Store, [first]: readonly Owners[], count: number): Promise<void> {
  if (first === undefined) return
  const { organizationId, workspaceId, keyHash } = first
  const hints = { publish: async () => {} }
  const activity = openActivity(store)
  const budgets = openBudgets({ store, hints })
  const credits = openCredits({ store, hints })
  const keys = openApiKeys({ store, publish: hints.publish, rateLimitRpm: null })
  const from = new Date(Date.now() - 364 * 86_400_000).toISOString().slice(0, 10)
  const asked: Readonly<Record<string, () => Promise<unknown>>> = {
    'activity, a page of 30 days': async () =>
      must(await activity.list({ organizationId, limit: 1_000, offset: 0 })),
    'activity of one key, a page of a year': async () =>
      must(await activity.list({ organizationId, keyHash, from, limit: 1_000, offset: 0 })),
    'activity of 30 days by key': async () => must(await sumActivity(store, { organizationId, by: 'key' })),
    'all budgets of a workspace': async () =>
      must(await budgets.list({ organizationId, workspace: workspaceId })),
    credit: async () => must(await credits.get(organizationId)),
    'usage of a key': async () => must(await keys.get({ organizationId, hash: keyHash })),
  }
  for (const [name, read] of Object.entries(asked)) {
    const tookMs: number[] = []
    for (let nth = 0; nth < count; nth++) {
      const beganAt = performance.now()
      await read()
      tookMs.push(performance.now() - beganAt)
    }
    proof.checkTimed(
      `${name}: at most ${READ_MS_MAX} ms at the median`,
      median(tookMs) <= READ_MS_MAX,
      `${median(tookMs).toFixed(1)} ms`,
    )
  }
}

interface Sides {
  readonly full: Store
  readonly owners: readonly Owners[]
  readonly empty: Store
}

/** The same batch into one and the other, in turns: what else the machine does falls on both. */
async function flushes(
  proof: Proof,
  { full, owners, empty }: Sides,
  { pairs, batch }: typeof FULL,
): Promise<void> {
  const others: Owners[] = []
  for (let nth = 0; nth < KEYS; nth++) others.push(await makeOwners(empty, `o${nth}`))
  const sides = [
    { owners, journal: await openJournal(full), tookMs: [] as number[] },
    { owners: others, journal: await openJournal(empty), tookMs: [] as number[] },
  ]
  const day = await openLender(full, { log: SILENT })
    .pulse([])
    .then((pulse) => pulse.day)
  const ratios: number[] = []
  // The first pair warms plans and caches.
  for (let pair = 0; pair <= pairs; pair++) {
    const took = new Map<TestJournal, number>()
    for (const side of pair % 2 === 0 ? sides : sides.toReversed()) {
      const entries = Array.from({ length: batch }, (_, nth) => {
        const payer = side.owners[nth % side.owners.length]
        if (payer === undefined) throw new Error('there are no owners')
        const paid = { organization: false, workspace: false, key: false }
        return settlement(payer, day, 1_000, { paid, model: `acme/m${nth % MODELS}` })
      })
      const beganAt = performance.now()
      await side.journal.flush(...entries)
      took.set(side.journal, performance.now() - beganAt)
    }
    if (pair === 0) continue
    const [ofFull, ofEmpty] = sides.map(({ journal, tookMs }) => {
      const ms = took.get(journal) ?? Number.NaN
      tookMs.push(ms)
      return ms
    })
    ratios.push((ofEmpty ?? Number.NaN) / (ofFull ?? Number.NaN))
  }
  const [ofFull, ofEmpty] = sides.map(({ tookMs }) => Math.round((batch / median(tookMs)) * 1_000))
  const share = median(ratios)
  proof.check(
    'every flush went in',
    sides.every(({ tookMs }) => tookMs.length === pairs),
    `${pairs} pairs of ${batch} entries`,
  )
  proof.checkTimed(
    'flushes as fast as into an empty ledger, within 10 %',
    share >= FLUSH_SHARE_MIN,
    `${(share * 100).toFixed(0)} % at the median of pairs: ${ofFull} events/s against ${ofEmpty}`,
  )
}
