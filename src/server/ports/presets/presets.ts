import type { Outcome } from '../../../schemas/failures.ts'
import type { KeptRequest } from '../../../schemas/presets/preset-input.ts'
import type { ChangedBy } from '../vault/vault.ts'
import type { Page, PageInput } from '../workspaces/workspaces.ts'

/** Request fields by their wire names, of the set that C19 lists. */
export type PresetConfig = KeptRequest['config']

/** Whose wire form a version was saved from. */
export type PresetSource = KeptRequest['source']

export interface PresetVersion {
  readonly id: string
  readonly presetId: string
  /** 1, 2, 3, … of each preset: no gaps. C20. */
  readonly version: number
  readonly config: PresetConfig
  readonly systemPrompt: string | null
  readonly source: PresetSource
  /** Names of the request's top-level fields that were not stored; never their values. */
  readonly ignored: readonly string[]
  /** Hash of the key that made it. */
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
  /** The one that callers get who pin none. */
  readonly designated: PresetVersion
}

/** As lists have it: configurations can be large. */
export interface ListedPreset extends Omit<Preset, 'designated'> {
  readonly designated: Pick<PresetVersion, 'id'>
}

export interface PresetRef {
  readonly workspaceId: string
  readonly slug: string
}

/** What a request body came to. */
export type PresetInput = KeptRequest

/** Who changes a preset, and by which operation. */
export interface PresetActor extends ChangedBy {
  readonly operation: string
  readonly organizationId: string
}

/** What an `@preset/…` of a request names. C19. */
export interface PresetUse {
  readonly slug: string
  /** Null = the designated one. */
  readonly version: number | null
}

/** A preset as callers use it. */
export interface PresetHead {
  readonly id: string
  readonly isArchived: boolean
  readonly designated: number
  /** All numbers up to it are there. */
  readonly latest: number
}

export interface LoadedPreset {
  readonly head: PresetHead
  /** The version that was wished for, as JSON; null: there is none of this number. */
  readonly config: string | null
}

/** What fronts load, and keep as long as nobody tells them of a change. */
export interface PresetRows {
  /** Null: there is no such preset. Failure: store_unavailable. */
  load(ref: PresetRef, version: number | null): Promise<Outcome<LoadedPreset | null>>
  /**
   * What a caller is told who asked for one that is not there: preset_unknown, with those that are near;
   * store_unavailable.
   */
  unknown(ref: PresetRef): Promise<Outcome<never>>
}

/**
 * Presets of workspaces. Every change is one transaction, audited, and tells fronts by an invalidation of
 * kind `preset` whose id is `<workspace id>/<slug>`. Failures of all: store_unavailable; of those that name
 * one: preset_unknown, also of another workspace's.
 */
export interface Presets {
  /** By slug; archived ones too. */
  list(workspaceId: string, page: PageInput): Promise<Outcome<Page<ListedPreset>>>
  get(ref: PresetRef): Promise<Outcome<Preset>>
  /** Ascending by number. */
  versions(ref: PresetRef, page: PageInput): Promise<Outcome<Page<PresetVersion>>>
  /** Failure: preset_version_unknown. */
  version(ref: PresetRef, version: number): Promise<Outcome<PresetVersion>>
  /**
   * Makes the preset, or its next version, and designates it; an archived one is active again. C20.
   * Failures: presets_full, workspace_unknown (deleted meanwhile), preset_conflict.
   */
  put(ref: PresetRef, input: PresetInput, by: PresetActor): Promise<Outcome<Preset>>
  /**
   * Failures: preset_version_unknown, preset_archived. The designated one again changes nothing, and is not
   * audited.
   */
  designate(ref: PresetRef, version: number, by: PresetActor): Promise<Outcome<Preset>>
  /** A second time changes nothing, and is not audited. */
  archive(ref: PresetRef, by: PresetActor): Promise<Outcome<Preset>>
}

/**
 * What calls use of presets: known to the front, or loaded at the first use and after every change. Design
 * §3.
 */
export interface PresetConfigs {
  /**
   * At once when the front knows it.
   * Failures: preset_unknown (an archived one too), preset_version_unknown, busy (too many loads, or changes
   * without a pause), store_unavailable.
   */
  find(workspaceId: string, use: PresetUse): Outcome<PresetConfig> | Promise<Outcome<PresetConfig>>
}
