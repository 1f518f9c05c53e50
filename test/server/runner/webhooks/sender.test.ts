import t from 'tap'
import {
  WEBHOOK_ATTEMPT_MS_MAX,
  WEBHOOK_CALLS_MAX,
  WEBHOOK_HOST_CALLS_MAX,
  WEBHOOK_WORKSPACE_CALLS_MAX,
} from '../../../../src/schemas/webhooks/webhook-limits.ts'
import { openDeliveries } from '../../../../src/server/store/webhooks/deliveries.ts'
import {
  WEBHOOK_LEASE_MS,
  WEBHOOK_SWEEP_MS,
  WEBHOOK_TIMING,
} from '../../../../src/server/runner/webhooks/sender.ts'
import type { Deliveries, DeliveryInput } from '../../../../src/server/ports/webhooks/webhooks.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { must, present } from '../../../support/must.ts'
import { pause, until } from '../../../support/wait.ts'
import { COMPRESSED, openWebhookStand } from '../../../support/webhooks/webhook-stand.ts'
import { input } from '../../../support/webhooks/webhooks.ts'
import { verifiesAsB5, verifiesAsStandard } from '../../../support/webhooks/webhook-verifiers.ts'

t.setTimeout(600_000)

t.test('a receiver gets the body as written, and can verify it in either form', async (t) => {
  const { receiver, secrets, workspaceId, start, tell, settled } = await openWebhookStand(t)
  const reported = await tell()
  start()
  t.match(await settled(), [{ state: 'delivered', tries: 1, last_status: 204, last_reason: null }])
  const { path, headers, body } = present(receiver.received[0])
  t.equal(path, '/in?token=hush')
  t.equal(body.toString(), reported.body)
  t.match(headers, {
    'content-type': 'application/json',
    'user-agent': /^sluice-webhooks/,
    'x-sluice-idempotency-key': reported.idempotencyKey,
  })
  const [secret] = must(await secrets.current(workspaceId))
  t.ok(verifiesAsB5(present(secret).text, headers, body))
  t.ok(verifiesAsStandard(present(secret).text, headers, body))
})

t.test('every attempt has the same id, key and bytes', async (t) => {
  const { receiver, start, tell, settled } = await openWebhookStand(t)
  receiver.answerWith((res, nth) =>
    nth < 4 ? res.writeHead(nth % 2 === 0 ? 500 : 429).end('no') : res.end('yes'),
  )
  await tell()
  start()
  t.match(await settled(), [{ state: 'delivered', tries: 5 }])
  const seen = receiver.received.map(({ headers, body }) =>
    JSON.stringify([headers['webhook-id'], headers['x-sluice-idempotency-key'], body.toString()]),
  )
  t.equal(seen.length, 5)
  t.equal(new Set(seen).size, 1)
})

t.test('after eight failed attempts a delivery is a dead letter, and a line is logged', async (t) => {
  const { receiver, start, tell, settled, log, outcomes } = await openWebhookStand(t)
  receiver.answerWith((res) => res.writeHead(503).end())
  await tell()
  start()
  t.match(await settled(), [{ state: 'dead', tries: 8, last_status: 503, last_reason: 'status' }])
  t.equal(receiver.received.length, 8)
  t.match(
    log.events.filter(({ event }) => event === 'webhook_dead'),
    [{ fields: { reason: 'status', status: 503, host: 'a.hooks.example', tries: 8 } }],
  )
  t.equal(outcomes.filter((outcome) => outcome === 'status').length, 8)
})

t.test('410 ends a delivery, and later ones for that address are not sent', async (t) => {
  const { receiver, start, tell, settled } = await openWebhookStand(t)
  receiver.answerWith((res, _nth, { path }) => res.writeHead(path === '/gone' ? 410 : 200).end())
  await tell({ url: receiver.url('a', '/gone') })
  const sender = start()
  await settled()
  await tell({ url: receiver.url('a', '/gone') })
  await tell({ url: receiver.url('a', '/here') })
  t.match(await settled(), [
    { state: 'dead', tries: 1, last_status: 410, last_reason: 'gone' },
    { state: 'dead', tries: 0, last_reason: 'url_disabled' },
    { state: 'delivered' },
  ])
  await sender.close()
  t.same(
    receiver.received.map(({ path }) => path),
    ['/gone', '/here'],
  )
})

