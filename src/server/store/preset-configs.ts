import { LRUCache } from 'lru-cache'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import {
  PRESET_CHARS_CACHED_MAX, PRESET_LOADS_MAX, PRESET_LOADS_WORKSPACE_MAX, PRESET_MISSES_CACHED_MAX, PRESET_VERSIONS_CACHED_MAX, PRESETS_CACHED_MAX,
} from '../../schemas/preset-limits.ts'
import type { Change, EpochFeed } from '../ports/keys.ts'
import type { LoadedPreset, PresetConfig, PresetConfigs, PresetHead, PresetRows, PresetUse } from '../ports/presets.ts'

export interface PresetConfigsMeans {
  readonly rows: PresetRows
  readonly feed: EpochFeed
  /** Milliseconds after the last good poll during which what is known is served. Design §3. */
  readonly graceMs: number
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
}

/** Reads of one load, each overtaken by an invalidation; what the last one finds is used, and not kept. */
const LOAD_TRIES = 4

interface Load {
  /** The preset was changed since it was read. */
  isOvertaken: boolean
}

/** Which preset a call uses, and the key by which fronts hear of it. */
interface Wanted extends PresetUse {
  readonly workspaceId: string
  readonly id: string
}

/** Follows the presets that calls use: each is read at its first use, and after every change. */
export function createPresetConfigs(means: PresetConfigsMeans): PresetConfigs & { close(): void } {
  return new LiveConfigs(means)
}

/*
 * What may change is kept apart from what never does: heads and misses are forgotten at a change, versions only for room.
 * Misses have a place of their own, so that a caller who asks for many of them does not drive out what others use.
 */
class LiveConfigs implements PresetConfigs {
  readonly #means: PresetConfigsMeans
  readonly #heads = new LRUCache<string, PresetHead>({ max: PRESETS_CACHED_MAX })
  readonly #misses = new LRUCache<string, true>({ max: PRESET_MISSES_CACHED_MAX })
  readonly #versions = new LRUCache<string, PresetConfig>({ max: PRESET_VERSIONS_CACHED_MAX, maxSize: PRESET_CHARS_CACHED_MAX })
  /** By what invalidations name. */
  readonly #loads = new Map<string, Set<Load>>()
  /** By what is wanted, so that all who want one version at once ask once. */
  readonly #joined = new Map<string, Promise<Outcome<PresetConfig>>>()
  /** How many loads there are, by workspace. */
  readonly #loading = new Map<string, number>()
  readonly #leave: () => void

  constructor(means: PresetConfigsMeans) {
    this.#means = means
    this.#leave = means.feed.subscribe((change) => this.#forget(change))
  }

  find(workspaceId: string, { slug, version }: PresetUse): Outcome<PresetConfig> | Promise<Outcome<PresetConfig>> {
    const id = `${workspaceId}/${slug}`
    const { feed, graceMs, now } = this.#means
    // Beyond the grace a preset may long be archived or rolled back: only the store can tell.
    const known = now() - feed.lastGoodPollAtMs <= graceMs ? this.#known(id, version) : null
    return known ?? this.#load({ workspaceId, slug, version, id })
  }

  close(): void {
    this.#leave()
  }

