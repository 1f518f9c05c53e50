import t, { type Test } from 'tap'
import { REFUSALS_GATHERED_MS } from '../../../../src/schemas/audit/audit-limits.ts'
import type { AuditEvent } from '../../../../src/server/ports/audit/audit.ts'
import { verifyAudit } from '../../../../src/server/store/audit/audit-log.ts'
import { findAudit } from '../../../../src/server/store/audit/audit-search.ts'
import {
  REFUSALS_DISTINCT_MAX,
  REFUSALS_GATHERED_MAX,
  REFUSALS_ORGANIZATION_DISTINCT_MAX,
  GatheredRefusals,
  openAuditTrail,
  SEVERAL,
} from '../../../../src/server/store/audit/audit-trail.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { auditEvent } from '../../../support/audit/audit.ts'
import { keptLog } from '../../../support/log.ts'
import { must } from '../../../support/must.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

const NEVER_MS = 2 ** 30
const refusal = (name: string, more: Partial<AuditEvent> = {}): AuditEvent =>
  auditEvent('o', {
    outcome: 'refused',
    objectKind: 'secret',
    objectId: name,
    requestId: `r-${name}`,
    after: { name, host: 'a.example', reason: 'other_host' },
    ...more,
  })

/** The rows that were appended, and a promise of the next one. */
function gathering(t: Test, everyMs = NEVER_MS) {
  const rows: AuditEvent[] = []
  const room = { has: true }
  let appended = (): void => undefined
  const refusals = new GatheredRefusals((event) => {
    if (room.has) rows.push(event)
    appended()
    return room.has
  }, everyMs)
  t.teardown(() => refusals.close())
  const next = (): Promise<void> => new Promise((resolve) => (appended = resolve))
  return { refusals, rows, room, next, counts: () => rows.map(({ objectId, count }) => [objectId, count]) }
}

t.test(
  `the first of equal refusals is appended at once, and the following ones as one row with a count each ${REFUSALS_GATHERED_MS} ms`,
  async (t) => {
    const { refusals, rows, counts } = gathering(t)
    t.ok(
      Array.from({ length: 1_450 }, (_, n) => refusals.note(refusal('a', { requestId: `r${n}` }))).every(
        (isNoted) => isNoted,
      ),
    )
    t.same(counts(), [['a', undefined]])
    t.equal(rows[0]?.requestId, 'r0')
    refusals.close()
    t.same(counts(), [
      ['a', undefined],
      ['a', 1_449],
    ])
    t.match(rows[1], {
      requestId: null,
      since: /^\d{4}-/,
      after: { host: 'a.example', reason: 'other_host' },
    })
  },
)

t.test('refusals that differ in secret, host, reason, key or operation are not equal', async (t) => {
  const { refusals, rows } = gathering(t)
  const differing = [
    refusal('a'),
    refusal('b'),
    refusal('a', { after: { name: 'a', host: 'b.example', reason: 'other_host' } }),
    refusal('a', { after: { name: 'a', host: 'a.example', reason: 'legacy' } }),
    refusal('a', { actor: { kind: 'key', id: 'other' } }),
    refusal('a', { operation: 'other' }),
    refusal('a', { workspaceId: 'w' }),
    refusal('a', { organizationId: 'p' }),
  ]
  for (const event of differing) refusals.note(event)
  t.equal(rows.length, differing.length)
})

t.test(
  'each row counts the refusals since the previous row; after an interval without any, the next one is appended at once',
  async (t) => {
    const { refusals, counts, next } = gathering(t, 30)
    refusals.note(refusal('a'))
    refusals.note(refusal('a'))
    await next()
    t.same(counts(), [
      ['a', undefined],
      ['a', 1],
    ])
    for (let row = 2; row < 5; row++) {
      refusals.note(refusal('a'))
      await next()
    }
    t.equal(
      counts().every(([, count], at) => at === 0 || count === 1 || count === undefined),
      true,
    )
    t.equal(counts().length, 5)
  },
)

t.test('distinct refusals of an actor are limited, and others are counted together by reason', async (t) => {
  const { refusals, rows, counts } = gathering(t)
  for (let n = 0; n < REFUSALS_DISTINCT_MAX + 500; n++) refusals.note(refusal(`s${n}`))
  t.equal(rows.length, REFUSALS_DISTINCT_MAX + 1)
  t.match(rows.at(-1), { objectId: SEVERAL, after: { name: SEVERAL, reason: 'other_host' } })
  refusals.note(refusal('a', { actor: { kind: 'key', id: 'other' } }))
  t.equal(rows.at(-1)?.objectId, 'a', 'others have rows of their own')
  refusals.close()
  t.same(counts().slice(REFUSALS_DISTINCT_MAX + 2), [[SEVERAL, 499]])
})

