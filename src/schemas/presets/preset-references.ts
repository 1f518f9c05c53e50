import Type from 'typebox'
import { PRESET_SLUG_CHARS_MAX, PRESET_VERSION_DIGITS_MAX } from './preset-limits.ts'

/** The preset that a request names, and the version that it pins; null = the designated version. */
export interface PresetReference {
  readonly slug: string
  readonly version: number | null
}

/** A model and a preset as in the field `model`. */
export interface ModelReference {
  /** Null: the preset's model. */
  readonly model: string | null
  readonly preset: PresetReference
}

const MARK = '@preset/'
const SHAPE = new RegExp(
  `^(?!\\.{1,2}(?:@|$))([A-Za-z0-9._~-]{1,${PRESET_SLUG_CHARS_MAX}})(?:@([1-9][0-9]{0,${PRESET_VERSION_DIGITS_MAX - 1}}))?$`,
)

const named = (description: string) =>
  Type.String({ pattern: SHAPE.source, title: 'the slug of a preset, or <slug>@<version>', description })

const STANDS_IN =
  'Slug of a preset that supplies the fields missing from the request; `<slug>@<version>` selects a version.'

/** A preset in addition to `model`, or instead of it. */
export const PresetName = named(STANDS_IN)

/** The same for text models, whose calls accept presets saved in any of their dialects. */
export const TextPresetName = named(
  `${STANDS_IN} A preset saved in another format is translated; the header \`x-sluice-dropped\` names fields ` +
    'that cannot be translated.',
)

export const MODEL_OR_PRESET =
  'Required unless `preset` is given. `@preset/<slug>` uses the model of a preset, and `<model>@preset/<slug>` ' +
  'another model with its settings; append `@<version>` to pin a version.'

/** `<slug>` or `<slug>@<version>`; null for any other text. */
export function presetReference(text: string): PresetReference | null {
  const [, slug, version] = SHAPE.exec(text) ?? []
  return slug === undefined ? null : { slug, version: version === undefined ? null : Number(version) }
}

/** Whether a model's name refers to a preset; any other `@` belongs to the name. */
export function mentionsPreset(model: string): boolean {
  return model.includes(MARK)
}

/** `@preset/<reference>` or `<model>@preset/<reference>`; null for any other text. */
export function modelReference(text: string): ModelReference | null {
  const at = text.indexOf(MARK)
  const preset = at === -1 ? null : presetReference(text.slice(at + MARK.length))
  return preset === null ? null : { model: at === 0 ? null : text.slice(0, at), preset }
}
