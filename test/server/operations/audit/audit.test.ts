import t, { type Test } from 'tap'
import { AUDIT_PAGE_DEFAULT } from '../../../../src/schemas/audit/audit-limits.ts'
import type { AuditEvent } from '../../../../src/server/ports/audit/audit.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { appendAudit } from '../../../../src/server/store/base/append-audit.ts'
import { auditEvent, CLI } from '../../../support/audit/audit.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'
import { must } from '../../../support/must.ts'
import { AUDIT_PAGE_MAX } from '../../../../src/schemas/audit/audit.ts'

type Page = {
  readonly data: readonly (Readonly<Record<string, unknown>> & { readonly n: number; readonly at: string })[]
}

t.test('audit.list 200: lists changes by a call, with actor and request id, newest first', async (t) => {
  const { call, organizationId } = await openInternsFront(t)
  const { body: made } = await call('POST', '/workspaces', {
    body: { name: 'A', slug: 'a' },
    headers: { 'x-request-id': 'the-first-request' },
  })
  const { id } = made['data'] as { id: string }
  await call('PATCH', `/workspaces/${id}`, { body: { name: 'B' } })
  const { status, body } = await call('GET', '/audit')
  t.equal(status, 200)
  t.match(body, {
    data: [
      { n: 2, operation: 'workspaces.update', before: { name: 'A' }, after: { name: 'B' } },
      {
        n: 1,
        at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/,
        organization_id: organizationId,
        workspace_id: id,
        actor: { kind: 'key', id: /^[0-9a-f]{64}$/ },
        request_id: 'the-first-request',
        operation: 'workspaces.create',
        outcome: 'changed',
        object_kind: 'workspace',
        object_id: id,
        before: null,
        after: { name: 'A' },
        hash: /^[0-9a-f]{64}$/,
      },
    ],
    has_more: false,
    next_before: null,
  })
})

t.test(
  'finds events by workspace, operation, object, actor and outcome, alone and in combination',
  async (t) => {
    const front = await stand(t)
    const found = foundBy(front)
    t.same(await found(''), [6, 5, 4, 3, 2, 1])
    t.same(await found('operation=keys.create'), [4, 1])
    t.same(await found('object_kind=secret'), [5, 3, 2])
    t.same(await found('object_id=s1'), [5, 2])
    t.same(await found('actor_id=ann'), [6, 4])
    t.same(await found('outcome=released'), [5, 2])
    t.same(await found('outcome=refused'), [3])
    t.same(await found('outcome=changed'), [6, 4, 1])
    t.same(await found('object_kind=secret&object_id=s1&outcome=released'), [5, 2])
    t.same(await found('operation=keys.create&actor_id=ann'), [4])
    t.same(await found('operation=keys.create&actor_id=bob'), [])
    for (const ref of [front.other.id, front.other.id.toUpperCase(), 'other'])
      t.same(await found(`workspace_id=${ref}`), [4, 3], ref)
    t.same(await found('workspace_id=other&outcome=changed'), [4])
  },
)

t.test('finds events of a deleted workspace by its UUID, but no longer by its slug', async (t) => {
  const front = await stand(t)
  await front.store.sql`UPDATE workspaces SET deleted_at = clock_timestamp() WHERE id = ${front.other.id}`
  t.same(await foundBy(front)(`workspace_id=${front.other.id}`), [4, 3])
  t.match(await front.call('GET', '/audit?workspace_id=other'), { status: 404, type: 'workspace_unknown' })
})

t.test('finds events from one instant until another, to the microsecond and with any offset', async (t) => {
  const front = await stand(t)
  const found = foundBy(front)
  const { data } = (await front.call('GET', '/audit')).body as unknown as Page
  const at = (n: number): string => data.find((event) => event.n === n)?.at ?? ''
  t.same(await found(`since=${at(3)}`), [6, 5, 4, 3])
  t.same(await found(`until=${at(3)}`), [2, 1])
  t.same(await found(`since=${at(2)}&until=${at(5)}`), [4, 3, 2])
  t.same(await found(`since=${at(2)}&until=${at(5)}&outcome=released`), [2])
  t.same(await found(`since=${at(5)}&until=${at(2)}`), [])
  const shifted = `${new Date(Date.parse(at(3)) + 7_200_000).toISOString().slice(0, 19)}${at(3).slice(19, 26)}+02:00`
  t.same(await found(`since=${encodeURIComponent(shifted)}`), [6, 5, 4, 3])
  t.same(await found('since=9999-12-31T23:59:59Z'), [])
  t.same(await found('until=0001-01-01T00:00:00Z'), [])
})

