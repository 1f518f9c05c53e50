import t from 'tap'
import { keyAccount, organizationAccount, workspaceAccount } from '../../../../src/schemas/money/accounts.ts'
import { lockAccounts } from '../../../../src/server/store/money/accounts.ts'
import { createKey } from '../../../support/keys/make-keys.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

t.test('every owner is created together with an account, without a limit', async (t) => {
  const store = await openTestStore(t)
  const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
  const input = { organizationId: organization.id, workspaceId: workspace.id } as const
  const { apiKey } = must(await createKey(store, input, CLI))
  const ids = [organizationAccount(organization.id), workspaceAccount(workspace.id), keyAccount(apiKey.hash)]
  const accounts = await store.sql.begin((tx) => lockAccounts(tx, ids))
  t.same(
    accounts.map(({ id, ownerKind, organizationId }) => ({ id, ownerKind, organizationId })),
    [
      { id: ids[2], ownerKind: 'key', organizationId: organization.id },
      { id: ids[0], ownerKind: 'organization', organizationId: organization.id },
      { id: ids[1], ownerKind: 'workspace', organizationId: organization.id },
    ],
  )
  for (const { spent, byok, lent } of accounts)
    for (const counter of [spent, byok, lent]) t.same(counter, NOTHING)
  t.same(await store.sql`SELECT * FROM account_limits`, [])
})

const NOTHING = { daily: 0n, weekly: 0n, monthly: 0n, lifetime: 0n }

t.test('callers that lock the same accounts in any order never deadlock and lose no write', async (t) => {
  const store = await openTestStore(t, 12)
  for (let n = 0; n < 8; n++) await createOrganization(store, { name: `o${n}` })
  const rows = await store.sql<{ id: string }[]>`SELECT id FROM accounts ORDER BY id DESC LIMIT 12`
  const ids = rows.map((row) => row.id)
  const turns = Array.from({ length: 300 }, (_, turn) =>
    [...ids.slice(turn % 12), ...ids.slice(0, turn % 12)].slice(0, 6),
  )
  await Promise.all(
    turns.map((wanted) =>
      store.sql.begin(async (tx) => {
        for (const account of await lockAccounts(tx, wanted)) {
          await tx`UPDATE accounts SET daily_spent_nano = ${(account.spent.daily + 1n).toString()} WHERE id = ${account.id}`
        }
      }),
    ),
  )
  const [sum] = await store.sql`SELECT sum(daily_spent_nano)::int AS spent FROM accounts`
  t.equal(sum?.['spent'], 300 * 6)
})

t.test('returns accounts in the order of their ids, whatever the order of the request', async (t) => {
  const store = await openTestStore(t)
  await createOrganization(store, { name: 'o' })
  const rows = await store.sql<{ id: string }[]>`SELECT id FROM accounts ORDER BY id`
  const ids = rows.map((row) => row.id)
  const locked = await store.sql.begin((tx) => lockAccounts(tx, ids.toReversed()))
  t.same(
    locked.map((account) => account.id),
    ids,
  )
})
