import Type, { type Static, type TSchema } from 'typebox'
import { PRESET_VERSION_DIGITS_MAX } from './preset-limits.ts'
import { PresetParams, PresetQuery } from './presets.ts'

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])

/** A text that is not the number of a version matches no version. B2.2. */
export const PresetVersionParams = Type.Object({
  ...PresetParams.properties,
  version: Type.String({ minLength: 1, description: 'Number of a version.' }),
})

const NUMBER = new RegExp(`^[1-9][0-9]{0,${PRESET_VERSION_DIGITS_MAX - 1}}$`)

/** Null for a text that is not the number of a version. */
export function versionNumber(text: string): number | null {
  return NUMBER.test(text) ? Number(text) : null
}

const VersionNumber = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const DesignateBody = Type.Object({
  version: Type.Integer({
    minimum: 1,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'The one that callers get from now on who pin none.',
  }),
})
export type DesignateBody = Static<typeof DesignateBody>

export const PresetDiffQuery = Type.Object({
  ...PresetQuery.properties,
  from: Type.Optional(Type.Integer({ ...VersionNumber, description: 'The one before `to` unless given.' })),
  to: Type.Optional(Type.Integer({ ...VersionNumber, description: 'The designated one unless given.' })),
})

const Fields = Type.Object({}, { additionalProperties: true, description: 'By name.' })
const Text = nullable(Type.String())

export const PresetDiff = Type.Object({
  from: nullable(Type.Integer({ description: 'Null: the first version is compared with nothing.' })),
  to: Type.Integer(),
  added: Fields,
  removed: Fields,
  changed: Type.Object(
    {},
    {
      additionalProperties: Type.Object({ from: Type.Unknown(), to: Type.Unknown() }),
      description: 'By name, as each version has it.',
    },
  ),
  system_prompt: nullable(Type.Object({ from: Text, to: Text }, { description: 'Null: it is the same.' })),
  ignored: Type.Array(Type.String(), {
    description: 'Fields of the request behind `to` that were not stored.',
  }),
})
export type PresetDiff = Omit<Static<typeof PresetDiff>, 'added' | 'removed' | 'changed'> & {
  readonly added: Readonly<Record<string, unknown>>
  readonly removed: Readonly<Record<string, unknown>>
  readonly changed: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
}

export const PresetDiffAnswer = Type.Object({ data: PresetDiff })