t.test('pages follow each other by next_before, whatever events are added meanwhile', async (t) => {
  const front = await stand(t)
  const { call, store, organizationId } = front
  const first = (await call('GET', '/audit?limit=4')).body
  t.match(first, { has_more: true, next_before: 3 })
  await store.sql.begin((tx) => appendAudit(tx, auditEvent(organizationId)))
  const { body } = await call('GET', `/audit?limit=4&before=${String(first['next_before'])}`)
  t.match(body, { data: [{ n: 2 }, { n: 1 }], has_more: false, next_before: null })
  t.match((await call('GET', '/audit?limit=7')).body, { has_more: false })
})

t.test('a page has a default size and a maximum size', async (t) => {
  const { call, store, organizationId } = await openInternsFront(t)
  await store.sql.begin((tx) =>
    appendAudit(tx, ...Array.from({ length: AUDIT_PAGE_MAX + 1 }, () => auditEvent(organizationId))),
  )
  const sizeOf = async (query: string): Promise<number> =>
    ((await call('GET', `/audit${query}`)).body as unknown as Page).data.length
  t.equal(await sizeOf(''), AUDIT_PAGE_DEFAULT)
  t.equal(await sizeOf(`?limit=${AUDIT_PAGE_MAX}`), AUDIT_PAGE_MAX)
})

t.test('audit.list 400: invalid times, numbers, pages and filter values', async (t) => {
  const { call } = await openInternsFront(t)
  for (const query of [
    'since=yesterday',
    'since=2026-01-31',
    'since=2026-01-31T00:00:00',
    'until=2026-02-30T00:00:00Z',
    'until=0000-01-01T00:00:00Z',
    'since=%00',
    'since=',
    'since=2026-01-31T00:00:00%2B16:00',
    'until=2026-01-31T00:00:00-23:59',
    'before=0',
    'before=x',
    'before=9007199254740993',
    'limit=0',
    `limit=${AUDIT_PAGE_MAX + 1}`,
    'outcome=done',
    'operation=',
    'operation=%00',
    'object_kind=a%00',
    'object_id=%00',
    'actor_id=%00',
    'workspace_id=',
    'limit=1&limit=2',
  ])
    t.match(await call('GET', `/audit?${query}`), { status: 400, type: 'query_invalid' }, query)
})

t.test(
  'audit.list 404: a workspace that is unknown or belongs to another organization, whose events stay private',
  async (t) => {
    const front = await stand(t)
    const { call, workspace, foreignKey } = front
    for (const [reference, key] of [
      ['nowhere', undefined],
      [front.organizationId, undefined],
      [workspace.id, foreignKey],
      ['other', foreignKey],
    ] as const) {
      const answer = await call('GET', `/audit?workspace_id=${reference}`, key === undefined ? {} : { key })
      t.match(answer, { status: 404, type: 'workspace_unknown' }, reference)
    }
    t.match(await call('GET', '/audit?object_id=s1', { key: foreignKey }), {
      status: 200,
      body: { data: [], has_more: false, next_before: null },
    })
  },
)

t.test('audit.list 403: inference and intern keys are refused', async (t) => {
  const { call, key, store, intern } = await openInternsFront(t)
  const input = { internId: await intern(), organizationId: null }
  for (const wrong of [await key('inference'), must(await createInternKey(store, input, CLI)).key])
    t.match(await call('GET', '/audit', { key: wrong }), { status: 403, type: 'wrong_key_kind' })
})

/** Six events, each of a transaction of its own. */
async function stand(t: Test): Promise<InternsFront> {
  const front = await openInternsFront(t)
  const [ann, bob] = [
    { kind: 'cli', id: 'ann' },
    { kind: 'system', id: null },
  ] as const
  const workspaceId = front.other.id
  const events: readonly Partial<AuditEvent>[] = [
    { operation: 'keys.create', objectKind: 'key', objectId: 'k1', actor: bob },
    { operation: 'egress.forward', outcome: 'released', objectKind: 'secret', objectId: 's1' },
    { operation: 'egress.forward', outcome: 'refused', objectKind: 'secret', objectId: 's2', workspaceId },
    { operation: 'keys.create', objectKind: 'key', objectId: 'k2', actor: ann, workspaceId },
    { operation: 'vault.read', outcome: 'released', objectKind: 'secret', objectId: 's1' },
    {
      operation: 'cli.keys-revoke',
      objectKind: 'key',
      objectId: 'k1',
      actor: ann,
      before: { name: 'é"}\u2028' },
      after: null,
    },
  ]
  for (const event of events)
    await front.store.sql.begin((tx) => appendAudit(tx, auditEvent(front.organizationId, event)))
  return front
}

function foundBy({ call }: InternsFront): (query: string) => Promise<readonly number[]> {
  return async (query) => {
    const { status, body } = await call('GET', `/audit?${query}`)
    if (status !== 200) throw new Error(JSON.stringify(body))
    return (body as unknown as Page).data.map(({ n }) => n)
  }
}
