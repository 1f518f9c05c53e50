import t from 'tap'
import { workspaceAccount } from '../../../../src/schemas/money/accounts.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { setAccount, turnTo } from '../../../support/money/accounts.ts'
import { dataOf, put } from '../../../support/money/budget-calls.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { openInternsFront, type Answered } from '../../../support/workspaces/interns-front.ts'
import { must } from '../../../support/must.ts'

const NOBODY = '019a5b0c-4e21-7b1c-8d3e-4f5a6b7c8d9e'
/** For tests of the spend of a window: it does not end while they run. */
const TODAY = '2024-02-28'
const INTERVALS = ['daily', 'weekly', 'monthly', 'lifetime'] as const
/** For tests that change nothing: their refusals need no store of their own. */
const refusing = openInternsFront(t)
const EVERY: readonly (readonly [string, string])[] = [
  ['GET', ''],
  ['GET', '/daily'],
  ['PUT', '/daily'],
  ['DELETE', '/daily'],
]

t.test('budgets.put 200: creates and changes a budget; budgets.get reads it by slug and id', async (t) => {
  const { call, workspace, store } = await openInternsFront(t)
  await turnTo(store, TODAY)
  const made = await put({ call }, 'monthly', 250.5)
  const data = dataOf(made)
  t.equal(made.status, 200)
  t.same(Object.keys(data), [
    'id',
    'workspace_id',
    'limit_usd',
    'reset_interval',
    'created_at',
    'updated_at',
    'effective',
    'spent_usd',
    'lent_usd',
    'resets_at',
  ])
  t.match(made.body, {
    data: {
      workspace_id: workspace.id,
      limit_usd: 250.5,
      reset_interval: 'monthly',
      effective: 'now',
      spent_usd: 0,
      lent_usd: 0,
    },
    include_byok_in_budgets: false,
  })
  for (const ref of ['default', workspace.id, workspace.id.toUpperCase()])
    t.same((await call('GET', `/workspaces/${ref}/budgets/monthly`)).body, made.body, ref)
  const changed = dataOf(await put({ call }, 'monthly', 0.1))
  t.match(changed, { id: data['id'], limit_usd: 0.1, created_at: data['created_at'] })
  t.ok(String(changed['updated_at']) > String(data['updated_at']))
})

t.test('budgets.get 200: returns the spend of the period, the held money, and the reset time', async (t) => {
  const front = await openInternsFront(t)
  await turnTo(front.store, '2024-02-29')
  await setAccount(front.store, workspaceAccount(front.workspace.id), {
    day: '2024-02-29',
    daily_spent_nano: '1500000000',
    weekly_spent_nano: '2500000000',
    monthly_spent_nano: '3500000001',
    lifetime_spent_nano: '1',
    daily_byok_nano: '100',
    daily_lent_nano: '20',
  })
  for (const [nth, interval] of INTERVALS.entries()) await put(front, interval, 100 * (nth + 1))
  const read = async (interval: string): Promise<unknown> =>
    dataOf(await front.call('GET', `/workspaces/default/budgets/${interval}`))
  t.match(await read('daily'), { spent_usd: 1.5, lent_usd: 2e-8, resets_at: '2024-03-01T00:00:00.000Z' })
  t.match(await read('weekly'), { spent_usd: 2.5, lent_usd: 0, resets_at: '2024-03-04T00:00:00.000Z' })
  t.match(await read('monthly'), { spent_usd: 3.500000001, resets_at: '2024-03-01T00:00:00.000Z' })
  t.match(await read('lifetime'), { spent_usd: 1e-9, resets_at: null })
  await turnTo(front.store, '2024-03-01')
  t.match(await read('daily'), { spent_usd: 0, lent_usd: 0, resets_at: '2024-03-02T00:00:00.000Z' })
  t.match(await read('weekly'), { spent_usd: 2.5 })
  t.match(await read('monthly'), { spent_usd: 0, resets_at: '2024-04-01T00:00:00.000Z' })
})

