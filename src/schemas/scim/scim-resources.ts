import Type, { type Static, type TSchema } from 'typebox'
import {
  ENTERPRISE_SCHEMA,
  GROUP_SCHEMA,
  LIST_SCHEMA,
  PATCH_SCHEMA,
  SEARCH_SCHEMA,
  USER_SCHEMA,
} from './scim-attributes.ts'
import {
  SCIM_NAME_CHARS_MAX,
  SCIM_RESULTS_DEFAULT,
  SCIM_RESULTS_MAX,
  SCIM_PATCH_OPERATIONS_MAX,
} from './scim-limits.ts'

/*
 * Operations check the bodies themselves: attribute names are case-insensitive (RFC 7643 §2.1), and identity providers send booleans as texts.
 * The shapes are only documentation.
 */

const described = (description: string) => Type.Optional(Type.Unknown({ description }))
const optional = <T extends TSchema>(shape: T) => Type.Optional(shape)

/** Other members are kept. RFC 7643 §4.1. */
export const ScimUserBody = Type.Object({
  schemas: described(`\`${USER_SCHEMA}\` and the schemas of extensions.`),
  userName: described(
    `String of 1 to ${SCIM_NAME_CHARS_MAX} characters; required, and unique in the organization, regardless of case.`,
  ),
  externalId: described('Id of the resource at the identity provider.'),
  displayName: described('String.'),
  name: described('Name of the user: an object with `formatted`, `familyName`, `givenName`, …'),
  emails: described('Email addresses: an array of `{value, type, primary}`.'),
  active: described(
    'Whether the user is active: a boolean, or the text `true` or `false` in any case. An inactive user has no memberships through groups.',
  ),
  [ENTERPRISE_SCHEMA]: described(
    'Position in the company: an object with `employeeNumber`, `costCenter`, `organization`, `division`, `department`, `manager`.',
  ),
})

/** A group. RFC 7643 §4.2. */
export const ScimGroupBody = Type.Object({
  schemas: described(`\`${GROUP_SCHEMA}\`.`),
  id: described('Ignored.'),
  displayName: described(
    `String of 1 to ${SCIM_NAME_CHARS_MAX} characters; required, and unique in the organization, regardless of case.`,
  ),
  externalId: described('Id of the resource at the identity provider.'),
  members: described('Array of `{value}`, in which each `value` is the id of a user.'),
})

/** A PATCH of a resource. RFC 7644 §3.5.2. */
export const ScimPatchBody = Type.Object({
  schemas: described(`\`${PATCH_SCHEMA}\`.`),
  Operations: described(
    `1 to ${SCIM_PATCH_OPERATIONS_MAX} objects \`{op, path, value}\`; \`op\` is \`add\`, \`replace\` or \`remove\`.`,
  ),
})

const SELECTION = {
  filter: optional(
    Type.String({ description: 'SCIM filter, such as `userName eq "ada"` (RFC 7644, section 3.4.2.2).' }),
  ),
  startIndex: optional(
    Type.Integer({ description: 'Position of the first resource to return, starting at 1.' }),
  ),
  count: optional(
    Type.Integer({
      description: `Maximum number of resources, ${SCIM_RESULTS_DEFAULT} by default, at most ${SCIM_RESULTS_MAX}; 0 returns the total only.`,
    }),
  ),
  sortBy: optional(Type.String({ description: 'Attribute to sort by.' })),
  sortOrder: optional(Type.String({ description: 'Sort direction: `ascending` or `descending`.' })),
}

const SHOWN = {
  attributes: optional(
    Type.String({ description: 'Comma-separated attributes to return in addition to `id`.' }),
  ),
  excludedAttributes: optional(Type.String({ description: 'Comma-separated attributes to leave out.' })),
}

export const ScimShownQuery = Type.Object(SHOWN)
export type ScimShownQuery = Static<typeof ScimShownQuery>
export const ScimListQuery = Type.Object({ ...SELECTION, ...SHOWN })
export type ScimListQuery = Static<typeof ScimListQuery>

const names = (description: string) => optional(Type.Array(Type.String(), { description }))

/** A search. RFC 7644 §3.4.3. */
export const ScimSearchBody = Type.Object({
  schemas: described(`\`${SEARCH_SCHEMA}\`.`),
  ...SELECTION,
  attributes: names('Attributes to return in addition to `id`.'),
  excludedAttributes: names('Attributes to leave out.'),
})
export type ScimSearchBody = Static<typeof ScimSearchBody>

export const ScimParams = Type.Object({ id: Type.String({ minLength: 1 }) })

const META = Type.Object({
  resourceType: Type.String(),
  created: Type.String(),
  lastModified: Type.String(),
  location: Type.String(),
  version: Type.String(),
})
const COMMON = {
  schemas: Type.Array(Type.String()),
  id: Type.String(),
  externalId: optional(Type.String()),
  meta: optional(META),
}

/** A user without the members that `attributes` and `excludedAttributes` remove. */
export const ScimUserAnswer = Type.Object({
  ...COMMON,
  userName: optional(Type.String()),
  displayName: optional(Type.String()),
  active: optional(Type.Boolean()),
  groups: optional(
    Type.Array(
      Type.Object({
        value: Type.String(),
        display: Type.String(),
        $ref: Type.String(),
        type: Type.Literal('direct'),
      }),
    ),
  ),
})

export const ScimGroupAnswer = Type.Object({
  ...COMMON,
  displayName: optional(Type.String()),
  members: optional(
    Type.Array(
      Type.Object({
        value: Type.String(),
        display: Type.String(),
        $ref: Type.String({ description: 'URL of the user, relative to the base of the service.' }),
        type: Type.Literal('User'),
      }),
    ),
  ),
})

const listOf = (resource: TSchema) =>
  Type.Object({
    schemas: Type.Array(Type.Literal(LIST_SCHEMA)),
    totalResults: Type.Integer(),
    startIndex: Type.Integer(),
    itemsPerPage: Type.Integer(),
    Resources: Type.Array(resource),
  })
export const ScimUserList = listOf(ScimUserAnswer)
export const ScimGroupList = listOf(ScimGroupAnswer)
