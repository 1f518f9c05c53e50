/** Users, groups and mappings of an identity provider. */
import { again, fresh, type Preparation } from './preparation.ts'
import type { World } from './world.ts'

async function newUser(world: World, name: string): Promise<string> {
  return String(
    (
      await world.made('scim', {
        method: 'POST',
        path: '/scim/v2/Users',
        body: { userName: `${name}@example.com`, active: true },
      })
    )['id'],
  )
}

async function newGroup(world: World, name: string): Promise<string> {
  return String(
    (await world.made('scim', { method: 'POST', path: '/scim/v2/Groups', body: { displayName: name } }))[
      'id'
    ],
  )
}

async function newMapping(world: World, name: string): Promise<string> {
  const body = {
    role: 'member',
    scim_group_id: await newGroup(world, name),
    workspace_id: world.place.workspaceId,
  }
  return String(
    (await world.made('management', { method: 'POST', path: '/scim/group-mappings', body }))['id'],
  )
}

const PATCH = ['urn:ietf:params:scim:api:messages:2.0:PatchOp']
const TWO_NAMES = ['One', 'Two']

const withUser = again(({ place }) => [{ params: { id: place.userId } }])
const withGroup = again(({ place }) => [{ params: { id: place.groupId } }])

const USERS: Readonly<Record<string, Preparation>> = {
  'scim.get_user': withUser,
  'scim.create_user': fresh(200, (_, nth) => ({
    body: { userName: `bench-${nth}@example.com`, displayName: 'Bench', active: true },
  })),
  'scim.replace_user': again(async (world) => {
    const id = await newUser(world, 'bench-replaced')
    return TWO_NAMES.map((displayName) => ({
      params: { id },
      body: { userName: 'bench-replaced@example.com', displayName, active: true },
    }))
  }),
  'scim.patch_user': again(async (world) => {
    const id = await newUser(world, 'bench-patched')
    return TWO_NAMES.map((value) => ({
      params: { id },
      body: { schemas: PATCH, Operations: [{ op: 'replace', path: 'displayName', value }] },
    }))
  }),
  'scim.delete_user': fresh(60, async (world, nth) => ({
    params: { id: await newUser(world, `bench-leaving-${nth}`) },
  })),
}

const GROUPS: Readonly<Record<string, Preparation>> = {
  'scim.get_group': withGroup,
  'scim.create_group': fresh(200, (_, nth) => ({ body: { displayName: `Bench ${nth}`, members: [] } })),
  'scim.replace_group': again(async (world) => {
    const id = await newGroup(world, 'Replaced')
    return TWO_NAMES.map((name) => ({
      params: { id },
      body: { displayName: `Replaced ${name}`, members: [{ value: world.place.userId }] },
    }))
  }),
  'scim.patch_group': again(async (world) => {
    const id = await newGroup(world, 'Patched')
    const value = [{ value: world.place.userId }]
    return [
      { op: 'add', path: 'members', value },
      { op: 'remove', path: `members[value eq "${world.place.userId}"]` },
    ].map((operation) => ({
      params: { id },
      body: { schemas: PATCH, Operations: [operation] },
    }))
  }),
  'scim.delete_group': fresh(60, async (world, nth) => ({
    params: { id: await newGroup(world, `Leaving ${nth}`) },
  })),
}

const MAPPINGS: Readonly<Record<string, Preparation>> = {
  'scim.create_mapping': fresh(60, async (world, nth) => ({
    body: {
      role: 'member',
      scim_group_id: await newGroup(world, `Mapped ${nth}`),
      workspace_id: world.place.workspaceId,
    },
  })),
  'scim.get_mapping': again(({ place }) => [{ params: { id: place.mappingId } }]),
  'scim.update_mapping': again(async (world) => {
    const id = await newMapping(world, 'Updated')
    return ['admin', 'member'].map((role) => ({ params: { id }, body: { role } }))
  }),
  'scim.delete_mapping': fresh(40, async (world, nth) => ({
    params: { id: await newMapping(world, `Unmapped ${nth}`) },
  })),
  'admin.preview_mapping': again(({ place }) => [
    { query: { scim_group_id: place.groupId, workspace_id: place.workspaceId, role: 'member' } },
  ]),
  'scim.get_sync': again(({ place }) => [{ params: { id: place.syncId } }]),
}

export const DIRECTORY: Readonly<Record<string, Preparation>> = {
  ...USERS,
  ...GROUPS,
  ...MAPPINGS,
}