t.test(
  'budgets.list 200: returns all budgets of the workspace only, from the shortest interval to the longest',
  async (t) => {
    const front = await openInternsFront(t)
    t.same((await front.call('GET', '/workspaces/default/budgets')).body, {
      data: [],
      include_byok_in_budgets: false,
    })
    for (const [interval, limit] of [
      ['lifetime', 40],
      ['daily', 1],
      ['monthly', 3],
    ] as const)
      await put(front, interval, limit)
    await put(front, 'weekly', 7, {}, 'other')
    const { status, body } = await front.call('GET', '/workspaces/default/budgets')
    t.equal(status, 200)
    t.match(body['data'], [
      { reset_interval: 'daily', limit_usd: 1 },
      { reset_interval: 'monthly' },
      { reset_interval: 'lifetime' },
    ])
    t.equal((body['data'] as unknown[]).length, 3)
    t.match((await front.call('GET', '/workspaces/other/budgets')).body, {
      data: [{ reset_interval: 'weekly', limit_usd: 7 }],
    })
  },
)

t.test(
  'budgets.delete 200: also without a budget; a new budget on the same interval includes the earlier spend',
  async (t) => {
    const front = await openInternsFront(t)
    const account = workspaceAccount(front.workspace.id)
    await turnTo(front.store, TODAY)
    await put(front, 'daily', 5)
    await setAccount(front.store, account, { daily_spent_nano: '4000000000' })
    const first = dataOf(await put(front, 'daily', 6))
    for (let nth = 0; nth < 2; nth++)
      t.match(await front.call('DELETE', '/workspaces/default/budgets/daily'), {
        status: 200,
        body: { deleted: true },
      })
    t.match(await front.call('GET', '/workspaces/default/budgets/daily'), {
      status: 404,
      type: 'budget_unknown',
    })
    const again = dataOf(await put(front, 'daily', 6))
    t.match(again, { spent_usd: 4 })
    t.not(again['id'], first['id'])
  },
)

