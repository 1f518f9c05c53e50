import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { isAway } from '../../../../src/server/store/base/translate.ts'
import { openFarStore } from '../../../support/stores/away.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { plainEnvironment } from '../../../support/load/load.ts'

async function problemOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (problem: unknown) => problem,
  )
}

t.test('transactions whose backend is terminated in any step reject, and the process survives', async (t) => {
  const { options } = await openTestStore(t)
  // An error that no code can catch would end this process too.
  const program = fileURLToPath(new URL('../../../support/stores/lost-transactions.js', import.meta.url))
  const child = fork(program, [options.url], { env: plainEnvironment(), silent: true })
  let stated = ''
  child.stderr?.on('data', (text: Buffer) => (stated += text.toString()))
  const [code] = (await once(child, 'exit')) as [number | null]
  t.equal(code, 0, stated)
})

t.test('a transaction that continues after the loss of its connection rejects with the loss', async (t) => {
  const { store, relay } = await openFarStore(t)
  let later: Promise<unknown> = Promise.resolve()
  const problem = await problemOf(
    store.sql.begin(async (tx) => {
      await tx`SELECT 1`
      await relay.cut()
      later = new Promise((resolve) => setTimeout(resolve, 20)).then(() =>
        problemOf(Promise.race([tx`SELECT 2`, 'nothing'])),
      )
      await later
      return tx`SELECT 3`
    }),
  )
  t.ok(isAway(problem))
  await later
  await relay.restore()
  while ((await problemOf(store.within(2_000, (sql) => sql.begin((tx) => tx`SELECT 1`)))) !== null) continue
  t.pass('the pool is whole')
})

t.test('a transaction that fails with the error code of another connection is rolled back', async (t) => {
  const { sql } = await openTestStore(t)
  const left = Object.assign(new Error('left'), { code: 'EPIPE' })
  t.equal(await problemOf(sql.begin(() => Promise.reject(left))), left)
})

t.test('a transaction that fails with its own error is rolled back', async (t) => {
  const { sql } = await openTestStore(t)
  await sql`CREATE TABLE kept (n integer)`
  const problem = await problemOf(
    sql.begin(async (tx) => {
      await tx`INSERT INTO kept VALUES (1)`
      throw new Error('by itself')
    }),
  )
  t.match(problem, { message: 'by itself' })
  t.same(await sql`SELECT * FROM kept`, [])
  t.match(
    await problemOf(
      sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', (tx) => tx`INSERT INTO kept VALUES (2)`),
    ),
    { code: '25006' },
  )
})
