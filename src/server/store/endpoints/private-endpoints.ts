import { createHash } from 'node:crypto'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  ACTIVE_ENDPOINTS_MAX,
  PRIVATE_ENDPOINTS_MAX,
  PROBE_CLAIM_MS,
  VALIDATION_FRESH_MS,
} from '../../../schemas/endpoints/endpoint-limits.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../../schemas/limits/idempotency-limits.ts'
import type { Hints, Invalidation } from '../../ports/keys/keys.ts'
import type {
  EndpointActor,
  EndpointChanges,
  EndpointInput,
  EndpointRef,
  PrivateEndpoint,
  PrivateEndpoints,
  ProbeClaim,
  WorkspaceFacts,
} from '../../ports/endpoints/private-endpoints.ts'
import { appendAudit } from '../base/append-audit.ts'
import { bump } from '../base/epoch.ts'
import type { Columns } from '../base/guarded-row.ts'
import { isId, newId } from '../base/ids.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { reach, violatedUnique } from '../base/translate.ts'
import {
  endpointEvent,
  endpointOf,
  type EndpointRow,
  formsColumn,
  type LockedRow,
  lockEndpoint,
  priceColumns,
  readEndpoint,
} from './private-endpoint-rows.ts'

export interface PrivateEndpointDeps {
  readonly store: Store
  /** Informs the fronts immediately; the epoch informs them in any case. */
  readonly hints: Pick<Hints, 'publish'>
}

export function openPrivateEndpoints(deps: PrivateEndpointDeps): PrivateEndpoints {
  return new EndpointStore(deps)
}

type Decide = (row: LockedRow, tx: Transaction) => Outcome<Columns> | Promise<Outcome<Columns>>

class EndpointStore implements PrivateEndpoints {
  readonly #store: Store
  readonly #hints: Pick<Hints, 'publish'>

  constructor({ store, hints }: PrivateEndpointDeps) {
    this.#store = store
    this.#hints = hints
  }