t.test('a receiver that does not answer delays no others', async (t) => {
  const { receiver, start, tell, rows } = await openWebhookStand(t)
  receiver.answerWith((res, _nth, { headers }) => {
    if (!headers.host?.startsWith('dead.')) res.end()
  })
  for (let nth = 0; nth < 40; nth++) await tell({ url: receiver.url('dead') })
  for (let nth = 0; nth < 20; nth++) await tell({ url: receiver.url('live') })
  const sender = start({ timing: { ...COMPRESSED, attemptMs: 60_000, leaseMs: 300_000 } })
  let seen = await rows()
  while (seen.some(({ url, state }) => url.includes('live') && state !== 'delivered')) seen = await rows()
  t.equal(seen.filter(({ state, tries }) => state === 'waiting' && tries === 0).length, 40)
  const hanging = (): number =>
    receiver.received.filter(({ headers: { host } }) => host?.startsWith('dead.')).length
  await until(() => hanging() >= WEBHOOK_HOST_CALLS_MAX)
  t.equal(hanging(), WEBHOOK_HOST_CALLS_MAX)
  await receiver.close()
  await sender.close()
})

t.test('a workspace and a runner never have more running attempts than their limit', async (t) => {
  const { receiver, start, tell, store } = await openWebhookStand(t)
  receiver.answerWith(() => undefined)
  const hosts = Math.ceil(WEBHOOK_WORKSPACE_CALLS_MAX / WEBHOOK_HOST_CALLS_MAX) + 1
  for (let nth = 0; nth < hosts * (WEBHOOK_HOST_CALLS_MAX + 1); nth++)
    await tell({ url: receiver.url(`host-${nth % hosts}`) })
  const deliveries = openDeliveries({ store })
  const asked: DeliveryInput[] = []
  const sender = start({
    timing: { ...COMPRESSED, attemptMs: 60_000, leaseMs: 300_000 },
    deliveries: { ...deliveries, claim: (input) => (asked.push(input), deliveries.claim(input)) },
  })
  await until(() => receiver.received.length === WEBHOOK_WORKSPACE_CALLS_MAX && asked.length > 3)
  const again = asked.length
  await until(() => asked.length > again + 1)
  t.equal(receiver.received.length, WEBHOOK_WORKSPACE_CALLS_MAX)
  t.equal(asked[0]?.countMax, WEBHOOK_CALLS_MAX)
  t.equal(asked.at(-1)?.countMax, WEBHOOK_CALLS_MAX - WEBHOOK_WORKSPACE_CALLS_MAX, 'what is under way counts')
  await receiver.close()
  await sender.close()
})

t.test('while a secret is replaced, receivers with the old or the new one verify deliveries', async (t) => {
  const { receiver, secrets, workspaceId, start, tell, settled } = await openWebhookStand(t)
  must(await secrets.current(workspaceId))
  const both = must(await secrets.rotate(workspaceId, 60_000, CLI))
  await tell()
  start()
  await settled()
  const { headers, body } = present(receiver.received[0])
  t.equal(both.length, 2)
  for (const { text } of both) {
    t.ok(verifiesAsB5(text, headers, body))
    t.ok(verifiesAsStandard(text, headers, body))
  }
})

t.test('a delivery starts at its wake-up, without waiting for the next sweep', async (t) => {
  const { start, tell, settled, wake, store } = await openWebhookStand(t)
  const asked: number[] = []
  const deliveries = openDeliveries({ store })
  start({
    timing: { ...COMPRESSED, sweepMs: 3_600_000 },
    deliveries: { ...deliveries, claim: (input) => (asked.push(1), deliveries.claim(input)) },
  })
  await until(() => asked.length === 1)
  await tell()
  wake({ kind: 'jobs', provider: 'other' })
  wake()
  t.match(await settled(), [{ state: 'delivered' }])
})

