import t from 'tap'
import { ledgerRow } from '../../../../src/server/store/money/lending/books.ts'
import type { LedgerRow } from '../../../../src/server/store/money/lending/ledger-rows.ts'
import { insertLedger, LedgerColumns } from '../../../../src/server/store/money/lending/ledger-rows.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { settlement, type Owners } from '../../../support/money/money.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

const DAY = new Date().toISOString().slice(0, 10)

t.test('rows of many keys and models in any order keep their own values', async (t) => {
  const store = await openTestStore(t)
  const rows = Array.from({ length: 400 }, (_, at): LedgerRow => {
    const owners = ownersOf(at % 7 === 0 ? at : at % 5)
    const settled = settlement(owners, DAY, at, {
      model: `acme/${at % 3}`,
      isByok: at % 2 === 0,
      atMs: Date.parse(`${DAY}T00:00:00Z`) + at,
    })
    const row = ledgerRow(settled, 'usage', at)
    const text = at % 3 === 0 ? {} : { output_tokens: at * 2, cached_tokens: at }
    return { ...row, request_id: `r${at}`, tokens: at * 3, ...text, milliseconds: at * 5 }
  })
  await insert(store, rows)
  t.same(await read(store), rows.map(reported).sort(byId))
})

t.test('unknown values stay NULL, in a batch of one row and next to rows that have them', async (t) => {
  const store = await openTestStore(t)
  const known = ledgerRow(settlement(ownersOf(1), DAY, 7), 'usage', 7)
  const bare: LedgerRow = {
    ...known,
    request_id: 'bare',
    kind: 'forfeit',
    workspace_id: null,
    key_hash: null,
    operation: null,
    model: null,
    provider: null,
    tokens: null,
    output_tokens: null,
    cached_tokens: null,
    milliseconds: null,
    account_id: 'w1',
  }
  await insert(store, [bare])
  await insert(store, [known, { ...bare, request_id: 'last' }])
  t.same(await read(store), [bare, known, { ...bare, request_id: 'last' }].map(reported).sort(byId))
})

t.test('keeps an amount beyond a JSON number, and a time with a fraction of a millisecond', async (t) => {
  const store = await openTestStore(t)
  const row = ledgerRow(settlement(ownersOf(1), DAY, 0), 'usage', '9007199254740993')
  await insert(store, [{ ...row, at_ms: Date.parse(`${DAY}T00:00:00Z`) + 0.25 }])
  const [found] =
    await store.sql`SELECT cost_nano, (extract(epoch FROM at) * 1000000)::bigint % 1000 AS micros FROM ledger`
  t.same(found, { cost_nano: '9007199254740993', micros: '250' })
})

t.test(
  'empty request ids and ids with commas, quotes or separators do not change the ids of other rows',
  async (t) => {
    const store = await openTestStore(t)
    const row = ledgerRow(settlement(ownersOf(1), DAY, 1), 'usage', 1)
    const ids = ['', 'a,b', '"', '\\', '{}', 'NULL', 'a\x1fb', '', 'é', '\n']
    await insert(
      store,
      ids.map((request_id, at) => ({ ...row, request_id, cost_nano: at })),
    )
    await insert(store, [{ ...row, request_id: '', cost_nano: ids.length }])
    const found = await store.sql<{ request_id: string }[]>`SELECT request_id FROM ledger ORDER BY cost_nano`
    t.same(
      found.map(({ request_id }) => request_id),
      [...ids.map((id) => id.replace('\x1f', '\uFFFD')), ''],
    )
  },
)

async function insert(store: Store, rows: readonly LedgerRow[]): Promise<void> {
  const columns = new LedgerColumns()
  for (const row of rows) columns.push(row)
  await store.sql.begin((tx) => insertLedger(tx, null, columns))
}

/** Reads rows in the form that `reported` returns. */
async function read(store: Store) {
  const rows = await store.sql`
    SELECT day::text, extract(epoch FROM at)::float8 * 1000 AS at_ms, request_id, kind, organization_id, workspace_id, key_hash, account_id,
      operation, model, provider, tokens, output_tokens, cached_tokens, milliseconds, cost_nano, is_byok FROM ledger`
  return [...rows].map((row) => ({ ...row })).sort(byId as never)
}

function reported(row: LedgerRow) {
  const text = (count: number | string | null): string | null => (count === null ? null : String(count))
  return {
    ...row,
    tokens: text(row.tokens),
    output_tokens: text(row.output_tokens),
    cached_tokens: text(row.cached_tokens),
    milliseconds: text(row.milliseconds),
    cost_nano: text(row.cost_nano),
  }
}

function byId(one: { readonly request_id: string }, other: { readonly request_id: string }): number {
  return one.request_id < other.request_id ? -1 : 1
}

const organizationId = newId()

function ownersOf(at: number): Owners {
  const hex = String(at).padStart(12, '0')
  const keyHash = hex.padStart(64, 'a')
  const accounts = { organization: '', workspace: '', key: '' }
  return {
    organizationId,
    workspaceId: `00000000-0000-4000-8000-${hex}`,
    keyHash,
    keyAccountId: `k${keyHash}`,
    accounts,
  }
}
