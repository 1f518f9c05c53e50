import { fail, ok } from '../../../src/schemas/failures.ts'
import type {
  PresetActor,
  PresetConfigs,
  PresetContent,
  PresetRef,
  PresetRows,
  Presets,
  PresetInput,
} from '../../../src/server/ports/presets/presets.ts'
import type { Invalidation } from '../../../src/server/ports/keys/keys.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { createPresetConfigs } from '../../../src/server/store/presets/preset-configs.ts'
import { openPresets } from '../../../src/server/store/presets/presets.ts'
import { must } from '../must.ts'

/** A store of presets, and whose it is. */
export interface PresetStand {
  readonly presets: Presets
  readonly by: PresetActor
  /** What was published, oldest first. */
  readonly reported: Invalidation[]
  ref(slug: string): PresetRef
}

export async function presetStand(store: Store): Promise<PresetStand> {
  const { organization, workspace } = must(await createOrganization(store, { name: 'presets' }))
  const reported: Invalidation[] = []
  const publish = (change: Invalidation): Promise<void> => {
    reported.push(change)
    return Promise.resolve()
  }
  return {
    presets: openPresets(store, publish),
    by: {
      actor: { kind: 'key', id: 'a'.repeat(64) },
      requestId: 'r',
      operation: 'presets.test',
      organizationId: organization.id,
    },
    reported,
    ref: (slug) => ({ workspaceId: workspace.id, slug }),
  }
}

/** A body with this model. */
export function presetInput(model: string, more: Partial<PresetInput> = {}): PresetInput {
  return { config: { model }, systemPrompt: null, source: 'responses', ignored: [], ...more }
}

/** Presets of one workspace in memory: each version's configuration; the newest is designated. */
export type MemoryPresets = Readonly<Record<string, readonly object[]>>

/** A version with more than a configuration, for `MemoryPresets`. */
export class MemoryVersion {
  readonly content: PresetContent

  constructor(config: PresetContent['config'], more: Partial<PresetContent> = {}) {
    this.content = { config, systemPrompt: null, source: 'chat', ...more }
  }
}

/**
 * What calls use of presets, by the front's own cache, over rows in memory. @param workspaceId whose they are
 */
export function memoryConfigs(presets: MemoryPresets, workspaceId: string): PresetConfigs {
  const load: PresetRows['load'] = async ({ workspaceId: asked, slug }, version) => {
    await Promise.resolve()
    const versions = asked === workspaceId ? presets[slug] : undefined
    if (versions === undefined) return ok(null)
    const config = versions[(version ?? versions.length) - 1]
    const head = {
      id: slug,
      isArchived: slug.startsWith('archived'),
      designated: versions.length,
      latest: versions.length,
    }
    const content =
      config instanceof MemoryVersion ? config.content : { config, systemPrompt: null, source: 'chat' }
    return ok({ head, content: config === undefined ? null : JSON.stringify(content) })
  }
  const feed = { epoch: 1, lastGoodPollAtMs: Date.now(), subscribe: () => () => undefined }
  return createPresetConfigs({
    rows: { load, unknown: async () => fail('preset_unknown') },
    feed,
    graceMs: 600_000,
    now: Date.now,
  })
}
