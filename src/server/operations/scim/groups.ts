import { ok } from '../../../schemas/failures.ts'
import { GROUP_SCHEMA, PATCH_SCHEMA } from '../../../schemas/scim/scim-attributes.ts'
import { SCIM_CONTENT_TYPE } from '../../../schemas/scim/scim-errors.ts'
import { SCIM_GROUP_DEADLINE_MS } from '../../../schemas/scim/scim-limits.ts'
import { ScimGroupAnswer, ScimGroupList } from '../../../schemas/scim/scim-resources.ts'
import type { ScimGroup, ScimGroupInput, ScimGroupStep } from '../../ports/scim/scim.ts'
import { groupInputOf, groupStepsOf } from './group-patch.ts'
import { isShown, shown, type Selection } from './projection.ts'
import type { ScimResource, Shown } from './resource-operations.ts'
import { etagOf, EXAMPLE_ID, listHead, locationOf, metaOf } from './scim-calls.ts'

/** Groups of an organization, whose members are stored as JSON and are not parsed. RFC 7643 §4.2. */
export const GROUPS: ScimResource<ScimGroup, ScimGroupInput, readonly ScimGroupStep[]> = {
  path: 'Groups',
  texts: {
    list: {
      id: 'scim.list_scim_groups',
      summary: 'List groups with their members',
      description:
        'Add `excludedAttributes=members` for much smaller responses. Without `sortBy` the oldest come first.',
    },
    search: { id: 'scim.search_groups', summary: 'Search groups' },
    get: { id: 'scim.get_group', summary: 'Get a group' },
    create: {
      id: 'scim.create_group',
      summary: 'Create a group',
      description: 'The group grants nothing until a mapping names a workspace for its members.',
    },
    replace: {
      id: 'scim.replace_group',
      summary: 'Replace a group',
      description: 'Members that are not listed are removed from the group.',
    },
    patch: {
      id: 'scim.patch_group',
      summary: 'Update a group',
      description:
        'Applies all of the operations or none. `add` keeps existing members; `remove` accepts a filter, or members as its value.',
    },
    delete: {
      id: 'scim.delete_group',
      summary: 'Delete a group',
      description: 'Deletes the group with its mappings and the memberships granted by these mappings.',
    },
  },
  examples: {
    list: { filter: 'displayName eq "Engineering"', excludedAttributes: 'members' },
    search: { filter: 'displayName eq "Engineering"', excludedAttributes: ['members'] },
    create: { displayName: 'Engineering', members: [] },
    replace: { displayName: 'Engineering', members: [{ value: EXAMPLE_ID }] },
    patch: {
      schemas: [PATCH_SCHEMA],
      Operations: [{ op: 'add', path: 'members', value: [{ value: EXAMPLE_ID }] }],
    },
  },
  deadlineMs: SCIM_GROUP_DEADLINE_MS,
  bodies: { replace: 'scim_group', patch: 'scim_group_patch' },
  shapes: { one: ScimGroupAnswer, list: ScimGroupList },
  failures: {
    unknown: 'scim_group_unknown',
    list: ['scim_too_many', 'busy'],
    get: ['busy'],
    create: ['scim_member_unknown', 'scim_group_taken', 'scim_group_unknown'],
    update: ['scim_member_unknown', 'scim_group_taken'],
  },
  isPatchShown: false,
  store: (ports) => ports.scimGroups,
  inputOf: groupInputOf,
  replacing(body) {
    const input = groupInputOf(body)
    if (!input.ok) return input
    const { userIds, ...set } = input.value
    return ok([
      { kind: 'set', ...set },
      { kind: 'replace', userIds },
    ])
  },
  patching: groupStepsOf,
  hasMembers: (selection, input) => showsMembers(selection) && input?.userIds.length !== 0,
  answer: (group, to) => ({
    kind: 'bytes',
    contentType: SCIM_CONTENT_TYPE,
    parts: [Buffer.from(jsonOf(group, to))],
    headers: { etag: etagOf(group), location: locationOf(to.publicOrigin, 'Groups', group.id) },
  }),
  list(query, page, to) {
    const head = JSON.stringify(listHead(query, page))
    const groups = page.resources.map((group) => jsonOf(group, to))
    return {
      kind: 'bytes',
      contentType: SCIM_CONTENT_TYPE,
      parts: [Buffer.from(`${head.slice(0, -1)},"Resources":[${groups.join(',')}]}`)],
    }
  },
}

function showsMembers(selection: Selection): boolean {
  return isShown(selection, 'members')
}

function jsonOf(group: ScimGroup, { selection, publicOrigin }: Shown): string {
  const { id, displayName, externalId, members } = group
  const whole = {
    schemas: [GROUP_SCHEMA],
    id,
    ...(externalId !== null && { externalId }),
    displayName,
    meta: metaOf(publicOrigin, 'Groups', group),
  }
  const json = JSON.stringify(shown(whole, selection))
  return showsMembers(selection) ? `${json.slice(0, -1)},"members":${members}}` : json
}
