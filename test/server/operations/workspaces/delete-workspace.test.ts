import t from 'tap'
import { insertKey } from '../../../../src/server/store/keys/api-keys.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { createAttachableVault } from '../../../../src/server/store/vault/attachable-vaults.ts'
import { closeStorage } from '../../../../src/server/store/files/file-quota.ts'
import { openFileSweep } from '../../../../src/server/store/files/file-sweep.ts'
import { openFiles } from '../../../../src/server/store/files/files.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { addMember } from '../../../../src/server/store/workspaces/members.ts'
import { openPrivateEndpoints } from '../../../../src/server/store/endpoints/private-endpoints.ts'
import { createWorkspace, listWorkspaces } from '../../../../src/server/store/workspaces/workspaces.ts'
import { findWorkspace } from '../../../../src/server/store/base/find-workspace.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { begun, storedFile } from '../../../support/files/files.ts'
import { testHints } from '../../../support/stores/hints.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'
import { must, present } from '../../../support/must.ts'
import { untilWaiting } from '../../../support/stores/lock-waiters.ts'

const CONFIRMED = '?confirm_default_workspace_deletion=true'

/** A new inference key of a workspace. */
async function keyOf(front: InternsFront, workspaceId: string): Promise<string> {
  const of = { organizationId: front.organizationId, workspaceId }
  const input = { kind: 'inference', name: 'k', ...of, rateLimitRpm: null, expiresAt: null } as const
  return (await front.store.sql.begin((tx) => insertKey(tx, input))).key
}

t.test(
  'workspaces.delete 200: its keys and those of its interns are unknown at once, and the slug is free',
  async (t) => {
    const front = await openInternsFront(t)
    const { call, store, organizationId, other } = front
    const key = await keyOf(front, other.id)
    const intern = await front.intern({ workspace_id: 'other' })
    const internKey = must(await createInternKey(store, { internId: intern, organizationId }, CLI)).key
    const asked = () =>
      Promise.all(
        [key, internKey].map(async (one) => (await call('GET', '/workspaces/other', { key: one })).type),
      )
    t.same(await asked(), ['wrong_key_kind', 'wrong_key_kind'])
    t.match(await call('DELETE', '/workspaces/other'), { status: 200, body: { deleted: true } })
    t.same(await asked(), ['key_unknown', 'key_unknown'])
    t.match(await call('GET', `/interns/${intern}`), { status: 404, type: 'intern_unknown' })
    t.equal((await call('POST', '/workspaces', { body: { name: 'Other', slug: 'other' } })).status, 201)
  },
)

t.test(
  'a front that misses a deletion refuses the keys when it next loads them, because the store does not return them',
  async (t) => {
    const front = await openInternsFront(t)
    const { call, store, other } = front
    const key = await keyOf(front, other.id)
    await removalOf(front, 'other')
    await store.sql`UPDATE api_keys SET revoked_at = NULL WHERE workspace_id = ${other.id}`
    t.match(await call('GET', '/workspaces', { key }), { status: 401, type: 'key_unknown' })
  },
)

t.test(
  'workspaces.delete 400: the default workspace without confirmation, and the only workspace even with it',
  async (t) => {
    const { call } = await openInternsFront(t)
    const answer = await call('DELETE', '/workspaces/default')
    t.match(answer, {
      status: 400,
      type: 'default_workspace_kept',
      body: { error: { message: /confirm_default_workspace_deletion=true/ } },
    })
    t.match(await call('DELETE', '/workspaces/default?confirm_default_workspace_deletion=perhaps'), {
      status: 400,
      type: 'query_invalid',
    })
    t.equal((await call('DELETE', '/workspaces/other')).status, 200)
    const only = await call('DELETE', `/workspaces/default${CONFIRMED}`)
    t.match(only, {
      status: 400,
      type: 'default_workspace_kept',
      body: { error: { message: /The only workspace/ } },
    })
  },
)

t.test('the oldest other workspace becomes the default, and management keys use it', async (t) => {
  const front = await openInternsFront(t)
  const { call, store, organizationId, other } = front
  must(await createWorkspace(store, { organizationId, name: 'Young', slug: 'young' }))
  t.equal((await call('DELETE', `/workspaces/default${CONFIRMED}`)).status, 200)
  t.match(await listWorkspaces(store, organizationId), {
    value: [
      { id: other.id, isDefault: true },
      { slug: 'young', isDefault: false },
    ],
  })
  t.match((await call('POST', '/interns', { body: { name: 'Ada', provision: false } })).body, {
    workspace_id: other.id,
  })
  t.match(await findWorkspace(store.sql, null, organizationId), { value: { id: other.id } })
})

