import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import t from 'tap'
import {
  ADMIN_KEY_MS_MAX,
  LIVE_LOOK_MS,
  LIVE_STALL_MS,
  LIVE_STREAMS_MAX,
} from '../../../../src/schemas/operator/admin-port-limits.ts'
import type { LiveListener } from '../../../../src/server/supervisor/admin-port/live-feed.ts'
import { LiveStreams } from '../../../../src/server/supervisor/admin-port/live-streams.ts'
import type { KeyCheck } from '../../../../src/server/supervisor/admin-port/operator-keys.ts'
import { failed } from '../../../../src/server/supervisor/admin-port/answers.ts'
import { until } from '../../../support/nodes/node.ts'
import { rawClient, type RawClient } from '../../../support/wire/raw-http.ts'
import { portOf } from '../../../support/wire/raw-server.ts'

const GRACE_MS = 60_000
const answer = failed({ name: 'key_unknown' })

/** Streams whose views, keys and clock follow the test. */
async function streamStand(t: { teardown(done: () => void): unknown }) {
  const listeners = new Set<LiveListener>()
  const checks: number[] = []
  const responses: ServerResponse[] = []
  let [nowMs, check, isOpen, refusals] = [0, { kind: 'operator' } as KeyCheck, true, 0]
  const streams = new LiveStreams({
    feed: {
      subscribe(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      once: () => new Promise((resolve) => listeners.add(resolve)),
    },
    keys: {
      check(_, msMax = -1) {
        checks.push(msMax)
        return Promise.resolve(check)
      },
    },
    keyGraceMs: () => GRACE_MS,
    now: () => nowMs,
  })
  const server = createServer(({ url }: IncomingMessage, response) => {
    responses.push(response)
    if (url === '/once') return void streams.once(response)
    streams.open(response, {
      authorization: 'Bearer k',
      isOpen: () => isOpen,
      onRefused: () => void refusals++,
    })
  })
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const open = async (path = '/'): Promise<RawClient> => {
    const before = listeners.size
    const client = rawClient(portOf(server))
    t.teardown(() => client.destroy())
    client.send(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    await until('it is answered or listens', () => listeners.size > before || client.text !== '')
    return client
  }
  return {
    open,
    listeners,
    checks,
    responses,
    tell: (view: string | null) => [...listeners].forEach((listener) => listener(view)),
    pass: (ms: number) => void (nowMs += ms),
    decide: (next: KeyCheck) => void (check = next),
    endSession: () => void (isOpen = false),
    refusals: () => refusals,
  }
}

t.test('every open page gets every view as a separate event', async (t) => {
  const stand = await streamStand(t)
  const pages = [await stand.open(), await stand.open()]
  stand.tell('{"a":1}')
  await Promise.all(pages.map((page) => page.until(/"a":1/)))
  stand.tell('{"a":2}')
  for (const page of pages) {
    const text = await page.until(/data: \{"a":2\}\n\n/)
    t.match(text, /^HTTP\/1\.1 200 OK\r\n/)
    t.match(text, /content-type: text\/event-stream\r\n/i)
    t.match(text, /cache-control: no-store\r\n/i)
    t.match(text, /data: \{"a":1\}\n\n/)
  }
})

t.test('closing a page unsubscribes it', async (t) => {
  const stand = await streamStand(t)
  const page = await stand.open()
  page.destroy()
  await until('nobody listens', () => stand.listeners.size === 0)
  t.pass()
})

t.test(
  'the key is checked again before its cached check expires, and a revoked key ends the stream',
  async (t) => {
    const stand = await streamStand(t)
    const page = await stand.open()
    stand.pass(ADMIN_KEY_MS_MAX - LIVE_LOOK_MS - 1)
    stand.tell('{}')
    t.same(stand.checks, [])
    stand.pass(1)
    stand.tell('{}')
    t.same(stand.checks, [LIVE_LOOK_MS])
    stand.decide({ kind: 'refused', answer })
    stand.pass(ADMIN_KEY_MS_MAX)
    stand.tell('{}')
    t.ok(await page.until(/\r\n0\r\n\r\n$/))
    t.equal(stand.refusals(), 1, 'which ends the sessions of the key, too')
  },
)

t.test("the end of a page's session ends its view at the next event", async (t) => {
  const stand = await streamStand(t)
  const page = await stand.open()
  stand.tell('{"a":1}')
  await page.until(/"a":1/)
  stand.endSession()
  stand.tell('{"a":2}')
  t.notMatch(await page.until(/\r\n0\r\n\r\n$/), /"a":2/)
})

t.test(
  'while no front can check the key the view goes on, for as long as fronts serve without the store',
  async (t) => {
    const stand = await streamStand(t)
    const page = await stand.open()
    stand.decide({ kind: 'undecided', answer })
    stand.pass(GRACE_MS)
    stand.tell('{"a":1}')
    await page.until(/"a":1/)
    stand.tell('{"on":1}')
    await page.until(/"on":1/)
    stand.pass(ADMIN_KEY_MS_MAX)
    stand.tell('{"a":2}')
    t.ok(await page.until(/\r\n0\r\n\r\n$/))
    t.equal(stand.refusals(), 0)
  },
)

t.test(
  'a slow reader misses views and later gets the newest one; a reader that never reads is disconnected',
  async (t) => {
    const stand = await streamStand(t)
    const page = await stand.open()
    page.socket.pause()
    const large = JSON.stringify({ large: 'x'.repeat(2 ** 20) })
    const [response] = stand.responses
    await until('the socket is full', () => {
      stand.tell(large)
      return (response?.writableLength ?? 0) > 0
    })
    const held = response?.writableLength ?? 0
    for (let view = 0; view < 100; view++) stand.tell(`{"missed":${view}}`)
    t.equal(response?.writableLength, held)
    page.socket.resume()
    await until('it has read', () => (response?.writableLength ?? 1) === 0)
    stand.tell('{"newest":1}')
    t.notMatch(await page.until(/"newest":1/), /missed/)
    page.socket.pause()
    await until('the socket is full again', () => {
      stand.tell(large)
      return (response?.writableLength ?? 0) > 0
    })
    stand.tell('{}')
    stand.pass(LIVE_STALL_MS + 1)
    stand.tell('{}')
    page.socket.resume()
    t.ok(await page.closed())
    t.ok(response?.destroyed)
  },
)

t.test('the number of open views is limited, and closing a view makes room for another', async (t) => {
  const stand = await streamStand(t)
  const pages = await Promise.all(Array.from({ length: LIVE_STREAMS_MAX }, () => stand.open()))
  await until('all listen', () => stand.listeners.size === LIVE_STREAMS_MAX)
  const refused = await stand.open()
  t.match(await refused.until(/busy/), /^HTTP\/1\.1 503 /)
  pages[0]?.destroy()
  await until('there is room', () => stand.listeners.size < LIVE_STREAMS_MAX)
  const next = await stand.open()
  stand.tell('{"a":1}')
  await next.until(/"a":1/)
})

t.test('the end of the node ends every stream and answers waiting requests for a single view', async (t) => {
  const stand = await streamStand(t)
  const page = await stand.open()
  const waiting = await stand.open('/once')
  stand.tell(null)
  t.ok(await page.until(/\r\n0\r\n\r\n$/))
  t.match(await waiting.until(/draining/), /^HTTP\/1\.1 503 /)
})

t.test('one view is answered as JSON', async (t) => {
  const stand = await streamStand(t)
  const page = await stand.open('/once')
  stand.tell('{"a":1}')
  t.match(await page.until(/\{"a":1\}/), /content-type: application\/json/i)
})
