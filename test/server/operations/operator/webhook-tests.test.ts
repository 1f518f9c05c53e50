/** Webhooks as operators try them out: a test event over a real socket, and the events of ended jobs. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import {
  WEBHOOK_EVENTS_BACK_S_MAX,
  WEBHOOK_EVENTS_PAGE_MAX,
  WEBHOOK_HOST_CALLS_MAX,
} from '../../../../src/schemas/webhooks/webhook-limits.ts'
import { openEgress } from '../../../../src/server/egress/egress.ts'
import { openWebhookPorts } from '../../../../src/server/main/webhooks.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import { openDataKeys } from '../../../../src/server/store/vault/data-keys.ts'
import { openWebhookSecretRows } from '../../../../src/server/store/webhooks/secrets.ts'
import { openKeyRing } from '../../../../src/server/vault/key-ring.ts'
import { openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { openWebhookSecrets } from '../../../../src/server/vault/webhook-secrets.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { must, present } from '../../../support/must.ts'
import { until } from '../../../support/wait.ts'
import { startAuthority } from '../../../support/wire/certificate-authority.ts'
import { startReceiver, type Receiver } from '../../../support/webhooks/webhook-stand.ts'
import { verifiesAsB5, verifiesAsStandard } from '../../../support/webhooks/webhook-verifiers.ts'
import { delivery, outboxed } from '../../../support/webhooks/webhooks.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'
import { WEBHOOK_EVENTS_SETTLE_MS } from '../../../../src/server/store/webhooks/outbox.ts'

t.setTimeout(600_000)

const ORIGIN = 'https://sluice.example'

interface Stand extends InternsFront {
  readonly receiver: Receiver
  /** The secret that signs for the workspace `default`. */
  secret(): Promise<string>
}

async function stand(t: Test): Promise<Stand> {
  const authority = startAuthority(t)
  const receiver = await startReceiver(t, authority)
  const egress = openEgress({
    extraCa: [authority.root],
    allow: ['127.0.0.0/8'],
    resolve: (name) => Promise.resolve([name.startsWith('inside.') ? '10.0.0.7' : '127.0.0.1']),
  })
  t.teardown(() => egress.close())
  const late: { operatorWebhooks?: Ports['operatorWebhooks'] } = {}
  const operatorWebhooks: Ports['operatorWebhooks'] = {
    test: (...input) => present(late.operatorWebhooks).test(...input),
    events: (input) => present(late.operatorWebhooks).events(input),
  }
  const front = await openInternsFront(t, { egress, operatorWebhooks })
  const setting = new Secret(randomBytes(32).toString('hex'))
  const rootKeys = openRootKeys({ setting, file: null, dataDir: '/nowhere' })
  const { store, workspace } = front
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(store) })
  Object.assign(late, openWebhookPorts({ publicOrigin: ORIGIN }, { store, egress, keyRing }))
  const secrets = openWebhookSecrets({ rows: openWebhookSecretRows(store), keyRing, randomBytes })
  return {
    ...front,
    receiver,
    secret: async () => present(must(await secrets.current(workspace.id))[0]).text,
  }
}

const testOf = (front: Stand, body: object) => front.call('POST', '/admin/webhooks/test', { body })

t.test('admin.test_webhook 404: an unknown workspace, and one of another organization', async (t) => {
  const front = await stand(t)
  const body = { workspace_id: front.workspace.id, url: front.receiver.url() }
  const call = (more: object) => front.call('POST', '/admin/webhooks/test', { body, ...more })
  t.match(await call({ key: front.foreignKey }), { status: 404, type: 'workspace_unknown' })
  t.match(await testOf(front, { ...body, workspace_id: randomUUID() }), { status: 404 })
  t.same(front.receiver.received, [], 'nothing was sent')
})

