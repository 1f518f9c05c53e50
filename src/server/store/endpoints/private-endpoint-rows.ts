import type {
  EndpointForm,
  EndpointPricing,
  EndpointRegion,
  EndpointStatus,
} from '../../../schemas/endpoints/private-endpoints.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type {
  EndpointActor,
  EndpointRef,
  PrivateEndpoint,
  Validation,
} from '../../ports/endpoints/private-endpoints.ts'
import type { Columns } from '../base/guarded-row.ts'
import { isId } from '../base/ids.ts'
import type { JsonColumn, Queryable, Transaction } from '../base/open.ts'

export interface EndpointRow {
  readonly id: string
  readonly organization_id: string
  readonly workspace_id: string | null
  readonly status: EndpointStatus
  readonly model_permaslug: string
  readonly provider_slug: string
  readonly upstream_model_id: string
  readonly base_url: string
  readonly declared_region: EndpointRegion | null
  readonly declared_zdr: boolean | null
  readonly prompt_price: string | null
  readonly completion_price: string | null
  readonly cache_read_price: string | null
  readonly cache_write_price: string | null
  readonly secret_name: string | null
  readonly forms: readonly EndpointForm[] | null
  /** Null: never validated, or validated by a version that probed only embeddings. */
  readonly speaks: readonly EndpointForm[] | null
  readonly revision: number
  readonly config_revision: number
  readonly validation: (Validation & { readonly workspace_id: string }) | null
  readonly validated_config: number | null
  readonly is_ever_activated: boolean
  readonly fields_digest: string | null
  readonly created_at: Date
}

/** A locked row, with facts by the store's own clock. */
export interface LockedRow extends EndpointRow {
  /** True when the last validation is too old. */
  readonly is_old: boolean | null
  /** True when a probe has the claim. */
  readonly is_probed: boolean | null
}

/** Endpoints of a model that a listing of all organizations shows. Decision. */
const ENDPOINTS_OF_MODEL_MAX = 100

/**
 * The private endpoints of all organizations that serve a model of this name, in any letter case; oldest
 * first. Only for the command line: a caller may see only endpoints of its own organization.
 */
export async function endpointsOfModel(sql: Queryable, name: string): Promise<readonly PrivateEndpoint[]> {
  const rows = await sql<EndpointRow[]>`
    SELECT * FROM private_endpoints WHERE lower(model_permaslug) = lower(${name}) AND deleted_at IS NULL ORDER BY id LIMIT ${ENDPOINTS_OF_MODEL_MAX}`
  return rows.map(endpointOf)
}

/**
 * Locks an endpoint until the transaction ends. @returns null for a text that is not an id, and for an
 * endpoint that is unknown, deleted or of another organization
 */
export async function lockEndpoint(
  tx: Transaction,
  { organizationId, id }: EndpointRef,
  freshMs: number,
): Promise<LockedRow | null> {
  if (!isId(id)) return null
  const [row] = await tx<LockedRow[]>`
    SELECT *, validated_at < clock_timestamp() - ${freshMs} * interval '1 ms' AS is_old, probe_until > clock_timestamp() AS is_probed
    FROM private_endpoints WHERE id = ${id} AND organization_id = ${organizationId} AND deleted_at IS NULL FOR UPDATE`
  return row ?? null
}

export async function readEndpoint(
  sql: Queryable,
  { organizationId, id }: EndpointRef,
): Promise<EndpointRow | null> {
  if (!isId(id)) return null
  const [row] = await sql<EndpointRow[]>`
    SELECT * FROM private_endpoints WHERE id = ${id} AND organization_id = ${organizationId} AND deleted_at IS NULL`
  return row ?? null
}

/** The columns of a price; null: calls are free. */
export function priceColumns(pricing: EndpointPricing | null): Columns {
  return {
    prompt_price: pricing?.prompt ?? null,
    completion_price: pricing?.completion ?? null,
    cache_read_price: pricing?.input_cache_read ?? null,
    cache_write_price: pricing?.input_cache_write ?? null,
  }
}

function pricingOf(row: EndpointRow): EndpointPricing | null {
  const { prompt_price: prompt, completion_price: completion } = row
  const { cache_read_price: read, cache_write_price: write } = row
  if (prompt === null || completion === null) return null
  return {
    prompt,
    completion,
    ...(read !== null && { input_cache_read: read }),
    ...(write !== null && { input_cache_write: write }),
  }
}

export function endpointOf(row: EndpointRow): PrivateEndpoint {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    status: row.status,
    modelPermaslug: row.model_permaslug,
    providerSlug: row.provider_slug,
    upstreamModelId: row.upstream_model_id,
    baseUrl: row.base_url,
    declaredRegion: row.declared_region,
    declaredZdr: row.declared_zdr,
    pricing: pricingOf(row),
    secretName: row.secret_name,
    forms: row.forms,
    speaks: spokenBy(row),
    createdAt: row.created_at,
  }
}

/** The value of a column of forms. */
export function formsColumn(tx: Transaction, forms: readonly EndpointForm[] | null): JsonColumn | null {
  return forms === null ? null : tx.json([...forms])
}

function spokenBy({ speaks, workspace_id }: EndpointRow): readonly EndpointForm[] {
  return speaks ?? (workspace_id === null ? [] : ['embeddings'])
}

/** The audit event of a change. */
export function endpointEvent(
  by: EndpointActor,
  before: EndpointRow | null,
  after: EndpointRow | null,
): AuditEvent {
  const row = after ?? before
  if (row === null) throw new Error('audit event without an endpoint')
  return {
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    actor: by.actor,
    requestId: by.requestId,
    operation: by.operation,
    outcome: 'changed',
    objectKind: 'private_endpoint',
    objectId: row.id,
    before: before === null ? null : seen(before),
    after: after === null ? null : seen(after),
  }
}

/**
 * The fields that the audit log may contain: the name of a credential is not secret; checks are reduced to
 * their names and reasons, without the upstream's texts.
 */
function seen(row: EndpointRow): Record<string, unknown> {
  const { validation } = row
  return {
    status: row.status,
    workspace_id: row.workspace_id,
    model_permaslug: row.model_permaslug,
    provider_slug: row.provider_slug,
    upstream_model_id: row.upstream_model_id,
    base_url: row.base_url,
    declared_region: row.declared_region,
    declared_zdr: row.declared_zdr,
    pricing: pricingOf(row),
    secret_name: row.secret_name,
    forms: row.forms,
    speaks: spokenBy(row),
    validation:
      validation === null || row.validated_config !== row.config_revision
        ? null
        : {
            passed: validation.passed,
            workspace_id: validation.workspace_id,
            failed: validation.checks.flatMap(({ name, reason }) =>
              reason === undefined ? [] : [{ name, reason }],
            ),
          },
  }
}
