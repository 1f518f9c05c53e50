import type { Config } from '../config.ts'
import type { EpochFeed, Hints } from '../ports/keys/keys.ts'
import type { Ports } from '../ports/ports.ts'
import type { Store } from '../store/base/open.ts'
import { createPresetConfigs } from '../store/presets/preset-configs.ts'
import { openPresetRows, openPresets } from '../store/presets/presets.ts'

export interface PresetDeps {
  readonly store: Store
  readonly hints: Pick<Hints, 'publish'>
  readonly feed: EpochFeed
}

/** Presets, and the cache of the presets that calls use. */
export function openPresetPorts(
  { keyGraceMs: graceMs }: Pick<Config, 'keyGraceMs'>,
  { store, hints, feed }: PresetDeps,
): Pick<Ports, 'presets' | 'presetConfigs'> {
  return {
    presets: openPresets(store, hints.publish),
    presetConfigs: createPresetConfigs({ rows: openPresetRows(store), feed, graceMs, now: Date.now }),
  }
}
