import t, { type Test } from 'tap'
import { readPostgresUrl } from '../../../../src/schemas/values/store-urls.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { PoolerRefused, throughPooler } from '../../../../src/server/store/base/pooler.ts'
import { migrate } from '../../../../src/server/store/migrations/migrate.ts'
import { SILENT } from '../../../support/log.ts'
import { openPooler, type PoolerOptions } from '../../../support/stores/pooler.ts'
import { openTestDatabase } from '../../../support/stores/postgres.ts'

/** A database of a role of its own, whose settings a test may change, and a pooler before it. */
async function pooled(t: Test, options: PoolerOptions) {
  const { url } = await openTestDatabase(t, 'empty')
  const owner = openStore({ url, poolMax: 1, applicationName: 'test' })
  t.teardown(() => owner.close())
  const role = `${new URL(url).pathname.slice(1)}_pooled`
  await owner.sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'p'; GRANT ALL ON SCHEMA public TO ${role}`)
  t.teardown(() => owner.sql.unsafe(`DROP OWNED BY ${role}; DROP ROLE ${role}`))
  const own = Object.assign(new URL(url), { username: role, password: 'p' })
  return { sql: owner.sql, pooler: await openPooler(t, own.href, options) }
}

function open(t: Test, url: string, poolMax = 3) {
  const store = openStore({ url, poolMax, applicationName: 'test' })
  t.teardown(() => store.close())
  return store
}

async function commandsOf(looked: Promise<unknown>): Promise<readonly string[]> {
  const problem = await looked.catch((cause: unknown) => cause)
  if (!(problem instanceof PoolerRefused)) throw new Error('was not refused', { cause: problem })
  return problem.message.match(/ALTER ROLE \S+ SET \w+ = '\w+';/g) ?? []
}

t.test('the URL of a server without a pooler stays as it is', async (t) => {
  const { url } = await openTestDatabase(t, 'empty')
  t.equal(await throughPooler(url), url)
})

t.test('a pooler in transaction mode is used once the role has the time-outs', async (t) => {
  const { sql, pooler } = await pooled(t, { mode: 'transaction' })
  const commands = await commandsOf(throughPooler(pooler.url))
  t.same(
    commands.map((command) => /SET (\w+)/.exec(command)?.[1]),
    ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'],
  )
  await sql.unsafe(commands.join('\n'))
  pooler.reconnect()
  const url = await throughPooler(pooler.url)
  t.equal(readPostgresUrl(url).pooler, 'transaction')
  t.equal(await throughPooler(url), url, 'which is found once')
  await migrate(url, SILENT)
  const store = open(t, url)
  await store.warm()
  const numbers = Array.from({ length: 300 }, (_, nth) => nth)
  const read = await Promise.all(
    numbers.map(async (nth) =>
      nth % 3 === 0
        ? store.sql.begin(async (tx) => (await tx<{ n: number }[]>`SELECT ${nth}::int AS n`)[0]?.n)
        : (await store.sql<{ n: number }[]>`SELECT ${nth}::int AS n`)[0]?.n,
    ),
  )
  t.same(read, numbers, 'no connection needs what another one prepared')
})

t.test('a pooler in session mode requires the time-outs of the role too', async (t) => {
  const { sql, pooler } = await pooled(t, { mode: 'session' })
  await sql.unsafe((await commandsOf(throughPooler(pooler.url))).join('\n'))
  pooler.reconnect()
  const url = await throughPooler(pooler.url)
  t.equal(readPostgresUrl(url).pooler, 'session')
  t.same(await open(t, url).sql`SELECT 1 AS one`, [{ one: 1 }])
})

t.test('a pooler that drops session settings is refused with the settings that the role lacks', async (t) => {
  const { sql, pooler } = await pooled(t, { mode: 'session', ignores: true })
  t.equal((await commandsOf(throughPooler(pooler.url))).length, 3)
  await sql.unsafe(`ALTER DATABASE "${new URL(pooler.url).pathname.slice(1)}" SET DateStyle = 'German, DMY'`)
  pooler.reconnect()
  t.match((await commandsOf(throughPooler(pooler.url))).at(-1), /SET DateStyle = 'ISO';/)
})

t.test('a pooler with one connection for all clients is recognized as transaction mode', async (t) => {
  const { pooler } = await pooled(t, { mode: 'transaction', ignores: true, connectionsMax: 1 })
  t.ok((await commandsOf(throughPooler(pooler.url))).length > 0)
})
