import t, { type Test } from 'tap'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { openBooks, type Books } from '../../../support/money/ledger.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { openFolder } from '../../../support/files/storage.ts'

t.setTimeout(600_000)

interface Stand extends Books {
  run(...args: readonly string[]): ReturnType<typeof runVerb>
  /** The same within this process. */
  verb(line: string): ReturnType<typeof runVerb>
}

async function stand(t: Test): Promise<Stand> {
  const books = await openBooks(t)
  const settings = { DATABASE_URL: books.store.options.url, SLUICE_DATA: await openFolder(t) }
  return {
    ...books,
    run: (...args) => runVerb(settings, ['ledger', ...args]),
    verb: (line) => runVerb(settings, ['ledger', ...line.split(' ')]),
  }
}

t.test(
  'check exits with 0 while the books balance, and with 1 and the difference when they do not',
  async (t) => {
    const { store, accounts, book, run } = await stand(t)
    await book({ cost: 5 })
    t.match(await run('check'), { code: 0, stdout: /USD spent: 0\.000000005; .*\nthe ledger balances\n$/ })
    await store.sql`UPDATE accounts SET weekly_spent_nano = 6 WHERE id = ${accounts.key}`
    t.match(await run('check'), {
      code: 1,
      stdout: new RegExp(`${accounts.key} +weekly_spent_nano +5 +6\n`),
      stderr: /does not balance: 1 difference/,
    })
  },
)

t.test(
  'close-node takes back the money of a dead node, and refuses an unknown node or one that may still spend',
  async (t) => {
    const { store, accounts, run } = await stand(t)
    const journal = newId()
    await store.sql`INSERT INTO journals (id, node, boot_id) VALUES (${journal}, 'gone', 'b')`
    await store.sql`INSERT INTO refills (journal_id, sequence, reply) VALUES (${journal}, 0, '')`
    await store.sql`INSERT INTO leases VALUES (${journal}, ${accounts.workspace}, '2026-03-18', 40)`
    await store.sql`
    UPDATE accounts SET daily_lent_nano = 40, weekly_lent_nano = 40, monthly_lent_nano = 40, lifetime_lent_nano = 40 WHERE id = ${accounts.workspace}`
    t.match(await run('close-node', 'gnoe'), { code: 1, stderr: /the database has no journals of node gnoe/ })
    await store.sql`INSERT INTO fronts (id, node, connections, epoch, heartbeat_at) VALUES (${newId()}, 'gone', 1, 0, now() + interval '1 h')`
    t.match(await run('close-node', 'gone', '--force'), {
      code: 1,
      stderr: /has 1 running fronts: stop the node first/,
    })
    await store.sql`UPDATE fronts SET heartbeat_at = now() - interval '1 day'`
    t.match(await run('close-node', 'gone'), { code: 1, stderr: /stopped responding without a shutdown/ })
    t.match(await run('close-node', 'gone', '--force'), {
      code: 0,
      stdout: /^1 journals closed, 1 forfeits:\n0\.00000004 USD forfeited, 0 USD returned /,
    })
    t.match(await auditOf(store), [{}, { operation: 'cli.ledger-close-node', object_id: 'gone' }])
    t.match(await run('forgive', '--journal', journal, '--note', 'the disk is lost'), { code: 0 })
    t.match(await run('check'), { code: 0 })
  },
)

t.test('close-node accepts the start of a node id, and closes none when several match', async (t) => {
  const { store, verb } = await stand(t)
  const [one, other] = ['1', '2'].map((end) => `0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2${end}`)
  for (const node of [one, other, 'node-1', 'node-12'])
    await store.sql`INSERT INTO journals (id, node, boot_id) VALUES (${newId()}, ${node ?? ''}, 'b')`
  const open = async () => (await store.sql`SELECT FROM journals WHERE state = 'open'`).length
  const refused = await verb('close-node 0190a1b2')
  t.match(refused, {
    code: 1,
    stderr: /^Several nodes match; give more characters of the id\. Matches: 0190/,
  })
  t.match(await verb('close-node 0190a'), { code: 1, stderr: /the database has no journals of node 0190a/ })
  t.equal(await open(), 4)
  // A whole id means itself, also where another id begins with it.
  t.match(JSON.parse((await verb('close-node node-1 --json')).stdout), { node: 'node-1', journals: 1 })
  t.match(JSON.parse((await verb(`close-node ${one ?? ''} --json`)).stdout), { node: one, journals: 1 })
  t.match(JSON.parse((await verb('close-node NODE-12 --json')).stdout), { node: 'node-12', journals: 1 })
  t.equal(await open(), 1)
})

t.test('forfeits are selected by the first characters of their journal or request', async (t) => {
  const { book, verb } = await stand(t)
  const [one = '', other] = ['1', '2'].map((end) => `0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2${end}`)
  await book(
    { cost: 3, kind: 'forfeit', requestId: 'req_aaaa1', journalId: one },
    { cost: 5, kind: 'forfeit', requestId: 'req_aaaa12', journalId: other ?? '' },
    { cost: 7, kind: 'forfeit', requestId: 'req_bbbb1', journalId: newId() },
  )
  const forgiven = async (by: string) =>
    JSON.parse((await verb(`forgive ${by} --note lost --json`)).stdout) as unknown
  t.match(await verb('forgive --journal 0190a1b2 --note lost'), {
    code: 1,
    stderr: /^Several journals match/,
  })
  t.match(await verb('forgive --journal 0190a1ff --note lost'), {
    code: 1,
    stderr: /no forfeit found for journal 0190a1ff/,
  })
  t.match(await verb('forgive --request req_aa --note lost'), { code: 1, stderr: /^Several requests match/ })
  t.match(await forgiven('--request req_bbb'), { forfeits: 1, amount_nano_usd: '7' })
  t.match(await forgiven('--request req_aaaa1'), { forfeits: 1, amount_nano_usd: '3' })
  // A forgiven forfeit still matches its own id: a second run does not move on to its neighbour.
  t.match(await verb('forgive --request req_aa --note lost'), { code: 1, stderr: /^Several requests match/ })
})
