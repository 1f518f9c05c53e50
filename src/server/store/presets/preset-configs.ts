import { LRUCache } from 'lru-cache'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { LiveCache } from '../../caches/live-cache.ts'
import { EVERYTHING } from '../../caches/recent-changes.ts'
import type { Change, EpochFeed } from '../../ports/keys/keys.ts'
import type {
  LoadedPreset,
  PresetContent,
  PresetConfigs,
  PresetHead,
  PresetRows,
  PresetUse,
} from '../../ports/presets/presets.ts'

/** Presets that a front caches. Decision. */
export const PRESETS_CACHED_MAX = 10_000
/** Slugs without a preset that a front caches. Decision. */
export const PRESET_MISSES_CACHED_MAX = 10_000
/** Versions of presets that a front caches. Decision. */
export const PRESET_VERSIONS_CACHED_MAX = 10_000
/** Characters of JSON of all versions of presets that a front caches. Decision. */
export const PRESET_CHARS_CACHED_MAX = 16_777_216
/** Presets that a front loads from the store at once; further loads fail with `busy`. Decision. */
export const PRESET_LOADS_MAX = 256
/**
 * Presets of one workspace that a front loads from the store at once: a workspace that requests unknown slugs
 * must leave room for others. Decision.
 */
export const PRESET_LOADS_WORKSPACE_MAX = 64

export interface PresetConfigsDeps {
  readonly rows: PresetRows
  readonly feed: EpochFeed
  /** Milliseconds after the last successful poll during which cached presets are used. Design §3. */
  readonly graceMs: number
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  /** Most presets, and most misses, that are cached; left out: PRESETS_CACHED_MAX and PRESET_MISSES_CACHED_MAX. */
  readonly cachedMax?: number
}

interface Wanted extends PresetUse {
  readonly workspaceId: string
  readonly id: string
}

interface Loaded {
  readonly preset: LoadedPreset | null
  readonly answer: Outcome<PresetContent>
}

/** Caches the presets that calls use: each is read at its first use, and after every change. */
export function createPresetConfigs(deps: PresetConfigsDeps): PresetConfigs & { close(): void } {
  return new LiveConfigs(deps)
}

/**
 * Entries that may change are separate from those that never do: a change removes heads and misses; versions
 * are removed only for lack of room.
 */
class LiveConfigs implements PresetConfigs {
  readonly #rows: PresetRows
  readonly #heads: LiveCache<Loaded, PresetHead, Outcome<PresetContent>>
  readonly #versions = new LRUCache<string, PresetContent>({
    max: PRESET_VERSIONS_CACHED_MAX,
    maxSize: PRESET_CHARS_CACHED_MAX,
  })

  constructor({ rows, feed, graceMs, now, cachedMax }: PresetConfigsDeps) {
    this.#rows = rows
    this.#heads = new LiveCache({
      feed,
      graceMs,
      now,
      nameOf: nameOfChange,
      entries: { max: cachedMax ?? PRESETS_CACHED_MAX, of: ({ preset }) => preset?.head ?? null },
      misses: { max: cachedMax ?? PRESET_MISSES_CACHED_MAX, of: ({ answer }) => answer },
      loads: { max: PRESET_LOADS_MAX, ofOneMax: PRESET_LOADS_WORKSPACE_MAX },
    })
  }

  find(
    workspaceId: string,
    { slug, version }: PresetUse,
  ): Outcome<PresetContent> | Promise<Outcome<PresetContent>> {
    const id = `${workspaceId}/${slug}`
    return this.#known(id, version) ?? this.#load({ workspaceId, slug, version, id })
  }

  close(): void {
    this.#heads.close()
  }

  /** Null: the preset must be loaded from the store. */
  #known(id: string, version: number | null): Outcome<PresetContent> | null {
    const head = this.#heads.find(id)
    if (head === undefined) return this.#heads.findMiss(id) ?? null
    const refused = refusalOf(head, version)
    if (refused !== null) return refused
    const content = this.#versions.get(nameOf(head, version))
    return content === undefined ? null : ok(content)
  }

  async #load(wanted: Wanted): Promise<Outcome<PresetContent>> {
    const { workspaceId, id, version } = wanted
    const loaded = await this.#heads.load({
      id,
      // Concurrent requests for one version share a load.
      name: `${id}@${version ?? ''}`,
      tenant: workspaceId,
      read: (sending) => this.#read(wanted, sending),
    })
    return loaded.ok ? loaded.value.answer : loaded
  }

  async #read({ workspaceId, slug, version }: Wanted, sending: () => void): Promise<Outcome<Loaded>> {
    sending()
    const loaded = await this.#rows.load({ workspaceId, slug }, version)
    if (!loaded.ok) return loaded
    const { value: preset } = loaded
    if (preset !== null) return ok({ preset, answer: this.#answerOf(preset, version) })
    const unknown = await this.#rows.unknown({ workspaceId, slug })
    return isMiss(unknown) ? ok({ preset, answer: unknown }) : unknown
  }

  /** Caches the version: versions never change, even when a change happens while the head is being loaded. */
  #answerOf(preset: LoadedPreset, version: number | null): Outcome<PresetContent> {
    const answer = contentOf(preset, version)
    if (answer.ok)
      this.#versions.set(nameOf(preset.head, version), answer.value, { size: preset.content?.length ?? 1 })
    return answer
  }
}

function nameOfChange(change: Change): string | null {
  switch (change.kind) {
    case 'preset':
      return change.id
    case 'everything':
      return EVERYTHING
    case 'key':
    // Presets of a deleted workspace need no removal: there are no keys left that could use them.
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

/** True when the preset is known to be missing; false when the store was unavailable meanwhile. */
function isMiss(unknown: Outcome<never>): boolean {
  return !unknown.ok && unknown.failure.name === 'preset_unknown'
}

/** An archived preset cannot be used, whichever version is pinned. */
function refusalOf({ isArchived, latest }: PresetHead, version: number | null): Outcome<never> | null {
  if (isArchived) return fail('preset_unknown')
  return version !== null && (version < 1 || version > latest) ? fail('preset_version_unknown') : null
}

function contentOf({ head, content }: LoadedPreset, version: number | null): Outcome<PresetContent> {
  const refused = refusalOf(head, version)
  if (refused !== null) return refused
  if (content === null) throw new Error('a version of the preset is missing')
  return ok(JSON.parse(content) as PresetContent)
}

function nameOf({ id, designated }: PresetHead, version: number | null): string {
  return `${id}@${version ?? designated}`
}
