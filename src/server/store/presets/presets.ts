import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { PRESETS_MAX } from '../../../schemas/presets/preset-limits.ts'
import type { Hints, Invalidation } from '../../ports/keys/keys.ts'
import type {
  ListedPreset,
  LoadedPreset,
  Preset,
  PresetActor,
  PresetConfig,
  PresetInput,
  PresetRef,
  PresetRows,
  Presets,
  PresetVersion,
} from '../../ports/presets/presets.ts'
import type { Page, PageInput } from '../../ports/workspaces/workspaces.ts'
import type { AuditEvent } from '../../ports/audit/audit.ts'
import { appendAudit } from '../base/append-audit.ts'
import { bump } from '../base/epoch.ts'
import { isId, newId } from '../base/ids.ts'
import { presetUnknown } from '../base/near-names.ts'
import type { Queryable, Store, Transaction } from '../base/open.ts'
import { endedByBytes } from '../base/page-by-bytes.ts'
import { isLockSlow, reach } from '../base/translate.ts'
import { holdWorkspace } from '../base/find-workspace.ts'

/**
 * Presets of workspaces. The lock on a preset's row orders the numbers of its versions; the workspace is
 * always locked first.
 * @param publish informs the fronts immediately; without it they find changes by polling
 */
export function openPresets(store: Store, publish: Hints['publish']): Presets {
  const { sql } = store
  const change = async (work: (tx: Transaction) => Promise<Outcome<Written>>): Promise<Outcome<Preset>> => {
    const written = await reach(() => losing(() => store.sql.begin<Outcome<Written>>(work)))
    if (!written.ok) return written
    const { preset, invalidation } = written.value
    if (invalidation !== null) await publish(invalidation)
    return ok(preset)
  }
  return {
    list: (workspaceId, page) => reach(async () => ok(await pageOf(sql, workspaceId, page))),
    get: (ref) =>
      reach(async () => {
        const row = await readPreset(sql, ref)
        return row === null ? presetUnknown(sql, ref) : ok(await wholeOf(sql, row))
      }),
    versions: (ref, page) =>
      reach(async () => {
        const row = await readPreset(sql, ref)
        return row === null ? presetUnknown(sql, ref) : ok(await versionsOf(sql, row, page))
      }),
    version: (ref, version) =>
      reach(async () => {
        const row = await readPreset(sql, ref)
        if (row === null) return presetUnknown(sql, ref)
        const found = await among(sql, row, version)
        return found === null ? fail('preset_version_unknown') : ok(found)
      }),
    put: (ref, input, by) => change((tx) => put(tx, { ref, input, by })),
    designate: (ref, version, by) => change((tx) => designate(tx, { ref, version, by })),
    archive: (ref, by) => change((tx) => archive(tx, ref, by)),
  }
}

/** The rows that fronts load for calls. */
export function openPresetRows(store: Store): PresetRows {
  return {
    load: (ref, version) => reach(async () => ok(await load(store.sql, ref, version))),
    unknown: (ref) => reach(() => presetUnknown(store.sql, ref)),
  }
}

interface Written {
  readonly preset: Preset
  /** Null: nothing was changed. */
  readonly invalidation: Invalidation | null
}

/** Runs a change; if it waits for the lock of a preset longer than the store's lock timeout, it counts as a conflict with another change. */
async function losing<T>(work: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  try {
    return await work()
  } catch (problem) {
    if (!isLockSlow(problem)) throw problem
    return fail('preset_conflict', { retryAfterS: 1, cause: problem })
  }
}

interface Put {
  readonly ref: PresetRef
  readonly input: PresetInput
  readonly by: PresetActor
}

async function put(tx: Transaction, { ref, input, by }: Put): Promise<Outcome<Written>> {
  const room = await makeRoom(tx, ref, by)
  if (!room.ok) return room
  const row = await lockPreset(tx, ref)
  if (row === null) throw new Error('a preset of a locked workspace no longer exists')
  const before = row.latest_version === 0 ? null : row
  const [version] = await tx<VersionRow[]>`
    INSERT INTO preset_versions (id, preset_id, version, config, system_prompt, source, ignored, creator_id)
    VALUES (${newId()}, ${row.id}, ${row.latest_version + 1}, ${JSON.stringify(input.config)}, ${JSON.stringify(input.systemPrompt)},
      ${input.source}, ${JSON.stringify(input.ignored)}, ${by.actor.id ?? by.actor.kind}) RETURNING *`
  const [after] = await tx<PresetRow[]>`
    UPDATE presets SET latest_version = latest_version + 1, designated_version = latest_version + 1, status = 'active',
      status_updated_at = CASE status WHEN 'active' THEN status_updated_at ELSE clock_timestamp() END,
      updated_at = clock_timestamp()
    WHERE id = ${row.id} RETURNING *`
  if (version === undefined || after === undefined) throw new Error('a write returned nothing')
  return written(tx, { by, before, after, designated: versionOf(version) })
}