  list(organizationId: string): ReturnType<PrivateEndpoints['list']> {
    return reach(async () => {
      const rows = await this.#store.sql<EndpointRow[]>`
        SELECT * FROM private_endpoints WHERE organization_id = ${organizationId} AND deleted_at IS NULL ORDER BY id`
      return ok(rows.map(endpointOf))
    })
  }

  get(ref: EndpointRef): ReturnType<PrivateEndpoints['get']> {
    return reach(async () => {
      const row = await readEndpoint(this.#store.sql, ref)
      return row === null ? fail('endpoint_unknown') : ok(endpointOf(row))
    })
  }

  create: PrivateEndpoints['create'] = (input, by) => reach(() => createEndpoint(this.#store, input, by))

  update(
    ref: EndpointRef,
    changes: EndpointChanges,
    by: EndpointActor,
  ): ReturnType<PrivateEndpoints['update']> {
    return this.#change(ref, by, (row, tx) =>
      row.status === 'draft'
        ? ok({ ...columnsOf(changes, tx), config_revision: row.config_revision + 1 })
        : fail('endpoint_not_draft', { detail: NO_DRAFT }),
    )
  }

  setPricing: PrivateEndpoints['setPricing'] = (ref, pricing, by) =>
    this.#change(ref, by, () => ok(priceColumns(pricing)))

  disable: PrivateEndpoints['disable'] = (ref, by) =>
    this.#change(ref, by, ({ status }) =>
      status === 'active' ? ok({ status: 'disabled' }) : fail('endpoint_not_active'),
    )

  enable: PrivateEndpoints['enable'] = (ref, by) =>
    this.#change(ref, by, async (row, tx) => {
      if (row.status !== 'disabled') return fail('endpoint_not_disabled')
      const room = await hasRoom(tx, row.workspace_id)
      return room.ok ? ok({ status: 'active' }) : room
    })

  async remove(ref: EndpointRef, isDraftOnly: boolean, by: EndpointActor): Promise<Outcome<null>> {
    const removed = await this.#change(ref, by, (row) =>
      isDraftOnly && row.is_ever_activated
        ? fail('endpoint_was_active')
        : ok({ deleted_at: new Date(), probe_token: null, probe_until: null }),
    )
    return removed.ok ? ok(null) : removed
  }

  claimValidation: PrivateEndpoints['claimValidation'] = (ref) =>
    this.#begin((tx) => claim(tx, ref, mayValidate))

  claimActivation: PrivateEndpoints['claimActivation'] = (ref) =>
    this.#begin((tx) => claim(tx, ref, mayActivate))

  dropClaim: PrivateEndpoints['dropClaim'] = async (held) => {
    // A claim that is not dropped expires by itself.
    await reach(async () => ok(await drop(this.#store.sql, held)))
  }

  facts: PrivateEndpoints['facts'] = ({ organizationId, workspaceId, secret }) =>
    reach(async () => {
      const { sql } = this.#store
      const [row] = await sql<{ active: number }[]>`
      SELECT (SELECT count(*)::int FROM private_endpoints e
        WHERE e.workspace_id = w.id AND e.status = 'active' AND e.deleted_at IS NULL) AS active
      FROM workspaces w WHERE w.id = ${workspaceId} AND w.organization_id = ${organizationId} AND w.deleted_at IS NULL`
      const isFull = (row?.active ?? 0) >= ACTIVE_ENDPOINTS_MAX
      return ok<WorkspaceFacts>({
        exists: row !== undefined,
        isFull,
        hasSecret: await hasSecret(sql, workspaceId, secret),
      })
    })

  validated: PrivateEndpoints['validated'] = async (held, { passed, checks, workspaceId, speaks }, by) => {
    const changed = await this.#begin(async (tx) => {
      const before = await lockClaimed(tx, held)
      if (before === null) return fail('endpoint_changed')
      const [after] = await tx<EndpointRow[]>`
        UPDATE private_endpoints
        SET validation = ${tx.json({ passed, checks, workspace_id: workspaceId })}, validated_at = clock_timestamp(),
          validated_config = config_revision, workspace_id = ${passed ? workspaceId : before.workspace_id},
          speaks = ${formsColumn(tx, passed ? speaks : before.speaks)},
          probe_token = NULL, probe_until = NULL, revision = revision + 1, updated_at = clock_timestamp()
        WHERE id = ${before.id} RETURNING *`
      await appendAudit(tx, endpointEvent(by, before, after ?? before))
      return ok(null)
    })
    return changed
  }

  activated: PrivateEndpoints['activated'] = (held, by) =>
    this.#transact(async (tx) => {
      const before = await lockClaimed(tx, held)
      if (before === null) return fail('endpoint_changed')
      const allowed = mayActivate(before)
      if (!allowed.ok) return allowed
      const room = await hasRoom(tx, before.workspace_id)
      if (!room.ok) return room
      const set = { status: 'active', is_ever_activated: true, probe_token: null, probe_until: null }
      return this.#write(tx, before, set, by)
    })

  active: PrivateEndpoints['active'] = (workspaceId) =>
    reach(async () => {
      // In tests, workspaces may have ids that are not UUIDs.
      if (!isId(workspaceId)) return ok([])
      const rows = await this.#store.sql<EndpointRow[]>`
      SELECT * FROM private_endpoints WHERE workspace_id = ${workspaceId} AND status = 'active' AND deleted_at IS NULL ORDER BY id`
      return ok(rows.map(endpointOf))
    })

  #change(ref: EndpointRef, by: EndpointActor, decide: Decide): Promise<Outcome<PrivateEndpoint>> {
    return this.#transact(async (tx) => {
      const row = await lockEndpoint(tx, ref, VALIDATION_FRESH_MS)
      if (row === null) return fail('endpoint_unknown')
      const set = await decide(row, tx)
      return set.ok ? this.#write(tx, row, set.value, by) : set
    })
  }

  async #write(
    tx: Transaction,
    before: EndpointRow,
    set: Columns,
    by: EndpointActor,
  ): Promise<Outcome<Written>> {
    const [after] = await tx<EndpointRow[]>`
      UPDATE private_endpoints SET ${tx(set)}, revision = revision + 1, updated_at = clock_timestamp()
      WHERE id = ${before.id} AND revision = ${before.revision} RETURNING *`
    if (after === undefined) throw new Error('the revision of a locked row has changed')
    const isGone = set['deleted_at'] !== undefined
    await appendAudit(tx, endpointEvent(by, before, isGone ? null : after))
    const isLive = before.status === 'active' || after.status === 'active'
    const change =
      isLive && after.workspace_id !== null ? await bump(tx, 'private_endpoint', after.workspace_id) : null
    return ok({ endpoint: endpointOf(after), change })
  }

  async #transact(work: (tx: Transaction) => Promise<Outcome<Written>>): Promise<Outcome<PrivateEndpoint>> {
    const written = await this.#begin(work)
    if (!written.ok) return written
    const { endpoint, change } = written.value
    if (change !== null) await this.#hints.publish(change)
    return ok(endpoint)
  }

  #begin<T>(work: (tx: Transaction) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    return reach(() => this.#store.sql.begin<Outcome<T>>(work))
  }
}

interface Written {
  readonly endpoint: PrivateEndpoint
  /** The invalidation for the fronts; null for an endpoint that fronts do not cache. */
  readonly change: Invalidation | null
}

/**
 * Checks whether the workspace may have one more active endpoint; locks the workspace, so that other
 * activations wait for the commit. Failures: workspace_endpoints_full, workspace_unknown (the workspace was
 * deleted).
 */
async function hasRoom(tx: Transaction, workspaceId: string | null): Promise<Outcome<null>> {
  const [workspace] =
    await tx`SELECT 1 FROM workspaces WHERE id = ${workspaceId} AND deleted_at IS NULL FOR NO KEY UPDATE`
  if (workspace === undefined) return fail('workspace_unknown')
  const [row] = await tx<{ count: number }[]>`
    SELECT count(*)::int AS count FROM private_endpoints WHERE workspace_id = ${workspaceId} AND status = 'active' AND deleted_at IS NULL`
  if ((row?.count ?? 0) < ACTIVE_ENDPOINTS_MAX) return ok(null)
  return fail('workspace_endpoints_full', { fields: { limit: ACTIVE_ENDPOINTS_MAX } })
}

const NO_DRAFT =
  'Create a new private endpoint; only the prices of the existing endpoint can be changed, with `PUT …/pricing`.'

async function hasSecret(
  sql: Queryable,
  workspaceId: string,
  secret: { readonly name: string; readonly host: string } | null,
): Promise<boolean> {
  if (secret === null) return false
  const rows = await sql`
    SELECT 1 FROM secrets s JOIN vaults v ON v.id = s.vault_id
    WHERE v.workspace_id = ${workspaceId} AND v.kind = 'workspace' AND s.name = ${secret.name} AND ${secret.host} = ANY(s.hosts)`
  return rows.length === 1
}

function columnsOf(
  { upstreamModelId, baseUrl, declaredRegion, declaredZdr, pricing, secretName, forms }: EndpointChanges,
  tx: Transaction,
): Columns {
  return {
    upstream_model_id: upstreamModelId,
    ...(baseUrl !== undefined && { base_url: baseUrl }),
    ...(declaredRegion !== undefined && { declared_region: declaredRegion }),
    ...(declaredZdr !== undefined && { declared_zdr: declaredZdr }),
    ...(pricing !== undefined && priceColumns(pricing)),
    ...(secretName !== undefined && { secret_name: secretName }),
    ...(forms !== undefined && { forms: formsColumn(tx, forms) }),
  }
}

/**
 * Claims an endpoint for a probe: one probe at a time on all fronts; the claim of a front that died expires.
 * Failures: endpoint_unknown, and those of `mayBegin`.
 */
async function claim(
  tx: Transaction,
  ref: EndpointRef,
  mayBegin: (row: LockedRow) => Outcome<null>,
): Promise<Outcome<ProbeClaim>> {
  const row = await lockEndpoint(tx, ref, VALIDATION_FRESH_MS)
  if (row === null) return fail('endpoint_unknown')
  const allowed = mayBegin(row)
  if (!allowed.ok) return allowed
  if (row.is_probed === true) return fail('probe_running', { retryAfterS: 1 })
  const token = newId()
  await tx`
    UPDATE private_endpoints
    SET probe_token = ${token}, probe_until = clock_timestamp() + ${PROBE_CLAIM_MS} * interval '1 ms' WHERE id = ${row.id}`
  return ok({ token, endpoint: endpointOf(row), revision: row.revision, configRevision: row.config_revision })
}

/** An active endpoint is used on the basis of its validation, so it must be disabled first. */
function mayValidate({ status }: LockedRow): Outcome<null> {
  return status === 'active' ? fail('endpoint_active') : ok(null)
}

/** The failures with status 409 of C28 that are found before a probe. */
function mayActivate(row: LockedRow): Outcome<null> {
  if (row.status === 'active') return fail('endpoint_active')
  if (row.validation === null) return fail('not_validated')
  if (row.validated_config !== row.config_revision) return fail('validation_stale')
  if (!row.validation.passed || row.workspace_id !== row.validation.workspace_id) return fail('not_validated')
  return row.is_old === true ? fail('validation_stale') : ok(null)
}

/** @returns null when the claim has expired, or the endpoint was changed */
async function lockClaimed(tx: Transaction, held: ProbeClaim): Promise<LockedRow | null> {
  const row = await lockEndpoint(tx, held.endpoint, VALIDATION_FRESH_MS)
  if (row === null || row.revision !== held.revision) return null
  const [ours] =
    await tx`SELECT 1 FROM private_endpoints WHERE id = ${row.id} AND probe_token = ${held.token}`
  return ours === undefined ? null : row
}

async function drop(sql: Queryable, { endpoint, token }: ProbeClaim): Promise<void> {
  await sql`UPDATE private_endpoints SET probe_token = NULL, probe_until = NULL WHERE id = ${endpoint.id} AND probe_token = ${token}`
}

type Created = Outcome<{ readonly endpoint: PrivateEndpoint; readonly isReplay: boolean }>

/** Failures: endpoints_full, idempotency_key_reused, endpoint_unknown. */
async function createEndpoint(store: Store, input: EndpointInput, by: EndpointActor): Promise<Created> {
  const record = input.idempotency === null ? null : recordOf(input.idempotency)
  // The second call with a key waits for the commit of the first, and then finds its row.
  for (;;) {
    try {
      return await store.sql.begin<Created>((tx) => create(tx, { input, record, by }))
    } catch (problem) {
      if (violatedUnique(problem) !== 'private_endpoints_idempotency_key') throw problem
    }
  }
}

interface Birth {
  readonly input: EndpointInput
  readonly record: { readonly id: string; readonly digest: string } | null
  readonly by: EndpointActor
}

async function create(tx: Transaction, { input, record, by }: Birth): Promise<Created> {
  const known = record === null ? null : await lookUp(tx, record)
  if (known !== null) return known
  const { organizationId } = input
  // Creations in one organization run one after another, so that each counts the endpoints of the others.
  await tx`SELECT 1 FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`
  await tx`
    DELETE FROM private_endpoints WHERE organization_id = ${organizationId}
      AND deleted_at < clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms'`
  const [counted] = await tx<{ count: number }[]>`
    SELECT count(*)::int AS count FROM private_endpoints WHERE organization_id = ${organizationId} AND deleted_at IS NULL`
  if ((counted?.count ?? 0) >= PRIVATE_ENDPOINTS_MAX)
    return fail('endpoints_full', { fields: { limit: PRIVATE_ENDPOINTS_MAX } })
  const [row] = await tx<EndpointRow[]>`
    INSERT INTO private_endpoints ${tx({
      id: newId(),
      organization_id: organizationId,
      model_permaslug: input.modelPermaslug,
      provider_slug: input.providerSlug,
      upstream_model_id: input.upstreamModelId,
      base_url: input.baseUrl,
      declared_region: input.declaredRegion,
      declared_zdr: input.declaredZdr,
      ...priceColumns(input.pricing),
      secret_name: input.secretName,
      forms: formsColumn(tx, input.forms),
      idempotency_id: record?.id ?? null,
      fields_digest: record?.digest ?? null,
    })} RETURNING *`
  if (row === undefined) throw new Error('the insert returned nothing')
  await appendAudit(tx, endpointEvent(by, null, row))
  return ok({ endpoint: endpointOf(row), isReplay: false })
}

async function lookUp(
  tx: Transaction,
  record: { readonly id: string; readonly digest: string },
): Promise<Created | null> {
  const [row] = await tx<(EndpointRow & { readonly isOld: boolean; readonly isGone: boolean })[]>`
    SELECT *, created_at < clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms' AS "isOld", deleted_at IS NOT NULL AS "isGone"
    FROM private_endpoints WHERE idempotency_id = ${record.id} FOR UPDATE`
  if (row === undefined) return null
  if (row.isOld) {
    await tx`UPDATE private_endpoints SET idempotency_id = NULL, fields_digest = NULL WHERE id = ${row.id}`
    return null
  }
  if (row.fields_digest !== record.digest) return fail('idempotency_key_reused')
  return row.isGone ? fail('endpoint_unknown') : ok({ endpoint: endpointOf(row), isReplay: true })
}

/** The key is the caller's text: only its digest is kept. */
function recordOf({ key, apiKeyHash, fields }: NonNullable<EndpointInput['idempotency']>): {
  id: string
  digest: string
} {
  return { id: digestOf(`${apiKeyHash}\n${key}`), digest: digestOf(fields) }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
