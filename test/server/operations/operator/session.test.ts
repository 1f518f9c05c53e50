import t from 'tap'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { openAdmin } from '../../../../src/server/store/operator/open-admin.ts'
import { openInternsFront } from '../../../support/workspaces/interns-front.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

t.test(
  'admin.get_session 200: a management key of the oldest organization gets its identity and the version',
  async (t) => {
    const { call, organizationId } = await openInternsFront(t)
    const { status, body } = await call('GET', '/admin/session')
    t.equal(status, 200)
    t.match(body, {
      data: {
        organization: { id: organizationId, name: 'o' },
        key: { hash: /^[0-9a-f]{64}$/, name: 'k', label: /^sk-sluice-mgmt-v1-.{3}\.\.\..{3}$/ },
        version: '1.2.3',
      },
    })
  },
)

t.test('admin.get_session 403: keys of other organizations and of other kinds', async (t) => {
  const { call, foreignKey, key } = await openInternsFront(t)
  t.match(await call('GET', '/admin/session', { key: foreignKey }), { status: 403, type: 'operator_only' })
  t.match(await call('GET', '/admin/session', { key: await key('inference') }), {
    status: 403,
    type: 'wrong_key_kind',
  })
})

t.test(
  'the operating organization is the one set by id or name, and none when the name is unknown or ambiguous',
  async (t) => {
    const store = await openTestStore(t)
    const [first, second, third] = [
      must(await createOrganization(store, { name: 'first' })),
      must(await createOrganization(store, { name: 'second' })),
      must(await createOrganization(store, { name: 'third' })),
    ].map(({ organization }) => organization.id)
    const operators = async (
      operatorOrganization: string | null,
    ): Promise<readonly (string | undefined)[]> => {
      const admin = openAdmin({ store, operatorOrganization, version: 'v', wake: () => undefined })
      const sessions = await Promise.all(
        [first, second, third].map(async (id = '') => ({ id, session: await admin.session(id) })),
      )
      return sessions.flatMap(({ id, session }) => (session.ok ? [id] : []))
    }
    t.same(await operators(null), [first])
    t.same(await operators('second'), [second])
    t.same(await operators(third ?? ''), [third])
    t.same(await operators((third ?? '').toUpperCase()), [third])
    t.same(await operators('fourth'), [])
    must(await createOrganization(store, { name: 'second' }))
    t.same(await operators('second'), [])
  },
)

t.test('routes of the admin port are unknown on this port, and not suggested', async (t) => {
  const { call } = await openInternsFront(t)
  for (const method of ['GET', 'POST']) {
    for (const path of ['/admin/live', '/admin/liv']) {
      const { status, type, body } = await call(method, path, { headers: { 'x-request-id': 'r' } })
      t.same([status, type], [404, 'route_unknown'])
      // The message quotes the path that was asked for, but suggests none of the other port.
      t.notMatch(JSON.stringify(body).replace(`/api/v1${path}\``, ''), /live/)
    }
  }
  t.match(await call('GET', '/admin/live?once', { key: 'nobody' }), { status: 404, type: 'route_unknown' })
})