t.test('Retry-After delays the next attempt', async (t) => {
  const { receiver, start, tell, store } = await openWebhookStand(t)
  receiver.answerWith((res) => res.writeHead(429, { 'retry-after': '3600' }).end())
  const booked: (number | null)[] = []
  const deliveries = openDeliveries({ store })
  await tell()
  start({
    timing: { ...COMPRESSED, retryAfterMsMax: 7_200_000 },
    deliveries: {
      ...deliveries,
      book: (claim, result, dueInMs) => (booked.push(dueInMs), deliveries.book(claim, result, dueInMs)),
    },
  })
  await until(() => booked.length === 1)
  t.same(booked, [3_600_000])
})

t.test('a second delivery occurs only when a runner dies between the answer and its booking', async (t) => {
  const { receiver, start, tell, settled, store } = await openWebhookStand(t)
  const deliveries = openDeliveries({ store })
  await tell()
  let bury: (() => void) | null = null
  let claims = 0
  const claim: Deliveries['claim'] = (input) =>
    claims++ === 0 ? deliveries.claim(input) : Promise.resolve([])
  const dying: Deliveries = {
    ...deliveries,
    claim,
    book: () => new Promise<boolean>((done) => (bury = () => done(false))),
  }
  void start({ deliveries: dying })
  await until(() => bury !== null)
  await store.sql`UPDATE webhook_deliveries SET lease_until = '-infinity'`
  start()
  t.match(await settled(), [{ state: 'delivered', tries: 1 }])
  const [first, second] = receiver.received
  t.equal(receiver.received.length, 2)
  t.same(present(second).body, present(first).body)
  t.equal(present(second).headers['webhook-id'], present(first).headers['webhook-id'])
  present<() => void>(bury)()
})

t.test('an answer is booked after an outage of the store, and nothing is sent twice', async (t) => {
  const { receiver, start, tell, settled, store } = await openWebhookStand(t)
  const deliveries = openDeliveries({ store })
  let failures = 0
  await tell()
  start({
    deliveries: {
      ...deliveries,
      book: (...args) => (failures++ < 5 ? Promise.reject(new Error('away')) : deliveries.book(...args)),
    },
  })
  t.match(await settled(), [{ state: 'delivered', tries: 1 }])
  t.equal(receiver.received.length, 1)
})

t.test('an unavailable store is asked again, and logged once', async (t) => {
  const { start, tell, settled, store, log } = await openWebhookStand(t)
  const deliveries = openDeliveries({ store })
  let failures = 0
  await tell()
  start({
    deliveries: {
      ...deliveries,
      claim: (input) => (failures++ < 5 ? Promise.reject(new Error('away')) : deliveries.claim(input)),
    },
  })
  t.match(await settled(), [{ state: 'delivered' }])
  t.equal(log.events.filter(({ event }) => event === 'webhook_claim_failed').length, 1)
})

t.test('a delivery that we cannot sign or send does not count as an attempt', async (t) => {
  const { receiver, start, tell, settled, secrets, egress } = await openWebhookStand(t)
  let asked = 0
  await tell()
  start({
    secrets: {
      current: (id) =>
        asked++ < 3
          ? Promise.resolve({ ok: false, failure: { name: 'data_key_unavailable' } })
          : secrets.current(id),
    },
    egress: {
      vetted(destination) {
        const way = egress.vetted(destination)
        if (!way.ok || asked > 6) return way
        return {
          ok: true,
          value: { ...way.value, exchange: () => Promise.resolve({ ok: false, failure: { name: 'busy' } }) },
        }
      },
    },
  })
  t.match(await settled(), [{ state: 'delivered', tries: 1 }])
  t.equal(receiver.received.length, 1)
})

