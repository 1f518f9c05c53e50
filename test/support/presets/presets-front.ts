/** A front with every operation, and presets that are saved past it. */
import type { Test } from 'tap'
import type { PresetActor, PresetInput } from '../../../src/server/ports/presets/presets.ts'
import { openPresets } from '../../../src/server/store/presets/presets.ts'
import { must } from '../must.ts'
import {
  openInternsFront,
  type Answered,
  type FrontMore,
  type InternsFront,
} from '../workspaces/interns-front.ts'
import { presetInput } from './presets.ts'

export interface PresetsFront extends InternsFront {
  readonly presets: ReturnType<typeof openPresets>
  /** Who saves what a test saves. */
  readonly by: PresetActor
  /** Saves versions with these models; the path of their preset. */
  saved(
    slug: string,
    models: readonly string[],
    more?: { readonly workspaceId?: string; readonly input?: Partial<PresetInput> },
  ): Promise<string>
  get(path: string, key?: string): Promise<Answered>
  post(path: string, body?: unknown): Promise<Answered>
}

export async function openPresetsFront(t: Test, more: FrontMore = {}): Promise<PresetsFront> {
  const front = await openInternsFront(t, {}, more)
  const { call, store, organizationId, workspace } = front
  const presets = openPresets(store, () => Promise.resolve())
  const by: PresetActor = {
    actor: { kind: 'key', id: 'c'.repeat(64) },
    requestId: 'r',
    operation: 'test',
    organizationId,
  }
  return {
    ...front,
    presets,
    by,
    saved: async (slug, models, { workspaceId = workspace.id, input } = {}) => {
      for (const model of models)
        must(await presets.put({ workspaceId, slug }, presetInput(model, input), by))
      return `/presets/${slug}`
    },
    get: (path, key) => call('GET', path, key === undefined ? {} : { key }),
    post: (path, body) => call('POST', path, { body }),
  }
}
