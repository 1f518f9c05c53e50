import t from 'tap'
import { accountsOf, Books, type Entry } from '../../../../src/server/store/money/lending/books.ts'
import type { Settlement } from '../../../../src/server/ports/money/journal.ts'
import { settlement } from '../../../support/money/money.ts'
import type { TextTokens } from '../../../../src/server/ports/money/money.ts'

const DAYS = ['2026-03-01', '2026-03-02']
const WHOSE = [1, 2, 3].map((at) => ({
  organizationId: `o${at % 2}`,
  workspaceId: `w${at % 2}`,
  keyHash: `h${at}`,
  keyAccountId: `k${at}`,
  accounts: { organization: '', workspace: '', key: '' },
}))

t.test('each account and day gets its own sum, however settlements are mixed', async (t) => {
  const all = mixed(500)
  const books = new Books()
  for (const { settle, isLate } of all) books.add(settle, { isLate })
  const expected = new Map<string, Entry>()
  for (const { settle, isLate } of all) {
    for (const { kind, accountId } of accountsOf(settle)) {
      const name = `${accountId} ${settle.day}`
      const entry = expected.get(name) ?? { spent: 0n, byok: 0n, fromLease: 0n }
      entry[settle.isByok ? 'byok' : 'spent'] += BigInt(settle.costNano)
      if (settle.paid[kind] && !isLate) entry.fromLease += BigInt(settle.costNano)
      expected.set(name, entry)
    }
  }
  const found = [...books.entries].flatMap(([id, days]) =>
    [...days].map(([day, entry]) => [`${id} ${day}`, entry] as const),
  )
  t.same(new Map([...found].sort()), new Map([...expected].sort()))
})

t.test('activity is summed per key, model and day, and separately for own credentials', async (t) => {
  const all = mixed(500)
  const books = new Books()
  for (const { settle, isLate } of all) books.add(settle, { isLate })
  for (const row of books.activity) {
    const own = all
      .map(({ settle }) => settle)
      .filter(({ keyHash, model, day }) => keyHash === row.key_hash && model === row.model && day === row.day)
    const sum = (name: keyof TextTokens) => own.reduce((all, { text }) => all + (text?.[name] ?? 0), 0)
    const nano = (isByok: boolean) =>
      own.filter((one) => one.isByok === isByok).reduce((sum, { costNano }) => sum + BigInt(costNano), 0n)
    t.same(
      [row.requests, row.tokens, row.output_tokens, row.cached_tokens, row.spent, row.byok],
      [own.length, own.length * 3, sum('outputTokens'), sum('cachedTokens'), nano(false), nano(true)],
    )
  }
  t.equal(
    books.activity.reduce((sum, { requests }) => sum + requests, 0),
    all.length,
  )
})

t.test('costs too large for exact doubles are summed exactly', async (t) => {
  const [owners] = WHOSE
  if (owners === undefined) throw new Error('nobody')
  const books = new Books()
  for (let at = 0; at < 5; at++) books.add(settlement(owners, '2026-03-01', Number.MAX_SAFE_INTEGER))
  books.add(settlement(owners, '2026-03-01', 1))
  t.equal(books.entries.get('k1')?.get('2026-03-01')?.spent, 5n * BigInt(Number.MAX_SAFE_INTEGER) + 1n)
  books.add(settlement(owners, '2026-03-01', 1))
  t.equal(
    books.activity[0]?.spent,
    5n * BigInt(Number.MAX_SAFE_INTEGER) + 2n,
    'what is added after a look counts once',
  )
})

/** Every difference that keeps two settlements apart, in turns of coprime lengths. */
function mixed(count: number): readonly { readonly settle: Settlement; readonly isLate: boolean }[] {
  return Array.from({ length: count }, (_, at) => {
    const owners = WHOSE[at % 3]
    const day = DAYS[at % 2]
    if (owners === undefined || day === undefined) throw new Error('nobody')
    const paid = { organization: at % 5 < 3, workspace: at % 7 < 3, key: at % 11 < 5 }
    return {
      settle: settlement(owners, day, at * at, {
        isByok: at % 13 < 4,
        isEstimated: at % 17 < 4,
        model: `m${at % 4}`,
        paid,
        ...(at % 3 === 0 ? null : { text: { outputTokens: at, cachedTokens: at % 3 } }),
      }),
      isLate: at % 19 < 6,
    }
  })
}
