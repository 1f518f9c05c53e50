/**
 * Requests in the form in which Microsoft Entra ID sends them, after its public documentation of SCIM
 * provisioning.
 */
import t from 'tap'
import { plantMapping } from '../../../support/scim/directory.ts'
import { openScimFront } from '../../../support/scim/scim-front.ts'

const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'

t.test('Entra: creates a user, changes it with and without paths, disables and deletes it', async (t) => {
  const { call, patch } = await openScimFront(t)
  const email = { primary: true, type: 'work', value: 'Test_User_fd0ea19b@testuser.com' }
  const made = await call('POST', '/Users', {
    body: {
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User', ENTERPRISE],
      externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef',
      userName: 'Test_User_ab6490ee',
      active: true,
      emails: [email],
      meta: { resourceType: 'User' },
      name: { formatted: 'givenName familyName', familyName: 'familyName', givenName: 'givenName' },
      roles: [],
    },
  })
  t.match(made, {
    status: 201,
    body: { externalId: '0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef', emails: [email], active: true },
  })
  const path = `/Users/${made.body.id}`
  t.match(await call('GET', '/Users?filter=externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"'), {
    body: { totalResults: 1 },
  })
  const byPath = await patch(
    path,
    { op: 'Replace', path: 'emails[type eq "work"].value', value: 'updated@microsoft.com' },
    { op: 'Replace', path: 'name.familyName', value: 'updatedFamilyName' },
    { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+1 555' },
    { op: 'Add', path: `${ENTERPRISE}:department`, value: 'Sales' },
    { op: 'Add', path: `${ENTERPRISE}:manager`, value: 'm1' },
  )
  t.match(byPath, {
    status: 200,
    body: {
      emails: [{ type: 'work', value: 'updated@microsoft.com', primary: true }],
      name: { familyName: 'updatedFamilyName', givenName: 'givenName' },
      phoneNumbers: [{ type: 'mobile', value: '+1 555' }],
      [ENTERPRISE]: { department: 'Sales', manager: { value: 'm1' } },
    },
  })
  const flat = await patch(path, {
    op: 'replace',
    value: {
      displayName: 'Now',
      'name.givenName': 'Flat',
      [`${ENTERPRISE}:costCenter`]: '7',
      userName: '5b50642d@contoso.com',
    },
  })
  t.match(flat.body, {
    displayName: 'Now',
    userName: '5b50642d@contoso.com',
    name: { givenName: 'Flat', familyName: 'updatedFamilyName' },
  })
  t.match(flat.body[ENTERPRISE], { costCenter: '7', department: 'Sales' })
  t.match(await patch(path, { op: 'Replace', path: 'active', value: 'False' }), {
    status: 200,
    body: { active: false },
  })
  t.equal((await call('DELETE', path)).status, 204)
  t.equal((await call('GET', path)).status, 404)
})

t.test(
  'Entra: finds a group without its members, adds and removes one member at a time, and renames it',
  async (t) => {
    const { store, call, patch, user, members, manage, organizationId, workspace } = await openScimFront(t)
    const [ann, bob] = [await user('ann'), await user('bob')]
    const made = await call('POST', '/Groups', {
      body: {
        schemas: [
          'urn:ietf:params:scim:schemas:core:2.0:Group',
          'http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group',
        ],
        externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159',
        displayName: 'displayName',
        meta: { resourceType: 'Group' },
      },
    })
    t.equal(made.status, 201)
    const { id } = made.body
    const path = `/Groups/${id}`
    await plantMapping(store, { organizationId, groupId: id, workspaceId: workspace.id, role: 'member' })
    const looked = await call('GET', '/Groups?excludedAttributes=members&filter=displayName eq "displayName"')
    t.match(looked.body, {
      totalResults: 1,
      Resources: [{ id, externalId: '8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159' }],
    })
    t.notMatch(JSON.stringify(looked.body), '"members"')
    t.equal(
      (await patch(path, { op: 'Add', path: 'members', value: [{ $ref: null, value: ann }] })).status,
      204,
    )
    t.equal(
      (await patch(path, { op: 'Add', path: 'members', value: [{ $ref: null, value: bob }] })).status,
      204,
    )
    t.same(await members(id), ['ann', 'bob'], 'adding one drops no other')
    const shown = async () => (await manage('GET', `/workspaces/${workspace.id}/members`)).body['total_count']
    t.equal(await shown(), 2)
    t.match(await call('GET', `/Groups?filter=id eq "${id}" and members eq "${bob}"&attributes=id`), {
      body: { totalResults: 1 },
    })
    t.equal(
      (await patch(path, { op: 'Remove', path: 'members', value: [{ $ref: null, value: ann }] })).status,
      204,
    )
    t.same([await members(id), await shown()], [['bob'], 1])
    t.equal((await patch(`/Users/${bob}`, { op: 'Replace', path: 'active', value: 'False' })).status, 200)
    t.same(
      [await members(id), await shown()],
      [['bob'], 0],
      'who is not active is a member of the group, and of no workspace',
    )
    t.equal((await patch(path, { op: 'Replace', path: 'displayName', value: '1879db59-3bdf' })).status, 204)
    t.match((await call('GET', `${path}?excludedAttributes=members`)).body, {
      displayName: '1879db59-3bdf',
      id,
    })
    t.equal((await call('DELETE', path)).status, 204)
  },
)
