import { callLimitsOf, type CallLimits } from '../../../schemas/limits/model-calls.ts'
import type { KeptSettings } from '../../../schemas/workspaces/workspaces.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import type { Workspace, WorkspaceActor } from '../../ports/workspaces/workspaces.ts'
import type { Queryable } from './open.ts'

export interface WorkspaceRow {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly slug: string
  readonly description: string | null
  readonly is_default: boolean
  readonly is_in_programme: boolean
  readonly may_write_vault: boolean
  readonly default_callback_url: string | null
  /** A bigint of Postgres is returned as text. */
  readonly storage_quota_bytes: string | null
  /** The limits that were set at least once. */
  readonly call_limits: Partial<CallLimits>
  readonly counts_byok: boolean
  readonly settings: KeptSettings
  readonly created_by: string | null
  readonly created_at: Date
  readonly updated_at: Date | null
}

/** Existing workspaces `w`, each with the flag of its account; further conditions can be added with AND. */
export function workspaceRows(sql: Queryable) {
  return sql`
    SELECT w.*, a.counts_byok FROM workspaces w JOIN accounts a ON a.id = 'w' || w.id WHERE w.deleted_at IS NULL`
}

export function workspaceOf(row: WorkspaceRow): Workspace {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    slug: row.slug,
    description: row.description,
    isDefault: row.is_default,
    isInProgramme: row.is_in_programme,
    mayWriteVault: row.may_write_vault,
    defaultCallbackUrl: row.default_callback_url,
    storageQuotaBytes: row.storage_quota_bytes === null ? null : Number(row.storage_quota_bytes),
    callLimits: callLimitsOf(row.call_limits),
    countsByok: row.counts_byok,
    settings: row.settings,
    createdBy: row.created_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

interface AuditedChange {
  readonly before: Workspace | null
  readonly after: Workspace | null
  /** Fields of objects that the change also removed. */
  readonly more?: object
}

/** The audit event of a change. */
export function workspaceEvent(by: WorkspaceActor, { before, after, more = {} }: AuditedChange): AuditEvent {
  const workspace = after ?? before
  if (workspace === null) throw new Error('audit event without a workspace')
  return {
    ...by,
    organizationId: workspace.organizationId,
    workspaceId: workspace.id,
    outcome: 'changed',
    objectKind: 'workspace',
    objectId: workspace.id,
    before: before === null ? null : { ...toAudit(before), ...more },
    after: after === null ? null : toAudit(after),
  }
}

function toAudit(workspace: Workspace): object {
  return {
    name: workspace.name,
    slug: workspace.slug,
    description: workspace.description,
    is_default: workspace.isDefault,
    programme: workspace.isInProgramme,
    vault_writes: workspace.mayWriteVault,
    default_callback_url: workspace.defaultCallbackUrl,
    storage_quota_bytes: workspace.storageQuotaBytes,
    ...workspace.callLimits,
    include_byok_in_budgets: workspace.countsByok,
    ...workspace.settings,
  }
}
