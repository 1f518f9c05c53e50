import Type, { type Static } from 'typebox'
import type { FailureName } from '../failures.ts'

/** The type of every body of the SCIM service. RFC 7644 §3.1. */
export const SCIM_CONTENT_TYPE = 'application/scim+json'

export const SCIM_ERROR_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:Error'

/** Values of `scimType`. RFC 7644 table 9. */
export type ScimErrorType =
  | 'invalidFilter'
  | 'tooMany'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

/** The body of every error below `/scim/v2`. RFC 7644 §3.12, C2. */
export const ScimError = Type.Object({
  schemas: Type.Array(Type.Literal(SCIM_ERROR_SCHEMA), { minItems: 1, maxItems: 1 }),
  status: Type.String({ description: 'The HTTP status, as text.' }),
  scimType: Type.Optional(
    Type.String({ description: 'SCIM error type from RFC 7644, table 9, if one applies.' }),
  ),
  detail: Type.String(),
})
export type ScimError = Static<typeof ScimError>

const ERROR_TYPES: Readonly<Partial<Record<FailureName, ScimErrorType>>> = {
  query_invalid: 'invalidValue',
  body_malformed: 'invalidSyntax',
  body_invalid: 'invalidValue',
  scim_user_taken: 'uniqueness',
  scim_group_taken: 'uniqueness',
  scim_member_unknown: 'invalidValue',
  scim_filter_invalid: 'invalidFilter',
  scim_path_invalid: 'invalidPath',
  scim_target_missing: 'noTarget',
  scim_value_invalid: 'invalidValue',
  scim_immutable: 'mutability',
}

/** @param detail text of the failure */
export function scimErrorOf(name: FailureName, status: number, detail: string): ScimError {
  const scimType = ERROR_TYPES[name]
  return {
    schemas: [SCIM_ERROR_SCHEMA],
    status: String(status),
    ...(scimType !== undefined && { scimType }),
    detail,
  }
}
