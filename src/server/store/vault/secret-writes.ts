import type { Caps } from '../../../schemas/operator/caps.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { SECRETS_PER_VAULT_MAX } from '../../../schemas/vault/vault-limits.ts'
import { secretAnswer } from '../../../schemas/vault/vault.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { SealedSecret, SecretWrite } from '../../ports/vault/secret-rows.ts'
import type { SecretMetadata, VaultActor, VaultScope } from '../../ports/vault/vault.ts'
import { appendAudit } from '../base/append-audit.ts'
import { holdRoom } from '../base/caps.ts'
import type { Transaction } from '../base/open.ts'
import { lockIntern, lockVault, ownVault } from './vaults.ts'

/**
 * Stores sealed secrets, all or none. Each row is written in full, so that a value is always bound to the
 * other columns of its row. @returns null when the vault's key or a source changed since the sealing.
 * Failures: intern_unknown, intern_in_transfer, vault_full, quota_exceeded, secret_exists, secret_unknown.
 */
export async function writeSecrets(
  tx: Transaction,
  write: SecretWrite,
  caps?: Caps,
): Promise<Outcome<readonly SecretMetadata[] | null>> {
  const { scope, vaultId, keyId, secrets, copyOf } = write
  const names = secrets.map(({ name }) => name)
  // The statements are sent together and run in this order: so the vault is locked for two round trips instead of eight.
  const [intern, currentId, areHeld, before, { at, others }] = await Promise.all([
    scope.internId === null ? null : lockIntern(tx, scope),
    lockVault(tx, vaultId),
    holdSources(tx, copyOf ?? []),
    earlier(tx, vaultId, names),
    roomOf(tx, vaultId, names),
  ])
  if (scope.internId !== null && intern === null) return fail('intern_unknown')
  const unexpected = secrets.find(
    ({ name, expects }) => expects !== undefined && before.has(name) !== (expects === 'present'),
  )
  if (unexpected !== undefined)
    return fail(unexpected.expects === 'present' ? 'secret_unknown' : 'secret_exists')
  if (copyOf !== null && intern?.isInTransfer === true) return fail('intern_in_transfer')
  if (currentId !== keyId || !areHeld) return ok(null)
  if (others + names.length > SECRETS_PER_VAULT_MAX && before.size < names.length) {
    return fail('vault_full', { fields: { limit: SECRETS_PER_VAULT_MAX } })
  }
  const news = names.length - before.size
  if (scope.attachableId !== undefined && news > 0) {
    const room = await holdRoom(
      tx,
      { organizationId: scope.organizationId, what: 'secrets', more: news },
      caps,
    )
    if (!room.ok) return room
  }
  const stored = secrets.map(({ name, hosts, fingerprint }) => ({
    name,
    hosts,
    fingerprint,
    createdAt: before.get(name)?.createdAt ?? at,
  }))
  const events = secrets.map(({ name, by }, nth) => {
    const operation = copyOf === null ? operationOf('put', { scope, by }) : 'vault.copy_secrets'
    return eventOf({
      scope,
      vaultId,
      by,
      operation,
      name,
      before: before.get(name) ?? null,
      after: stored[nth] ?? null,
    })
  })
  await Promise.all([
    ...secrets.map((secret) => upsert(tx, write, { secret, at })),
    appendAudit(tx, ...events),
  ])
  return ok(stored)
}

type Place = 'workspace' | 'intern' | 'attachable'

function placeOf({ internId, attachableId }: VaultScope): Place {
  if (attachableId !== undefined) return 'attachable'
  return internId === null ? 'workspace' : 'intern'
}

/** Operations by kind of vault; only the command line writes attachable vaults. */
const OPERATIONS: Readonly<Record<'put' | 'remove', Readonly<Record<Place, string>>>> = {
  put: { workspace: 'vault.put_secret', intern: 'vault.put_intern_secret', attachable: 'cli.vault-put' },
  remove: {
    workspace: 'vault.delete_secret',
    intern: 'vault.delete_intern_secret',
    attachable: 'cli.vault-rm',
  },
}

/** The command line writes a workspace's vault with one verb only, which sets its provider keys. */
function operationOf(what: 'put' | 'remove', { scope, by }: Pick<Change, 'scope' | 'by'>): string {
  if (by.operation !== undefined) return by.operation
  const place = placeOf(scope)
  return place === 'workspace' && by.actor.kind === 'cli' ? 'cli.workspaces-set' : OPERATIONS[what][place]
}

