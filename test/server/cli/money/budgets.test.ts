import t from 'tap'
import { organizationAccount, workspaceAccount } from '../../../../src/schemas/money/accounts.ts'
import { limitOf, usdAmountOf } from '../../../../src/server/cli/money/budgets.ts'
import { setAccount, turnTo } from '../../../support/money/accounts.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { openInstallation } from '../../../support/operator/installation.ts'

t.setTimeout(600_000)

t.test('budgets put, get, list and delete do the same as the routes of the API', async (t) => {
  const { store, workspaceId, run, json } = await openInstallation(t)
  await setAccount(store, workspaceAccount(workspaceId), { lifetime_spent_nano: '1500000000' })
  const put = await run('budgets put default lifetime 12.5 --include-byok on')
  t.match(put, {
    code: 0,
    stdout:
      /^INTERVAL +LIMIT +SPENT +LENT +EFFECTIVE +RESETS\nlifetime +12\.5 +1\.5 +0 +now +never\nspend on .* counts\n$/,
  })
  t.match(await run(`budgets put ${workspaceId} daily 13`), {
    code: 1,
    stderr: /is not below the lifetime budget/,
  })
  t.match(await run('budgets put default daily 0.000000001'), { code: 0 })
  const listed = await json('budgets list default')
  t.match(listed, {
    data: [{ reset_interval: 'daily', limit_usd: 1e-9 }, { reset_interval: 'lifetime' }],
    include_byok_in_budgets: true,
  })
  t.match(await run('budgets delete default daily'), { code: 0, stdout: 'no daily budget\n' })
  t.match(await run('budgets get default daily'), { code: 1, stderr: /no budget for this interval/ })
  t.match(await auditOf(store), [
    { operation: 'cli.budgets-put', actor: { kind: 'cli' } },
    {},
    { operation: 'cli.budgets-delete' },
  ])
})

t.test(
  'an amount on the command line is plain USD with at most nine decimal places, and a limit is above 0',
  async (t) => {
    t.same(['12.5', '-0.000000001', '0', '1000000000'].map(usdAmountOf), [
      12_500_000_000n,
      -1n,
      0n,
      10n ** 18n,
    ])
    for (const text of ['', '1e3', '.5', '1.', '0.0000000001', '1000000000.1', '+1', '0x1', 'NaN'])
      t.throws(() => usdAmountOf(text), text)
    t.throws(() => limitOf('0'))
    t.throws(() => limitOf('-1'))
  },
)

t.test('credits add, show and list report the money that an organization may spend', async (t) => {
  const { store, organizationId, run } = await openInstallation(t)
  await setAccount(store, organizationAccount(organizationId), { lifetime_spent_nano: '250000000' })
  t.match(await run('credits show'), { stdout: 'credit  unlimited\nspent   0.25\n' })
  const booked = /credit +100\.25\nremaining +100\nlent +0\neffective +now\nspent +0\.25\nentry /
  t.match(await run('credits', 'add', '100', '--note', 'invoice 7'), { code: 0, stdout: booked })
  t.match(await run('credits add -0.5 --note refund'), { code: 0, stdout: /remaining +99\.5\n/ })
  t.match(
    (await run('credits list')).stdout,
    /KIND.*\n.*correction +-0\.5 .*refund\n.*top_up +100 .*invoice 7\n.*opening +0\.25/,
  )
})

t.test('usage sums the spend, with a total', async (t) => {
  const { store, organizationId, workspaceId, run, json } = await openInstallation(t)
  await turnTo(store, '2024-03-01')
  for (const [day, model] of [
    ['2024-03-01', 'm/1'],
    ['2024-02-29', 'm/2'],
  ]) {
    await store.sql`
      INSERT INTO activity (organization_id, day, workspace_id, key_hash, model, requests, tokens, milliseconds, spent_nano, byok_nano, forfeited_nano)
      VALUES (${organizationId}, ${day ?? ''}, ${workspaceId}, ${'a'.repeat(64)}, ${model ?? ''}, 2, 10, 0, 1500000000, 0, 7)`
  }
  const days = (await run('usage')).stdout
  t.match(
    days,
    /^DAY +REQUESTS +TOKENS +CACHED +OUTPUT TOKENS +USD.*\n2024-03-01 +2 +10 +0 % +0 +1\.5 +0 +0\.000000007\n/,
  )
  t.match(days, /\n2024-02-29 .*\n2024-02-01 to 2024-03-01 +4 +20 +0 % +0 +3 /)
  t.match(await json('usage --by model --from 2024-03-01 --workspace default'), {
    data: [{ name: 'm/1', usage: 1.5 }],
    total: { requests: 2, usage: 1.5, forfeited: 7e-9 },
    from: '2024-03-01',
    to: '2024-03-01',
  })
  t.equal((await run('usage --from 2024-02-30')).code, 2)
})
