import t from 'tap'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { runLoad, startLoad } from './load.ts'
import { sizesOf } from './load-request.ts'
import { bytesServer, loadPlan as plan, OK, portOf, rawServer } from '../wire/raw-server.ts'
import { pause, until } from '../wait.ts'

t.setTimeout(600_000)

/** Answers at once, but for half a second from the hundredth request on, when it answers nothing. */
function stallingServer(t: Parameters<typeof bytesServer>[0]): Promise<number> {
  let count = 0
  let stalledUntil = 0
  return bytesServer(t, (socket) => {
    if (++count === 100) stalledUntil = performance.now() + 500
    const wait = stalledUntil - performance.now()
    if (wait <= 0) socket.write(OK)
    else setTimeout(() => socket.write(OK), wait)
  })
}

t.test('requests due while the server is stalled are sent, and the delay counts as latency', async (t) => {
  const port = await stallingServer(t)
  const found = await runLoad(
    plan(port, { connections: 2, pace: { kind: 'open', ratePerS: 200 }, durationMs: 3_000 }),
  )
  t.ok(found.requests >= 600, 'one of each instant at which one was due')
  t.same(Object.keys(found.statuses), ['200'])
  t.equal(found.unsent, 0)
  t.ok(found.latency.p99 >= 400, `from when they were due ${found.latency.p99}`)
  t.ok(found.latency.p99_9 >= found.latency.p99 && found.latency.max >= found.latency.p99_9)
  t.ok(
    found.latencyFromSent.p99 < found.latency.p99,
    `a generator that waits would show ${found.latencyFromSent.p99}`,
  )
})

t.test('a due request that found no connection counts as failed, with its full delay', async (t) => {
  const server = await rawServer(t, [''])
  const found = await runLoad(
    plan(server.port, {
      pace: { kind: 'open', ratePerS: 50 },
      durationMs: 400,
      drainMs: 200,
      answerTimeoutMs: 1_200,
    }),
  )
  t.ok(found.unsent >= 15 && found.requests > found.unsent)
  t.ok([20, 21].includes(found.requests), 'each that was due counts once')
  t.same(found.statuses, { 0: found.requests })
  t.ok(found.failures.includes('not sent: no connection was free'))
  t.ok(found.latency.p50 >= 200)
})

t.test('answers to a backlog after the end of the run do not raise the throughput', async (t) => {
  const port = await stallingServer(t)
  const found = await runLoad(plan(port, { pace: { kind: 'open', ratePerS: 300 }, durationMs: 400 }))
  t.ok(found.measuredMs > 500, String(found.measuredMs))
  t.equal(found.unsent, 0)
})

t.test('requests that catch up stay under the highest rate, and are all sent', async (t) => {
  let begunAt = 0
  const port = await bytesServer(t, (socket) => {
    begunAt ||= performance.now()
    setTimeout(() => socket.write(OK), Math.max(0, begunAt + 900 - performance.now()))
  })
  const open = {
    pace: { kind: 'open', ratePerS: 100 },
    ratePerSMax: 60,
    connections: 8,
    durationMs: 1_000,
    keepRows: { except: [] },
  } as const
  const found = await runLoad(plan(port, open))
  t.same([Object.keys(found.statuses), found.unsent], [['200'], 0])
  t.ok(found.requests >= 100, `${found.requests} of those that were due`)
  // By the clock of who sends: how long they are on the way is the machine's.
  const sentAt = found.rows.map(({ startedAt }) => startedAt)
  const most = Math.max(...sentAt.map((from) => sentAt.filter((at) => at >= from && at < from + 999).length))
  t.equal(sentAt.length, found.requests)
  t.ok(most <= 60, `${most} in a second`)
})

t.test('requests due in the warm-up count for nothing but CPU, whenever they are answered', async (t) => {
  const startedAt = performance.now()
  const port = await bytesServer(
    t,
    (socket) => void setTimeout(() => socket.write(OK), Math.max(0, startedAt + 1_200 - performance.now())),
  )
  const load = { pace: { kind: 'open', ratePerS: 100 }, warmUpMs: 400, durationMs: 300 } as const
  const { requests, requestsWithWarmUp, generatorCores } = await runLoad(plan(port, load))
  t.ok(requests >= 29 && requests <= 32, `${requests} of 30`)
  t.ok(requestsWithWarmUp >= 69, `${requestsWithWarmUp} of 70`)
  t.ok(generatorCores > 0 && generatorCores < 1.5, String(generatorCores))
})

t.test('a generator that is late itself reports that', async (t) => {
  const server = await rawServer(t, [OK])
  const load = await startLoad(plan(server.port, { pace: { kind: 'open', ratePerS: 200 } }))
  await until(() => server.heads.length !== 0)
  const from = performance.now()
  process.kill(load.pid, 'SIGSTOP')
  await pause(500)
  process.kill(load.pid, 'SIGCONT')
  const stoodMs = performance.now() - from
  const { generatorLate, latency, requests } = await load.stop()
  t.ok(requests >= 0.2 * stoodMs, `nothing is left out: ${requests} in more than ${stoodMs} ms`)
  t.ok(generatorLate.max >= 400 && generatorLate.p99 >= 300, JSON.stringify(generatorLate))
  t.ok(latency.max >= 400, 'and it stays in the latency')
})

t.test('payload sizes vary, are the same for the same seed, and every payload is sent whole', async (t) => {
  const bodies: string[] = []
  const server = createServer((req, res) => {
    let text = ''
    req.setEncoding('latin1').on('data', (piece: string) => (text += piece))
    req.on('end', () => {
      bodies.push(text)
      res.end('ok')
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const port = portOf(server)
  const payload = { leastBytes: 10_000, mostBytes: 1_000_000, seed: 7, after: '--end' }
  const requests = [{ method: 'POST', path: '/a', headers: {}, body: 'begin--', payload }]
  await runLoad(plan(port, { requests, requestsMax: 6 }))
  const nextBytes = sizesOf(payload)
  t.same(
    bodies.map(({ length }) => length),
    bodies.map(() => nextBytes() + 'begin----end'.length),
  )
  t.ok(bodies.every((text) => text.startsWith('begin--The quick') && text.endsWith('--end')))
  t.ok(new Set(bodies.map(({ length }) => length)).size > 3)
})

t.test(
  'counts an answer that arrives before the payload is sent, and does not reuse its connection',
  async (t) => {
    const server = await rawServer(t, ['HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n', ''])
    const payload = { leastBytes: 50_000_000, mostBytes: 50_000_001, seed: 1, after: '' }
    const result = await runLoad(
      plan(server.port, {
        requests: [{ method: 'POST', path: '/a', headers: {}, body: '', payload }],
        requestsMax: 1,
      }),
    )
    t.same(result.statuses, { 413: 1 })
    t.same(
      result.sockets.map(({ answers, isCut }) => [answers, isCut]),
      [[1, false]],
    )
  },
)

t.test(
  'a connection that rested for seconds is not used again: its server may be about to end it',
  async (t) => {
    let isFirst = true
    const port = await bytesServer(t, (socket) => {
      const head = isFirst ? OK.replace('\r\n', '\r\nretry-after: 5\r\n') : OK
      isFirst = false
      socket.write(head)
    })
    const { sockets, statuses } = await runLoad(
      plan(port, { pace: { kind: 'polite' }, durationMs: 60_000, requestsMax: 2 }),
    )
    t.same(statuses, { 200: 2 })
    t.match(sockets, [{ answers: 1, isCut: false }, { answers: 1 }])
  },
)
