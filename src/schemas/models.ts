import Type, { type Static } from 'typebox'

/** A model in replies. §2.10, B1.11. */
export const Model = Type.Object({
  id: Type.String(),
  canonical_slug: Type.String(),
  name: Type.String(),
}, { additionalProperties: true })
export type Model = Static<typeof Model>
