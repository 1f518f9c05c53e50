import t from 'tap'
import { hashOfKey, isKeyShaped, KEY_PREFIXES } from '../../../../src/schemas/keys/api-keys.ts'
import {
  openKeyStore,
  revokeKey,
  type CreatedKey,
  type KeyInput,
} from '../../../../src/server/store/keys/api-keys.ts'
import { createKey } from '../../../support/keys/make-keys.ts'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

type Tap = Parameters<typeof openTestStore>[0]

interface Made {
  readonly store: Store
  readonly created: CreatedKey
  readonly workspaceId: string
}

async function makeKey(t: Tap, more: Partial<KeyInput> = {}): Promise<Made> {
  const store = await openTestStore(t)
  const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
  const owner = {
    organizationId: organization.id,
    workspaceId: more.kind === 'management' ? null : workspace.id,
  }
  const created = must(
    await createKey(
      store,
      { kind: 'inference', name: 'k', rateLimitRpm: null, expiresAt: null, ...owner, ...more },
      CLI,
    ),
  )
  return { store, created, workspaceId: workspace.id }
}

for (const kind of ['inference', 'management'] as const) {
  t.test(`a plain ${kind} key has its prefix and 256 bits, and the store has only its hash`, async (t) => {
    const { store, created } = await makeKey(t, { kind })
    t.ok(created.key.startsWith(KEY_PREFIXES[kind]) && isKeyShaped(created.key))
    t.equal(Buffer.from(created.key.slice(KEY_PREFIXES[kind].length), 'base64url').length, 32)
    t.equal(created.apiKey.hash, hashOfKey(created.key))
    const [row] = await store.sql`SELECT api_keys::text AS text FROM api_keys`
    t.notMatch(row?.['text'], created.key.slice(-43))
  })
}

t.test('a front loads the properties that the key was made with', async (t) => {
  const expiresAt = new Date('2030-01-01T00:00:00Z')
  const { store, created, workspaceId } = await makeKey(t, { rateLimitRpm: 600, expiresAt })
  const loaded = await openKeyStore(store).load([created.apiKey.hash, 'f'.repeat(64)])
  t.match(loaded, {
    ok: true,
    value: [
      {
        hash: created.apiKey.hash,
        kind: 'inference',
        workspaceId,
        defaultWorkspaceId: workspaceId,
        rateLimitRpm: 600,
        isDisabled: false,
        isInProgramme: true,
        mayWriteVault: true,
        expiresAtMs: expiresAt.getTime(),
      },
    ],
  })
  t.equal(must(loaded).length, 1, 'one that does not exist is left out')
})

t.test('a revoked key is not loaded, and its change is published to caches', async (t) => {
  const { store, created } = await makeKey(t)
  const { hash } = created.apiKey
  const revoked = await revokeKey(store, hash, CLI)
  t.match(revoked, { ok: true, value: { n: created.change.n + 1, kind: 'key', id: hash } })
  t.same(await openKeyStore(store).load([hash]), { ok: true, value: [] })
})

t.test('making and revoking a key is audited once each, by its hash alone', async (t) => {
  const { store, created } = await makeKey(t)
  const { hash } = created.apiKey
  for (let n = 0; n < 2; n++) must(await revokeKey(store, hash, CLI))
  const events = await auditOf(store)
  t.match(events, [
    {
      operation: 'cli.keys-create',
      actor: CLI.actor,
      object_kind: 'key',
      object_id: hash,
      before: null,
      after: { kind: 'inference', name: 'k' },
    },
    { operation: 'cli.keys-revoke', object_id: hash, before: { name: 'k' }, after: null },
  ])
  t.equal(events.length, 2)
  t.notMatch(JSON.stringify(events), created.key.slice(-43))
})

t.test('revoking an unknown key fails with api_key_unknown and does not advance the epoch', async (t) => {
  const { store } = await makeKey(t)
  const before = await store.sql`SELECT n FROM epoch`
  t.match(await revokeKey(store, 'f'.repeat(64), CLI), { ok: false, failure: { name: 'api_key_unknown' } })
  t.same(await store.sql`SELECT n FROM epoch`, before)
})

t.test('loading keys without a store fails with store_unavailable', async (t) => {
  const store = openStore({ url: 'postgres://nobody@127.0.0.1:1/none', poolMax: 1, applicationName: 'test' })
  t.teardown(() => store.close())
  t.match(await openKeyStore(store).load(['f'.repeat(64)]), {
    ok: false,
    failure: { name: 'store_unavailable' },
  })
})
