import Type, { type Static } from 'typebox'
import { LIST_SCHEMA } from './scim-attributes.ts'

/** Names of the schemas of the discovery resources. RFC 7643 §5–§7. */
export const CONFIG_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'
export const RESOURCE_TYPE_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:ResourceType'
export const SCHEMA_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Schema'

/** The id of the resource: the User of `/ResourceTypes/User`, the URN of `/Schemas/urn:…`. */
export const DiscoveryParams = Type.Object({ id: Type.String() })
/** A filter here is refused instead of being ignored. RFC 7644 §4. */
export const DiscoveryQuery = Type.Object({
  filter: Type.Optional(
    Type.String({ description: 'Filters are not supported here: a request with `filter` returns 403.' }),
  ),
})
export type DiscoveryQuery = Static<typeof DiscoveryQuery>

const Meta = Type.Object({ resourceType: Type.String(), location: Type.String() })
const Supported = Type.Object({ supported: Type.Boolean() })

export const ScimConfigBody = Type.Object({
  schemas: Type.Array(Type.Literal(CONFIG_SCHEMA)),
  documentationUri: Type.String(),
  patch: Supported,
  bulk: Type.Object({
    supported: Type.Boolean(),
    maxOperations: Type.Integer(),
    maxPayloadSize: Type.Integer(),
  }),
  filter: Type.Object({ supported: Type.Boolean(), maxResults: Type.Integer() }),
  changePassword: Supported,
  sort: Supported,
  etag: Supported,
  authenticationSchemes: Type.Array(
    Type.Object({
      type: Type.String(),
      name: Type.String(),
      description: Type.String(),
      specUri: Type.String(),
      primary: Type.Boolean(),
    }),
  ),
  meta: Meta,
})
export type ScimConfigBody = Static<typeof ScimConfigBody>

export const ResourceTypeBody = Type.Object({
  schemas: Type.Array(Type.Literal(RESOURCE_TYPE_SCHEMA)),
  id: Type.String(),
  name: Type.String(),
  endpoint: Type.String(),
  description: Type.String(),
  schema: Type.String(),
  schemaExtensions: Type.Array(Type.Object({ schema: Type.String(), required: Type.Boolean() })),
  meta: Meta,
})

export const SchemaBody = Type.Object({
  schemas: Type.Array(Type.Literal(SCHEMA_SCHEMA)),
  id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  attributes: Type.Array(
    Type.Object(
      {
        name: Type.String(),
        type: Type.String(),
        multiValued: Type.Boolean(),
        description: Type.String(),
        required: Type.Boolean(),
        caseExact: Type.Boolean(),
        mutability: Type.String(),
        returned: Type.String(),
        uniqueness: Type.String(),
      },
      { additionalProperties: true },
    ),
  ),
  meta: Meta,
})

function listOf<T extends Type.TSchema>(resource: T) {
  return Type.Object({
    schemas: Type.Array(Type.Literal(LIST_SCHEMA)),
    totalResults: Type.Integer(),
    startIndex: Type.Literal(1),
    itemsPerPage: Type.Integer(),
    Resources: Type.Array(resource),
  })
}

export const ResourceTypesBody = listOf(ResourceTypeBody)
export const SchemasBody = listOf(SchemaBody)