t.test('admin.test_webhook 400: a forbidden address, and no address at all', async (t) => {
  const front = await stand(t)
  for (const url of [
    front.receiver.url().replace('https:', 'http:'),
    front.receiver.url('inside.a'),
    'https://10.0.0.7/in',
    'https://user:password@hooks.example/in',
    'https://hooks.example:25/in',
    'hooks.example',
  ])
    t.match(await testOf(front, { url }), { status: 400, type: 'callback_url_invalid' }, url)
  const none = await testOf(front, {})
  t.match(none, { status: 400, type: 'callback_url_invalid' })
  t.match(JSON.stringify(none.body), /has no default_callback_url/)
  t.match(await testOf(front, { url: 1 }), { status: 400 })
  t.same(front.receiver.received, [])
})

t.test('admin.test_webhook 200: a signed event reaches the default receiver of the workspace', async (t) => {
  const front = await stand(t)
  const change = { body: { default_callback_url: front.receiver.url() } }
  t.match(await front.call('PATCH', `/workspaces/${front.workspace.id}`, change), { status: 200 })
  const { status, body } = await testOf(front, { workspace_id: 'default' })
  t.equal(status, 200)
  t.match(body, {
    data: { delivered: true, status: 204, reason: null, host: 'a.hooks.example', duration_ms: Number },
  })
  const [received] = front.receiver.received
  const { headers, body: bytes } = present(received)
  const secret = await front.secret()
  t.ok(verifiesAsB5(secret, headers, bytes))
  t.ok(verifiesAsStandard(secret, headers, bytes))
  const eventId = (body['data'] as { event_id: string }).event_id
  t.equal(headers['webhook-id'], `msg_${eventId}`)
  t.match(JSON.parse(bytes.toString()), {
    type: 'webhook.test',
    data: { id: eventId, workspace_id: front.workspace.id },
  })
  t.notMatch(JSON.stringify(body), /token|hush/, 'of the address the host alone')
})

t.test('a call without a workspace uses the default workspace, whatever its slug', async (t) => {
  const front = await stand(t)
  const path = `/workspaces/${front.workspace.id}`
  t.match(await front.call('PATCH', path, { body: { slug: 'main' } }), { status: 200 })
  const id = await ended(front, front.workspace.id, 2)
  t.match(await testOf(front, { url: front.receiver.url() }), { status: 200 })
  t.match(await listed(front, 'seconds=60'), { data: [{ job_id: id }] })
})

t.test('a refusal by the receiver is reported with its status, and is not retried', async (t) => {
  const front = await stand(t)
  for (const [status, reason] of [
    [500, 'status'],
    [410, 'gone'],
    [302, 'redirect'],
  ] as const) {
    front.receiver.answerWith((res) => void res.writeHead(status, { location: '/elsewhere' }).end())
    t.match(await testOf(front, { url: front.receiver.url() }), {
      status: 200,
      body: { data: { delivered: false, status, reason } },
    })
  }
  front.receiver.answerWith((res) => void res.destroy())
  t.match(await testOf(front, { url: front.receiver.url() }), {
    status: 200,
    body: { data: { delivered: false, status: null, reason: 'unreachable' } },
  })
  t.equal(front.receiver.received.length, 4)
  const [left] = await front.store.sql`SELECT count(*)::int AS n FROM webhook_deliveries`
  t.same(left, { n: 0 })
})

t.test(
  'a receiver that answered a delivery with 410 gets no test until the delivery is replayed',
  async (t) => {
    const front = await stand(t)
    const url = front.receiver.url()
    await outboxed(front.store, [delivery(front.workspace.id, { url })])
    await front.store.sql`UPDATE webhook_deliveries SET state = 'dead', ended_at = now()`
    await front.store
      .sql`INSERT INTO webhook_disabled (workspace_id, url) VALUES (${front.workspace.id}, ${url})`
    t.match((await testOf(front, { url })).body, {
      data: { delivered: false, status: null, reason: 'url_disabled' },
    })
    t.same(front.receiver.received, [], 'nothing was sent')
    t.same(await auditOf(front.store), [], 'and nothing is told of')
    t.match((await testOf(front, { url, workspace_id: 'other' })).body, { data: { delivered: true } })
    t.match(await front.call('POST', '/admin/webhooks/replay', { body: {} }), { status: 200 })
    t.match((await testOf(front, { url })).body, { data: { delivered: true } })
  },
)

