import { LRUCache } from 'lru-cache'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  PRESET_CHARS_CACHED_MAX,
  PRESET_LOADS_MAX,
  PRESET_LOADS_WORKSPACE_MAX,
  PRESET_MISSES_CACHED_MAX,
  PRESET_VERSIONS_CACHED_MAX,
  PRESETS_CACHED_MAX,
} from '../../../schemas/presets/preset-limits.ts'
import { EVERYTHING } from '../../caches/recent-changes.ts'
import { LiveLoads } from '../../caches/live-loads.ts'
import type { Change, EpochFeed } from '../../ports/keys/keys.ts'
import type {
  LoadedPreset,
  PresetConfig,
  PresetConfigs,
  PresetHead,
  PresetRows,
  PresetUse,
} from '../../ports/presets/presets.ts'

export interface PresetConfigsDeps {
  readonly rows: PresetRows
  readonly feed: EpochFeed
  /** Milliseconds after the last good poll during which cached presets are served. Design §3. */
  readonly graceMs: number
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
}

/** The preset that a call uses, and the id of its invalidations. */
interface Wanted extends PresetUse {
  readonly workspaceId: string
  readonly id: string
}

interface Loaded {
  readonly preset: LoadedPreset | null
  readonly answer: Outcome<PresetConfig>
}

/** Caches the presets that calls use: each is read at its first use, and after every change. */
export function createPresetConfigs(deps: PresetConfigsDeps): PresetConfigs & { close(): void } {
  return new LiveConfigs(deps)
}

/**
 * Entries that may change are separate from those that never do: a change drops heads and misses, and only a
 * lack of room drops versions. Misses have a cache of their own, so that a caller with many misses does not
 * evict presets of others.
 */
class LiveConfigs implements PresetConfigs {
  readonly #deps: PresetConfigsDeps
  readonly #heads = new LRUCache<string, PresetHead>({ max: PRESETS_CACHED_MAX })
  readonly #misses = new LRUCache<string, Outcome<never>>({ max: PRESET_MISSES_CACHED_MAX })
  readonly #versions = new LRUCache<string, PresetConfig>({
    max: PRESET_VERSIONS_CACHED_MAX,
    maxSize: PRESET_CHARS_CACHED_MAX,
  })
  /** Loads by preset and version, so that concurrent requests for one version share a load. */
  readonly #loads: LiveLoads<Loaded>
  /** Number of loads by workspace. */
  readonly #loading = new Map<string, number>()

  constructor(deps: PresetConfigsDeps) {
    this.#deps = deps
    const { feed, now } = deps
    this.#loads = new LiveLoads({ feed, nameOf: nameOfChange, forget: (name) => this.#forget(name), now })
  }

  find(
    workspaceId: string,
    { slug, version }: PresetUse,
  ): Outcome<PresetConfig> | Promise<Outcome<PresetConfig>> {
    const id = `${workspaceId}/${slug}`
    const { feed, graceMs, now } = this.#deps
    // After the grace a preset may long be archived or rolled back, and the store has to be asked.
    const known = now() - feed.lastGoodPollAtMs <= graceMs ? this.#known(id, version) : null
    return known ?? this.#load({ workspaceId, slug, version, id })
  }

  close(): void {
    this.#loads.close()
  }

  /** Null: the store has to be asked. */
  #known(id: string, version: number | null): Outcome<PresetConfig> | null {
    const head = this.#heads.get(id)
    if (head === undefined) return this.#misses.get(id) ?? null
    const refused = refusalOf(head, version)
    if (refused !== null) return refused
    const config = this.#versions.get(nameOf(head, version))
    return config === undefined ? null : ok(config)
  }

  async #load(wanted: Wanted): Promise<Outcome<PresetConfig>> {
    const loaded = await this.#join(wanted)
    return loaded.ok ? loaded.value.answer : loaded
  }

  #join(wanted: Wanted): Promise<Outcome<Loaded>> {
    const { workspaceId, id, version } = wanted
    const name = `${id}@${version ?? ''}`
    const joined = this.#loads.join(name)
    if (joined !== undefined) return joined
    const loading = this.#loading.get(workspaceId) ?? 0
    if (this.#loads.size >= PRESET_LOADS_MAX || loading >= PRESET_LOADS_WORKSPACE_MAX)
      return Promise.resolve(fail('busy', { retryAfterS: 1 }))
    this.#loading.set(workspaceId, loading + 1)
    return this.#loads
      .load(name, {
        read: (sending) => this.#read(wanted, sending),
        namesOf: () => [id],
        take: (loaded, isCurrent) => {
          if (isCurrent) this.#keep(wanted, loaded)
        },
      })
      .finally(() => this.#ended(workspaceId))
  }

  #ended(workspaceId: string): void {
    const left = (this.#loading.get(workspaceId) ?? 0) - 1
    if (left > 0) this.#loading.set(workspaceId, left)
    else this.#loading.delete(workspaceId)
  }

  async #read({ workspaceId, slug, version }: Wanted, sending: () => void): Promise<Outcome<Loaded>> {
    sending()
    const loaded = await this.#deps.rows.load({ workspaceId, slug }, version)
    if (!loaded.ok) return loaded
    const { value: preset } = loaded
    if (preset !== null) return ok({ preset, answer: configOf(preset, version) })
    const unknown = await this.#deps.rows.unknown({ workspaceId, slug })
    return isMiss(unknown) ? ok({ preset, answer: unknown }) : unknown
  }

  #keep({ id, version }: Wanted, { preset, answer }: Loaded): void {
    if (preset === null) {
      this.#heads.delete(id)
      if (!answer.ok) this.#misses.set(id, answer)
      return
    }
    const { head, config } = preset
    this.#misses.delete(id)
    this.#heads.set(id, head)
    if (answer.ok) this.#versions.set(nameOf(head, version), answer.value, { size: config?.length ?? 1 })
  }

  #forget(name: string): void {
    if (name === EVERYTHING) {
      this.#heads.clear()
      this.#misses.clear()
      return
    }
    this.#heads.delete(name)
    this.#misses.delete(name)
  }
}

function nameOfChange(change: Change): string | null {
  switch (change.kind) {
    case 'preset':
      return change.id
    case 'everything':
      return EVERYTHING
    case 'key':
    // No key is left that could use presets of a deleted workspace.
    case 'workspace':
    case 'organization':
    case 'catalogue':
    case 'vault':
    case 'private_endpoint':
      return null
    default:
      return change satisfies never
  }
}

/** True when the preset is known to be missing; otherwise the store was away meanwhile. */
function isMiss(unknown: Outcome<never>): boolean {
  return !unknown.ok && unknown.failure.name === 'preset_unknown'
}

/** An archived preset cannot be used, whatever version is pinned. C20. */
function refusalOf({ isArchived, latest }: PresetHead, version: number | null): Outcome<never> | null {
  if (isArchived) return fail('preset_unknown')
  return version !== null && (version < 1 || version > latest) ? fail('preset_version_unknown') : null
}

function configOf({ head, config }: LoadedPreset, version: number | null): Outcome<PresetConfig> {
  const refused = refusalOf(head, version)
  if (refused !== null) return refused
  if (config === null) throw new Error('a preset lacks a version up to its latest')
  return ok(JSON.parse(config) as PresetConfig)
}

function nameOf({ id, designated }: PresetHead, version: number | null): string {
  return `${id}@${version ?? designated}`
}
