import t from 'tap'
import { organizationAccount } from '../../../../src/schemas/money/accounts.ts'
import { CREDIT_NOTE_CHARS_MAX, USD_MAX } from '../../../../src/schemas/money/money-limits.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { listCredits, openCredits } from '../../../../src/server/store/money/credits.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { setAccount } from '../../../support/money/accounts.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import {
  openInternsFront,
  type Answered,
  type InternsFront,
} from '../../../support/workspaces/interns-front.ts'
import { must } from '../../../support/must.ts'

t.test('credits.get 200: unlimited until the first top-up, and returns the spend', async (t) => {
  const { call, store, organizationId } = await openInternsFront(t)
  const spent = { lifetime_spent_nano: '2500000000', lifetime_byok_nano: '1000000000', daily_spent_nano: '1' }
  await setAccount(store, organizationAccount(organizationId), spent)
  const { status, body } = await call('GET', '/credits')
  t.same(
    [status, body],
    [
      200,
      {
        data: {
          total_credits: 0,
          total_usage: 2.5,
          is_unlimited: true,
          remaining: null,
          lent: 0,
          effective: 'now',
        },
      },
    ],
  )
})

t.test(
  'credits.add 200: the first top-up also credits the earlier spend, so that all of it remains; later ones add to it',
  async (t) => {
    const front = await openInternsFront(t)
    const { store, organizationId, call } = front
    const account = organizationAccount(organizationId)
    await setAccount(store, account, { lifetime_spent_nano: '2500000001', lifetime_lent_nano: '0' })
    const first = await add(front, 10, { note: 'invoice 1' })
    const booked = {
      kind: 'top_up',
      amount_usd: 10,
      note: 'invoice 1',
      total_credits: 12.500000001,
      total_usage: 2.500000001,
      remaining: 10,
    }
    t.match(first, { status: 200, body: { data: booked } })
    await setAccount(store, account, { lifetime_lent_nano: '4000000000' })
    t.match(await add(front, 0.5), {
      body: {
        data: {
          note: '',
          total_credits: 13.000000001,
          remaining: 10.5,
          lent: 4,
          is_unlimited: false,
          effective: 'now',
        },
      },
    })
    t.match((await call('GET', '/credits')).body, {
      data: { total_credits: 13.000000001, total_usage: 2.500000001, remaining: 10.5 },
    })
    t.match(must(await listCredits(store, organizationId)), [
      { kind: 'top_up', amountNano: 500_000_000n, createdBy: /^key [0-9a-f]{64}$/ },
      { kind: 'top_up', amountNano: 10_000_000_000n },
      { kind: 'opening', amountNano: 2_500_000_001n },
    ])
    t.match(await store.sql`SELECT account_id, span, limit_nano FROM account_limits`, [
      { account_id: account, span: 'lifetime', limit_nano: '13000000001' },
    ])
  },
)

t.test(
  'a correction needs a reason, removes credit but never below zero, and leaves nothing if the spend is higher',
  async (t) => {
    const front = await openInternsFront(t)
    await setAccount(front.store, organizationAccount(front.organizationId), {
      lifetime_spent_nano: '3000000000',
    })
    t.match(await add(front, -1, { note: 'before there is any' }), {
      status: 400,
      type: 'credit_out_of_range',
    })
    await add(front, 5)
    for (const note of [undefined, '', '  '])
      t.match((await add(front, -1, { ...(note !== undefined && { note }) })).body, {
        error: { code: 400, metadata: { issues: [{ path: '/note' }] } },
      })
    t.match(await add(front, -8.000000001, { note: 'too much' }), {
      status: 400,
      type: 'credit_out_of_range',
    })
    const corrected = { kind: 'correction', total_credits: 1, remaining: -2, effective: 'pending' }
    t.match(await add(front, -7, { note: 'refund' }), { status: 200, body: { data: corrected } })
    t.match(await add(front, -1, { note: 'all' }), {
      body: { data: { total_credits: 0, is_unlimited: false } },
    })
  },
)

t.test(
  'credits.add 400: an invalid amount, one beyond the range of credit, or a note that is too long',
  async (t) => {
    const front = await openInternsFront(t)
    for (const body of [
      {},
      { amount_usd: 0 },
      { amount_usd: 0.4e-9 },
      { amount_usd: '5' },
      { amount_usd: null },
      { amount_usd: USD_MAX * 1.000001 },
      { amount_usd: 1, note: 'a'.repeat(CREDIT_NOTE_CHARS_MAX + 1) },
      { amount_usd: 1, note: 'a\u0000b' },
      { amount_usd: 1, note: 5 },
      '[]',
    ])
      t.match(
        await front.call('POST', '/credits', { body }),
        { status: 400, type: 'body_invalid' },
        JSON.stringify(body).slice(0, 60),
      )
    t.equal((await add(front, 1, { note: 'a'.repeat(CREDIT_NOTE_CHARS_MAX) })).status, 200)
    t.match(await add(front, USD_MAX), { status: 400, type: 'credit_out_of_range' })
    t.match(await add(front, USD_MAX - 1), { status: 200, body: { data: { total_credits: USD_MAX } } })
  },
)

