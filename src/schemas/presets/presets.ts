import Type, { type Static, type TSchema } from 'typebox'
import { HasMore } from '../lists/pages.ts'
import { PRESET_SLUG_CHARS_MAX, PRESETS_PAGE_DEFAULT, PRESETS_PAGE_MAX } from './preset-limits.ts'

/** Rows that a request for a page may skip. Decision. */
export const PRESETS_OFFSET_MAX = 1_000_000_000

/** No dot segments: clients remove them from a path. */
const SLUG_SHAPE = new RegExp(`^(?!\\.{1,2}$)[A-Za-z0-9._~-]{1,${PRESET_SLUG_CHARS_MAX}}$`)

/** Whether a text may be the slug of a preset: characters that need no encoding in a URL. §4.2. */
export function isPresetSlug(text: string): boolean {
  return SLUG_SHAPE.test(text)
}

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])

export const PresetParams = Type.Object({
  slug: Type.String({
    minLength: 1,
    maxLength: PRESET_SLUG_CHARS_MAX,
    pattern: SLUG_SHAPE.source,
    title: `a string of 1 to ${PRESET_SLUG_CHARS_MAX} letters, digits, dots, hyphens, underscores and tildes, neither \`.\` nor \`..\``,
  }),
})

const WORKSPACE_ID = {
  workspace_id: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        "UUID or slug of the workspace; defaults to the key's workspace or, for a management key, to the default workspace.",
    }),
  ),
}

export const PresetQuery = Type.Object(WORKSPACE_ID)

export const PresetPageQuery = Type.Object({
  ...WORKSPACE_ID,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: PRESETS_PAGE_MAX, default: PRESETS_PAGE_DEFAULT }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: PRESETS_OFFSET_MAX, default: 0 })),
})

const Instant = Type.String({ format: 'date-time' })
const Creator = Type.String({ description: 'Hash of the API key that created the object.' })

/** A version of a preset. §2.4. */
export const PresetVersionShape = Type.Object({
  id: Type.String(),
  preset_id: Type.String(),
  version: Type.Integer({ minimum: 1, description: 'Number of the version: 1, 2, 3, … for each preset.' }),
  config: Type.Object(
    {},
    { additionalProperties: true, description: 'Request fields, under their API names.' },
  ),
  system_prompt: nullable(Type.String()),
  creator_id: Creator,
  created_at: Instant,
  updated_at: Type.String({
    format: 'date-time',
    description: 'When the version was created; versions never change.',
  }),
})
export type PresetVersionShape = Static<typeof PresetVersionShape>

/** A preset. Every key is present, as existing clients require. */
export const PresetShape = Type.Object({
  id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  description: nullable(Type.String()),
  status: Type.Enum(['active', 'archived']),
  status_updated_at: nullable(Instant),
  creator_user_id: nullable(Creator),
  workspace_id: nullable(Type.String()),
  designated_version_id: nullable(
    Type.String({ description: 'Id of the version used by calls that do not specify one.' }),
  ),
  created_at: Instant,
  updated_at: Instant,
})
export type PresetShape = Static<typeof PresetShape>

export const WholePreset = Type.Object({
  ...PresetShape.properties,
  designated_version: nullable(PresetVersionShape),
})
export type WholePreset = Static<typeof WholePreset>

export const PresetAnswer = Type.Object({ data: WholePreset })
export const PresetListAnswer = Type.Object({
  data: Type.Array(PresetShape),
  total_count: Type.Integer(),
  has_more: HasMore,
})
export const PresetVersionAnswer = Type.Object({ data: nullable(PresetVersionShape) })
export const PresetVersionListAnswer = Type.Object({
  data: Type.Array(nullable(PresetVersionShape)),
  total_count: Type.Integer(),
  has_more: HasMore,
})
