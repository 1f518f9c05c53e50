import t from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import type { LiveView } from '../../../../src/schemas/operator/live-view.ts'
import {
  followLive,
  LIVE_EVENT_CHARS_MAX,
  LIVE_SILENCE_MS_MAX,
  type LiveEnd,
} from '../../../../src/server/supervisor/admin-port/live-stream.ts'
import { liveView } from '../../../support/operator/live-view.ts'
import { bytesServer } from '../../../support/wire/raw-server.ts'
import { freePort } from '../../../support/nodes/spawned.ts'
import type { Teardown } from '../../../support/teardown.ts'

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n'
const eventOf = (view: LiveView): string => `data: ${JSON.stringify(view)}\n\n`
const refusal = (line: string, body: string): string =>
  `HTTP/1.1 ${line}\r\ncontent-length: ${body.length}\r\n\r\n${body}`

interface Followed {
  readonly end: LiveEnd
  readonly versions: readonly string[]
  readonly head: string
}

/** Follows a port that answers with these pieces, one packet each, and then ends the connection. */
async function follow(
  t: Teardown,
  pieces: readonly string[],
  { stopAt = Infinity, isReset = false } = {},
): Promise<Followed> {
  let head = ''
  const port = await bytesServer(t, (socket, bytes) => {
    head += bytes.toString()
    const next = (nth: number): void => {
      if (nth < pieces.length) socket.write(pieces[nth] ?? '', () => setImmediate(next, nth + 1))
      else if (isReset) socket.resetAndDestroy()
      else socket.end()
    }
    next(0)
  })
  const versions: string[] = []
  const stop = new AbortController()
  const end = await followLive({
    adminUrl: `http://127.0.0.1:${port}`,
    managementKey: new Secret('sk-secret'),
    signal: stop.signal,
    onView({ version }) {
      versions.push(version)
      if (versions.length === stopAt) stop.abort()
    },
  })
  return { end, versions, head }
}

t.test('each event is one view, however it is split into packets, and comments are skipped', async (t) => {
  const [first, second] = [eventOf(liveView({ version: 'a' })), eventOf(liveView({ version: 'ö' }))]
  const whole = `${first}: beat\n\n${second}`
  const { versions, end, head } = await follow(t, [
    HEAD.slice(0, 30),
    HEAD.slice(30),
    ...(whole.match(/[^]{1,97}/g) ?? []),
  ])
  t.same([versions, end], [['a', 'ö'], { kind: 'away', reason: 'the node ended the live view' }])
  t.match(head, /^GET \/api\/v1\/admin\/live HTTP\/1\.1\r\n[^]*authorization: Bearer sk-secret/i)
})

t.test('closes the stream after the requested number of views', async (t) => {
  const { versions } = await follow(
    t,
    [HEAD, eventOf(liveView({})), eventOf(liveView({})), eventOf(liveView({}))],
    { stopAt: 1 },
  )
  t.equal(versions.length, 1)
})

for (const { what, pieces, isReset = false, end } of [
  {
    what: 'a refusal of the key is reported in its own words',
    end: { kind: 'refused', reason: 'Not for this organization.' },
    pieces: [refusal('403 Forbidden', '{"error":{"code":403,"message":"Not for this organization."}}')],
  },
  {
    what: 'a refusal without a message is reported by its status',
    pieces: [refusal('401 Unauthorized', 'no')],
    end: { kind: 'refused', reason: 'the node answered 401' },
  },
  {
    what: 'a node that is busy or draining is waited for',
    end: { kind: 'away', reason: 'Enough are watching.' },
    pieces: [refusal('503 Service Unavailable', '{"error":{"message":"Enough are watching."}}')],
  },
  {
    what: 'a node that has no such view',
    end: { kind: 'refused', reason: 'the node answered 404' },
    pieces: [refusal('404 Not Found', '{"error":"this port serves /metrics"}')],
  },
  {
    what: 'a connection that breaks',
    pieces: [HEAD, 'data: {'],
    isReset: true,
    end: { kind: 'away', reason: /the connection was lost|ECONNRESET/ },
  },
  {
    what: 'an answer that is no view',
    pieces: [HEAD, 'data: {"at":1}\n\n'],
    end: { kind: 'away', reason: /a different version/ },
  },
  {
    what: 'an answer that is no JSON',
    pieces: [HEAD, 'data: {"at\n\n'],
    end: { kind: 'away', reason: /a different version/ },
  },
  {
    what: 'an event that never ends',
    end: { kind: 'away', reason: /too much/ },
    pieces: [HEAD, 'data: ', ...Array.from({ length: 17 }, () => 'x'.repeat(LIVE_EVENT_CHARS_MAX / 16))],
  },
  {
    what: 'a refusal that never ends',
    pieces: ['HTTP/1.1 500 No\r\n\r\n', 'x'.repeat(LIVE_EVENT_CHARS_MAX + 1)],
    end: { kind: 'away', reason: /is incomplete/ },
  },
]) {
  t.test(what, async (t) => {
    const followed = await follow(t, pieces, { isReset })
    t.match(followed.end, end)
    t.same(followed.versions, [])
  })
}

t.test('a node that sends no more data is reported as unavailable', async (t) => {
  const port = await bytesServer(t, (socket) => void socket.write(HEAD))
  const end = await followLive({
    adminUrl: `http://127.0.0.1:${port}`,
    managementKey: new Secret('k'),
    signal: new AbortController().signal,
    onView: () => undefined,
    silenceMs: 50,
  })
  t.same(end, { kind: 'away', reason: 'no data for 0.05 s' })
  t.equal(LIVE_SILENCE_MS_MAX, 5_000)
})

t.test('a port without a listener is reported as unavailable', async (t) => {
  const port = await freePort()
  const end = await followLive({
    adminUrl: `http://127.0.0.1:${port}`,
    managementKey: new Secret('k'),
    signal: new AbortController().signal,
    onView: () => undefined,
  })
  t.match(end, { kind: 'away', reason: /ECONNREFUSED/ })
})
