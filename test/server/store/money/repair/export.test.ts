import { PassThrough, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import {
  EXPORT_COLUMNS,
  exportLedger,
  type ExportQuery,
} from '../../../../../src/server/store/money/repair/export.ts'
import { newId } from '../../../../../src/server/store/base/ids.ts'
import type { Store } from '../../../../../src/server/store/base/open.ts'
import { openBooks } from '../../../../support/money/ledger.ts'
import { plantMany } from '../../../../support/stores/postgres.ts'

t.setTimeout(600_000)

async function exported(t: Test, store: Store, query: ExportQuery = {}): Promise<readonly string[]> {
  const out = new PassThrough()
  const [written] = await Promise.all([text(out), exportLedger(store, query, out).finally(() => out.end())])
  t.ok(written.endsWith('\r\n'))
  return written.slice(0, -2).split('\r\n')
}

t.test('an export has a header line, and amounts as nano-USD and as USD', async (t) => {
  const { store, book, organizationId, workspaceId, keyHash } = await openBooks(t)
  await book({ cost: 1_500_000_001, requestId: 'r', isByok: true })
  await store.sql`UPDATE ledger SET at = '2026-03-18T01:02:03.4567Z'`
  t.same(await exported(t, store), [
    EXPORT_COLUMNS.join(','),
    `2026-03-18,2026-03-18T01:02:03.456Z,usage,r,${organizationId},${workspaceId},${keyHash},,` +
      `embeddings.create,m,p,1,,,0,1500000001,0,1.500000001,0.000000000,true,`,
  ])
})

t.test('commas, quotes and line breaks in a value are quoted, and keep their bytes', async (t) => {
  const { store, book } = await openBooks(t)
  await book({ requestId: 'a,"b"\nc', model: 'ü' })
  const [, row = ''] = await exported(t, store)
  t.match(row, /,usage,"a,""b""\nc",.*,ü,/s)
})

t.test('an export covers exactly the requested days, and can be limited to one organization', async (t) => {
  const { store, book, organizationId } = await openBooks(t)
  await book({ day: '2026-01-31' }, { day: '2026-02-01' }, { day: '2026-02-28' }, { day: '2026-03-01' })
  const days = (rows: readonly string[]): readonly string[] => rows.slice(1).map((row) => row.slice(0, 10))
  t.same(days(await exported(t, store)), ['2026-01-31', '2026-02-01', '2026-02-28', '2026-03-01'])
  t.same(days(await exported(t, store, { from: '2026-02-01', to: '2026-02-28', organizationId })), [
    '2026-02-01',
    '2026-02-28',
  ])
  t.same(days(await exported(t, store, { organizationId: newId() })), [])
})

t.test('an invalid day or id never becomes part of a statement', async (t) => {
  const { store } = await openBooks(t)
  await t.rejects(exportLedger(store, { from: `2026-01-01' OR true --` }, new PassThrough()), TypeError)
  await t.rejects(exportLedger(store, { organizationId: `x' OR true --` }, new PassThrough()), TypeError)
})

t.test('a reader that disconnects ends the export, and the next export is complete', async (t) => {
  const { store, book, organizationId } = await openBooks(t)
  await book({})
  await plantMany(
    store,
    (tx) => tx`
    INSERT INTO ledger (day, at, request_id, kind, organization_id, cost_nano)
    SELECT '2026-03-18', now(), 'r' || n, 'usage', ${organizationId}, 1 FROM generate_series(1, 50000) AS n`,
  )
  let pieces = 0
  const leaving = new Writable({
    write(_piece, _encoding, done) {
      pieces++
      done(pieces > 2 ? Object.assign(new Error('left'), { code: 'EPIPE' }) : null)
    },
  })
  await t.rejects(exportLedger(store, {}, leaving), { code: 'EPIPE' })
  t.ok(pieces < 10)
  t.equal((await exported(t, store)).length, 50_002)
})