t.test('first top-ups that race book one opening, and the limit is the sum of all', async (t) => {
  const front = await openInternsFront(t)
  const { store, organizationId } = front
  await setAccount(store, organizationAccount(organizationId), { lifetime_spent_nano: '7' })
  await Promise.all(Array.from({ length: 10 }, (_, nth) => add(front, nth + 1)))
  const entries = must(await listCredits(store, organizationId))
  t.equal(entries.filter(({ kind }) => kind === 'opening').length, 1)
  t.equal(
    entries.reduce((sum, { amountNano }) => sum + amountNano, 0n),
    55_000_000_007n,
  )
  t.match(await store.sql`SELECT limit_nano FROM account_limits`, [{ limit_nano: '55000000007' }])
})

t.test(
  'a repeated Idempotency-Key books once, even if the first call failed before its answer was stored',
  async (t) => {
    const front = await openInternsFront(t)
    const { store, organizationId, call } = front
    const headers = { 'idempotency-key': 'k1' }
    const first = await add(front, 5, { note: 'n' }, headers)
    const replay = await add(front, 5, { note: 'n' }, headers)
    t.same([replay.status, replay.body, replay.headers.get('idempotent-replayed')], [200, first.body, 'true'])
    t.match(await add(front, 6, { note: 'n' }, headers), { status: 400, type: 'idempotency_mismatch' })
    const die = () => store.sql`
    UPDATE idempotency SET state = 'running', lease_until = clock_timestamp() - interval '1 s', body_sha256 = NULL, answer = NULL, answered_at = NULL`
    await die()
    t.same((await add(front, 5, { note: 'n' }, headers)).body['data'], first.body['data'])
    await die()
    t.match(await add(front, 6, { note: 'n' }, headers), { status: 400, type: 'idempotency_mismatch' })
    t.equal(must(await listCredits(store, organizationId)).length, 1)
    await add(front, 5, { note: 'n' })
    t.match((await call('GET', '/credits')).body, { data: { total_credits: 10 } })
  },
)

t.test(
  'inference and intern keys are the wrong kind for credit, and an organization reads only its own',
  async (t) => {
    const front = await openInternsFront(t)
    const { call, key, store, intern, foreignKey } = front
    const input = { internId: await intern(), organizationId: null }
    for (const wrong of [await key('inference'), must(await createInternKey(store, input, CLI)).key]) {
      t.match(await call('GET', '/credits', { key: wrong }), { status: 403, type: 'wrong_key_kind' })
      t.match(await call('POST', '/credits', { key: wrong, body: { amount_usd: 1 } }), {
        status: 403,
        type: 'wrong_key_kind',
      })
    }
    await add(front, 5)
    t.match((await call('GET', '/credits', { key: foreignKey })).body, {
      data: { total_credits: 0, is_unlimited: true },
    })
  },
)

t.test(
  'a top-up is published to every key of the organization, audited, and pending until all fronts have applied it',
  async (t) => {
    const { store, organizationId, call } = await openInternsFront(t)
    await store.sql`INSERT INTO fronts (id, node, connections, epoch, heartbeat_at) VALUES (${newId()}, 'n', 1, 0, clock_timestamp())`
    const published: unknown[] = []
    const credits = openCredits({
      store,
      hints: { publish: (change) => Promise.resolve(void published.push(change)) },
      appliedWaitMs: 20,
    })
    const added = must(
      await credits.add(
        { organizationId, amountNano: 5n, note: 'n', claim: null },
        { ...CLI, operation: 'cli.credits-add' },
      ),
    )
    t.equal(added.state.isEffective, false)
    t.equal(added.entry.createdBy, 'cli ann')
    t.match(published, [{ kind: 'organization', id: organizationId }])
    t.match((await call('GET', '/credits')).body, { data: { effective: 'pending' } })
    await store.sql`UPDATE fronts SET epoch = (SELECT n FROM epoch)`
    t.match((await call('GET', '/credits')).body, { data: { effective: 'now' } })
    t.match(await auditOf(store), [
      {
        operation: 'cli.credits-add',
        object_kind: 'credit',
        object_id: added.entry.id,
        workspace_id: null,
        before: null,
        after: { kind: 'top_up', amount_usd: 5e-9, note: 'n', total_credits: 5e-9 },
      },
    ])
  },
)

function add(
  { call }: Pick<InternsFront, 'call'>,
  usd: number,
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Answered> {
  return call('POST', '/credits', { body: { amount_usd: usd, ...more }, headers })
}