t.test('an ending sender waits for the running attempt, and claims no more', async (t) => {
  const { receiver, start, tell, rows } = await openWebhookStand(t)
  let answer: () => void = () => undefined
  receiver.answerWith((res) => void (answer = () => res.end()))
  await tell()
  const sender = start({ timing: { ...COMPRESSED, attemptMs: 30_000, leaseMs: 90_000 } })
  await until(() => receiver.received.length === 1)
  const closing = sender.close()
  await tell()
  answer()
  await closing
  t.match(await rows(), [{ state: 'delivered' }, { state: 'waiting', tries: 0 }])
  t.equal(receiver.received.length, 1)
})

t.test('an ending or stopped sender releases its claims unsent', async (t) => {
  const { receiver, start, tell, store, rows } = await openWebhookStand(t)
  const deliveries = openDeliveries({ store })
  let release = 0
  await tell()
  start({
    // As if a claim had taken longer than its lease lasts.
    timing: { ...COMPRESSED, attemptMs: 400, leaseMs: 400 },
    deliveries: { ...deliveries, release: (...args) => (release++, deliveries.release(...args)) },
  })
  await until(() => release > 1)
  t.match(await rows(), [{ state: 'waiting', tries: 0 }])
  t.equal(receiver.received.length, 0)
})

t.test('a sender that ends while it starts its claimed deliveries releases the rest', async (t) => {
  const { start, tell, store, rows } = await openWebhookStand(t)
  const deliveries = openDeliveries({ store })
  for (let nth = 0; nth < 10; nth++) await tell()
  let closing: Promise<void> | null = null
  const sender = start({
    deliveries: {
      ...deliveries,
      async claim(input) {
        const claims = await deliveries.claim(input)
        closing ??= sender.close()
        return claims
      },
    },
  })
  await until(() => closing !== null)
  await closing
  t.match(
    (await rows()).map(({ state, tries }) => `${state} ${tries}`),
    Array.from({ length: 10 }, () => 'waiting 0'),
  )
  t.equal((await deliveries.claim(input({ perHostMax: 99 }))).length, 10)
})

t.test('neither the address nor the secret is in the log', async (t) => {
  const { receiver, start, tell, settled, secrets, workspaceId, log } = await openWebhookStand(t)
  receiver.answerWith((res, nth) => (nth === 0 ? res.writeHead(500).end() : res.writeHead(410).end()))
  await tell()
  await tell({ url: 'https://user:hush@a.hooks.example/' })
  start()
  await settled()
  const text = JSON.stringify(log.events)
  t.ok(text.includes('a.hooks.example'))
  t.notOk(text.includes('hush'))
  t.notOk(text.includes(present(must(await secrets.current(workspaceId))[0]).text.slice(6)))
})

t.test('the time limits are those of the contract', async (t) => {
  t.match(WEBHOOK_TIMING, {
    attemptMs: WEBHOOK_ATTEMPT_MS_MAX,
    leaseMs: WEBHOOK_LEASE_MS,
    sweepMs: WEBHOOK_SWEEP_MS,
  })
  t.equal(WEBHOOK_ATTEMPT_MS_MAX, 15_000)
})

t.test('a delivery that is not ready before the end of its lease is left to other senders', async (t) => {
  const { receiver, secrets, start, tell, settled, log } = await openWebhookStand(t)
  const timing = { ...COMPRESSED, leaseMs: 20_500, attemptMs: 20_000 }
  let asked = 0
  const slow = {
    async current(workspaceId: string) {
      if (asked++ === 0) await pause(2 * (timing.leaseMs - timing.attemptMs))
      return secrets.current(workspaceId)
    },
  }
  await tell()
  start({ secrets: slow, timing })
  t.match(await settled(), [{ state: 'delivered', tries: 1 }])
  await until(() => log.events.some(({ event }) => event === 'webhook_postponed'))
  t.equal(receiver.received.length, 1)
})
