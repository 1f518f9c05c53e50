import type { Outcome } from '../../../schemas/failures.ts'
import type { KeptRequest } from '../../../schemas/presets/preset-input.ts'
import type { ChangedBy } from '../vault/vault.ts'
import type { Page, PageInput } from '../workspaces/workspaces.ts'

/** Keyed by wire name; C19 lists the possible names. */
export type PresetConfig = KeptRequest['config']

/** The part of a preset that calls use. */
export type PresetContent = Pick<KeptRequest, 'config' | 'systemPrompt' | 'source'>

/** The wire form of the request from which a version was saved. */
type PresetSource = KeptRequest['source']

export interface PresetVersion {
  readonly id: string
  readonly presetId: string
  /** 1, 2, 3, … in each preset, without gaps. */
  readonly version: number
  readonly config: PresetConfig
  readonly systemPrompt: string | null
  readonly source: PresetSource
  /** Names of the request's top-level fields that were not stored; never their values. */
  readonly ignored: readonly string[]
  /** Hash of the key that created it. */
  readonly creatorId: string
  readonly createdAt: Date
}

export interface Preset {
  readonly id: string
  readonly organizationId: string
  readonly workspaceId: string
  /** Unique in the workspace. */
  readonly slug: string
  readonly name: string
  readonly description: string | null
  readonly status: 'active' | 'archived'
  readonly statusUpdatedAt: Date | null
  readonly creatorId: string
  readonly createdAt: Date
  readonly updatedAt: Date
  /** The version for callers that pin none. */
  readonly designated: PresetVersion
}

/** A preset without its configuration, which can be large. */
export interface ListedPreset extends Omit<Preset, 'designated'> {
  readonly designated: Pick<PresetVersion, 'id'>
}

export interface PresetRef {
  readonly workspaceId: string
  readonly slug: string
}

export type PresetInput = KeptRequest

export interface PresetActor extends ChangedBy {
  readonly operation: string
  readonly organizationId: string
}

/** The preset that a request names with `@preset/…`. */
export interface PresetUse {
  readonly slug: string
  /** Null = the designated version. */
  readonly version: number | null
}

export interface PresetHead {
  readonly id: string
  readonly isArchived: boolean
  readonly designated: number
  /** The highest version; all lower numbers exist. */
  readonly latest: number
}

export interface LoadedPreset {
  readonly head: PresetHead
  /** The `PresetContent` of the requested version, as JSON; null: there is no version with this number. */
  readonly content: string | null
}

/** A front caches a row until it learns of a change. */
export interface PresetRows {
  /** Null: there is no such preset. Failure: store_unavailable. */
  load(ref: PresetRef, version: number | null): Promise<Outcome<LoadedPreset | null>>
  /** preset_unknown, with similar names; store_unavailable. */
  unknown(ref: PresetRef): Promise<Outcome<never>>
}

/**
 * Every change is one audited transaction, and is announced to fronts by an invalidation of kind `preset`.
 * Failures of all: store_unavailable; of methods that name a preset: preset_unknown, also for a preset of
 * another workspace.
 */
export interface Presets {
  /** Sorted by slug, including archived presets. */
  list(workspaceId: string, page: PageInput): Promise<Outcome<Page<ListedPreset>>>
  get(ref: PresetRef): Promise<Outcome<Preset>>
  /** Ascending by number. */
  versions(ref: PresetRef, page: PageInput): Promise<Outcome<Page<PresetVersion>>>
  /** Failure: preset_version_unknown. */
  version(ref: PresetRef, version: number): Promise<Outcome<PresetVersion>>
  /**
   * Creates and designates the first or next version; an archived preset becomes active. Failures:
   * presets_full, workspace_unknown, preset_conflict.
   */
  put(ref: PresetRef, input: PresetInput, by: PresetActor): Promise<Outcome<Preset>>
  /** Designating the same version again changes nothing and is not audited. Failures: preset_version_unknown, preset_archived. */
  designate(ref: PresetRef, version: number, by: PresetActor): Promise<Outcome<Preset>>
  /** Archiving it again changes nothing and is not audited. */
  archive(ref: PresetRef, by: PresetActor): Promise<Outcome<Preset>>
}

/** Cached by the front; loaded at the first use and after every change. */
export interface PresetConfigs {
  /**
   * Synchronous when cached. Failures: preset_unknown (also archived), preset_version_unknown, busy (too many
   * loads or changes), store_unavailable.
   */
  find(workspaceId: string, use: PresetUse): Outcome<PresetContent> | Promise<Outcome<PresetContent>>
}
