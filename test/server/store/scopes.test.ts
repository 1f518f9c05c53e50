import t from 'tap'
import { createKey } from '../../../src/server/store/api-keys.ts'
import type { Store } from '../../../src/server/store/open.ts'
import { createOrganization } from '../../../src/server/store/organizations.ts'
import { lockScopes, scopesOf } from '../../../src/server/store/scopes.ts'
import { CLI } from '../../support/audit.ts'
import { must } from '../../support/must.ts'
import { openTestStore } from '../../support/postgres.ts'

async function spansOf(store: Store, kind: 'organization' | 'workspace' | 'key', id: string): Promise<string[]> {
  const scopes = await store.sql.begin((tx) => scopesOf(tx, kind, id))
  return scopes.map((scope) => `${scope.span} ${scope.limitNano ?? 'without limit'}`).sort()
}

t.test('every owner has all of its scopes from its birth, without a limit', async (t) => {
  const store = await openTestStore(t)
  const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
  const wish = { kind: 'inference', name: 'k', organizationId: organization.id, workspaceId: workspace.id, rateLimitRpm: null, expiresAt: null } as const
  const { apiKey } = must(await createKey(store, wish, CLI))
  t.same(await spansOf(store, 'organization', organization.id), ['credit without limit'])
  t.same(await spansOf(store, 'workspace', workspace.id), ['daily', 'lifetime', 'monthly', 'weekly'].map((span) => `${span} without limit`))
  t.same(await spansOf(store, 'key', apiKey.hash), ['limit without limit'])
})

t.test('many lockers of the same scopes in every order never deadlock and lose no write', async (t) => {
  const store = await openTestStore(t, 12)
  for (let n = 0; n < 8; n++) await createOrganization(store, { name: `o${n}` })
  const rows = await store.sql<{ id: string }[]>`SELECT id FROM scopes ORDER BY id DESC LIMIT 12`
  const ids = rows.map((row) => row.id)
  const turns = Array.from({ length: 300 }, (_, turn) => [...ids.slice(turn % 12), ...ids.slice(0, turn % 12)].slice(0, 6))
  await Promise.all(turns.map((wanted) => store.sql.begin(async (tx) => {
    for (const scope of await lockScopes(tx, wanted)) {
      await tx`UPDATE scopes SET spent_nano = ${(scope.spentNano + 1n).toString()} WHERE id = ${scope.id}`
    }
  })))
  const [sum] = await store.sql`SELECT sum(spent_nano)::int AS spent FROM scopes`
  t.equal(sum?.['spent'], 300 * 6)
})

t.test('scopes come in the order of their ids, whatever order was asked', async (t) => {
  const store = await openTestStore(t)
  await createOrganization(store, { name: 'o' })
  const rows = await store.sql<{ id: string }[]>`SELECT id FROM scopes ORDER BY id`
  const ids = rows.map((row) => row.id)
  const locked = await store.sql.begin((tx) => lockScopes(tx, ids.toReversed()))
  t.same(locked.map((scope) => scope.id), ids)
})
