/**
 * Requests in the order and the form in which Okta sends them, after its public documentation of SCIM 2.0.
 */
import t from 'tap'
import { openScimFront } from '../../../support/scim/scim-front.ts'

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'

t.test('Okta: finds, creates, reads, changes, deactivates and reactivates a user', async (t) => {
  const { call, patch } = await openScimFront(t)
  const looked = await call(
    'GET',
    '/Users?filter=userName%20eq%20%22test.user%40okta.local%22&startIndex=1&count=100',
  )
  t.match(looked, { status: 200, body: { totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] } })
  const input = {
    schemas: [USER],
    userName: 'test.user@okta.local',
    name: { givenName: 'Test', familyName: 'User' },
    emails: [{ primary: true, value: 'test.user@okta.local', type: 'work' }],
    displayName: 'Test User',
    locale: 'en-US',
    externalId: '00ujl29u0le5T6Aj10h7',
    groups: [],
    password: '1mz050nq',
    active: true,
  }
  const made = await call('POST', '/Users', { body: input })
  t.equal(made.status, 201)
  const path = `/Users/${made.body.id}`
  t.equal(made.headers.get('location'), `https://sluice.example/scim/v2${path}`)
  t.notMatch(JSON.stringify(made.body), '1mz050nq')
  t.match((await call('GET', path)).body, {
    userName: input.userName,
    name: input.name,
    emails: input.emails,
    externalId: input.externalId,
    active: true,
  })
  t.equal((await call('POST', '/Users', { body: input })).status, 409)
  const changed = await call('PUT', path, {
    body: {
      ...input,
      id: made.body.id,
      name: { givenName: 'Another', familyName: 'User' },
      meta: { version: 'x' },
    },
  })
  t.match(changed, { status: 200, body: { name: { givenName: 'Another' }, id: made.body.id } })
  t.match(await patch(path, { op: 'replace', value: { active: false } }), {
    status: 200,
    body: { active: false },
  })
  t.match(await call('GET', path), { body: { active: false, name: { givenName: 'Another' } } })
  t.match(await patch(path, { op: 'replace', value: { active: true } }), {
    status: 200,
    body: { active: true, userName: input.userName },
  })
})

t.test(
  'Okta: pushes a group, adds and removes a member, and renames, replaces and deletes the group',
  async (t) => {
    const { call, patch, user, members } = await openScimFront(t)
    const [ann, bob, cat] = [await user('ann'), await user('bob'), await user('cat')]
    const made = await call('POST', '/Groups', {
      body: { schemas: [GROUP], displayName: 'Test SCIMv2', members: [] },
    })
    t.match(made, { status: 201, body: { displayName: 'Test SCIMv2', members: [] } })
    const { id } = made.body
    const path = `/Groups/${id}`
    t.equal(
      (
        await patch(path, {
          op: 'add',
          path: 'members',
          value: [
            { value: ann, display: 'ann' },
            { value: bob, display: 'bob' },
          ],
        })
      ).status,
      204,
    )
    t.equal(
      (await patch(path, { op: 'add', path: 'members', value: [{ value: cat, display: 'cat' }] })).status,
      204,
    )
    t.same(await members(id), ['ann', 'bob', 'cat'], 'adding one drops no other')
    t.equal((await patch(path, { op: 'remove', path: `members[value eq "${bob}"]` })).status, 204)
    t.same(await members(id), ['ann', 'cat'])
    t.equal((await patch(path, { op: 'replace', value: { id, displayName: 'Renamed' } })).status, 204)
    t.match((await call('GET', '/Groups?filter=displayName%20eq%20%22renamed%22')).body, {
      totalResults: 1,
      Resources: [{ id, displayName: 'Renamed' }],
    })
    t.same(await members(id), ['ann', 'cat'], 'a new name changes no member')
    t.equal((await patch(path, { op: 'replace', path: 'members', value: [{ value: bob }] })).status, 204)
    t.same(await members(id), ['bob'])
    const put = await call('PUT', path, {
      body: { schemas: [GROUP], id, displayName: 'Renamed', members: [{ value: ann }, { value: cat }] },
    })
    t.match(put, { status: 200, body: { members: [{ value: ann }, { value: cat }] } })
    t.equal((await call('DELETE', path)).status, 204)
    t.equal((await call('GET', path)).status, 404)
  },
)
