import { ok } from '../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../schemas/limits/limits.ts'
import {
  ENTERPRISE_SCHEMA,
  PATCH_SCHEMA,
  USER_SCHEMA,
  type Attributes,
} from '../../../schemas/scim/scim-attributes.ts'
import { ScimUserAnswer, ScimUserList } from '../../../schemas/scim/scim-resources.ts'
import type { ScimUser, ScimUserInput, ScimUserUpdate } from '../../ports/scim/scim.ts'
import { patchedUser } from './patch-user.ts'
import { shown } from './projection.ts'
import type { ScimResource } from './resource-operations.ts'
import { etagOf, listHead, locationOf, metaOf } from './scim-calls.ts'
import { userInputOf } from './user-input.ts'
import { cutPage } from '../../../schemas/lists/cut-page.ts'

/** Users of an organization. RFC 7643 §4.1. */
export const USERS: ScimResource<ScimUser, ScimUserInput, ScimUserUpdate> = {
  path: 'Users',
  texts: {
    list: {
      id: 'scim.list_users',
      summary: 'List users',
      description: 'Includes manually created users. Without `sortBy` the oldest come first.',
    },
    search: {
      id: 'scim.search_users',
      summary: 'Search users',
      description: 'Works like listing users, but keeps the filter out of proxy logs.',
    },
    get: { id: 'scim.get_user', summary: 'Get a user' },
    create: {
      id: 'scim.create_user',
      summary: 'Create a user',
      description: 'An inactive user has no memberships through groups. Passwords are discarded.',
    },
    replace: {
      id: 'scim.replace_user',
      summary: 'Replace a user',
      description: 'Absent attributes are removed, except `active`, which keeps its value.',
    },
    patch: {
      id: 'scim.patch_user',
      summary: 'Update a user',
      description:
        'Applies all of the operations or none. Changing `active` removes or restores memberships through groups; manual memberships stay.',
    },
    delete: {
      id: 'scim.delete_user',
      summary: 'Delete a user',
      description:
        'Deletes the user with all memberships, including manual ones. Deactivate users who may return.',
    },
  },
  examples: {
    list: { filter: 'userName eq "ann@example.com"' },
    search: { filter: 'userName eq "ann@example.com"', attributes: ['userName', 'active'] },
    create: {
      userName: 'ann@example.com',
      displayName: 'Ann',
      active: true,
      emails: [{ value: 'ann@example.com', primary: true }],
    },
    replace: { userName: 'ann@example.com', displayName: 'Ann', active: false },
    patch: { schemas: [PATCH_SCHEMA], Operations: [{ op: 'replace', path: 'active', value: false }] },
  },
  deadlineMs: CONTROL_DEADLINE_MS,
  bodies: { replace: 'scim_user', patch: 'scim_user_patch' },
  shapes: { one: ScimUserAnswer, list: ScimUserList },
  failures: {
    unknown: 'user_unknown',
    list: [],
    get: [],
    create: ['scim_user_taken'],
    update: ['scim_user_taken'],
  },
  isPatchShown: true,
  store: (ports) => ports.scimUsers,
  inputOf: (body) => userInputOf(body, null),
  replacing: (body) => ok((before) => userInputOf(body, before)),
  patching: (_id, steps) => ok((before) => patchedUser(before, steps)),
  hasMembers: () => false,
  answer: (user, { selection, publicOrigin }) => ({
    kind: 'json',
    value: shown(wireOf(user, publicOrigin), selection),
    headers: { etag: etagOf(user), location: locationOf(publicOrigin, 'Users', user.id) },
  }),
  list(query, page, { selection, publicOrigin }) {
    const { rows, data } = cutPage(page.resources, (user) => shown(wireOf(user, publicOrigin), selection))
    return { kind: 'json', value: { ...listHead(query, { ...page, resources: rows }), Resources: data } }
  },
}

function wireOf(user: ScimUser, origin: string): Attributes {
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
      $ref: locationOf(origin, 'Groups', group.id),
      type: 'direct',
    })),
    meta: metaOf(origin, 'Users', user),
  }
}
