import { cutPage } from '../../../schemas/lists/cut-page.ts'
import { ENTERPRISE_SCHEMA, USER_SCHEMA, type Attributes } from '../../../schemas/scim/scim-attributes.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ScimPage, ScimQuery, ScimUser } from '../../ports/scim/scim.ts'
import type { Success } from '../define.ts'
import { shown, type Selection } from './projection.ts'
import { etagOf, listHead, locationOf, metaOf } from './scim-calls.ts'

type Origin = Pick<Ports, 'publicOrigin'>

export function userAnswer(user: ScimUser, selection: Selection, { publicOrigin }: Origin): Success {
  return {
    kind: 'json',
    value: shown(userResource(user, { publicOrigin }), selection),
    headers: { etag: etagOf(user), location: locationOf(publicOrigin, 'Users', user.id) },
  }
}

export function userList(
  query: ScimQuery,
  page: ScimPage<ScimUser>,
  { selection, publicOrigin }: Origin & { readonly selection: Selection },
): Success {
  const { rows, data } = cutPage(page.resources, (user) =>
    shown(userResource(user, { publicOrigin }), selection),
  )
  return { kind: 'json', value: { ...listHead(query, { ...page, resources: rows }), Resources: data } }
}

/** A user in SCIM's form. RFC 7643 §4.1. */
function userResource(user: ScimUser, { publicOrigin }: Origin): Attributes {
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
