import Type, { type Static, type TSchema } from 'typebox'
import { PRESET_VERSION_DIGITS_MAX } from './preset-limits.ts'
import { PresetParams, PresetQuery } from './presets.ts'

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])

/** A text that is not a version number matches no version. */
export const PresetVersionParams = Type.Object({
  ...PresetParams.properties,
  version: Type.String({ minLength: 1, description: 'Number of the version.' }),
})

const NUMBER = new RegExp(`^[1-9][0-9]{0,${PRESET_VERSION_DIGITS_MAX - 1}}$`)

/** Null for a text that is not a version number. */
export function versionNumber(text: string): number | null {
  return NUMBER.test(text) ? Number(text) : null
}

const VersionNumber = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const DesignateBody = Type.Object({
  version: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Number of the version used by calls that do not specify one.',
  }),
})
export type DesignateBody = Static<typeof DesignateBody>

export const PresetDiffQuery = Type.Object({
  ...PresetQuery.properties,
  from: Type.Optional(
    Type.Integer({
      ...VersionNumber,
      description: 'Number of the earlier version; defaults to the version before `to`.',
    }),
  ),
  to: Type.Optional(
    Type.Integer({
      ...VersionNumber,
      description: 'Number of the later version; defaults to the designated version.',
    }),
  ),
})

const Fields = Type.Object(
  {},
  { additionalProperties: true, description: 'Fields that only the later version has, by name.' },
)
const Text = nullable(Type.String())

export const PresetDiff = Type.Object({
  from: nullable(
    Type.Integer({ description: 'The version that `to` is compared with; null for the first version.' }),
  ),
  to: Type.Integer(),
  added: Fields,
  removed: Fields,
  changed: Type.Object(
    {},
    {
      additionalProperties: Type.Object({ from: Type.Unknown(), to: Type.Unknown() }),
      description: 'Fields that differ, by name, with both values.',
    },
  ),
  system_prompt: nullable(
    Type.Object(
      { from: Text, to: Text },
      { description: 'System prompts of both versions; null when they are equal.' },
    ),
  ),
  ignored: Type.Array(Type.String(), {
    description: 'Fields of the saved request that were not stored in version `to`.',
  }),
})
export type PresetDiff = Omit<Static<typeof PresetDiff>, 'added' | 'removed' | 'changed'> & {
  readonly added: Readonly<Record<string, unknown>>
  readonly removed: Readonly<Record<string, unknown>>
  readonly changed: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
}

export const PresetDiffAnswer = Type.Object({ data: PresetDiff })