/** Locks the workspace, and creates a row for the preset if needed, at first without a version. Failures: workspace_unknown, presets_full. */
async function makeRoom(tx: Transaction, ref: PresetRef, by: PresetActor): Promise<Outcome<null>> {
  // Rows of presets are removed only with their workspace: a row found here will still exist when the workspace
  // is locked.
  if ((await readPreset(tx, ref)) !== null)
    return (await holdWorkspace(tx, ref.workspaceId)) ? ok(null) : fail('workspace_unknown')
  // Creations of presets in one workspace run one after another, so that each counts the presets of the others.
  // This lock must not be taken after the weaker lock of `holdWorkspace`: two transactions would deadlock.
  const { workspaceId, slug } = ref
  const [workspace] =
    await tx`SELECT 1 FROM workspaces WHERE id = ${workspaceId} AND deleted_at IS NULL FOR NO KEY UPDATE`
  if (workspace === undefined) return fail('workspace_unknown')
  const [counted] = await tx<{ count: number; isThere: boolean }[]>`
    SELECT count(*)::int AS count, COALESCE(bool_or(slug = ${slug}), false) AS "isThere" FROM presets WHERE workspace_id = ${workspaceId}`
  if (counted?.isThere === true) return ok(null)
  if ((counted?.count ?? 0) >= PRESETS_MAX) return fail('presets_full', { fields: { limit: PRESETS_MAX } })
  await tx`
    INSERT INTO presets (id, organization_id, workspace_id, slug, name, creator_id)
    VALUES (${newId()}, ${by.organizationId}, ${workspaceId}, ${slug}, ${slug}, ${by.actor.id ?? by.actor.kind})`
  return ok(null)
}

interface Designation {
  readonly ref: PresetRef
  readonly version: number
  readonly by: PresetActor
}

async function designate(tx: Transaction, { ref, version, by }: Designation): Promise<Outcome<Written>> {
  const before = await holdPreset(tx, ref)
  if (before === null) return presetUnknown(tx, ref)
  const designated = await among(tx, before, version)
  if (designated === null) return fail('preset_version_unknown')
  if (before.status === 'archived') return fail('preset_archived')
  if (before.designated_version === version)
    return ok({ preset: presetOf(before, designated), invalidation: null })
  const [after] = await tx<PresetRow[]>`
    UPDATE presets SET designated_version = ${version}, updated_at = clock_timestamp() WHERE id = ${before.id} RETURNING *`
  if (after === undefined) throw new Error('a locked row no longer exists')
  return written(tx, { by, before, after, designated })
}

async function archive(tx: Transaction, ref: PresetRef, by: PresetActor): Promise<Outcome<Written>> {
  const before = await holdPreset(tx, ref)
  if (before === null) return presetUnknown(tx, ref)
  const { designated } = await wholeOf(tx, before)
  if (before.status === 'archived') return ok({ preset: presetOf(before, designated), invalidation: null })
  const [after] = await tx<PresetRow[]>`
    UPDATE presets SET status = 'archived', status_updated_at = clock_timestamp(), updated_at = clock_timestamp()
    WHERE id = ${before.id} RETURNING *`
  if (after === undefined) throw new Error('a locked row no longer exists')
  return written(tx, { by, before, after, designated })
}

/** Null: there is no such preset, or its workspace was deleted. */
async function holdPreset(tx: Transaction, ref: PresetRef): Promise<PresetRow | null> {
  return (await holdWorkspace(tx, ref.workspaceId)) ? lockPreset(tx, ref) : null
}

interface Done {
  readonly by: PresetActor
  readonly before: PresetRow | null
  readonly after: PresetRow
  readonly designated: PresetVersion
}

async function written(tx: Transaction, { by, before, after, designated }: Done): Promise<Outcome<Written>> {
  await appendAudit(tx, presetEvent(by, before, after))
  const invalidation = await bump(tx, 'preset', `${after.workspace_id}/${after.slug}`)
  return ok({ preset: presetOf(after, designated), invalidation })
}

async function pageOf(
  sql: Queryable,
  workspaceId: string,
  { limit, offset }: PageInput,
): Promise<Page<ListedPreset>> {
  const [rows, [counted]] = await Promise.all([
    sql<(PresetRow & { designated_id: string })[]>`
      SELECT p.*, v.id AS designated_id FROM presets p JOIN preset_versions v ON v.preset_id = p.id AND v.version = p.designated_version
      WHERE p.workspace_id = ${workspaceId} ORDER BY p.slug LIMIT ${limit} OFFSET ${offset}`,
    sql<{ count: number }[]>`SELECT count(*)::int AS count FROM presets WHERE workspace_id = ${workspaceId}`,
  ])
  return { rows: rows.map(listedOf), totalCount: counted?.count ?? 0 }
}

