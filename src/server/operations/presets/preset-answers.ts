import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { PRESETS_PAGE_DEFAULT } from '../../../schemas/presets/preset-limits.ts'
import type { PresetShape, PresetVersionShape, WholePreset } from '../../../schemas/presets/presets.ts'
import type { Ports } from '../../ports/ports.ts'
import type {
  ListedPreset,
  Preset,
  PresetActor,
  PresetRef,
  PresetVersion,
} from '../../ports/presets/presets.ts'
import type { PageInput } from '../../ports/workspaces/workspaces.ts'
import { actorOf, ownWorkspaceOf, type Call, type Success } from '../define.ts'

export const PRESET_FAILURES = [
  'workspace_unknown',
  'workspace_forbidden',
  'store_unavailable',
] as const satisfies readonly FailureName[]

/** Statuses of the operations that read a named preset. B2.2. */
export const PRESET_READ_STATUSES = [400, 404, 500] as const
/** Failures of the operations that read a named preset. B2.2. */
export const PRESET_READ_FAILURES = [
  'preset_unknown',
  ...PRESET_FAILURES,
] as const satisfies readonly FailureName[]
/** Statuses of the operations that change a named preset. */
export const PRESET_CHANGE_STATUSES = [400, 403, 404, 409, 500] as const
/** Failures of the operations that change a named preset. */
export const PRESET_CHANGE_FAILURES = [
  'preset_unknown',
  'preset_conflict',
  ...PRESET_FAILURES,
] as const satisfies readonly FailureName[]

export const EXAMPLE_PRESET = { slug: 'support-search' }

type Asking = Pick<Call<unknown, { readonly workspace_id?: string }>, 'key' | 'query'>

/**
 * The workspace whose presets a call concerns: for a management key the named one, or without a name the
 * default one; for other keys their own. C4. Failures: workspace_unknown, workspace_forbidden (another key
 * names another workspace), store_unavailable.
 */
export async function presetWorkspaceOf(
  { key, query }: Asking,
  { workspaces }: Pick<Ports, 'workspaces'>,
): Promise<Outcome<string>> {
  const own = ownWorkspaceOf(key)
  const { workspace_id: reference } = query
  if (reference === undefined || reference.toLowerCase() === own) return ok(own)
  const found = await workspaces.get({ organizationId: key.organizationId, reference })
  if (key.kind === 'management') return found.ok ? ok(found.value.id) : found
  if (found.ok && found.value.id === own) return ok(own)
  // A key that is not a management key must not learn which other workspaces exist.
  return found.ok || found.failure.name === 'workspace_unknown' ? fail('workspace_forbidden') : found
}

type Naming = Asking & Pick<Call<{ readonly slug: string }>, 'params'>

/** The preset that a path names. Failures: those of `presetWorkspaceOf`. */
export async function presetRefOf(
  call: Naming,
  ports: Pick<Ports, 'workspaces'>,
): Promise<Outcome<PresetRef>> {
  const workspace = await presetWorkspaceOf(call, ports)
  return workspace.ok ? ok({ workspaceId: workspace.value, slug: call.params.slug }) : workspace
}

export function presetActorOf(call: Pick<Call, 'key' | 'requestId' | 'operationId'>): PresetActor {
  return { ...actorOf(call), organizationId: call.key.organizationId }
}

export function presetPageOf({ limit = PRESETS_PAGE_DEFAULT, offset = 0 }: Partial<PageInput>): PageInput {
  return { limit, offset }
}

/** A preset in the form used in lists. §2.4. */
export function presetShapeOf(preset: ListedPreset): PresetShape {
  return {
    id: preset.id,
    name: preset.name,
    slug: preset.slug,
    description: preset.description,
    status: preset.status,
    status_updated_at: preset.statusUpdatedAt?.toISOString() ?? null,
    creator_user_id: preset.creatorId,
    workspace_id: preset.workspaceId,
    designated_version_id: preset.designated.id,
    created_at: preset.createdAt.toISOString(),
    updated_at: preset.updatedAt.toISOString(),
  }
}

export function presetVersionOf(version: PresetVersion): PresetVersionShape {
  const createdAt = version.createdAt.toISOString()
  return {
    id: version.id,
    preset_id: version.presetId,
    version: version.version,
    config: version.config,
    system_prompt: version.systemPrompt,
    creator_id: version.creatorId,
    created_at: createdAt,
    updated_at: createdAt,
  }
}

export function presetAnswer(preset: Preset, headers: Readonly<Record<string, string>> = {}): Success {
  const value: WholePreset = {
    ...presetShapeOf(preset),
    designated_version: presetVersionOf(preset.designated),
  }
  return { kind: 'json', value: { data: value }, headers }
}
