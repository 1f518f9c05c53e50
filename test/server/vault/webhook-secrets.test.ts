import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { ok } from '../../../src/schemas/failures.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { WEBHOOK_OVERLAP_MS_MAX, WEBHOOK_SECRETS_MAX } from '../../../src/schemas/webhooks/webhook-limits.ts'
import type {
  SealedWebhookSecret,
  WebhookSecretRows,
  WebhookSecrets,
} from '../../../src/server/ports/webhooks/webhooks.ts'
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { openRootRotation } from '../../../src/server/store/vault/root-rotation.ts'
import { openWebhookSecretRows } from '../../../src/server/store/webhooks/secrets.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openRootKeys } from '../../../src/server/vault/root-keys.ts'
import { rotateRoot } from '../../../src/server/vault/rotate-root.ts'
import { openWebhookSecrets } from '../../../src/server/vault/webhook-secrets.ts'
import { auditOf, CLI } from '../../support/audit/audit.ts'
import { openFileStand } from '../../support/files/files.ts'
import { must, present } from '../../support/must.ts'

const [ROOT, NEXT] = [randomBytes(32).toString('hex'), randomBytes(32).toString('hex')]

/** As another process would have them. */
function opened(store: Store, roots: string = ROOT): WebhookSecrets {
  const rootKeys = openRootKeys({ setting: new Secret(roots), file: null, dataDir: '/nowhere' })
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(store) })
  return openWebhookSecrets({ rows: openWebhookSecretRows(store), keyRing, randomBytes })
}

async function texts(secrets: WebhookSecrets, workspaceId: string): Promise<readonly string[]> {
  return must(await secrets.current(workspaceId)).map(({ text }) => text)
}

async function stand(t: Test) {
  const { store, workspaceId, otherWorkspaceId } = await openFileStand(t)
  return { store, workspaceId, otherWorkspaceId, secrets: opened(store) }
}

t.test('many processes that request the first secret at once get the same one, which is kept', async (t) => {
  const { store, workspaceId, otherWorkspaceId, secrets } = await stand(t)
  const asked = await Promise.all(Array.from({ length: 12 }, () => texts(opened(store), workspaceId)))
  t.equal(new Set(asked.flat()).size, 1)
  t.same(await texts(secrets, workspaceId), asked[0])
  t.notSame(await texts(secrets, otherWorkspaceId), asked[0])
})

t.test('nothing of a secret can be read in the database', async (t) => {
  const { store, workspaceId, secrets } = await stand(t)
  const [text = ''] = await texts(secrets, workspaceId)
  const [row] = await store.sql<
    { all: string; sealed: Buffer }[]
  >`SELECT s::text AS all, sealed FROM webhook_secrets s`
  t.notOk(present(row).all.includes(Buffer.from(text).toString('hex').slice(16, 32)))
  t.notOk(present(row).sealed.includes(text.slice(6, 16)))
})

t.test('the new secret signs first, and the previous one also signs until its overlap ends', async (t) => {
  const { workspaceId, secrets } = await stand(t)
  const [old] = await texts(secrets, workspaceId)
  const both = must(await secrets.rotate(workspaceId, WEBHOOK_OVERLAP_MS_MAX, CLI))
  t.equal(both.length, 2)
  t.not(both[0]?.text, old)
  t.match(both, [{ signsUntil: null }, { text: old, signsUntil: Date }])
  t.same(
    await texts(secrets, workspaceId),
    both.map(({ text }) => text),
  )
})

t.test('with no overlap the old one signs nothing more', async (t) => {
  const { workspaceId, secrets } = await stand(t)
  const [old] = await texts(secrets, workspaceId)
  const now = must(await secrets.rotate(workspaceId, 0, CLI))
  t.equal(now.length, 1)
  t.not(now[0]?.text, old)
})

t.test('concurrent rotations leave WEBHOOK_SECRETS_MAX secrets, of which one is current', async (t) => {
  const { store, workspaceId } = await stand(t)
  await Promise.all(
    Array.from({ length: 8 }, async () => must(await opened(store).rotate(workspaceId, 60_000, CLI))),
  )
  const current = must(await opened(store).current(workspaceId))
  t.equal(current.length, WEBHOOK_SECRETS_MAX)
  t.equal(current.filter(({ signsUntil }) => signsUntil === null).length, 1)
})

t.test('the audit log has a rotation, without the secret', async (t) => {
  const { store, workspaceId, secrets } = await stand(t)
  const [old = ''] = await texts(secrets, workspaceId)
  const [fresh] = must(await secrets.rotate(workspaceId, 1_000, CLI))
  const events = await auditOf(store)
  t.match(events, [
    {
      operation: 'cli.webhooks-secret-rotate',
      outcome: 'changed',
      workspace_id: workspaceId,
      actor: { kind: 'cli' },
    },
  ])
  for (const text of [old, present(fresh).text]) t.notOk(JSON.stringify(events).includes(text.slice(6)))
})

t.test('secrets outlive a rotation of the root key', async (t) => {
  const { store, workspaceId, secrets } = await stand(t)
  const before = await texts(secrets, workspaceId)
  const rootKeys = openRootKeys({ setting: new Secret(`${NEXT},${ROOT}`), file: null, dataDir: '/nowhere' })
  must(
    await rotateRoot({
      rows: openRootRotation(store),
      rootKeys,
      rootKeyId: rootKeys.currentId,
      by: CLI,
      progress: () => undefined,
    }),
  )
  t.same(await texts(opened(store, NEXT), workspaceId), before)
})

t.test(
  'a row that was moved to another workspace, or whose root key is missing, cannot be decrypted',
  async (t) => {
    const { store, workspaceId, otherWorkspaceId, secrets } = await stand(t)
    await texts(secrets, workspaceId)
    t.match(await opened(store, NEXT).current(workspaceId), { failure: { name: 'data_key_unavailable' } })
    await store.sql`UPDATE webhook_secrets SET workspace_id = ${otherWorkspaceId}`
    t.match(await secrets.current(otherWorkspaceId), { failure: { name: 'data_key_unavailable' } })
  },
)

t.test(
  'a sealed secret opens only in its own row and workspace, even when the key is the same',
  async (t) => {
    const key = randomBytes(32)
    const dataKey = async () => ok({ id: 'k', key: Buffer.from(key) })
    let row: SealedWebhookSecret | null = null
    const rows: WebhookSecretRows = {
      signing: async () => ok(row === null ? [] : [row]),
      addFirst: async (secret) => ok([(row = secret)]),
      replace: async (secret) => ok([(row = secret)]),
    }
    const secrets = openWebhookSecrets({ rows, keyRing: { current: dataKey, byId: dataKey }, randomBytes })
    const made = must(await secrets.current('w1'))
    const mine = present<SealedWebhookSecret>(row)
    t.same(must(await secrets.current('w1')), made)
    for (const moved of [
      { ...mine, id: 'another' },
      { ...mine, workspaceId: 'w2' },
    ]) {
      row = moved
      t.match(await secrets.current('w1'), { failure: { name: 'data_key_unavailable' } })
    }
  },
)

t.test('a deleted workspace gets no secret', async (t) => {
  const { store, workspaceId, secrets } = await stand(t)
  await store.sql`UPDATE workspaces SET deleted_at = now() WHERE id = ${workspaceId}`
  t.match(await secrets.current(workspaceId), { failure: { name: 'workspace_unknown' } })
  t.match(await secrets.rotate(workspaceId, 0, CLI), { failure: { name: 'workspace_unknown' } })
})
