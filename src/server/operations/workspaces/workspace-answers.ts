import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { callLimitsIn } from '../../../schemas/limits/model-calls.ts'
import { pointer } from '../../../schemas/issues.ts'
import {
  KEPT_NAMES,
  UpdateWorkspaceBody,
  type CreateWorkspaceBody,
  type MemberShape,
  type WorkspaceShape,
} from '../../../schemas/workspaces/workspaces.ts'
import type { Ports } from '../../ports/ports.ts'
import type {
  Member,
  PageInput,
  Workspace,
  WorkspaceChanges,
  WorkspaceRef,
} from '../../ports/workspaces/workspaces.ts'
import { WORKSPACES_PAGE_DEFAULT } from '../../../schemas/workspaces/workspace-limits.ts'
import { type Call } from '../define.ts'

/** Statuses of the operations that name a workspace. B2.9. */
export const WORKSPACE_STATUSES = [400, 403, 404, 500] as const
/** Failures of the operations that name a workspace. B2.9. */
export const WORKSPACE_FAILURES = [
  'workspace_unknown',
  'store_unavailable',
] as const satisfies readonly FailureName[]

export const EXAMPLE_WORKSPACE = 'research'
/** User id for the examples. */
export const EXAMPLE_USER = '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b'

export function refOf({ key, params }: Pick<Call<{ readonly id: string }>, 'key' | 'params'>): WorkspaceRef {
  return { organizationId: key.organizationId, reference: params.id }
}

export function pageOf({ limit = WORKSPACES_PAGE_DEFAULT, offset = 0 }: Partial<PageInput>): PageInput {
  return { limit, offset }
}

/** A workspace in the form of B2.9; members that were never set have their defaults. */
export function workspaceAnswer(workspace: Workspace): WorkspaceShape {
  const { id, settings } = workspace
  return {
    id,
    name: workspace.name,
    slug: workspace.slug,
    description: workspace.description,
    created_by: workspace.createdBy,
    created_at: workspace.createdAt.toISOString(),
    updated_at: workspace.updatedAt?.toISOString() ?? null,
    is_default: workspace.isDefault,
    default_guardrail_id: id,
    default_text_model: settings.default_text_model ?? null,
    default_image_model: settings.default_image_model ?? null,
    default_provider_sort: settings.default_provider_sort ?? null,
    io_logging_api_key_ids: settings.io_logging_api_key_ids ?? null,
    io_logging_sampling_rate: settings.io_logging_sampling_rate ?? 1,
    is_observability_io_logging_enabled: settings.is_observability_io_logging_enabled ?? false,
    is_observability_broadcast_enabled: settings.is_observability_broadcast_enabled ?? false,
    is_data_discount_logging_enabled: settings.is_data_discount_logging_enabled ?? false,
    default_callback_url: workspace.defaultCallbackUrl,
    programme: workspace.isInProgramme,
    vault_writes: workspace.mayWriteVault,
    storage_quota_bytes: workspace.storageQuotaBytes,
    ...workspace.callLimits,
    include_byok_in_budgets: workspace.countsByok,
    ...(settings.disabled_server_tools !== undefined && {
      disabled_server_tools: settings.disabled_server_tools,
    }),
  }
}

/** The settings that a body changes, except name and slug. */
export function changesOf(
  body: CreateWorkspaceBody | UpdateWorkspaceBody,
): Omit<WorkspaceChanges, 'name' | 'slug'> {
  const kept = Object.fromEntries(
    KEPT_NAMES.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])),
  )
  const callLimits = callLimitsIn(body)
  const {
    description,
    default_callback_url: defaultCallbackUrl,
    programme: isInProgramme,
    vault_writes: mayWriteVault,
    storage_quota_bytes: storageQuotaBytes,
    include_byok_in_budgets: countsByok,
  } = body
  return {
    ...(description !== undefined && { description }),
    ...(defaultCallbackUrl !== undefined && { defaultCallbackUrl }),
    ...(isInProgramme !== undefined && { isInProgramme }),
    ...(mayWriteVault !== undefined && { mayWriteVault }),
    ...(storageQuotaBytes !== undefined && { storageQuotaBytes }),
    ...(countsByok !== undefined && { countsByok }),
    ...(Object.keys(callLimits).length > 0 && { callLimits }),
    ...(Object.keys(kept).length > 0 && { settings: kept }),
  }
}

/** Settings whose cost or consequences the installation bears: only keys of the operator's organization may set them. C32. */
const OF_OPERATOR = [
  'storage_quota_bytes',
  'programme',
  'vault_writes',
] as const satisfies readonly (keyof UpdateWorkspaceBody)[]

/**
 * The organization whose workspace a body changes. In another organization an operator may set only the
 * operator's settings. Failures: operator_only, organization_unknown, body_invalid, store_unavailable.
 */
export async function targetOf(
  body: CreateWorkspaceBody | UpdateWorkspaceBody,
  { key }: Pick<Call, 'key'>,
  { operators }: Pick<Ports, 'operators'>,
): Promise<Outcome<string>> {
  const namedId = 'organization_id' in body ? body.organization_id : undefined
  const isForeign = namedId !== undefined && namedId !== key.organizationId
  const isOwners = OF_OPERATOR.every((name) => body[name] === undefined)
  if (isOwners && !isForeign) return ok(key.organizationId)
  const target = await operators.targetOf(key.organizationId, namedId)
  if (!target.ok || !isForeign) return target
  const named = Object.keys(UpdateWorkspaceBody.properties).filter((name) => Object.hasOwn(body, name))
  const other = named.find((name) => name !== 'organization_id' && !OF_OPERATOR.some((one) => one === name))
  if (other === undefined) return target
  const issues = [
    {
      path: pointer('', other),
      message: 'can only be changed by the organization itself',
      expected: OF_OPERATOR.join(', '),
    },
  ]
  return fail('body_invalid', { metadata: { issues } })
}

export function memberAnswer(member: Member): MemberShape {
  const { workspaceId, userId, userName, displayName, email, role, grants } = member
  const rendered = grants.map((grant) => ({
    source: grant.source,
    mapping_id: grant.mappingId,
    role: grant.role,
    created_at: grant.createdAt.toISOString(),
  }))
  const [first] = rendered
  if (first === undefined) throw new Error('a workspace member without a grant')
  return {
    id: `${workspaceId}:${userId}`,
    workspace_id: workspaceId,
    user_id: userId,
    user_name: userName,
    display_name: displayName,
    email,
    role,
    grants: rendered,
    created_at: first.created_at,
  }
}
