import Type, { type Static } from 'typebox'

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const Untold = nullable(Type.String({ description: 'Null: the catalogue does not say.' }))

/** A provider of the catalogue in replies. B2.3. */
export const ProviderShape = Type.Object({
  slug: Type.String({ description: 'As in the preferences of a call and in the tags of endpoints.' }),
  name: Type.String(),
  privacy_policy_url: Untold,
  terms_of_service_url: Untold,
  status_page_url: Untold,
  headquarters: nullable(Type.String({ description: 'ISO 3166-1 code; null: the catalogue does not say.' })),
  datacenters: nullable(
    Type.Array(Type.String(), { description: 'ISO 3166-1 codes; null: the catalogue does not say.' }),
  ),
})
export type ProviderShape = Static<typeof ProviderShape>

/** Answer of GET /providers. B2.3. */
export const ProviderListAnswer = Type.Object({ data: Type.Array(ProviderShape) })
