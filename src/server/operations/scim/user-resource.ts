import { ENTERPRISE_SCHEMA, USER_SCHEMA, type Attributes } from '../../../schemas/scim/scim-attributes.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ScimUser } from '../../ports/scim/scim.ts'
import { locationOf, metaOf } from './scim-calls.ts'

/** A user in SCIM's form. RFC 7643 §4.1. */
export function userResource(user: ScimUser, { publicOrigin }: Pick<Ports, 'publicOrigin'>): Attributes {
  const { id, userName, externalId, displayName, isActive, attributes, groups } = user
  const extensions = Object.keys(attributes).filter(
    (name) => name === ENTERPRISE_SCHEMA || /^urn:/i.test(name),
  )
  return {
    schemas: [USER_SCHEMA, ...extensions],
    id,
    ...(externalId !== null && { externalId }),
    userName,
    ...(displayName !== null && { displayName }),
    ...attributes,
    active: isActive,
    groups: groups.map((group) => ({
      value: group.id,
      display: group.displayName,
      $ref: locationOf(publicOrigin, 'Groups', group.id),
      type: 'direct',
    })),
    meta: metaOf(publicOrigin, 'Users', user),
  }
}
