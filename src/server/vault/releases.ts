import type { Caller } from '../../schemas/values/callers.ts'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { AuditTrail } from '../ports/audit/audit.ts'
import type { Log } from '../ports/observe.ts'
import type { EffectiveRow, SecretRows } from '../ports/vault/secret-rows.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import type { BundleRequest, ReleaseRequest, SecretBundles, SecretReleases } from '../ports/vault/vault.ts'
import { valueBytesOf } from './envelope.ts'
import { sealedValue, wipe } from './sealed-value.ts'
import type { VaultKeys } from './vault-keys.ts'
import { Secret } from '../../schemas/vault/secret.ts'
import { isSecretName } from '../../schemas/vault/vault.ts'

export interface ReleaseDeps {
  readonly rows: Pick<SecretRows, 'find'>
  readonly keys: Pick<VaultKeys, 'open'>
  readonly jobs: Pick<ShortJobs, 'run'>
  readonly audit: Pick<AuditTrail, 'note'>
  readonly log: Pick<Log, 'error'>
}

/** Reasons for the audit log only: a caller gets the same failure for all of them. */
type Refusal = 'no_such_secret' | 'legacy' | 'other_host' | 'does_not_open'

/** A text that is not a valid name may be anything that a caller sent, so no log may contain it. */
const NO_NAME = '(not a name)'

/** The only access to the value of a secret. Each release reads its row again, so that no cache can outlive a change of the row. */
export function openReleases(deps: ReleaseDeps): SecretReleases & SecretBundles {
  return { release: (request) => release(deps, request), releaseAll: (request) => releaseAll(deps, request) }
}

async function release(deps: ReleaseDeps, request: ReleaseRequest): Promise<Outcome<Secret>> {
  const found = await look(deps, request)
  return found.ok ? give(deps, request, found.value) : found
}

async function releaseAll(
  deps: ReleaseDeps,
  { names, fits, ...request }: BundleRequest,
): Promise<Outcome<ReadonlyMap<string, Secret>>> {
  const rows = new Map<string, EffectiveRow>()
  for (const name of new Set(names)) {
    const found = await look(deps, { ...request, name })
    if (!found.ok) return found
    rows.set(name, found.value)
  }
  const fit = fits(new Map([...rows].map(([name, { sealed }]) => [name, valueBytesOf(sealed)])))
  if (!fit.ok) return fit
  const secrets = new Map<string, Secret>()
  for (const [name, row] of rows) {
    const given = await give(deps, { ...request, name }, row)
    if (!given.ok) return given
    secrets.set(name, given.value)
  }
  return ok(secrets)
}

/** The row of a secret that may be released. Failures: secret_not_released, busy (the audit log is full), store_unavailable. */
async function look(deps: ReleaseDeps, request: ReleaseRequest): Promise<Outcome<EffectiveRow>> {
  if (!isSecretName(request.name)) return refuse(deps, request, 'no_such_secret')
  const found = await deps.rows.find(request.scope, request.name)
  if (!found.ok) return found
  const row = found.value
  if (row === null) return refuse(deps, request, 'no_such_secret')
  if (row.hosts === null) return refuse(deps, request, 'legacy', row)
  return row.hosts.includes(request.host) ? ok(row) : refuse(deps, request, 'other_host', row)
}

async function give(deps: ReleaseDeps, request: ReleaseRequest, row: EffectiveRow): Promise<Outcome<Secret>> {
  const { organizationId, workspaceId } = request.scope
  const opened = await open(deps, row, {
    organizationId,
    workspaceId,
    key: request.by.actor.id ?? workspaceId,
  })
  if (!opened.ok) return opened
  if (opened.value === null) {
    // The row was edited, or its root key is missing: an operator has to know.
    deps.log.error('vault.secret_does_not_open', { vaultId: row.vaultId, name: row.name })
    return refuse(deps, request, 'does_not_open', row)
  }
  const isNoted = deps.audit.note(eventOf(request, row, { outcome: 'released', reason: null }))
  return isNoted ? ok(opened.value) : UNAUDITED
}

/** Null when the row does not match its sealed value. Failures: those of the short-job pool. */
async function open(
  { keys, jobs }: ReleaseDeps,
  row: EffectiveRow,
  caller: Caller,
): Promise<Outcome<Secret | null>> {
  const input = sealedValue(keys, row)
  if (!input.ok) return ok(null)
  const { sealed, sealingKey } = input.value
  const plain = await jobs.run('open_secret', input.value, {
    caller,
    transfer: [sealed.buffer, sealingKey.buffer],
  })
  // A job that never ran has left the key in this thread.
  wipe(sealingKey)
  if (!plain.ok) return plain
  if (plain.value === null) return ok(null)
  const secret = new Secret(
    Buffer.from(plain.value.buffer, plain.value.byteOffset, plain.value.length).toString(),
  )
  plain.value.fill(0)
  return ok(secret)
}

function refuse(
  { audit }: ReleaseDeps,
  request: ReleaseRequest,
  reason: Refusal,
  row: EffectiveRow | null = null,
): Outcome<never> {
  const isNoted = audit.note(eventOf(request, row, { outcome: 'refused', reason }))
  return isNoted ? fail('secret_not_released', { fields: { name: nameOf(request) } }) : UNAUDITED
}

const UNAUDITED = fail('busy', { retryAfterS: 1 })

interface Verdict {
  readonly outcome: 'released' | 'refused'
  readonly reason: Refusal | null
}

function eventOf(
  { scope, host, operation, by, ...request }: ReleaseRequest,
  row: EffectiveRow | null,
  { outcome, reason }: Verdict,
) {
  const name = nameOf(request)
  const facts = row === null ? {} : { vault_id: row.vaultId, version: row.version, source: row.source }
  return {
    organizationId: scope.organizationId,
    workspaceId: scope.workspaceId,
    actor: by.actor,
    requestId: by.requestId,
    operation,
    outcome,
    objectKind: 'secret',
    objectId: name,
    before: null,
    after: { name, host, intern_id: scope.internId, ...facts, ...(reason !== null && { reason }) },
  }
}

function nameOf({ name }: Pick<ReleaseRequest, 'name'>): string {
  return isSecretName(name) ? name : NO_NAME
}