t.test('two concurrent deletions leave the organization one workspace, the default', async (t) => {
  const { call, store, organizationId } = await openInternsFront(t)
  const answer = await Promise.all(
    ['default', 'other'].map((slug) => call('DELETE', `/workspaces/${slug}${CONFIRMED}`)),
  )
  t.same(answer.map(({ status }) => status).sort(), [200, 400])
  t.match(await listWorkspaces(store, organizationId), { value: [{ isDefault: true }] })
  t.equal(must(await listWorkspaces(store, organizationId)).length, 1)
})

t.test(
  'vaults, interns, members and data keys are deleted with their workspace, and the audit log names them',
  async (t) => {
    const front = await openInternsFront(t)
    const { call, store, organizationId, other } = front
    await front.intern({ workspace_id: 'other' })
    const kept = await front.intern()
    must(await createAttachableVault(store, { organizationId, workspaceId: other.id, name: 'team' }, CLI))
    const [vaultId, keyId] = await secretIn(front, 'team')
    must(await addMember(store, { workspace: other, userName: 'ann', role: 'admin' }, CLI))
    await store.sql`INSERT INTO data_keys (id, workspace_id, purpose, root_key_id, wrapped) VALUES (${newId()}, ${other.id}, 'files', 'r', '')`
    await keyOf(front, other.id)
    await call('DELETE', '/workspaces/other')
    const left = await store.sql`
    SELECT 1 FROM secrets UNION ALL SELECT 1 FROM vault_keys WHERE id = ${keyId} UNION ALL SELECT 1 FROM vaults WHERE workspace_id = ${other.id}
    UNION ALL SELECT 1 FROM interns WHERE workspace_id = ${other.id} UNION ALL SELECT 1 FROM member_grants UNION ALL SELECT 1 FROM data_keys`
    t.equal(left.length, 0)
    t.equal((await call('GET', `/interns/${kept}`)).status, 200, 'another workspace keeps its own')
    const events = (await auditOf(store)).filter(
      (event) => (event as { operation: string }).operation === 'workspaces.delete',
    )
    t.match(
      events.find((event) => (event as { object_id: string }).object_id === vaultId),
      {
        object_kind: 'vault',
        before: { kind: 'attachable', name: 'team', secrets: ['s'] },
        after: null,
      },
    )
    t.same(events.map((event) => (event as { object_kind: string }).object_kind).sort(), [
      'intern',
      'key',
      'vault',
      'vault',
      'workspace',
    ])
    t.equal(
      (await store.sql`SELECT 1 FROM accounts WHERE id = ${`w${other.id}`}`).length,
      1,
      'what was spent stays',
    )
  },
)

t.test(
  'files are abandoned with their bytes for the sweep, and a running upload ends without a file',
  async (t) => {
    const front = await openInternsFront(t)
    const { call, store, other, workspace } = front
    const files = openFiles({
      store,
      now: () => performance.now(),
      random: Math.random,
      quotaWaitMs: 0,
      idempotencyWaitMs: 0,
    })
    t.teardown(() => files.close())
    const [stored, kept] = [await storedFile(files, other.id), await storedFile(files, workspace.id)]
    const upload = await begun(files, other.id, 7)
    await call('DELETE', '/workspaces/other')
    const facts = {
      filename: 'b',
      mimeType: 'text/plain',
      sizeBytes: 1,
      sha256: 'b'.repeat(64),
      dataKeyId: newId(),
      isDownloadable: false,
      purpose: null,
    }
    t.match(await files.commit(upload, facts), { failure: { name: 'upload_lost' } })
    t.match(await files.begin({ workspaceId: other.id, reserveBytes: 0, idempotency: null }), {
      failure: { name: 'quota_exceeded' },
    })
    t.match(await files.get(other.id, stored), { failure: { name: 'file_unknown' } })
    t.match(await files.get(workspace.id, kept), { ok: true })
    t.match(await files.usage(other.id), { value: { usedBytes: 0, reservedBytes: 0 } })
    t.same(
      must(await openFileSweep(store).claimStale(10))
        .map(({ id }) => id)
        .sort(),
      [stored, upload.id].sort(),
    )
  },
)

