import Type, { type Static } from 'typebox'

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const url = (of: string) => nullable(Type.String({ description: `URL of the ${of}; null when unknown.` }))

/** A provider of the catalogue in replies. */
export const ProviderShape = Type.Object({
  slug: Type.String({
    description: 'Slug of the provider, as used in `provider` preferences and endpoint tags.',
  }),
  name: Type.String(),
  privacy_policy_url: url('privacy policy'),
  terms_of_service_url: url('terms of service'),
  status_page_url: url('status page'),
  headquarters: nullable(
    Type.String({ description: 'Country of the headquarters as an ISO 3166-1 code; null when unknown.' }),
  ),
  datacenters: nullable(
    Type.Array(Type.String(), {
      description: 'Countries of the data centres as ISO 3166-1 codes; null when unknown.',
    }),
  ),
})
export type ProviderShape = Static<typeof ProviderShape>

export const ProviderListAnswer = Type.Object({ data: Type.Array(ProviderShape) })
