/** Bodies that flow both ways, and every place at which one of the three may leave. */
import { once } from 'node:events'
import { request, type IncomingMessage, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { BODY_STALL_MS } from '../../../../src/schemas/limits/limits.ts'
import {
  EGRESS_ANSWER_STALL_MS,
  EGRESS_BODY_STALL_MS,
  EGRESS_WAITING_BYTES_MAX,
} from '../../../../src/schemas/egress/egress-limits.ts'
import { fail, ok, type Outcome } from '../../../../src/schemas/failures.ts'
import type { EgressExchange, EgressExchangeRequest } from '../../../../src/server/ports/egress/egress.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import { Timers } from '../../../../src/server/http/timers.ts'
import {
  egressText,
  errorOf,
  openEgressFront,
  textOf,
  type EgressFront,
  type EgressFrontOptions,
} from '../../../support/egress/egress-front.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { gate } from '../../../support/gate.ts'
import { rawClient, type RawClient } from '../../../support/wire/raw-http.ts'
import { still, until } from '../../../support/wait.ts'

const MIB = 1024 * 1024
const NOTHING = { calls: 0, timers: 0, bodyBytes: 0 }

interface Raw extends EgressFront {
  readonly client: RawClient
  send(line: string, headers?: readonly string[], body?: string): void
}

async function open(
  t: Test,
  target: EgressFrontOptions['target'],
  more: Partial<EgressFrontOptions> = {},
): Promise<Raw> {
  const front = await openEgressFront(t, { target, ...more })
  const client = rawClient(front.port)
  t.teardown(() => client.destroy())
  const { pathname } = new URL(front.base)
  return {
    ...front,
    client,
    send: (line, headers, body) => client.send(egressText(`${line} ${pathname}/x`, headers, body)),
  }
}

/** Resolves when nothing is left of any call, here and in the gate. */
async function rest({ front, egress }: EgressFront): Promise<void> {
  await until(() => !(front.load.calls > 0 || egress.load.calls > 0))
}

t.test('an answer in chunks comes in chunks, as it is made, and the connection is kept', async (t) => {
  const [first, second] = [gate(), gate()]
  const { client, send } = await open(t, async (_, res) => {
    await first.opened
    res.write('data: 1\n\n')
    await second.opened
    res.end('data: 2\n\n')
  })
  send('GET')
  first.open()
  await client.until(/data: 1\n\n/)
  t.notMatch(client.text, /data: 2/)
  second.open()
  t.match(await client.until(/0\r\n\r\n$/), /transfer-encoding: chunked[^]*data: 2\n\n/i)
  t.notMatch(client.text, /content-length|connection: close/i)
  send('GET')
  await client.until(/data: 2/, 2)
})

t.test(
  'an answer in chunks that is the last of its connection ends properly, and the connection with it',
  async (t) => {
    const { base } = await openEgressFront(t, {
      target: async (req, res) => {
        res.write('a')
        res.end(await textOf(req))
      },
    })
    const headers = { 'x-sluice-key': AUTHORIZATION, 'transfer-encoding': 'chunked' }
    const sent = request(`${base}/x`, { method: 'POST', agent: false, headers })
    sent.end('bcd')
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    t.equal(await textOf(answer), 'abcd')
    t.equal(answer.headers.connection, 'close')
    t.ok(answer.complete)
  },
)

t.test(
  'an answer in chunks without one that is the last of its connection is empty, and says so',
  async (t) => {
    for (const header of ['connection: close', 'transfer-encoding: chunked']) {
      const { client, send } = await open(t, (_, res) => void res.writeHead(302, { location: '/y' }).end())
      send('POST', [header], header.endsWith('chunked') ? '0\r\n\r\n' : '')
      const text = await client.closed()
      t.match(text, /^HTTP\/1\.1 302 [^]*connection: close\r\n[^]*content-length: 0\r\n\r\n$/i)
      t.notMatch(text, /x-sluice-end|transfer-encoding/i)
      t.match(text, /\r\ndate: /i)
    }
  },
)

t.test('the head of an answer does not wait for its body', async (t) => {
  const body = gate()
  const { client, send } = await open(t, async (_, res) => {
    res.writeHead(200, { 'content-length': 2 }).flushHeaders()
    await body.opened
    res.end('ok')
  })
  send('GET')
  t.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 [^]*content-length: 2\r\n/i)
  body.open()
  await client.until(/\r\n\r\nok$/)
})

t.test('a body in chunks that comes with its head goes out with its length', async (t) => {
  const { client, send } = await open(t, async (req, res) => {
    res.end(`${req.headers['content-length']} ${req.headers['transfer-encoding']} ${await textOf(req)}`)
  })
  send('POST', ['transfer-encoding: chunked'], '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n')
  await client.until(/5 undefined abcde/)
})

t.test('a HEAD keeps the length of what it leaves out, or says none', async (t) => {
  const { client, send, ask } = await open(t, (req, res) => {
    if (req.url === '/x') res.setHeader('content-length', 5)
    res.end(req.method === 'HEAD' ? '' : 'hello')
  })
  send('HEAD')
  t.match(await client.until(/\r\n\r\n$/), /^HTTP\/1\.1 200 [^]*content-length: 5\r\n/i)
  t.notOk((await ask('/none', { method: 'HEAD' })).headers.has('content-length'))
})

