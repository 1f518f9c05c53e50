import { cutPage } from '../../../schemas/lists/cut-page.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ScimPage, ScimQuery, ScimUser } from '../../ports/scim/scim.ts'
import type { Success } from '../define.ts'
import { shown, type Selection } from './projection.ts'
import { etagOf, listHead, locationOf } from './scim-calls.ts'
import { userResource } from './user-resource.ts'

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
