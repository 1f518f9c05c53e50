import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { WEBHOOK_OVERLAP_MS_MAX } from '../../../../src/schemas/webhooks/webhook-limits.ts'
import { overlapOf } from '../../../../src/server/cli/webhooks/webhooks.ts'
import type { DeliveryResult } from '../../../../src/server/ports/webhooks/webhooks.ts'
import { openDeliveries } from '../../../../src/server/store/webhooks/deliveries.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { openInstallation } from '../../../support/operator/installation.ts'
import { delivery, outboxed, input } from '../../../support/webhooks/webhooks.ts'

t.setTimeout(600_000)

const FAILED: DeliveryResult = { kind: 'failed', status: 500, reason: 'status', retryAfterMs: null }

async function stand(t: Test) {
  const installation = await openInstallation(t, { SLUICE_ROOT_KEY: randomBytes(32).toString('hex') })
  return {
    ...installation,
    /** Ends all that wait. @returns their ids */
    async end(result: DeliveryResult): Promise<readonly string[]> {
      const deliveries = openDeliveries(installation)
      const claims = await deliveries.claim(input())
      for (const claim of claims) await deliveries.book(claim, result, null)
      return claims.map(({ id }) => id)
    },
  }
}

t.test('webhooks list shows the state of deliveries, and only the host of their addresses', async (t) => {
  const { store, workspaceId, end, run } = await stand(t)
  await outboxed(store, [delivery(workspaceId)])
  const [id = ''] = await end(FAILED)
  await outboxed(store, [delivery(workspaceId)])
  const all = await run('webhooks list')
  t.match(
    all.stdout,
    /^ID +JOB +HOST +STATE +ATTEMPTS +LAST +NEXT ATTEMPT OR END\n.*waiting +0.*\n.*hooks\.example +dead +1 +status 500 /,
  )
  const dead = await run('webhooks list --state dead --workspace default --json')
  t.match(JSON.parse(dead.stdout), {
    data: [
      {
        id,
        workspace_id: workspaceId,
        host: 'hooks.example',
        state: 'dead',
        attempts: 1,
        last_reason: 'status',
      },
    ],
  })
  t.notOk(`${all.stdout}${dead.stdout}`.includes('token'))
  t.match(await run('webhooks list --workspace nowhere'), { code: 1 })
})

t.test(
  'a replayed delivery is due again with all its attempts, its id and its body, and the replay is audited',
  async (t) => {
    const { store, workspaceId, end, run } = await stand(t)
    const reported = delivery(workspaceId)
    await outboxed(store, [reported])
    const [id = ''] = await end(FAILED)
    t.match(await run(`webhooks replay ${id}`), { code: 0, stdout: '1 delivery queued again\n' })
    t.match(await openDeliveries({ store }).claim(input()), [
      { id, body: reported.body, idempotencyKey: reported.idempotencyKey, tries: 0 },
    ])
    t.match(await run(`webhooks replay ${id}`), { code: 1, stderr: /already waiting for its next attempt/ })
    t.match(await run('webhooks replay nothing'), { code: 1 })
    t.match(await auditOf(store), [
      { operation: 'cli.webhooks-replay', object_id: id, actor: { kind: 'cli' }, before: { state: 'dead' } },
    ])
  },
)

t.test('replay --dead takes all dead letters, and no delivered webhooks', async (t) => {
  const { store, workspaceId, end, run } = await stand(t)
  await outboxed(store, [delivery(workspaceId), delivery(workspaceId), delivery(workspaceId)])
  await end(FAILED)
  await outboxed(store, [delivery(workspaceId)])
  await end({ kind: 'delivered', status: 200 })
  t.match(await run('webhooks replay --dead --workspace default --json'), {
    code: 0,
    stdout: '{"replayed":3}\n',
  })
  t.same(await openDeliveries({ store }).counts(), { waiting: 3, dead: 0 })
  t.match(await run('webhooks replay --dead'), { stdout: '0 deliveries queued again\n' })
})

t.test('a replay retries an address that answered 410', async (t) => {
  const { store, workspaceId, end, run } = await stand(t)
  await outboxed(store, [delivery(workspaceId)])
  const [id = ''] = await end({ kind: 'gone', status: 410 })
  await run(`webhooks replay ${id}`)
  t.match(await openDeliveries({ store }).claim(input()), [{ id, isDisabled: false }])
})

t.test('replay takes an id or --dead', async (t) => {
  const { run } = await stand(t)
  t.equal((await run('webhooks replay')).code, 2)
  t.match(await run('webhooks replay --dead --organization acme'), {
    code: 2,
    stderr: /--organization requires --workspace/,
  })
  t.equal((await run('webhooks list --organization acme')).code, 2)
  t.equal((await run('webhooks replay 0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b --dead')).code, 2)
})

t.test(
  'webhooks secret shows the secret and rotates it with an overlap; both are audited without the secret',
  async (t) => {
    const { store, run } = await stand(t)
    const shown = (await run('webhooks secret show default')).stdout.trim()
    t.match(shown, /^whsec_[A-Za-z0-9+/]{43}=$/)
    const rotated = (await run('webhooks secret rotate default --overlap 1h')).stdout.trim().split('\n')
    t.equal(rotated.length, 2)
    t.match(rotated[1], new RegExp(`^${shown.replace(/[+/]/g, '\\$&')}  until \\d{4}-`))
    const now = JSON.parse((await run('webhooks secret rotate default --overlap 0s --json')).stdout) as {
      data: readonly { secret: string }[]
    }
    t.notOk(now.data.some(({ secret }) => rotated[0]?.startsWith(secret)))
    const events = await auditOf(store)
    t.match(events, [
      { operation: 'cli.webhooks-secret-show', outcome: 'released' },
      { operation: 'cli.webhooks-secret-rotate' },
      { operation: 'cli.webhooks-secret-rotate' },
    ])
    t.notOk(JSON.stringify(events).includes(shown.slice(6)))
    t.equal((await run('webhooks secret rotate default --overlap 721h')).code, 2)
  },
)

t.test('an overlap is a duration of up to 30 days', async (t) => {
  t.same(['0s', '90s', '30m', '24h', '720h'].map(overlapOf), [
    0,
    90_000,
    1_800_000,
    86_400_000,
    WEBHOOK_OVERLAP_MS_MAX,
  ])
  for (const text of ['', '1', '1d', '-1h', '1.5h', '721h', 'h', '1e3s', ' 1h'])
    t.throws(() => overlapOf(text), text)
})

t.test('doctor counts dead letters', async (t) => {
  const { store, workspaceId, end, run } = await stand(t)
  await outboxed(store, [delivery(workspaceId)])
  const logged = async (): Promise<unknown> =>
    (JSON.parse((await run('doctor --json')).stdout) as { findings: { check: string }[] }).findings.find(
      ({ check }) => check === 'webhooks',
    )
  t.match(await logged(), { level: 'ok', detail: 'webhooks waiting for an attempt: 1; none was given up' })
  await end(FAILED)
  t.match(await logged(), {
    level: 'warning',
    detail: /^1 failed webhook delivery,/,
    fix: / webhooks list --state dead`, then replay all with `.* webhooks replay --dead`/,
  })
})
