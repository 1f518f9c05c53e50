import type { ServerResponse } from 'node:http'
import t from 'tap'
import { WEBHOOK_ANSWER_BYTES_MAX } from '../../../../src/schemas/webhooks/webhook-limits.ts'
import { startTarget } from '../../../support/egress/vetted-stand.ts'
import { until } from '../../../support/wait.ts'
import { openWebhookStand, type Answer, type WebhookStand } from '../../../support/webhooks/webhook-stand.ts'

t.setTimeout(600_000)

const [LONG_MS, SHORT_MS] = [20_000, 250]
/** Of an attempt that has to run out after a head has come: as much as that may take on a slow machine. */
const HEAD_MS = 5_000

/** What one attempt at a receiver that answers so comes to. */
async function outcomeOf(
  { receiver, start, tell, outcomes }: WebhookStand,
  answer: Answer,
  attemptMs = LONG_MS,
): Promise<string | undefined> {
  receiver.answerWith(answer)
  await tell()
  const sender = start({
    timing: { attemptMs, leaseMs: 60_000, sweepMs: 20, pauseMs: 10, delaysMs: [3_600_000] },
  })
  await until(() => outcomes.length > 0)
  await sender.close()
  return outcomes[0]
}

/** Writes without end, as fast as the client reads them. @returns bytes that were taken */
function endless(res: ServerResponse): () => number {
  const piece = Buffer.alloc(16_384)
  let bytes = 0
  const go = (): void => {
    while (!res.destroyed && res.write(piece)) bytes += piece.length
    if (!res.destroyed) bytes += piece.length
  }
  res.on('drain', go)
  go()
  return () => bytes
}

t.test('a 2xx with an endless body counts as delivered, and its connection is closed', async (t) => {
  const stand = await openWebhookStand(t)
  let taken = (): number => 0
  t.equal(
    await outcomeOf(stand, (res) => {
      res.writeHead(200)
      taken = endless(res)
    }),
    'delivered',
  )
  await until(() => stand.receiver.open === 0)
  t.ok(taken() > WEBHOOK_ANSWER_BYTES_MAX)
  t.equal(stand.egress.load.calls, 0)
})

t.test('a 2xx with a stalled body is delivered, and keeps its slot for one attempt at most', async (t) => {
  const stand = await openWebhookStand(t)
  t.equal(await outcomeOf(stand, (res) => void res.writeHead(200).write('a'), HEAD_MS), 'delivered')
  t.match(await stand.rows(), [{ state: 'delivered' }])
})

t.test('a receiver that never answers times out', async (t) => {
  t.equal(await outcomeOf(await openWebhookStand(t), () => undefined, SHORT_MS), 'timeout')
})

t.test('a receiver that sends its headers too slowly times out', async (t) => {
  let drip: NodeJS.Timeout | undefined
  t.teardown(() => clearInterval(drip))
  t.equal(
    await outcomeOf(
      await openWebhookStand(t),
      (res) => {
        res.socket?.write('HTTP/1.1 200 OK\r\nx-slow: ')
        drip = setInterval(() => res.socket?.write('a'), 20)
      },
      SHORT_MS,
    ),
    'timeout',
  )
})

t.test('endless headers do not count as an answer', async (t) => {
  t.equal(
    await outcomeOf(await openWebhookStand(t), (res) => {
      res.socket?.write('HTTP/1.1 200 OK\r\n')
      for (let nth = 0; nth < 400; nth++) res.socket?.write(`x-${nth}: ${'a'.repeat(1_000)}\r\n`)
    }),
    'unreachable',
  )
})

t.test('endless informational answers are not an answer', async (t) => {
  let going: NodeJS.Timeout | undefined
  t.teardown(() => clearInterval(going))
  const stand = await openWebhookStand(t)
  const outcome = await outcomeOf(
    stand,
    (res) => {
      going = setInterval(() => res.socket?.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 10)
    },
    SHORT_MS,
  )
  t.match(outcome, /^(timeout|unreachable)$/)
})

t.test('a reset, an answer that is not HTTP and a closed port do not count as answers', async (t) => {
  t.equal(await outcomeOf(await openWebhookStand(t), (res) => void res.socket?.destroy()), 'unreachable')
  t.equal(
    await outcomeOf(await openWebhookStand(t), (res) => void res.socket?.end('SSH-2.0-hello\r\n')),
    'unreachable',
  )
  const closed = await openWebhookStand(t)
  await closed.receiver.close()
  t.equal(await outcomeOf(closed, () => undefined), 'unreachable')
})

t.test('a redirect is a failure, and its target is not called', async (t) => {
  const trap = await startTarget()
  t.teardown(() => trap.close())
  for (const status of [301, 302, 303, 307, 308, 304, 300]) {
    const stand = await openWebhookStand(t)
    t.equal(
      await outcomeOf(
        stand,
        (res) => void res.writeHead(status, { location: `http://127.0.0.1:${trap.port}/` }).end(),
      ),
      'redirect',
    )
    t.equal(stand.receiver.received.length, 1)
  }
  t.equal(trap.connections, 0)
})

t.test('a certificate of another name or issuer is refused before anything is sent', async (t) => {
  const stand = await openWebhookStand(t)
  await stand.tell({ url: `https://other.example:${stand.receiver.port}/` })
  const sender = stand.start()
  await until(() => stand.outcomes.length > 0)
  await sender.close()
  t.equal(stand.outcomes[0], 'unreachable')
  t.equal(stand.receiver.received.length, 0)
})

t.test(
  'a name that resolves to a private address is refused, and delivered to when it resolves to a public one again',
  async (t) => {
    let address = '10.0.0.1'
    const stand = await openWebhookStand(t, {
      allow: ['127.0.0.1'],
      resolve: () => Promise.resolve([address]),
    })
    await stand.tell()
    stand.start()
    await until(() => stand.outcomes.length > 1)
    t.equal(stand.receiver.connections, 0)
    address = '127.0.0.1'
    t.match(await stand.settled(), [{ state: 'delivered' }])
    t.equal(stand.outcomes[0], 'refused')
  },
)

t.test('a forbidden address is refused without a connection', async (t) => {
  const stand = await openWebhookStand(t, { allow: ['http:127.0.0.0/8'] })
  const { port } = stand.receiver
  const urls = [
    `http://a.hooks.example:${port}/`,
    `https://user@a.hooks.example:${port}/`,
    'https://a.hooks.example:22/',
    'ftp://a.hooks.example/',
    'nowhere',
    '',
    `https://[::1]:${port}/`,
    'https://10.0.0.1/',
    'https://a.hooks.example:6379/',
    `https://a.hooks.exam ple:${port}/`,
  ]
  for (const url of urls) await stand.tell({ url })
  stand.start({ timing: { attemptMs: LONG_MS, leaseMs: 60_000, sweepMs: 20, pauseMs: 10, delaysMs: [] } })
  const rows = await stand.settled()
  t.same(
    rows.map(({ state, last_reason: reason }) => `${state} ${String(reason)}`),
    urls.map(() => 'dead refused'),
  )
  t.equal(stand.receiver.connections, 0)
})
