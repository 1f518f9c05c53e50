import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { SCIM_CONTENT_TYPE } from '../../../schemas/scim/scim-errors.ts'
import { GROUP_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ScimGroup, ScimPage, ScimQuery } from '../../ports/scim/scim.ts'
import type { Success } from '../define.ts'
import { isShown, shown, type Selection } from './projection.ts'
import { etagOf, listHead, locationOf, metaOf } from './scim-calls.ts'

type BytesAnswer = Extract<Success, { readonly kind: 'bytes' }>
type Origin = Pick<Ports, 'publicOrigin'>

export function showsMembers(selection: Selection): boolean {
  return isShown(selection, 'members')
}

/** A group in SCIM's form; its members are JSON already and are not parsed. RFC 7643 §4.2. */
export function groupAnswer(group: ScimGroup, selection: Selection, { publicOrigin }: Origin): BytesAnswer {
  return {
    kind: 'bytes',
    contentType: SCIM_CONTENT_TYPE,
    parts: [Buffer.from(groupJson(group, selection, publicOrigin))],
    headers: { etag: etagOf(group), location: locationOf(publicOrigin, 'Groups', group.id) },
  }
}

export function groupList(
  query: ScimQuery,
  page: ScimPage<ScimGroup>,
  { selection, publicOrigin }: Origin & { readonly selection: Selection },
): BytesAnswer {
  const head = JSON.stringify(listHead(query, page))
  const groups = page.resources.map((group) => groupJson(group, selection, publicOrigin))
  return {
    kind: 'bytes',
    contentType: SCIM_CONTENT_TYPE,
    parts: [Buffer.from(`${head.slice(0, -1)},"Resources":[${groups.join(',')}]}`)],
  }
}

/** A reply whose bytes count against the organization's room until they are read. Failure: busy. */
export function inRoom(
  answer: BytesAnswer,
  { key, ports }: { readonly key: Pick<KeyRecord, 'organizationId'>; readonly ports: Room },
): Outcome<Success> {
  const bytes = answer.parts.reduce((sum, part) => sum + part.length, 0)
  const done = ports.scimAnswers.hold(key.organizationId, bytes)
  return done === null ? fail('busy', { retryAfterS: 1 }) : ok({ ...answer, done })
}

type Room = Pick<Ports, 'scimAnswers'>

function groupJson(group: ScimGroup, selection: Selection, origin: string): string {
  const { id, displayName, externalId, members } = group
  const whole = {
    schemas: [GROUP_SCHEMA],
    id,
    ...(externalId !== null && { externalId }),
    displayName,
    meta: metaOf(origin, 'Groups', group),
  }
  const json = JSON.stringify(shown(whole, selection))
  return showsMembers(selection) ? `${json.slice(0, -1)},"members":${members}}` : json
}
