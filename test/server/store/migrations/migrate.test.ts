import t from 'tap'
import {
  checkSchema,
  migrate,
  MIGRATIONS,
  SchemaRefused,
} from '../../../../src/server/store/migrations/migrate.ts'
import type { Migration } from '../../../../src/server/store/migrations/migration.ts'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { keptLog } from '../../../support/log.ts'
import { insertOldOwnerOnce } from '../../../support/stores/old-owner.ts'
import { openTestDatabase } from '../../../support/stores/postgres.ts'

type Tap = Parameters<typeof openTestDatabase>[0]

const first: Migration = step(1, 'first', 1)
const second: Migration = step(2, 'second', 1)

function step(number: number, name: string, oldestBinary: number): Migration {
  return {
    number,
    name,
    oldestBinary,
    tables: [name],
    up: async (tx) => void (await tx.unsafe(`CREATE TABLE ${name} (id int)`)),
  }
}

async function emptyStore(t: Tap): Promise<Store> {
  const { url } = await openTestDatabase(t, 'empty')
  const store = openStore({ url, poolMax: 2, applicationName: 'test' })
  t.teardown(() => store.close())
  return store
}

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'nothing was refused'
  } catch (problem) {
    return problem instanceof SchemaRefused ? problem.message : `not a refusal: ${String(problem)}`
  }
}

t.test('an empty database gets every step once, and a second run changes nothing', async (t) => {
  const {
    options: { url },
  } = await emptyStore(t)
  const log = keptLog()
  t.same(await migrate(url, log), { at: MIGRATIONS.length })
  t.same(await migrate(url, log), { at: MIGRATIONS.length })
  t.same(log.events, [{ event: 'store.migrated', fields: { from: 1, to: MIGRATIONS.length } }])
})

t.test(
  'deliveries written by an older version get their organization, even when written after the migration',
  async (t) => {
    const store = await emptyStore(t)
    const before = MIGRATIONS.slice(
      0,
      MIGRATIONS.findIndex(({ name }) => name === 'operator'),
    )
    await migrate(store.options.url, keptLog(), { migrations: before })
    const { organizationId, workspaceId } = await insertOldOwnerOnce(store.sql)
    await oldDelivery(store, workspaceId)
    await migrate(store.options.url, keptLog())
    await oldDelivery(store, workspaceId)
    t.same(
      (await store.sql`SELECT organization_id AS id FROM webhook_deliveries`).map(({ id }) => id as string),
      [organizationId, organizationId],
    )
  },
)

async function oldDelivery({ sql }: Store, workspaceId: string): Promise<void> {
  await sql`
    INSERT INTO webhook_deliveries (id, workspace_id, job_id, idempotency_key, url, host, body)
    SELECT id, ${workspaceId}, 'j', id::text, 'https://a.example', 'a.example', '{}' FROM (SELECT gen_random_uuid() AS id) made`
}

t.test('migrators that start at once take turns', async (t) => {
  const {
    options: { url },
  } = await emptyStore(t)
  const states = await Promise.all([1, 2, 3, 4].map(() => migrate(url, keptLog())))
  t.same(
    states.map((state) => state.at),
    Array(4).fill(MIGRATIONS.length),
  )
})

t.test('a step that fails is rolled back completely', async (t) => {
  const store = await emptyStore(t)
  const broken: Migration = {
    ...second,
    up: async (tx) => void (await tx.unsafe('CREATE TABLE second (id int); SELECT 1/0')),
  }
  await t.rejects(migrate(store.options.url, keptLog(), { migrations: [first, broken] }), /division by zero/)
  t.same(await checkSchema(store.sql, [first, second]), { at: 1 })
})

t.test('a missing step between applied ones is refused as half-migrated', async (t) => {
  const store = await emptyStore(t)
  await migrate(store.options.url, keptLog(), { migrations: [first, second] })
  await store.sql`DELETE FROM schema_migrations WHERE number = 1`
  t.match(
    await refusal(migrate(store.options.url, keptLog(), { migrations: [first, second] })),
    /half-migrated: migration 1 is missing/,
  )
})

t.test('a table missing from an applied step is refused as half-migrated', async (t) => {
  const store = await emptyStore(t)
  await migrate(store.options.url, keptLog(), { migrations: [first, second] })
  await store.sql`DROP TABLE second`
  t.match(await refusal(checkSchema(store.sql, [first, second])), /half-migrated: table `second` is missing/)
})

t.test('tables without a record of migrations are refused as half-migrated', async (t) => {
  const store = await emptyStore(t)
  await store.sql`CREATE TABLE first (id int)`
  t.match(
    await refusal(migrate(store.options.url, keptLog(), { migrations: [first] })),
    /half-migrated: table `first` exists/,
  )
})

t.test('a schema that needs a newer binary is refused', async (t) => {
  const store = await emptyStore(t)
  await migrate(store.options.url, keptLog(), { migrations: [first, step(2, 'second', 2)] })
  t.match(
    await refusal(migrate(store.options.url, keptLog(), { migrations: [first] })),
    /needs a Sluice version that has migration 2; this version has only 1/,
  )
})

t.test('an older binary runs on a newer schema that allows it', async (t) => {
  const store = await emptyStore(t)
  await migrate(store.options.url, keptLog(), { migrations: [first, second] })
  t.same(await migrate(store.options.url, keptLog(), { migrations: [first] }), { at: 2 })
})

t.test('a database of another program is refused', async (t) => {
  const store = await emptyStore(t)
  await migrate(store.options.url, keptLog(), { migrations: [step(1, 'other', 1)] })
  t.match(
    await refusal(migrate(store.options.url, keptLog(), { migrations: [first] })),
    /belongs to another program or branch/,
  )
})

t.test('the steps are numbered without gaps and none needs a binary newer than itself', async (t) => {
  t.same(
    MIGRATIONS.map((migration) => migration.number),
    MIGRATIONS.map((_, index) => index + 1),
  )
  t.ok(MIGRATIONS.every((migration) => migration.oldestBinary <= migration.number))
})
