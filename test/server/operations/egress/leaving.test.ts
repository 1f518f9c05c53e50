/** Every step at which the client or the target may leave or stall, and what the other side gets then. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { BODY_STALL_MS } from '../../../../src/schemas/limits/limits.ts'
import { fail, ok, type Outcome } from '../../../../src/schemas/failures.ts'
import type { EgressExchange, EgressExchangeRequest } from '../../../../src/server/ports/egress/egress.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import { Timers } from '../../../../src/server/http/timers.ts'
import { errorOf, openEgressFront, type EgressFront } from '../../../support/egress/egress-front.ts'
import { openRawEgress } from '../../../support/egress/raw-egress-front.ts'
import { gate } from '../../../support/gate.ts'
import { until } from '../../../support/wait.ts'
import {
  EGRESS_ANSWER_STALL_MS,
  EGRESS_BODY_STALL_MS,
} from '../../../../src/server/operations/egress/forward-request.ts'

const NOTHING = { calls: 0, timers: 0, bodyBytes: 0 }

/** Resolves when nothing is left of any call, here and in the gate. */
async function rest({ front, egress }: EgressFront): Promise<void> {
  await until(() => !(front.load.calls > 0 || egress.load.calls > 0))
}

const stages: Readonly<Record<string, (req: IncomingMessage, res: ServerResponse) => void>> = {
  'before the answer': () => undefined,
  'within the answer': (_, res) => void res.writeHead(200, { 'content-length': 10 }).write('12345'),
  'within chunks': (_, res) => void res.write('12345'),
}

/** Bytes of the answer that the client has got by then. */
const WRITTEN: Readonly<Record<string, number>> = {
  'before the answer': 0,
  'within the answer': 5,
  'within chunks': 5,
}

for (const [when, act] of Object.entries(stages)) {
  for (const hasBody of [false, true]) {
    t.test(
      `a client that disconnects ${when}${hasBody ? ', its body half sent,' : ''} closes the connection to the target`,
      async (t) => {
        const closed = gate()
        const came = gate()
        const stand = await openRawEgress(
          t,
          (req, res) => {
            req.resume()
            req.on('error', () => undefined)
            req.socket.on('close', () => closed.open())
            act(req, res)
            came.open()
          },
          { timers: new Timers() },
        )
        stand.send(hasBody ? 'POST' : 'GET', hasBody ? ['content-length: 1000'] : [], hasBody ? 'half' : '')
        await came.opened
        if (when !== 'before the answer') await stand.client.until(/12345/)
        stand.client.destroy()
        await closed.opened
        await rest(stand)
        t.match(stand.settled, [{ isClientGone: true, replyBytes: WRITTEN[when] }])
        t.same(stand.front.load, NOTHING)
      },
    )
  }
  if (when === 'before the answer') continue
  t.test(`a target that breaks off ${when} breaks off the answer`, async (t) => {
    const stand = await openRawEgress(t, (req, res) => {
      act(req, res)
      setTimeout(() => req.socket.resetAndDestroy(), 20)
    })
    stand.send('GET')
    const text = await stand.client.closed()
    t.match(text, /12345/)
    t.notMatch(text, /0\r\n\r\n$/)
    await rest(stand)
    t.match(stand.settled, [{ failure: 'upstream_failed' }])
    t.same(stand.front.load, NOTHING)
  })
}

t.test('a target that closes before the announced length breaks off the answer', async (t) => {
  const stand = await openRawEgress(t, (req, res) => {
    res.writeHead(200, { 'content-length': 10 }).write('12345')
    setTimeout(() => req.socket.end(), 20)
  })
  stand.send('GET')
  t.match(await stand.client.closed(), /12345$/)
  await rest(stand)
  t.match(stand.settled, [{ failure: 'upstream_failed' }])
})

t.test('egress.forward 502: the target disconnects before it answers, with or without a body', async (t) => {
  const { ask } = await openEgressFront(t, { target: (req) => void req.socket.destroy() })
  t.match(await errorOf(await ask('/')), { status: 502, type: 'upstream_failed' })
  t.match(await errorOf(await ask('/', { method: 'POST', body: 'hello' })), {
    status: 502,
    type: 'upstream_failed',
  })
})

t.test('egress.forward 408: a body that stalls', async (t) => {
  let now = 0
  const stand = await openRawEgress(
    t,
    (req) => {
      req.resume()
      req.on('error', () => undefined)
      now += BODY_STALL_MS + 1_000
    },
    { timers: new Timers(() => now) },
  )
  stand.send('POST', ['content-length: 10'], 'half')
  t.match(await stand.client.until(/\r\n\r\n\{/), /^HTTP\/1\.1 408 [^]*x-sluice-error: body_slow/)
  stand.client.destroy()
  await rest(stand)
})

t.test('egress.forward 504: a call that waits for its destination has its own timeouts', async (t) => {
  let asked: EgressExchangeRequest | null = null
  const exchange = (request: EgressExchangeRequest) => {
    asked = request
    if (request.body instanceof Readable) request.body.on('data', () => undefined)
    return new Promise<Outcome<EgressExchange>>((settle) =>
      setTimeout(() => settle(fail('upstream_slow')), 100),
    )
  }
  const ports = { egress: { vetted: () => ok({ exchange }) } } as unknown as Ports
  const { client, send } = await openRawEgress(t, () => undefined, { ports })
  const begunAt = performance.now()
  send('POST', ['content-length: 10'], 'half')
  t.match(await client.until(/\r\n\r\n\{/), /^HTTP\/1\.1 504 [^]*x-sluice-error: upstream_slow/)
  const { beginsBy, stallMs } = asked as unknown as EgressExchangeRequest
  const endsAt = beginsBy() - EGRESS_BODY_STALL_MS
  t.ok(endsAt >= begunAt && endsAt <= performance.now(), 'for the rest of the body, from its last bytes on')
  t.ok(EGRESS_BODY_STALL_MS > BODY_STALL_MS, 'a client that stalls is told so first')
  t.equal(stallMs, EGRESS_ANSWER_STALL_MS)
})