const byKey = (n: number): Partial<AuditEvent> => ({ actor: { kind: 'key', id: `k${n}` }, workspaceId: 'w' })

t.test(
  'many keys of one organization do not disable the gathering of refusals, neither for it nor for others',
  async (t) => {
    const { refusals, rows } = gathering(t)
    for (let key = 0; key < 100; key++)
      for (let n = 0; n < 100; n++) refusals.note(refusal(`s${n}`, byKey(key)))
    t.equal(rows.length, REFUSALS_ORGANIZATION_DISTINCT_MAX + 1)
    t.match(rows.at(-1), {
      objectId: SEVERAL,
      workspaceId: null,
      actor: { kind: 'key', id: null },
      after: { name: SEVERAL, reason: 'other_host' },
    })
    for (let n = 0; n < 1_000; n++) refusals.note(refusal('same', { ...byKey(100), requestId: `r${n}` }))
    t.equal(rows.length, REFUSALS_ORGANIZATION_DISTINCT_MAX + 1, 'a key that had none before makes no row')
    for (let n = 0; n < 1_000; n++)
      refusals.note(refusal('same', { organizationId: 'other', requestId: `r${n}` }))
    t.match(rows.slice(REFUSALS_ORGANIZATION_DISTINCT_MAX + 1), [
      { organizationId: 'other', objectId: 'same' },
    ])
    refusals.close()
    const all = rows.reduce((sum, { count = 1 }) => sum + count, 0)
    t.equal(all, 100 * 100 + 2_000, 'none is lost')
  },
)

t.test(
  'when a process counts the maximum of refusals, further ones of an organization are counted together by reason',
  async (t) => {
    const { refusals, rows } = gathering(t)
    for (let n = 0; n < REFUSALS_GATHERED_MAX; n++) {
      refusals.note(
        refusal(`s${n % 100}`, {
          organizationId: `o${Math.floor(n / 1_000)}`,
          ...byKey(Math.floor(n / 100)),
        }),
      )
    }
    t.equal(rows.length, REFUSALS_GATHERED_MAX)
    for (let n = 0; n < 50; n++) t.equal(refusals.note(refusal(`b${n}`, { organizationId: 'late' })), true)
    const legacy = { name: 'a', host: 'a.example', reason: 'legacy' }
    t.equal(refusals.note(refusal('a', { organizationId: 'late', after: legacy })), true)
    t.match(rows.slice(REFUSALS_GATHERED_MAX), [
      { objectId: SEVERAL, after: { reason: 'other_host' } },
      { objectId: SEVERAL, after: { reason: 'legacy' } },
    ])
    refusals.close()
    t.same(
      rows.slice(REFUSALS_GATHERED_MAX + 2).map(({ count }) => count),
      [49],
    )
  },
)

t.test('when the audit log accepts nothing, the first refusal fails, and no count is lost', async (t) => {
  const { refusals, room, counts } = gathering(t)
  room.has = false
  t.equal(refusals.note(refusal('a')), false)
  room.has = true
  t.equal(refusals.note(refusal('a')), true)
  room.has = false
  t.equal(refusals.note(refusal('a')), true)
  refusals.close()
  room.has = true
  refusals.close()
  t.same(counts(), [
    ['a', undefined],
    ['a', 1],
  ])
})

t.test('gathered refusals are in the chain with their count', async (t) => {
  const store = await openTestStore(t)
  const { id: organizationId } = must(await createOrganization(store, { name: 'o' })).organization
  const trail = openAuditTrail(store, keptLog())
  for (let n = 0; n < 40; n++) t.ok(trail.note(refusal('a', { organizationId })))
  for (let n = 0; n < 3; n++) trail.note({ ...refusal('a', { organizationId }), outcome: 'released' })
  await trail.close()
  t.same(must(await verifyAudit(store, organizationId)), { checked: 5, faults: [] })
  const { rows } = must(await findAudit(store, { organizationId, outcome: 'refused', limit: 9 }))
  t.match(
    rows.map(({ text }) => JSON.parse(text) as unknown),
    [{ count: 39, request_id: null }, { request_id: 'r-a' }],
  )
})
