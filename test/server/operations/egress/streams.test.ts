/** Bodies that flow both ways. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import t from 'tap'
import { Timers } from '../../../../src/server/http/timers.ts'
import { openEgressFront, textOf } from '../../../support/egress/egress-front.ts'
import { openRawEgress } from '../../../support/egress/raw-egress-front.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { gate } from '../../../support/gate.ts'
import { still } from '../../../support/wait.ts'
import { EGRESS_WAITING_BYTES_MAX } from '../../../../src/server/operations/egress/outgoing.ts'

const MIB = 1024 * 1024

t.test('a chunked answer is passed on in chunks as produced, and the connection stays open', async (t) => {
  const [first, second] = [gate(), gate()]
  const { client, send } = await openRawEgress(t, async (_, res) => {
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
  'a chunked answer that is the last of its connection ends properly, and so does the connection',
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
  'a chunked answer without chunks that ends its connection is sent empty, with content-length 0',
  async (t) => {
    for (const header of ['connection: close', 'transfer-encoding: chunked']) {
      const { client, send } = await openRawEgress(
        t,
        (_, res) => void res.writeHead(302, { location: '/y' }).end(),
      )
      send('POST', [header], header.endsWith('chunked') ? '0\r\n\r\n' : '')
      const text = await client.closed()
      t.match(text, /^HTTP\/1\.1 302 [^]*connection: close\r\n[^]*content-length: 0\r\n\r\n$/i)
      t.notMatch(text, /x-sluice-end|transfer-encoding/i)
      t.match(text, /\r\ndate: /i)
    }
  },
)

t.test('the bytes of an answer are counted, with a length and in chunks, and HEAD has none', async (t) => {
  const { ask, settled, untilSettled } = await openEgressFront(t, {
    target: (req, res) => {
      if (req.url === '/sized') res.setHeader('content-length', 5)
      res.write('123')
      res.end('45')
    },
  })
  await (await ask('/sized')).text()
  await (await ask('/chunks')).text()
  await ask('/sized', { method: 'HEAD' })
  await untilSettled(3)
  t.same(
    settled.map(({ replyBytes }) => replyBytes),
    [5, 5, 0],
  )
})

t.test('the head of an answer does not wait for its body', async (t) => {
  const body = gate()
  const { client, send } = await openRawEgress(t, async (_, res) => {
    res.writeHead(200, { 'content-length': 2 }).flushHeaders()
    await body.opened
    res.end('ok')
  })
  send('GET')
  t.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 [^]*content-length: 2\r\n/i)
  body.open()
  await client.until(/\r\n\r\nok$/)
})

t.test('a chunked body that arrives together with its head is sent with its length', async (t) => {
  const { client, send } = await openRawEgress(t, async (req, res) => {
    res.end(`${req.headers['content-length']} ${req.headers['transfer-encoding']} ${await textOf(req)}`)
  })
  send('POST', ['transfer-encoding: chunked'], '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n')
  await client.until(/5 undefined abcde/)
})

t.test('an answer to HEAD keeps the length of the omitted body, or has none', async (t) => {
  const { client, send, ask } = await openRawEgress(t, (req, res) => {
    if (req.url === '/x') res.setHeader('content-length', 5)
    res.end(req.method === 'HEAD' ? '' : 'hello')
  })
  send('HEAD')
  t.match(await client.until(/\r\n\r\n$/), /^HTTP\/1\.1 200 [^]*content-length: 5\r\n/i)
  t.notOk((await ask('/none', { method: 'HEAD' })).headers.has('content-length'))
})

t.test('the last answer of a connection has no length either when it has no body', async (t) => {
  const { client, send } = await openRawEgress(t, (_, res) => void res.writeHead(204).end())
  send('GET', ['connection: close'])
  const text = await client.closed()
  t.match(text, /^HTTP\/1\.1 204 [^]*\r\n\r\n$/)
  t.notMatch(text, /content-length/i)
})

t.test('204, 206, 304 and an empty 200 are passed on', async (t) => {
  const { ask } = await openRawEgress(t, (req, res) => {
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
  const { client, send } = await openRawEgress(t, (_, res) => {
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

t.test('a large body is streamed in both directions at once, byte for byte', async (t) => {
  const { client, send, target } = await openRawEgress(t, (req, res) => {
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

t.test('a target that does not read pauses the sender', async (t) => {
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
  t.test(`a client that does not read pauses the target${hasLength ? '' : ', in chunks too'}`, async (t) => {
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
 * Far more than the system buffers: an answer that ends also ends the exchange, and the rest of the body is
 * dropped.
 */
const ANSWER_MIB = 256

for (const hasLength of [true, false]) {
  t.test(
    `an answer${hasLength ? '' : ' in chunks'} is streamed although the target does not read the body, and the sender is paused`,
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

t.test('an early answer is sent while the body is still arriving, and the body may then end', async (t) => {
  const { client, send, settled, untilSettled } = await openRawEgress(t, (req, res) => {
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

t.test('the full answer of a target that closes without reading the body reaches the client', async (t) => {
  const { client, send } = await openRawEgress(
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
