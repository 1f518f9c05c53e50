/** Calls to models of one organization that uses more than its part of a slow loop. Time is that of the test. */
import t from 'tap'
import { CALL_HELD_MS_MAX, LOOP_SLOW_MS, LoopBudget } from '../../../../src/server/structures/loop-budget.ts'
import { accessTo, KEY, keyRecords, openFront, operation, OTHER_KEY } from '../../../support/front.ts'
import { until } from '../../../support/wait.ts'

t.test('a call above the share of its organization is held, and calls of others are not', async (t) => {
  let nowMs = 0
  let over: (() => void)[] = []
  const checks: (() => void)[] = []
  const budget = new LoopBudget({
    now: () => nowMs,
    afterTurn: (run) => void over.push(run),
    later: (_, run) => void checks.push(run),
  })
  const records = new Map(
    [...keyRecords()].map(([hash, record], at) => [
      hash,
      { ...record, organizationId: at === 1 ? 'other' : 'large' },
    ]),
  )
  const ran: string[] = []
  const { url } = await openFront(
    t,
    [
      operation({
        id: 'test.write',
        tag: 'inference',
        method: 'post',
        path: '/write',
        input: { body: 'test_webhook' },
        statuses: [400, 401, 429, 500],
        run: ({ key }) => {
          ran.push(key.organizationId)
          return { ok: true, value: { kind: 'json', value: {} } }
        },
      }),
    ],
    { access: accessTo(records), budget },
  )
  const ask = async (key: string): Promise<number> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const body = '{"url":"https://example.com/"}'
    return (await fetch(`${url}/api/v1/write`, { method: 'POST', headers, body })).status
  }
  t.equal(await ask(OTHER_KEY), 200)
  budget.book('large', 1_000)
  nowMs += LOOP_SLOW_MS + 1
  for (const run of over.splice(0)) run()
  over = []
  const held = ask(KEY)
  await until(() => checks.length === 1)
  t.equal(await ask(OTHER_KEY), 200)
  t.same(ran, ['other', 'other'])
  nowMs += CALL_HELD_MS_MAX
  for (const check of checks.splice(0)) check()
  t.equal(await held, 200)
  t.same(ran, ['other', 'other', 'large'])
})
