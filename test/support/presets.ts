import type { PresetActor, PresetRef, Presets, PresetWish } from '../../src/server/ports/presets.ts'
import type { Invalidation } from '../../src/server/ports/keys.ts'
import { createOrganization } from '../../src/server/store/organizations.ts'
import type { Store } from '../../src/server/store/open.ts'
import { openPresets } from '../../src/server/store/presets.ts'
import { must } from './must.ts'

/** A store of presets, and whose it is. */
export interface PresetStand {
  readonly presets: Presets
  readonly by: PresetActor
  /** What was published, oldest first. */
  readonly told: Invalidation[]
  ref(slug: string): PresetRef
}

export async function presetStand(store: Store): Promise<PresetStand> {
  const { organization, workspace } = must(await createOrganization(store, { name: 'presets' }))
  const told: Invalidation[] = []
  const publish = (change: Invalidation): Promise<void> => {
    told.push(change)
    return Promise.resolve()
  }
  return {
    presets: openPresets(store, publish),
    by: { actor: { kind: 'key', id: 'a'.repeat(64) }, requestId: 'r', operation: 'presets.test', organizationId: organization.id },
    told,
    ref: (slug) => ({ workspaceId: workspace.id, slug }),
  }
}

/** A body with this model. */
export function presetWish(model: string, more: Partial<PresetWish> = {}): PresetWish {
  return { config: { model }, systemPrompt: null, source: 'responses', ignored: [], ...more }
}