  /** Null: the store has to be asked. */
  #known(id: string, version: number | null): Outcome<PresetConfig> | null {
    const head = this.#heads.get(id)
    if (head === undefined) return this.#misses.get(id) === true ? fail('preset_unknown') : null
    const refused = refusalOf(head, version)
    if (refused !== null) return refused
    const config = this.#versions.get(nameOf(head, version))
    return config === undefined ? null : ok(config)
  }

  #load(wanted: Wanted): Promise<Outcome<PresetConfig>> {
    const name = `${wanted.id}@${wanted.version ?? ''}`
    const joined = this.#joined.get(name)
    if (joined !== undefined) return joined
    const { workspaceId } = wanted
    const loading = this.#loading.get(workspaceId) ?? 0
    if (this.#joined.size >= PRESET_LOADS_MAX || loading >= PRESET_LOADS_WORKSPACE_MAX) return Promise.resolve(fail('busy', { retryAfterS: 1 }))
    const load: Load = { isOvertaken: false }
    this.#loading.set(workspaceId, loading + 1)
    // Before the rows are asked for: no change may be missed.
    const loads = this.#loads.get(wanted.id) ?? new Set()
    this.#loads.set(wanted.id, loads.add(load))
    const leave = (): void => {
      if (this.#joined.get(name) === done) this.#joined.delete(name)
    }
    const done = this.#read(wanted, load, leave).finally(() => {
      leave()
      this.#ended(workspaceId)
      loads.delete(load)
      if (loads.size === 0) this.#loads.delete(wanted.id)
    })
    this.#joined.set(name, done)
    return done
  }

  #ended(workspaceId: string): void {
    const left = (this.#loading.get(workspaceId) ?? 0) - 1
    if (left > 0) this.#loading.set(workspaceId, left)
    else this.#loading.delete(workspaceId)
  }

  /** @param leave lets nobody join any more */
  async #read({ workspaceId, slug, version, id }: Wanted, load: Load, leave: () => void): Promise<Outcome<PresetConfig>> {
    for (let tried = 1; ; tried++) {
      const isLast = tried === LOAD_TRIES
      // Whoever waits now came before what is read next: to them it is not old, though it is to whoever comes later.
      if (isLast) leave()
      load.isOvertaken = false
      const loaded = await this.#means.rows.load({ workspaceId, slug }, version)
      if (!loaded.ok) return loaded
      const answer = configOf(loaded.value, version)
      if (!load.isOvertaken) this.#keep({ id, version }, loaded.value, answer)
      if (!load.isOvertaken || isLast) return answer
    }
  }

  #keep({ id, version }: Pick<Wanted, 'id' | 'version'>, loaded: LoadedPreset | null, answer: Outcome<PresetConfig>): void {
    if (loaded === null) {
      this.#heads.delete(id)
      this.#misses.set(id, true)
      return
    }
    const { head, config } = loaded
    this.#misses.delete(id)
    this.#heads.set(id, head)
    if (answer.ok) this.#versions.set(nameOf(head, version), answer.value, { size: config?.length ?? 1 })
  }

  #forget(change: Change): void {
    switch (change.kind) {
      case 'everything':
        this.#heads.clear()
        this.#misses.clear()
        for (const loads of this.#loads.values()) overtake(loads)
        return
      case 'preset':
        this.#heads.delete(change.id)
        this.#misses.delete(change.id)
        overtake(this.#loads.get(change.id) ?? [])
        return
      case 'key':
      // Of a workspace that was deleted no key is left that could use its presets.
      case 'workspace':
      case 'organization':
      case 'catalogue':
      case 'vault':
      case 'private_endpoint':
        return
      default:
        change satisfies never
    }
  }
}

function overtake(loads: Iterable<Load>): void {
  for (const load of loads) load.isOvertaken = true
}

/** An archived preset cannot be used, whatever version is pinned. C20. */
function refusalOf({ isArchived, latest }: PresetHead, version: number | null): Outcome<never> | null {
  if (isArchived) return fail('preset_unknown')
  return version !== null && (version < 1 || version > latest) ? fail('preset_version_unknown') : null
}

function configOf(loaded: LoadedPreset | null, version: number | null): Outcome<PresetConfig> {
  if (loaded === null) return fail('preset_unknown')
  const { head, config } = loaded
  const refused = refusalOf(head, version)
  if (refused !== null) return refused
  if (config === null) throw new Error('a preset lacks a version up to its latest')
  return ok(JSON.parse(config) as PresetConfig)
}

function nameOf({ id, designated }: PresetHead, version: number | null): string {
  return `${id}@${version ?? designated}`
}
