import { fail, ok, type FailureName, type Outcome } from '../../schemas/failures.ts'
import {
  mentionsPreset,
  modelReference,
  presetReference,
  type PresetReference,
} from '../../schemas/presets/preset-references.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'
import type { Ports } from '../ports/ports.ts'
import type { PresetConfig, PresetContent } from '../ports/presets/presets.ts'
import { ownWorkspaceOf } from './define.ts'

/**
 * Failures of every operation whose body may name a preset, in addition to `body_invalid`, the failure of a
 * body that names neither a preset nor a model.
 */
export const PRESET_USE_FAILURES = [
  'preset_reference_invalid',
  'presets_differ',
  'preset_unknown',
  'preset_version_unknown',
  'preset_without_model',
  'busy',
  'store_unavailable',
] as const satisfies readonly FailureName[]

/** Null means that the member is missing. */
interface Naming {
  readonly model?: string | null
  readonly preset?: string | null
}

/** A body whose `model` is the name of a model. */
export type Complete<B> = B & { readonly model: string }

/** True for a body that names a model and no preset, as most do: such a body is used unchanged. */
export function isComplete<B extends Naming>(body: B): body is Complete<B> {
  const { model, preset } = body
  return (preset ?? null) === null && typeof model === 'string' && !mentionsPreset(model)
}

/**
 * Fills a body with the preset's values for its missing fields; returns no promise when the front has the
 * preset cached.
 * @param take picks the preset's fields that the operation supports, except the model. Failures: those of
 * `PRESET_USE_FAILURES`, body_invalid. C19, B2.2.
 */
export function applyPreset<B extends Naming>(
  { key, body }: { readonly key: KeyRecord; readonly body: B },
  { presetConfigs }: Pick<Ports, 'presetConfigs'>,
  take: (config: PresetConfig) => Partial<B>,
): Outcome<Complete<B>> | Promise<Outcome<Complete<B>>> {
  const used = usedPreset({ key, body }, { presetConfigs })
  const merge = (found: Outcome<UsedPreset>): Outcome<Complete<B>> => {
    if (!found.ok) return found
    const { model, content } = found.value
    return ok({ ...take(content.config), ...body, model })
  }
  return used instanceof Promise ? used.then(merge) : merge(used)
}

export interface UsedPreset {
  readonly model: string
  readonly content: PresetContent
}

/** As `applyPreset`, for operations that merge by themselves. C19. */
export function usedPreset(
  { key, body }: { readonly key: KeyRecord; readonly body: Naming },
  { presetConfigs }: Pick<Ports, 'presetConfigs'>,
): Outcome<UsedPreset> | Promise<Outcome<UsedPreset>> {
  const used = usedBy(body)
  if (!used.ok) return used
  const { model, preset } = used.value
  const withModel = (found: Outcome<PresetContent>): Outcome<UsedPreset> => {
    if (!found.ok) return found
    const wanted = model ?? found.value.config['model']
    if (typeof wanted !== 'string' || wanted === '') return fail('preset_without_model')
    return ok({ model: wanted, content: found.value })
  }
  const found = presetConfigs.find(ownWorkspaceOf(key), preset)
  return found instanceof Promise ? found.then(withModel) : withModel(found)
}

interface Used {
  /** Model of the request; null = the preset's. */
  readonly model: string | null
  readonly preset: PresetReference
}

function usedBy({ model, preset }: Naming): Outcome<Used> {
  const isMentioned = typeof model === 'string' && mentionsPreset(model)
  const mentioned = isMentioned ? modelReference(model) : null
  if (isMentioned && mentioned === null) return fail('preset_reference_invalid')
  const named = typeof preset === 'string' ? presetReference(preset) : null
  if (typeof preset === 'string' && named === null) return fail('preset_reference_invalid')
  if (mentioned === null) return named === null ? MODEL_MISSING : ok({ model: model ?? null, preset: named })
  return named === null || isSame(named, mentioned.preset) ? ok(mentioned) : fail('presets_differ')
}

/** True for the same preset and version. A request with two versions is refused: Sluice could not decide which one counts. */
function isSame(one: PresetReference, other: PresetReference): boolean {
  return one.slug === other.slug && one.version === other.version
}

const MODEL_MISSING = fail('body_invalid', {
  metadata: { issues: [{ path: '/model', message: 'is required', expected: 'string, not empty' }] },
})