t.test('a last answer without a body names no length either', async (t) => {
  const { client, send } = await open(t, (_, res) => void res.writeHead(204).end())
  send('GET', ['connection: close'])
  const text = await client.closed()
  t.match(text, /^HTTP\/1\.1 204 [^]*\r\n\r\n$/)
  t.notMatch(text, /content-length/i)
})

t.test('204, 206, 304 and an empty 200 pass', async (t) => {
  const { ask } = await open(t, (req, res) => {
    const status = Number(req.url?.slice(1))
    res
      .writeHead(status, status === 206 ? { 'content-range': 'bytes 0-1/9', etag: '"e"' } : { etag: '"e"' })
      .end(status === 206 ? 'ab' : '')
  })
  for (const status of [204, 206, 304, 200]) {
    const answer = await ask(`/${status}`, { headers: { range: 'bytes=0-1' } })
    t.equal(answer.status, status)
    t.equal(answer.headers.get('etag'), '"e"')
    t.equal(await answer.text(), status === 206 ? 'ab' : '')
  }
})

t.test('informational answers and trailers are dropped', async (t) => {
  const { client, send } = await open(t, (_, res) => {
    res.writeEarlyHints({ link: '</x>; rel=preload' })
    res.writeHead(200, { trailer: 'x-late' })
    res.write('a')
    res.addTrailers({ 'x-late': '1' })
    res.end()
  })
  send('GET')
  const text = await client.until(/0\r\n\r\n$/)
  t.match(text, /^HTTP\/1\.1 200/)
  t.notMatch(text, /x-late|preload/)
})

