import t from 'tap'
import { workspaceAccount } from '../../../../src/schemas/money/accounts.ts'
import {
  bumpLimits,
  countedNano,
  isApplied,
  isWithin,
  readAccounts,
  type AccountNow,
} from '../../../../src/server/store/money/account-limits.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { setAccount, turnTo } from '../../../support/money/accounts.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

const SPENT = {
  daily_spent_nano: '1',
  weekly_spent_nano: '2',
  monthly_spent_nano: '3',
  lifetime_spent_nano: '4',
}
const LENT = {
  daily_lent_nano: '10',
  weekly_lent_nano: '20',
  monthly_lent_nano: '30',
  lifetime_lent_nano: '40',
}

t.test('reading an account shows the counters of the current windows, and writes no new day', async (t) => {
  const store = await openTestStore(t)
  const id = await account(store, { ...SPENT, ...LENT, day: '2024-02-28' })
  // Wednesday; the day after in the same week and month; Monday; a month that ends in its week; another year.
  for (const [today, spent, lent] of [
    ['2024-02-28', [1n, 2n, 3n, 4n], [10n, 20n, 30n, 40n]],
    ['2024-02-29', [0n, 2n, 3n, 4n], [0n, 20n, 30n, 40n]],
    ['2024-03-01', [0n, 2n, 0n, 4n], [0n, 20n, 0n, 40n]],
    ['2024-03-04', [0n, 0n, 0n, 4n], [0n, 0n, 0n, 40n]],
    ['2025-02-28', [0n, 0n, 0n, 4n], [0n, 0n, 0n, 40n]],
    // A calendar that stepped back is not followed.
    ['2024-02-01', [1n, 2n, 3n, 4n], [10n, 20n, 30n, 40n]],
  ] as const) {
    await turnTo(store, today)
    const now = await read(store, id)
    t.same([Object.values(now.spent), Object.values(now.lent)], [spent, lent], today)
    t.equal(now.day, today < '2024-02-28' ? '2024-02-28' : today)
  }
  t.same(
    (await store.sql`SELECT day::text AS day FROM accounts WHERE id = ${id}`).map(({ day }) => String(day)),
    ['2024-02-28'],
  )
})

t.test('BYOK spend counts only if the account counts it, and lent money always counts', async (t) => {
  const store = await openTestStore(t)
  const id = await account(store, { ...SPENT, ...LENT, daily_byok_nano: '100' })
  const plain = await read(store, id)
  t.equal(countedNano(plain, 'daily'), 1n)
  t.same(
    [isWithin(plain, { span: 'daily', limitNano: 11n }), isWithin(plain, { span: 'daily', limitNano: 10n })],
    [true, false],
  )
  await store.sql`UPDATE accounts SET counts_byok = true WHERE id = ${id}`
  const counting = await read(store, id)
  t.equal(countedNano(counting, 'daily'), 101n)
  t.same(
    [
      isWithin(counting, { span: 'daily', limitNano: 111n }),
      isWithin(counting, { span: 'daily', limitNano: 110n }),
    ],
    [true, false],
  )
})

t.test('returns several accounts with their limits, in the order of their ids', async (t) => {
  const store = await openTestStore(t)
  const [with2, without] = [await account(store), await account(store)]
  for (const [span, limit] of [
    ['daily', 5],
    ['lifetime', 50],
  ] as const)
    await store.sql`INSERT INTO account_limits (account_id, span, id, limit_nano) VALUES (${with2}, ${span}, ${newId()}, ${limit})`
  const found = await readAccounts(store.sql, [without, with2, 'wnobody'])
  t.same(
    found.map(({ id }) => id),
    [with2, without].sort(),
  )
  const limitsOf = (id: string): unknown =>
    found.find((one) => one.id === id)?.limits.map(({ span, limitNano }) => [span, limitNano])
  t.same(
    [limitsOf(with2), limitsOf(without)],
    [
      [
        ['daily', 5n],
        ['lifetime', 50n],
      ],
      [],
    ],
  )
  t.same(await readAccounts(store.sql, []), [])
})

t.test('a change of limits is in force once every live front has reported its epoch', async (t) => {
  const store = await openTestStore(t)
  const id = await account(store)
  const change = await store.sql.begin((tx) => bumpLimits(tx, id, { kind: 'workspace', id: 'w' }))
  t.match(change, { kind: 'workspace', id: 'w' })
  t.equal((await read(store, id)).limitsEpoch, change.n)
  t.equal(await isApplied(store.sql, change.n), true, 'no front lives')
  const front = newId()
  await store.sql`INSERT INTO fronts (id, node, connections, epoch, heartbeat_at) VALUES (${front}, 'n', 1, ${change.n - 1}, clock_timestamp())`
  t.equal(await isApplied(store.sql, change.n), false)
  const waiting = isApplied(store.sql, change.n, 60_000)
  await store.sql`UPDATE fronts SET epoch = ${change.n} WHERE id = ${front}`
  t.equal(await waiting, true)
})

async function account(store: Store, columns: object = {}): Promise<string> {
  const { workspace } = must(await createOrganization(store, { name: 'o' }))
  const id = workspaceAccount(workspace.id)
  if (Object.keys(columns).length > 0) await setAccount(store, id, columns)
  return id
}

async function read(store: Store, id: string): Promise<AccountNow> {
  const [found] = await readAccounts(store.sql, [id])
  if (found === undefined) throw new Error('the account is gone')
  return found
}
