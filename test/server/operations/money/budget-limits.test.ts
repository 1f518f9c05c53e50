/** Allowed limits of a budget, their order, and when a limit is in force. */
import t from 'tap'
import { workspaceAccount } from '../../../../src/schemas/money/accounts.ts'
import { USD_MAX } from '../../../../src/schemas/money/money-limits.ts'
import { openBudgets } from '../../../../src/server/store/money/budgets.ts'
import { newId } from '../../../../src/server/store/base/ids.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { setAccount, turnTo } from '../../../support/money/accounts.ts'
import { dataOf, put } from '../../../support/money/budget-calls.ts'
import { must } from '../../../support/must.ts'
import { openInternsFront } from '../../../support/workspaces/interns-front.ts'

const NOBODY = '019a5b0c-4e21-7b1c-8d3e-4f5a6b7c8d9e'
/** For tests of the spend of a window: it does not end while they run. */
const TODAY = '2024-02-28'
const INTERVALS = ['daily', 'weekly', 'monthly', 'lifetime'] as const

t.test('budgets.put 400: refuses a limit that is not an amount above 0', async (t) => {
  const { call } = await openInternsFront(t)
  for (const body of [
    {},
    { limit_usd: null },
    { limit_usd: '5' },
    { limit_usd: 0 },
    { limit_usd: -1 },
    { limit_usd: 0.4e-9 },
    { limit_usd: USD_MAX * 1.000001 },
    { limit_usd: 5, include_byok_in_budgets: 'yes' },
    '[]',
  ])
    t.match(
      await call('PUT', '/workspaces/default/budgets/daily', { body }),
      { status: 400, type: 'body_invalid' },
      JSON.stringify(body),
    )
  t.match(await call('GET', '/workspaces/default/budgets'), { body: { data: [] } })
  for (const limit of [1e-9, USD_MAX])
    t.match(dataOf(await put({ call }, 'daily', limit)), { limit_usd: limit })
})

t.test('a limit is rounded to whole nano-USD, and other members of the body are ignored', async (t) => {
  const front = await openInternsFront(t)
  t.match(dataOf(await put(front, 'daily', 0.1234567896, { id: NOBODY, reset_interval: 'weekly' })), {
    limit_usd: 0.12345679,
    reset_interval: 'daily',
  })
})

t.test('budgets.put 400: refuses limits that are out of order, and names the other budget', async (t) => {
  const front = await openInternsFront(t)
  await put(front, 'weekly', 10)
  const refusals: readonly (readonly [string, number, string])[] = [
    ['daily', 10, 'is not below the weekly budget, expected less than 10'],
    ['daily', 11, 'is not below the weekly budget'],
    ['monthly', 10, 'is not above the weekly budget, expected more than 10'],
    ['lifetime', 9, 'is not above the weekly budget'],
  ]
  for (const [interval, limit, words] of refusals) {
    const answer = await put(front, interval, limit)
    t.match(
      answer,
      {
        status: 400,
        type: 'budgets_unordered',
        body: { error: { message: words, metadata: { issues: [{ path: '/limit_usd' }] } } },
      },
      words,
    )
  }
  for (const [interval, limit] of [
    ['daily', 9.999999999],
    ['lifetime', 12],
    ['monthly', 11],
  ] as const)
    t.equal((await put(front, interval, limit)).status, 200, interval)
  t.match(await put(front, 'weekly', 11), {
    status: 400,
    body: { error: { message: /is not below the monthly budget/ } },
  })
  t.match(await put(front, 'weekly', 9), {
    status: 400,
    body: { error: { message: /is not above the daily budget/ } },
  })
  t.match(
    await front.call('GET', '/workspaces/default/budgets/weekly'),
    { body: { data: { limit_usd: 10 } } },
    'what was refused changed nothing',
  )
})

t.test('racing changes leave the budgets in order', async (t) => {
  const front = await openInternsFront(t)
  for (let round = 1; round <= 8; round++) {
    await Promise.all(
      INTERVALS.map((interval) => front.call('DELETE', `/workspaces/default/budgets/${interval}`)),
    )
    const answer = await Promise.all([
      put(front, 'daily', 5),
      put(front, 'weekly', 4),
      put(front, 'monthly', 5),
      put(front, 'lifetime', 3),
    ])
    t.ok(answer.every(({ status, type }) => status === 200 || type === 'budgets_unordered'))
    const { data } = (await front.call('GET', '/workspaces/default/budgets')).body as {
      data: { limit_usd: number }[]
    }
    const limits = data.map(({ limit_usd }) => limit_usd)
    t.same(
      limits,
      limits.toSorted((one, other) => one - other),
    )
    t.equal(new Set(limits).size, limits.length)
    t.ok(limits.length > 0)
  }
})

t.test(
  'a limit below the spent and lent money is pending until it covers them, and takes effect at exactly that amount',
  async (t) => {
    const front = await openInternsFront(t)
    const account = workspaceAccount(front.workspace.id)
    await turnTo(front.store, TODAY)
    const effective = async (): Promise<unknown> =>
      dataOf(await front.call('GET', '/workspaces/default/budgets/daily'))['effective']
    await setAccount(front.store, account, {
      daily_spent_nano: '3000000000',
      daily_byok_nano: '9000000000',
      daily_lent_nano: '2000000001',
    })
    t.match(dataOf(await put(front, 'daily', 5)), { effective: 'pending', lent_usd: 2.000000001 })
    t.equal(await effective(), 'pending')
    await setAccount(front.store, account, { daily_lent_nano: '2000000000' })
    t.equal(await effective(), 'now')
    await setAccount(front.store, account, { counts_byok: true })
    t.equal(await effective(), 'pending')
  },
)

t.test('a limit is pending until every live front has applied it', async (t) => {
  const front = await openInternsFront(t)
  const { store, organizationId } = front
  const id = newId()
  await store.sql`INSERT INTO fronts (id, node, connections, epoch, heartbeat_at) VALUES (${id}, 'n', 1, 0, clock_timestamp())`
  const published: unknown[] = []
  const budgets = openBudgets({
    store,
    hints: { publish: (change) => Promise.resolve(void published.push(change)) },
    appliedWaitMs: 20,
  })
  const ref = { organizationId, workspace: 'default', span: 'daily' } as const
  t.equal(
    must(await budgets.put(ref, { limitNano: 1n }, { ...CLI, operation: 'test' })).budget.isEffective,
    false,
  )
  t.match(published, [{ kind: 'workspace', id: front.workspace.id }])
  t.match(await front.call('GET', '/workspaces/default/budgets'), {
    body: { data: [{ effective: 'pending' }] },
  })
  await store.sql`UPDATE fronts SET epoch = (SELECT n FROM epoch)`
  t.match(await front.call('GET', '/workspaces/default/budgets/daily'), {
    body: { data: { effective: 'now' } },
  })
  await store.sql`UPDATE fronts SET epoch = 0, heartbeat_at = clock_timestamp() - interval '1 day'`
  t.match(
    await front.call('GET', '/workspaces/default/budgets/daily'),
    { body: { data: { effective: 'now' } } },
    'a dead front spends nothing',
  )
})