async function versionsOf(
  sql: Queryable,
  preset: PresetRow,
  { limit, offset }: PageInput,
): Promise<Page<PresetVersion>> {
  // Numbers have no gaps, so a page is a range of them; versions that were added after the preset was read are
  // not counted.
  const last = Math.min(offset + limit, preset.latest_version)
  const rows = await sql<VersionRow[]>`${endedByBytes(sql, {
    rows: sql`
      SELECT * FROM preset_versions WHERE preset_id = ${preset.id} AND version > ${offset}::bigint AND version <= ${last} ORDER BY version`,
    bytes: () => sql`(octet_length(config) + octet_length(system_prompt))`,
    order: () => sql`version`,
  })}`
  return { rows: rows.map(versionOf), totalCount: preset.latest_version }
}

async function wholeOf(sql: Queryable, row: PresetRow): Promise<Preset> {
  const designated = await readVersion(sql, row.id, row.designated_version)
  if (designated === null) throw new Error('the designated version of a preset is missing')
  return presetOf(row, designated)
}

/** Null when the preset has no version with this number. */
async function among(sql: Queryable, preset: PresetRow, version: number): Promise<PresetVersion | null> {
  const isOne = Number.isSafeInteger(version) && version >= 1 && version <= preset.latest_version
  return isOne ? readVersion(sql, preset.id, version) : null
}

interface LoadRow {
  readonly id: string
  readonly status: Preset['status']
  readonly designated_version: number
  readonly latest_version: number
  /** JSON text, like the next one; all three are null when there is no such version. */
  readonly config: string | null
  readonly system_prompt: string | null
  readonly source: PresetVersion['source'] | null
}

async function load(sql: Queryable, ref: PresetRef, version: number | null): Promise<LoadedPreset | null> {
  const named = presetNamed(sql, ref)
  if (named === null) return null
  const wanted = version === null ? sql`p.designated_version` : sql`${version}::bigint`
  const [row] = await sql<LoadRow[]>`
    SELECT p.id, p.status, p.designated_version, p.latest_version, v.config, v.system_prompt, v.source
    FROM presets p LEFT JOIN preset_versions v ON v.preset_id = p.id AND v.version = ${wanted} WHERE ${named}`
  if (row === undefined) return null
  const { id, status, designated_version: designated, latest_version: latest } = row
  return { head: { id, isArchived: status === 'archived', designated, latest }, content: contentOf(row) }
}

function contentOf({ config, system_prompt: systemPrompt, source }: LoadRow): string | null {
  return config === null
    ? null
    : `{"config":${config},"systemPrompt":${String(systemPrompt)},"source":${JSON.stringify(source)}}`
}

interface PresetRow {
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

interface VersionRow {
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

/** A condition on `presets p`; null for a text that cannot name a preset and would cause an error of Postgres. */
function presetNamed(sql: Queryable, { workspaceId, slug }: PresetRef) {
  return slug.includes('\0') || !isId(workspaceId)
    ? null
    : sql`p.workspace_id = ${workspaceId} AND p.slug = ${slug}`
}

/** Locks a preset until the commit. */
async function lockPreset(tx: Transaction, ref: PresetRef): Promise<PresetRow | null> {
  const named = presetNamed(tx, ref)
  if (named === null) return null
  const [row] = await tx<PresetRow[]>`SELECT p.* FROM presets p WHERE ${named} FOR NO KEY UPDATE`
  return row ?? null
}

async function readPreset(sql: Queryable, ref: PresetRef): Promise<PresetRow | null> {
  const named = presetNamed(sql, ref)
  if (named === null) return null
  const [row] = await sql<PresetRow[]>`SELECT p.* FROM presets p WHERE ${named}`
  return row ?? null
}

async function readVersion(sql: Queryable, presetId: string, version: number): Promise<PresetVersion | null> {
  const [row] = await sql<
    VersionRow[]
  >`SELECT * FROM preset_versions WHERE preset_id = ${presetId} AND version = ${version}`
  return row === undefined ? null : versionOf(row)
}

function presetOf(row: PresetRow, designated: PresetVersion): Preset {
  return { ...headOf(row), designated }
}

function listedOf(row: PresetRow & { readonly designated_id: string }): ListedPreset {
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

function versionOf(row: VersionRow): PresetVersion {
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

/** The audit event of a change, without the texts of a version, which can be large and may be secret. */
function presetEvent(by: PresetActor, before: PresetRow | null, after: PresetRow): AuditEvent {
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