t.test('a test is audited before it is sent, with the host but not the rest of its URL', async (t) => {
  const front = await stand(t)
  const seen: unknown[] = []
  front.receiver.answerWith((res) => {
    void auditOf(front.store).then((events) => {
      seen.push(...events)
      res.writeHead(204).end()
    })
  })
  const { body } = await testOf(front, { url: front.receiver.url() })
  t.match(seen, [
    {
      operation: 'admin.test_webhook',
      outcome: 'released',
      object_kind: 'webhook_test',
      object_id: (body['data'] as { event_id: string }).event_id,
      workspace_id: front.workspace.id,
      actor: { kind: 'key' },
      after: { host: 'a.hooks.example' },
    },
  ])
  t.equal(seen.length, 1)
  t.notMatch(JSON.stringify(seen), /hush/)
})

t.test('admin.test_webhook 429: tests to one host have the concurrency limit of deliveries', async (t) => {
  const front = await stand(t)
  const { receiver } = front
  const held: ServerResponse[] = []
  receiver.answerWith((res, _, { headers }) => {
    if (headers.host?.startsWith('a.') === true) held.push(res)
    else res.writeHead(204).end()
  })
  const tests = Array.from({ length: WEBHOOK_HOST_CALLS_MAX }, () => testOf(front, { url: receiver.url() }))
  await until('all are at the receiver', () => Promise.resolve(held.length === WEBHOOK_HOST_CALLS_MAX))
  for (const url of [receiver.url(), receiver.url('A'), receiver.url().replace('.example', '.example.')])
    t.match(await testOf(front, { url, workspace_id: 'other' }), {
      status: 429,
      type: 'rate_limited',
      body: { error: { message: /host is over its limit of 16 test webhooks in progress/ } },
    })
  t.match((await testOf(front, { url: receiver.url('b') })).body, { data: { delivered: true } })
  for (const res of held.splice(0)) res.writeHead(204).end()
  for (const { body } of await Promise.all(tests)) t.match(body, { data: { delivered: true } })
  receiver.answerWith((res) => void res.writeHead(204).end())
  t.match(
    (await testOf(front, { url: receiver.url() })).body,
    { data: { delivered: true } },
    'places come back',
  )
})

/** Ids of jobs of the stand that have ended, so many seconds ago. */
async function ended({ store, organizationId }: Stand, workspaceId: string, agoS: number): Promise<string> {
  const id = `vid_${randomBytes(16).toString('hex')}`
  await store.sql`
    INSERT INTO video_jobs (id, organization_id, workspace_id, key_hash, key_account_id, request_id, model, provider, endpoint,
      upstream_model, state, submit_token, seconds, cost_nano, is_unpriced, hold_id, hold_day, expires_at, ended_at, error)
    VALUES (${id}, ${organizationId}, ${workspaceId}, 'h', 'a', 'r', 'acme/clip', 'acme', 'e', 'm', 'failed', ${randomUUID()}, 1, 0,
      false, ${randomUUID()}, now(), now(), clock_timestamp() - ${agoS} * interval '1 second', 'model: it broke')`
  return id
}

interface Listed {
  readonly data: readonly {
    readonly id: string
    readonly job_id: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }[]
  readonly has_more: boolean
  readonly next: string
}

async function listed(front: Stand, query = ''): Promise<Listed> {
  const { status, body } = await front.call('GET', `/admin/webhooks/events?${query}`)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body as unknown as Listed
}

t.test('admin.list_webhook_events 404: unknown workspaces and those of other organizations', async (t) => {
  const front = await stand(t)
  await ended(front, front.workspace.id, 1)
  const path = `/admin/webhooks/events?seconds=60&workspace_id=`
  t.match(await front.call('GET', path + front.workspace.id, { key: front.foreignKey }), {
    status: 404,
    type: 'workspace_unknown',
  })
  t.match(await front.call('GET', path + randomUUID()), { status: 404 })
  t.same((await listed(front, 'seconds=60&workspace_id=other')).data, [])
})