/** Failures: intern_unknown, secret_unknown. */
export async function removeSecret(
  tx: Transaction,
  { scope, name, by }: { readonly scope: VaultScope; readonly name: string; readonly by: VaultActor },
): Promise<Outcome<null>> {
  if (scope.internId !== null && (await lockIntern(tx, scope)) === null) return fail('intern_unknown')
  const [vault] = await tx<{ id: string }[]>`SELECT id FROM vaults WHERE id = (${ownVault(tx, scope)})`
  if (vault === undefined) return fail('secret_unknown')
  const [, found] = await Promise.all([lockVault(tx, vault.id), earlier(tx, vault.id, [name])])
  const before = found.get(name)
  if (before === undefined) return fail('secret_unknown')
  await tx`DELETE FROM secrets WHERE vault_id = ${vault.id} AND name = ${name}`
  const operation = operationOf('remove', { scope, by })
  await appendAudit(tx, eventOf({ scope, vaultId: vault.id, by, operation, name, before, after: null }))
  return ok(null)
}

/** Locks the sources of a copy until the commit. False when one of them was replaced or removed since it was read. */
async function holdSources(tx: Transaction, sources: NonNullable<SecretWrite['copyOf']>): Promise<boolean> {
  const inOrder = [...sources].sort((one, other) => (one.name < other.name ? -1 : 1))
  const held = await Promise.all(
    inOrder.map(
      ({ vaultId, name, version }) => tx`
    SELECT 1 FROM secrets WHERE vault_id = ${vaultId} AND name = ${name} AND version = ${version} FOR SHARE`,
    ),
  )
  return held.every((rows) => rows.length === 1)
}

async function earlier(
  tx: Transaction,
  vaultId: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, SecretMetadata>> {
  const rows = await tx<MetadataRow[]>`
    SELECT name, array_to_json(hosts) AS hosts, fingerprint, created_at FROM secrets
    WHERE vault_id = ${vaultId} AND name IN ${tx(names)}`
  return new Map(rows.map((row) => [row.name, metadataOf(row)]))
}

/** The current instant, and the number of the vault's other secrets; 0 when none of these names is new. */
async function roomOf(
  tx: Transaction,
  vaultId: string,
  names: readonly string[],
): Promise<{ readonly at: Date; readonly others: number }> {
  const [row] = await tx<{ at: Date; others: number }[]>`
    SELECT date_trunc('milliseconds', clock_timestamp()) AS at,
      CASE WHEN (SELECT count(*) FROM secrets WHERE vault_id = ${vaultId} AND name IN ${tx(names)}) = ${names.length} THEN 0
      ELSE (SELECT count(*)::int FROM secrets WHERE vault_id = ${vaultId} AND name NOT IN ${tx(names)}) END AS others`
  if (row === undefined) throw new Error('a SELECT of values returned nothing')
  return row
}

/** Writes the full row, and keeps the time of the first store. */
async function upsert(
  tx: Transaction,
  { vaultId, keyId }: SecretWrite,
  { secret, at }: { readonly secret: SealedSecret; readonly at: Date },
): Promise<void> {
  const { name, hosts, fingerprint, version, sealed } = secret
  await tx`
    INSERT INTO secrets (vault_id, name, hosts, fingerprint, version, key_id, sealed, created_at, updated_at)
    VALUES (${vaultId}, ${name}, string_to_array(${hosts.join(',')}, ','), ${fingerprint}, ${version}, ${keyId}, ${Buffer.from(sealed)}, ${at}, ${at})
    ON CONFLICT (vault_id, name) DO UPDATE SET hosts = excluded.hosts, fingerprint = excluded.fingerprint,
      version = excluded.version, key_id = excluded.key_id, sealed = excluded.sealed, updated_at = excluded.updated_at`
}

interface MetadataRow {
  readonly name: string
  readonly hosts: readonly string[] | null
  readonly fingerprint: string | null
  readonly created_at: Date
}

function metadataOf({ name, hosts, fingerprint, created_at: createdAt }: MetadataRow): SecretMetadata {
  return { name, hosts, fingerprint, createdAt }
}

interface Change {
  readonly scope: VaultScope
  readonly vaultId: string
  readonly by: VaultActor
  readonly operation: string
  readonly name: string
  readonly before: SecretMetadata | null
  readonly after: SecretMetadata | null
}

function eventOf({ scope, vaultId, by, operation, name, before, after }: Change): AuditEvent {
  const place = { vault_id: vaultId, intern_id: scope.internId }
  return {
    organizationId: scope.organizationId,
    workspaceId: scope.workspaceId,
    actor: by.actor,
    requestId: by.requestId,
    operation,
    outcome: 'changed',
    objectKind: 'secret',
    // The name that an operator knows; `vault_id` names the vault to which it belongs.
    objectId: name,
    before: before === null ? null : { ...secretAnswer(before), ...place },
    after: after === null ? null : { ...secretAnswer(after), ...place },
  }
}