t.test('a large body flows both ways at once, byte for byte', async (t) => {
  const { client, send, target } = await open(t, (req, res) => {
    res.setHeader('content-length', Number(req.headers['content-length']))
    req.pipe(res)
  })
  t.ok(target.listening)
  const body = Buffer.alloc(8 * MIB, Array.from({ length: 251 }, (_, byte) => byte) as unknown as string)
  for (let at = 0; at < body.length; at++) body[at] = at % 251
  send('POST', [`content-length: ${body.length}`])
  client.socket.write(body)
  const text = await client.untilBody(body.length)
  t.ok(Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1').equals(body))
})

t.test('a target that does not read stops its sender', async (t) => {
  const read = gate()
  const { base } = await openEgressFront(t, {
    target: async (req, res) => {
      await read.opened
      let bytes = 0
      for await (const piece of req) bytes += (piece as Buffer).length
      res.end(String(bytes))
    },
  })
  const sent = request(`${base}/x`, {
    method: 'POST',
    agent: false,
    headers: { 'x-sluice-key': AUTHORIZATION, 'content-length': 64 * MIB },
  })
  let pieces = 0
  const push = (): void => {
    while (pieces < 64) {
      pieces++
      if (!sent.write(Buffer.alloc(MIB))) return void sent.once('drain', push)
    }
    sent.end()
  }
  push()
  t.ok((await still(() => pieces)) < 32, `${pieces} MiB`)
  read.open()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  t.equal(await textOf(answer), String(64 * MIB))
  t.equal(EGRESS_WAITING_BYTES_MAX, MIB / 4)
})

for (const hasLength of [true, false]) {
  t.test(`a client that does not read stops the target${hasLength ? '' : ', in chunks too'}`, async (t) => {
    let pieces = 0
    const { base } = await openEgressFront(t, {
      target: (_, res) => {
        if (hasLength) res.setHeader('content-length', 64 * MIB)
        const push = (): void => {
          while (pieces < 64) {
            pieces++
            if (!res.write(Buffer.alloc(MIB))) return void res.once('drain', push)
          }
          res.end()
        }
        push()
      },
    })
    const sent = request(`${base}/x`, { agent: false, headers: { 'x-sluice-key': AUTHORIZATION } }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    t.ok((await still(() => pieces)) < 32, `${pieces} MiB`)
    let bytes = 0
    for await (const piece of answer) bytes += (piece as Buffer).length
    t.equal(bytes, 64 * MIB)
    t.ok(answer.complete)
  })
}

/**
 * Far more than the system holds on its way: an answer that has ended ends the exchange, and its body is then
 * nobody's.
 */
const ANSWER_MIB = 256

for (const hasLength of [true, false]) {
  t.test(
    `an answer${hasLength ? '' : ' in chunks'} flows although the target takes nothing of the body, which then waits with its sender`,
    async (t) => {
      const { base } = await openEgressFront(t, {
        timers: new Timers(),
        target: (_, res) => {
          if (hasLength) res.setHeader('content-length', ANSWER_MIB * MIB)
          let pieces = 0
          const push = (): void => {
            while (pieces++ < ANSWER_MIB)
              if (!res.write(Buffer.alloc(MIB))) return void res.once('drain', push)
            res.end()
          }
          push()
        },
      })
      const sent = request(`${base}/x`, {
        method: 'POST',
        agent: false,
        headers: { 'x-sluice-key': AUTHORIZATION, 'content-length': 512 * MIB },
      })
      sent.on('error', () => undefined)
      let pieces = 0
      const push = (): void => {
        while (pieces++ < 512) if (!sent.write(Buffer.alloc(MIB))) return void sent.once('drain', push)
      }
      push()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      await still(() => pieces)
      let bytes = 0
      for await (const piece of answer) {
        bytes += (piece as Buffer).length
        // Two connections, of which the system may hold tens of MiB each.
        if (bytes > 40 * MIB) t.ok(pieces < 160, `${pieces} MiB taken`)
        if (bytes > 40 * MIB) break
      }
      t.ok(bytes > 40 * MIB)
      sent.destroy()
    },
  )
}

t.test('an early answer comes while the body is still on its way, which may then end', async (t) => {
  const { client, send, settled, untilSettled } = await open(t, (req, res) => {
    res.writeHead(401, { 'content-length': 2 }).end('no')
    req.resume()
  })
  send('POST', [`content-length: ${MIB}`], 'x')
  t.match(await client.until(/\r\n\r\nno$/), /^HTTP\/1\.1 401 [^]*connection: close/i)
  client.send(Buffer.alloc(MIB - 1))
  await client.closed()
  await untilSettled(1)
  t.match(settled, [{ status: 401, failure: null }])
})

t.test('a target that answers in full and closes without reading is heard', async (t) => {
  const { client, send } = await open(
    t,
    (req, res) => {
      res.writeHead(413, { connection: 'close' }).end('too much', () => req.socket.destroySoon())
    },
    { timers: new Timers() },
  )
  send('POST', [`content-length: ${16 * MIB}`], 'x')
  t.match(await client.until(/too much/), /^HTTP\/1\.1 413/)
  client.send(Buffer.alloc(MIB))
  await client.closed()
})

const stages: Readonly<Record<string, (req: IncomingMessage, res: ServerResponse) => void>> = {
  'before the answer': () => undefined,
  'within the answer': (_, res) => void res.writeHead(200, { 'content-length': 10 }).write('12345'),
  'within chunks': (_, res) => void res.write('12345'),
}

for (const [when, act] of Object.entries(stages)) {
  for (const hasBody of [false, true]) {
    t.test(
      `a client that leaves ${when}${hasBody ? ', its body half sent,' : ''} takes the connection to the target along`,
      async (t) => {
        const closed = gate()
        const came = gate()
        const stand = await open(
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
        t.match(stand.settled, [{ isClientGone: true }])
        t.same(stand.front.load, NOTHING)
      },
    )
  }
  if (when === 'before the answer') continue
  t.test(`a target that breaks off ${when} breaks the answer off`, async (t) => {
    const stand = await open(t, (req, res) => {
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

t.test('a target that ends within the announced length breaks the answer off', async (t) => {
  const stand = await open(t, (req, res) => {
    res.writeHead(200, { 'content-length': 10 }).write('12345')
    setTimeout(() => req.socket.end(), 20)
  })
  stand.send('GET')
  t.match(await stand.client.closed(), /12345$/)
  await rest(stand)
  t.match(stand.settled, [{ failure: 'upstream_failed' }])
})

t.test('egress.forward 502: a target that hangs up before it answers, with a body and without', async (t) => {
  const { ask } = await openEgressFront(t, { target: (req) => void req.socket.destroy() })
  t.match(await errorOf(await ask('/')), { status: 502, type: 'upstream_failed' })
  t.match(await errorOf(await ask('/', { method: 'POST', body: 'hello' })), {
    status: 502,
    type: 'upstream_failed',
  })
})

t.test('egress.forward 408: a body that stalls', async (t) => {
  let now = 0
  const stand = await open(
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

t.test('egress.forward 504: what waits for the destination has ends of its own', async (t) => {
  let asked: EgressExchangeRequest | null = null
  const exchange = (request: EgressExchangeRequest) => {
    asked = request
    if (request.body instanceof Readable) request.body.on('data', () => undefined)
    return new Promise<Outcome<EgressExchange>>((settle) =>
      setTimeout(() => settle(fail('upstream_slow')), 100),
    )
  }
  const ports = { egress: { vetted: () => ok({ exchange }) } } as unknown as Ports
  const { client, send } = await open(t, () => undefined, { ports })
  send('POST', ['content-length: 10'], 'half')
  t.match(await client.until(/\r\n\r\n\{/), /^HTTP\/1\.1 504 [^]*x-sluice-error: upstream_slow/)
  const { beginsBy, stallMs } = asked as unknown as EgressExchangeRequest
  const leftMs = beginsBy() - performance.now()
  t.ok(
    leftMs <= EGRESS_BODY_STALL_MS && leftMs > EGRESS_BODY_STALL_MS / 2,
    `${leftMs} ms for the rest of the body`,
  )
  t.ok(EGRESS_BODY_STALL_MS > BODY_STALL_MS, 'a client that stalls is told so first')
  t.equal(stallMs, EGRESS_ANSWER_STALL_MS)
})