t.test('an upload that waits for quota while the workspace is deleted is refused', async (t) => {
  const front = await openInternsFront(t)
  const { store, other } = front
  const files = openFiles({
    store,
    now: () => performance.now(),
    random: Math.random,
    quotaWaitMs: 0,
    idempotencyWaitMs: 0,
  })
  t.teardown(() => files.close())
  must(await files.usage(other.id))
  let begun: Promise<unknown> = Promise.resolve()
  await store.sql.begin(async (tx) => {
    await tx`UPDATE workspaces SET deleted_at = now() WHERE id = ${other.id}`
    await closeStorage(tx, other.id)
    begun = files.begin({ workspaceId: other.id, reserveBytes: 1, idempotency: null })
    await untilWaiting(tx, 1)
  })
  t.match(await begun, { failure: { name: 'quota_exceeded' } })
})

t.test(
  'private endpoints are disabled and lose their validation, are removed from fronts, and cannot be enabled there again',
  async (t) => {
    const front = await openInternsFront(t)
    const { store, organizationId, other } = front
    const endpoints = openPrivateEndpoints({ store, hints: testHints() })
    const by = { ...CLI, operation: 'test' }
    const input = {
      organizationId,
      modelPermaslug: 'a/b',
      providerSlug: 'p',
      upstreamModelId: 'm',
      baseUrl: 'https://a.example',
      declaredRegion: null,
      declaredZdr: null,
      pricing: null,
      secretName: null,
      forms: null,
      idempotency: null,
    }
    const [active, draft] = [
      must(await endpoints.create(input, by)).endpoint,
      must(await endpoints.create(input, by)).endpoint,
    ]
    await store.sql`
    UPDATE private_endpoints SET workspace_id = ${other.id}, status = CASE WHEN id = ${active.id} THEN 'active' ELSE 'draft' END,
      validation = ${store.sql.json({ passed: true, checks: [], workspace_id: other.id })}, validated_config = 1, validated_at = now()`
    await removalOf(front, 'other')
    t.match(await endpoints.get({ organizationId, id: active.id }), { value: { status: 'disabled' } })
    t.match(await endpoints.get({ organizationId, id: draft.id }), {
      value: { status: 'draft', workspaceId: null },
    })
    t.match(await endpoints.enable({ organizationId, id: active.id }, by), {
      failure: { name: 'workspace_unknown' },
    })
    t.match(await endpoints.claimActivation({ organizationId, id: draft.id }), {
      failure: { name: 'not_validated' },
    })
    const reported =
      await store.sql`SELECT 1 FROM invalidations WHERE kind = 'private_endpoint' AND id = ${other.id}`
    t.equal(reported.length, 1)
    t.match(await endpoints.facts({ organizationId, workspaceId: other.id, secret: null }), {
      value: { exists: false },
    })
  },
)

t.test('changes in a workspace that is being deleted are refused, and leave nothing', async (t) => {
  const front = await openInternsFront(t)
  const { call, store, organizationId, other } = front
  let made: Promise<unknown> = Promise.resolve()
  await store.sql.begin(async (tx) => {
    await tx`SELECT 1 FROM workspaces WHERE id = ${other.id} FOR NO KEY UPDATE`
    made = Promise.all([
      call('POST', '/interns', { body: { name: 'Ada', provision: false, workspace_id: 'other' } }).then(
        ({ type }) => type,
      ),
      createAttachableVault(store, { organizationId, workspaceId: other.id, name: 'team' }, CLI).then(
        (one) => (one.ok ? 'made' : one.failure.name),
      ),
    ])
    await untilWaiting(tx, 2)
    await tx`UPDATE workspaces SET deleted_at = now() WHERE id = ${other.id}`
  })
  t.same(await made, ['workspace_unknown', 'workspace_unknown'])
})

async function removalOf({ call }: InternsFront, ref: string): Promise<void> {
  const { status, body } = await call('DELETE', `/workspaces/${ref}${CONFIRMED}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
}

/** A secret in an attachable vault. @returns ids of the vault and of its key */
async function secretIn({ store }: InternsFront, name: string): Promise<readonly [string, string]> {
  const [vault] = await store.sql<{ id: string }[]>`SELECT id FROM vaults WHERE name = ${name}`
  const [vaultId, keyId] = [present(vault).id, newId()]
  await store.sql`INSERT INTO vault_keys (id, vault_id, purpose, root_key_id, wrapped) VALUES (${keyId}, ${vaultId}, 'sealing', 'r', '')`
  await store.sql`INSERT INTO secrets (vault_id, name, version, key_id, sealed) VALUES (${vaultId}, 's', 1, ${keyId}, '')`
  return [vaultId, keyId]
}