for (const title of [
  'budgets.list 404: GET ',
  'budgets.get 404: GET /daily',
  'budgets.put 404: PUT /daily',
  'budgets.delete 404: DELETE /daily',
]) {
  const [method = '', rest = ''] = (title.split(': ')[1] ?? '').split(' ')
  t.test(
    `${title} of an unknown or deleted workspace or of another organization's workspace, with the same message`,
    async (t) => {
      const { call, store, workspace, other, foreignKey } = await refusing
      await store.sql`UPDATE workspaces SET deleted_at = clock_timestamp() WHERE id = ${other.id}`
      const more = method === 'PUT' ? { body: { limit_usd: 5 } } : {}
      const answer = await Promise.all([
        call(method, `/workspaces/nowhere/budgets${rest}`, more),
        call(method, `/workspaces/${NOBODY}/budgets${rest}`, more),
        call(method, `/workspaces/other/budgets${rest}`, more),
        call(method, `/workspaces/${other.id}/budgets${rest}`, more),
        call(method, `/workspaces/a%00b/budgets${rest}`, more),
        call(method, `/workspaces/${workspace.id}/budgets${rest}`, { key: foreignKey, ...more }),
      ])
      const withoutName = (text: string): string => text.replace(/ `[^`]*` was not found\.$/, '')
      const found = answer
        .map(textOf)
        .map(([status, type, text]) => [status, type, withoutName(String(text))])
      t.same(
        found,
        answer.map(() => [404, 'workspace_unknown', 'There is no such workspace.']),
      )
      t.same(await store.sql`SELECT * FROM account_limits`, [])
    },
  )
}

t.test('budgets.get 404: a workspace without a budget on that interval', async (t) => {
  const front = await openInternsFront(t)
  await put(front, 'daily', 5)
  t.same(textOf(await front.call('GET', '/workspaces/default/budgets/weekly')), [
    404,
    'budget_unknown',
    'The workspace has no budget for this interval.',
  ])
})

for (const title of ['budgets.get 400: GET', 'budgets.put 400: PUT', 'budgets.delete 400: DELETE']) {
  const method = title.split(': ')[1] ?? ''
  t.test(`${title} of an interval that does not exist`, async (t) => {
    const { call } = await refusing
    const more = method === 'PUT' ? { body: { limit_usd: 1 } } : {}
    for (const interval of ['yearly', 'Daily', 'null', '%00'])
      t.match(
        await call(method, `/workspaces/default/budgets/${interval}`, more),
        { status: 400, type: 'params_invalid' },
        interval,
      )
  })
}

t.test('inference and intern keys are the wrong kind for every operation of budgets', async (t) => {
  const { call, key, store, intern } = await refusing
  const input = { internId: await intern(), organizationId: null }
  for (const wrong of [await key('inference'), must(await createInternKey(store, input, CLI)).key]) {
    for (const [method, rest] of EVERY) {
      const answer = await call(method, `/workspaces/default/budgets${rest}`, {
        key: wrong,
        ...(method === 'PUT' && { body: { limit_usd: 1 } }),
      })
      t.match(answer, { status: 401, type: 'wrong_key_kind' }, method + rest)
    }
  }
})

t.test(
  'include_byok_in_budgets applies to all budgets of the workspace, and keeps its value when it is omitted',
  async (t) => {
    const front = await openInternsFront(t)
    await turnTo(front.store, TODAY)
    await setAccount(front.store, workspaceAccount(front.workspace.id), {
      daily_spent_nano: '1',
      daily_byok_nano: '10',
      monthly_byok_nano: '100',
    })
    await put(front, 'monthly', 10)
    t.match(await put(front, 'daily', 5, { include_byok_in_budgets: true }), {
      body: { data: { spent_usd: 11e-9 }, include_byok_in_budgets: true },
    })
    t.match(await put(front, 'daily', 6), { body: { include_byok_in_budgets: true } })
    t.match((await front.call('GET', '/workspaces/default/budgets/monthly')).body, {
      data: { spent_usd: 100e-9 },
      include_byok_in_budgets: true,
    })
    t.match(await front.call('GET', '/workspaces/default/budgets'), {
      body: { include_byok_in_budgets: true },
    })
    t.match(await put(front, 'daily', 6, { include_byok_in_budgets: false }), {
      body: { data: { spent_usd: 1e-9 }, include_byok_in_budgets: false },
    })
  },
)

t.test('adds every change to the audit log and the epoch, and an empty change to neither', async (t) => {
  const front = await openInternsFront(t)
  const { store, workspace, call } = front
  const epoch = async (): Promise<number> => Number((await store.sql`SELECT n FROM epoch`)[0]?.['n'])
  await call('DELETE', '/workspaces/default/budgets/daily')
  t.same(await auditOf(store), [])
  const before = await epoch()
  const { id } = dataOf(await put(front, 'daily', 5)) as { id: string }
  await put(front, 'daily', 4, { include_byok_in_budgets: true })
  await put(front, 'weekly', 1)
  await call('DELETE', '/workspaces/default/budgets/daily')
  const event = {
    workspace_id: workspace.id,
    object_kind: 'budget',
    object_id: id,
    outcome: 'changed',
    actor: { kind: 'key' },
  }
  t.match(await auditOf(store), [
    {
      ...event,
      operation: 'budgets.put',
      before: null,
      after: { reset_interval: 'daily', limit_usd: 5, include_byok_in_budgets: false },
    },
    {
      ...event,
      operation: 'budgets.put',
      before: { limit_usd: 5 },
      after: { limit_usd: 4, include_byok_in_budgets: true },
    },
    { ...event, operation: 'budgets.delete', before: { limit_usd: 4 }, after: null },
  ])
  t.equal((await auditOf(store)).length, 3)
  t.equal(await epoch(), before + 3)
  const [account] =
    await store.sql`SELECT limits_epoch::int AS n FROM accounts WHERE id = ${workspaceAccount(workspace.id)}`
  t.equal(account?.['n'], before + 3)
})

function textOf({ status, type, body }: Answered): readonly unknown[] {
  return [status, type, (body['error'] as { message: string }).message]
}
