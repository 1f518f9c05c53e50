import t from 'tap'
import { SCIM_ANSWERS_BYTES_MAX } from '../../../src/schemas/scim/scim-limits.ts'
import { openScimAnswers } from '../../../src/server/limits/scim-answers.ts'
import { GROUPS } from '../../../src/server/operations/scim/groups.ts'
import { resourceOperations } from '../../../src/server/operations/scim/resource-operations.ts'
import type { ScimGroup } from '../../../src/server/ports/scim/scim.ts'
import { must } from '../../support/must.ts'

t.test(
  'unread answers of an organization count until they are read, and do not affect other organizations',
  async (t) => {
    const room = openScimAnswers()
    const first = room.hold('a', SCIM_ANSWERS_BYTES_MAX)
    t.equal(room.hold('a', 1), null)
    const other = room.hold('b', 1)
    t.ok(other)
    first?.()
    const [half, rest] = [
      room.hold('a', SCIM_ANSWERS_BYTES_MAX / 2),
      room.hold('a', SCIM_ANSWERS_BYTES_MAX / 2),
    ]
    t.ok(half !== null && rest !== null)
    half?.()
    t.equal(room.hold('a', SCIM_ANSWERS_BYTES_MAX), null)
    t.ok(room.hold('a', SCIM_ANSWERS_BYTES_MAX / 2))
  },
)

t.test('a single answer is accepted however large it is', async (t) => {
  const room = openScimAnswers()
  const large = room.hold('a', 2 * SCIM_ANSWERS_BYTES_MAX)
  t.ok(large)
  t.equal(room.hold('a', 1), null)
  large?.()
  t.ok(room.hold('a', 1))
})

const GROUP: ScimGroup = {
  id: 'g',
  displayName: 'g',
  externalId: null,
  version: 1,
  createdAt: new Date(0),
  updatedAt: new Date(0),
  members: '[]',
}

t.test('an answer with a group, a list or search results counts until it is read', async (t) => {
  const page = { resources: [GROUP], totalResults: 1 }
  const scimGroups = {
    get: async () => ({ ok: true, value: GROUP }),
    list: async () => ({ ok: true, value: page }),
  }
  const ports = { scimGroups, scimAnswers: openScimAnswers(1), publicOrigin: 'http://sluice' } as never
  const call = {
    key: { organizationId: 'a' },
    params: { id: 'g' },
    query: {},
    body: {},
    headers: {},
  } as never
  const reads = ['scim.list_scim_groups', 'scim.search_groups', 'scim.get_group']
  const operations = resourceOperations(GROUPS).filter(({ id }) => reads.includes(id))
  t.equal(operations.length, reads.length)
  for (const { id, run } of operations) {
    const answer = must(await run(call, ports))
    t.match(await run(call, ports), { ok: false, failure: { name: 'busy', retryAfterS: 1 } }, id)
    if (answer.kind === 'bytes') answer.done?.()
    const again = must(await run(call, ports))
    if (again.kind === 'bytes') again.done?.()
  }
})
