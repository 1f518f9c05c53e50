import t from 'tap'
import { checkLedger } from '../../../../../src/server/store/money/repair/check.ts'
import { forgive, listForfeits } from '../../../../../src/server/store/money/repair/forgive.ts'
import { newId } from '../../../../../src/server/store/base/ids.ts'
import { auditOf, CLI } from '../../../../support/audit/audit.ts'
import { openBooks, type Books } from '../../../../support/money/ledger.ts'
import { must } from '../../../../support/must.ts'

t.setTimeout(600_000)

const JOURNAL = newId()

async function filled(books: Books): Promise<void> {
  await books.book(
    { cost: 3, kind: 'forfeit', requestId: 'today', journalId: JOURNAL },
    { cost: 5, kind: 'forfeit', requestId: 'monday', day: '2026-03-16' },
    { cost: 7, kind: 'forfeit', requestId: 'february', day: '2026-02-20' },
    { cost: 11, kind: 'forfeit', requestId: 'lump', accountId: books.accounts.workspace, journalId: JOURNAL },
    { cost: 13, requestId: 'used' },
  )
}

async function spentOf(
  { counter, accounts }: Books,
  account: 'workspace' | 'key',
): Promise<readonly string[]> {
  return Promise.all(
    ['daily', 'weekly', 'monthly', 'lifetime'].map((span) =>
      counter(accounts[account], `${span}_spent_nano`),
    ),
  )
}

t.test('a forgiven journal no longer counts in any window that is still open', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  t.same(await spentOf(books, 'workspace'), ['27', '32', '32', '39'])
  t.same(must(await forgive(books.store, { journalId: JOURNAL, note: 'it burned' }, CLI)), {
    forfeits: 2,
    amountNano: 14n,
  })
  t.same(await spentOf(books, 'workspace'), ['13', '18', '18', '25'])
  t.same(await spentOf(books, 'key'), ['13', '18', '18', '25'])
  t.same(must(await checkLedger(books.store)).differences, [])
})

t.test('forgiving a forfeit from an ended window frees it in the windows that are still open', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  must(await forgive(books.store, { requestId: 'february', note: '' }, CLI))
  t.same(await spentOf(books, 'key'), ['16', '21', '21', '21'])
  t.same(must(await checkLedger(books.store)).differences, [])
})

t.test('forgiving once more does nothing, and is not in the audit log', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  must(await forgive(books.store, { before: '2026-03-18', note: 'twice' }, CLI))
  const events = (await auditOf(books.store)).length
  t.same(must(await forgive(books.store, { before: '2026-03-18', note: 'twice' }, CLI)), {
    forfeits: 0,
    amountNano: 0n,
  })
  t.equal((await auditOf(books.store)).length, events)
  t.same(must(await checkLedger(books.store)).differences, [])
})

t.test('two concurrent calls that forgive the same forfeits release them once', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  const both = await Promise.all(
    [1, 2].map(() => forgive(books.store, { before: '2026-12-31', note: '' }, CLI)),
  )
  t.equal(
    both.map(must).reduce((sum, { amountNano }) => sum + amountNano, 0n),
    26n,
  )
  t.same(must(await checkLedger(books.store)).differences, [])
})

t.test('an amount that was released before is not released twice', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  await books.store.sql`UPDATE ledger SET released_nano = 2 WHERE request_id = 'today'`
  t.equal(must(await forgive(books.store, { requestId: 'today', note: '' }, CLI)).amountNano, 1n)
})

t.test('the audit log has the actor, the amount and the note of a forgiven forfeit', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  must(await forgive(books.store, { requestId: 'monday', note: 'the node was replaced' }, CLI))
  t.match((await auditOf(books.store)).at(-1), {
    actor: { kind: 'cli', id: 'ann' },
    operation: 'cli.ledger-forgive',
    object_kind: 'forfeits',
    object_id: 'monday',
    after: { forfeits: 1, amount_nano: '5', note: 'the node was replaced' },
  })
})

t.test('forfeits are listed newest first, without forgiven ones', async (t) => {
  const books = await openBooks(t)
  await filled(books)
  const before = must(await listForfeits(books.store, {}, 10))
  t.same(
    before.slice(-2).map(({ requestId, costNano }) => `${requestId} ${costNano}`),
    ['monday 5', 'february 7'],
  )
  must(await forgive(books.store, { before: '2026-03-01', note: '' }, CLI))
  t.same(
    must(await listForfeits(books.store, {}, 10))
      .map(({ requestId }) => requestId)
      .sort(),
    ['lump', 'monday', 'today'],
  )
  t.same(must(await listForfeits(books.store, { journalId: JOURNAL }, 1)).length, 1)
})