t.test('admin.list_webhook_events 400: invalid cursors and numbers', async (t) => {
  const front = await stand(t)
  for (const query of [
    'after=1',
    "after=1.'",
    'after=1.vid_1',
    'after=99999999999999999.',
    'seconds=-1',
    `seconds=${WEBHOOK_EVENTS_BACK_S_MAX + 1}`,
    'limit=0',
    `limit=${WEBHOOK_EVENTS_PAGE_MAX + 1}`,
    'workspace_id=',
  ])
    t.match(await front.call('GET', `/admin/webhooks/events?${query}`), { status: 400 }, query)
})

t.test(
  'admin.list_webhook_events 200: returns an event for a job without a receiver, signed in both forms',
  async (t) => {
    const front = await stand(t)
    const id = await ended(front, front.workspace.id, 2)
    const { data, has_more: hasMore } = await listed(front, 'seconds=60')
    t.equal(hasMore, false)
    const [event] = data
    const { headers, body } = present(event)
    t.match(JSON.parse(body), { type: 'video.generation.failed', data: { id, error: 'model: it broke' } })
    const secret = await front.secret()
    t.ok(verifiesAsB5(secret, headers, Buffer.from(body)))
    t.ok(verifiesAsStandard(secret, headers, Buffer.from(body)))
    t.equal(headers['x-sluice-idempotency-key'], `${id}-failed`)
    t.same((await listed(front, 'seconds=60')).data[0]?.id, event?.id, 'its id stays')
  },
)

t.test('an event that is delivered too has the id and the bytes of its delivery', async (t) => {
  const front = await stand(t)
  const id = await ended(front, front.workspace.id, 2)
  const body = '{"type":"video.generation.failed","text":"\u2028é"}'
  await outboxed(front.store, [
    delivery(front.workspace.id, { jobId: id, idempotencyKey: `${id}-failed`, body }),
  ])
  const [row] = await front.store.sql<{ id: string }[]>`SELECT id FROM webhook_deliveries`
  t.match(await listed(front, 'seconds=60'), { data: [{ id: present(row).id, job_id: id, body }] })
})

t.test('pages contain every event and end, and an event that is listed again has the same id', async (t) => {
  const front = await stand(t)
  const ids = []
  for (const agoS of [50, 40, 30, 20]) ids.push(await ended(front, front.workspace.id, agoS))
  await ended(front, front.other.id, 25)
  const first = await listed(front, 'seconds=60&limit=3')
  t.same([first.data.map((event) => event.job_id), first.has_more], [ids.slice(0, 3), true])
  const second = await listed(front, `after=${first.next}`)
  t.same([second.data.map((event) => event.job_id), second.has_more], [ids.slice(3), false])
  t.same((await listed(front, `after=${second.next}`)).data, [], 'all that is older is over')
  // Written a little late: its instant lies before the last answer.
  const late = await ended(front, front.workspace.id, WEBHOOK_EVENTS_SETTLE_MS / 2_000)
  t.same(
    (await listed(front, `after=${second.next}`)).data.map((event) => event.job_id),
    [late],
  )
})

t.test('events with the same timestamp are all listed', async (t) => {
  const front = await stand(t)
  const ids = [await ended(front, front.workspace.id, 9), await ended(front, front.workspace.id, 9)]
  await front.store.sql`UPDATE video_jobs SET ended_at = (SELECT min(ended_at) FROM video_jobs)`
  const first = await listed(front, 'seconds=60&limit=1')
  const second = await listed(front, `after=${first.next}&limit=1`)
  const seen = [...first.data, ...second.data].map((event) => event.job_id)
  t.same(seen.toSorted(), ids.toSorted())
})

t.test('an old cursor starts one hour ago, and without a cursor only new events are listed', async (t) => {
  const front = await stand(t)
  await ended(front, front.workspace.id, WEBHOOK_EVENTS_BACK_S_MAX + 60)
  const near = await ended(front, front.workspace.id, 60)
  t.same(
    (await listed(front, 'after=0.')).data.map((event) => event.job_id),
    [near],
  )
  t.same((await listed(front)).data, [])
})
