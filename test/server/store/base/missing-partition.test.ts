import postgres from 'postgres'
import t from 'tap'
import { makingPartitions } from '../../../../src/server/store/base/missing-partition.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'

waitLong()

const TABLE = { table: 'generations', keyColumn: 'created_at' } as const

/** Without the message that follows a partition, about one day in fifteen has a connection that never sees it. */
const DAYS = 60
const CONNECTIONS = 8
const WRITES = 16
/** Statements between the starts of two writes of a day, so that some connect while the partition is attached. */
const BETWEEN = 3

t.test('connections that are opened during the creation of a partition find it', async (t) => {
  const store = await openTestStore(t)
  for (let nth = 0; nth < DAYS; nth++) {
    const day = new Date(Date.UTC(2031, 0, 1 + nth))
    const sql = postgres(store.options.url, { max: CONNECTIONS })
    const write = () => sql`
      INSERT INTO generations (id, created_at, organization_id, workspace_id, facts)
      VALUES (gen_random_uuid()::text, ${day}, gen_random_uuid(), gen_random_uuid(), '{}')`
    const writes = Array.from({ length: WRITES }, async (_, at) => {
      for (let before = 0; before < at * BETWEEN; before++) await store.sql`SELECT 1`
      return makingPartitions({ sql }, TABLE, () => [day.toISOString().slice(0, 10)], write)
    })
    const results = await Promise.allSettled(writes)
    // A connection that does not know the partition by now never learns of it.
    results.push(...(await Promise.allSettled(Array.from({ length: WRITES }, write))))
    await sql.end()
    t.same(
      results.filter(({ status }) => status === 'rejected'),
      [],
      `day ${nth}`,
    )
  }
})

t.test('a write whose partition remains missing fails after four attempts', async (t) => {
  const store = await openTestStore(t)
  let tries = 0
  const write = async () => {
    tries++
    await store.sql`
      INSERT INTO generations (id, created_at, organization_id, workspace_id, facts)
      VALUES ('gen', '2031-01-01', gen_random_uuid(), gen_random_uuid(), '{}')`
  }
  await t.rejects(
    makingPartitions(store, TABLE, () => ['2032-01-01'], write),
    { code: '23514' },
  )
  t.equal(tries, 4)
})
