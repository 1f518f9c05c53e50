import type { AuditEvent } from '../../ports/audit/audit.ts'
import type {
  ListedPreset,
  Preset,
  PresetActor,
  PresetConfig,
  PresetRef,
  PresetVersion,
} from '../../ports/presets/presets.ts'
import { isId } from '../base/ids.ts'
import type { Queryable, Transaction } from '../base/open.ts'

export interface PresetRow {
  readonly id: string
  readonly organization_id: string
  readonly workspace_id: string
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly status: Preset['status']
  readonly status_updated_at: Date | null
  readonly latest_version: number
  readonly designated_version: number
  readonly creator_id: string
  readonly created_at: Date
  readonly updated_at: Date
}

export interface VersionRow {
  readonly id: string
  readonly preset_id: string
  readonly version: number
  /** JSON text. */
  readonly config: string
  /** JSON text: a string or null. */
  readonly system_prompt: string
  readonly source: PresetVersion['source']
  /** JSON text of an array of names. */
  readonly ignored: string
  readonly creator_id: string
  readonly created_at: Date
}

/** A condition on `presets p`; null for a text that can name no preset, at which Postgres would throw. */
export function presetNamed(sql: Queryable, { workspaceId, slug }: PresetRef) {
  return slug.includes('\0') || !isId(workspaceId)
    ? null
    : sql`p.workspace_id = ${workspaceId} AND p.slug = ${slug}`
}

/** Locks a preset until the commit. */
export async function lockPreset(tx: Transaction, ref: PresetRef): Promise<PresetRow | null> {
  const named = presetNamed(tx, ref)
  if (named === null) return null
  const [row] = await tx<PresetRow[]>`SELECT p.* FROM presets p WHERE ${named} FOR NO KEY UPDATE`
  return row ?? null
}

export async function readPreset(sql: Queryable, ref: PresetRef): Promise<PresetRow | null> {
  const named = presetNamed(sql, ref)
  if (named === null) return null
  const [row] = await sql<PresetRow[]>`SELECT p.* FROM presets p WHERE ${named}`
  return row ?? null
}

export async function readVersion(
  sql: Queryable,
  presetId: string,
  version: number,
): Promise<PresetVersion | null> {
  const [row] = await sql<
    VersionRow[]
  >`SELECT * FROM preset_versions WHERE preset_id = ${presetId} AND version = ${version}`
  return row === undefined ? null : versionOf(row)
}

export function presetOf(row: PresetRow, designated: PresetVersion): Preset {
  return { ...headOf(row), designated }
}

export function listedOf(row: PresetRow & { readonly designated_id: string }): ListedPreset {
  return { ...headOf(row), designated: { id: row.designated_id } }
}

function headOf(row: PresetRow): Omit<Preset, 'designated'> {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    status: row.status,
    statusUpdatedAt: row.status_updated_at,
    creatorId: row.creator_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function versionOf(row: VersionRow): PresetVersion {
  return {
    id: row.id,
    presetId: row.preset_id,
    version: row.version,
    config: JSON.parse(row.config) as PresetConfig,
    systemPrompt: JSON.parse(row.system_prompt) as string | null,
    source: row.source,
    ignored: JSON.parse(row.ignored) as readonly string[],
    creatorId: row.creator_id,
    createdAt: row.created_at,
  }
}

/** The audit event of a change, without the texts of a version, which can be large and a caller's secret. */
export function presetEvent(by: PresetActor, before: PresetRow | null, after: PresetRow): AuditEvent {
  const { actor, requestId, operation, organizationId } = by
  return {
    actor,
    requestId,
    operation,
    organizationId,
    workspaceId: after.workspace_id,
    outcome: 'changed',
    objectKind: 'preset',
    objectId: after.id,
    before: before === null ? null : toAudit(before),
    after: toAudit(after),
  }
}

function toAudit(row: PresetRow): object {
  return {
    slug: row.slug,
    status: row.status,
    designated_version: row.designated_version,
    latest_version: row.latest_version,
  }
}
