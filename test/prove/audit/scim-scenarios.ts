import { randomUUID } from 'node:crypto'
import { SCIM_PREFIX } from '../../../src/schemas/api-prefix.ts'
import { ask } from '../keys/isolation/owners.ts'
import { unique, type Scenario, type World } from './scenario.ts'

const READ_BY_BODY = 'a read: its body only says of what'
const OUTDATED = { 'if-match': 'W/"77"' }

const patched = (operation: object): object => ({ Operations: [operation] })

export const SCIM_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'scim.refuse_me': { never: 'a token stands for no user' },
  'scim.refuse_bulk': { never: 'one request at a time' },
  'scim.refuse_search': { never: 'each kind of resources is searched alone' },
  'scim.create_mapping': {
    async request({ place, group }) {
      return {
        path: '/scim/group-mappings',
        body: { scim_group_id: await group(), workspace_id: place.workspaceId, role: 'member' },
      }
    },
    again: 'nothing',
    refused: async (_, done) =>
      [{ role: 'admin' }, { scim_group_id: randomUUID() }, { workspace_id: randomUUID() }].map((more) => ({
        ...done,
        body: { ...(done.body as object), ...more },
      })),
  },
  'scim.update_mapping': {
    request: async (world) => ({
      path: `/scim/group-mappings/${await mapping(world)}`,
      body: { role: 'admin' },
    }),
    again: 'nothing',
  },
  'scim.delete_mapping': {
    request: async (world) => ({ path: `/scim/group-mappings/${await mapping(world)}?keep_members=true` }),
    refused: async (world, done) => [done, { path: `/scim/group-mappings/${await mapping(world)}` }],
  },
  'scim.start_sync': { request: async () => ({ path: '/scim/sync-jobs' }) },

  'scim.search_users': { unaudited: READ_BY_BODY },
  'scim.create_user': {
    request: async () => ({ path: '/Users', body: { userName: unique('made') }, by: 'scim' }),
    refused: async (_, done) => [done, { ...done, body: { displayName: 'nameless' } }],
  },
  'scim.replace_user': {
    request: async (world) => ({
      path: `/Users/${await provided(world, 'Users')}`,
      body: { userName: unique('replaced') },
      by: 'scim',
    }),
    again: 'nothing',
    refused: async (_, done) => [
      { ...done, body: { userName: '' } },
      { ...done, headers: OUTDATED },
    ],
  },
  'scim.patch_user': {
    async request(world) {
      const change = { op: 'replace', path: 'active', value: false }
      return { path: `/Users/${await provided(world, 'Users')}`, body: patched(change), by: 'scim' }
    },
    again: 'nothing',
    refused: async (_, done) => [
      { ...done, body: patched({ op: 'remove', path: 'userName' }) },
      { ...done, headers: OUTDATED },
    ],
  },
  'scim.delete_user': {
    request: async (world) => ({ path: `/Users/${await provided(world, 'Users')}`, by: 'scim' }),
    refused: async (_, done) => [done],
  },
  'scim.search_groups': { unaudited: READ_BY_BODY },
  'scim.create_group': {
    request: async () => ({ path: '/Groups', body: { displayName: unique('made') }, by: 'scim' }),
    refused: async (_, done) => [
      done,
      { ...done, body: { displayName: unique('made'), members: [{ value: randomUUID() }] } },
    ],
  },
  'scim.replace_group': {
    request: async (world) => ({
      path: `/Groups/${await provided(world, 'Groups')}`,
      body: { displayName: unique('replaced') },
      by: 'scim',
    }),
    again: 'nothing',
    refused: async (_, done) => [
      { ...done, body: { displayName: '' } },
      { ...done, headers: OUTDATED },
    ],
  },
  'scim.patch_group': {
    async request(world) {
      const add = { op: 'add', path: 'members', value: [{ value: await provided(world, 'Users') }] }
      return { path: `/Groups/${await provided(world, 'Groups')}`, body: patched(add), by: 'scim' }
    },
    again: 'nothing',
    refused: async (_, done) => [
      { ...done, body: patched({ op: 'add', path: 'members', value: [{ value: randomUUID() }] }) },
      { ...done, headers: OUTDATED },
    ],
  },
  'scim.delete_group': {
    request: async (world) => ({ path: `/Groups/${await provided(world, 'Groups')}`, by: 'scim' }),
    refused: async (_, done) => [done],
  },
}

/** What an identity provider has made. @returns its id */
async function provided({ stand, owner }: World, kind: 'Users' | 'Groups'): Promise<string> {
  const body = kind === 'Users' ? { userName: unique('user') } : { displayName: unique('group') }
  return String(
    (await ask(stand, { method: 'POST', path: `${SCIM_PREFIX}/${kind}`, body, key: owner.scimToken })).body[
      'id'
    ],
  )
}

async function mapping({ make, place, group }: World): Promise<string> {
  const body = { scim_group_id: await group(), workspace_id: place.workspaceId, role: 'member' }
  return String((await make('POST', '/scim/group-mappings', body))['id'])
}
