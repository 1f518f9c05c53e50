import t, { type Test } from 'tap'
import { readTable, type CopiedTable } from '../../../../src/server/store/lifecycle/table-copies.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

const ROWS: CopiedTable = { name: 'copied_rows', columns: ['n', 'filler'] }

/** A table of so many rows of a hundred bytes and more. */
async function storeWith(t: Test, rows: number): Promise<Store> {
  const store = await openTestStore(t)
  await store.sql`CREATE TABLE copied_rows AS SELECT n, repeat('x', 100) AS filler FROM generate_series(1, ${rows}::int) n`
  return store
}

// About one read (16 KiB), about one chunk (64 KiB), and far more than both.
for (const rows of [0, 1, 155, 160, 400, 620, 20_000]) {
  t.test(`a table of ${rows} rows is read whole, and its connection answers afterwards`, async (t) => {
    const store = await storeWith(t, rows)
    const [lines, next] = await store.sql.begin(async (tx) => {
      let lines = 0
      for await (const piece of readTable(tx, ROWS))
        lines += Buffer.from(piece).toString().split('\n').length - 1
      return [lines, await tx`SELECT 1 AS one`]
    })
    t.same([lines, ...next], [rows, { one: 1 }])
  })
}

t.test(
  'a reader that throws in the middle of a table gets its own error, and no connection hangs',
  async (t) => {
    const store = await storeWith(t, 20_000)
    const read = store.sql.begin(async (tx) => {
      for await (const piece of readTable(tx, ROWS))
        throw new Error(`no room for ${piece.length > 0 ? 'this' : 'nothing'}`)
    })
    await t.rejects(read, { message: 'no room for this' })
    t.same(await store.sql`SELECT 1 AS one`, [{ one: 1 }])
  },
)
