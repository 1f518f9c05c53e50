import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import { watchLive, type Terminal } from '../../../../src/server/cli/operator/top.ts'
import { liveView } from '../../../support/operator/live-view.ts'
import { until } from '../../../support/nodes/node.ts'
import { plainText } from '../../../support/nodes/pty.ts'
import { bytesServer } from '../../../support/wire/raw-server.ts'

interface Kept {
  readonly parts: Terminal
  /** Drawn frames, without the sequences that move the cursor. */
  frames(): readonly string[]
  /** How often the width was read: once before each frame. */
  looks(): number
  press(key: string): void
  drain(): void
  resize(): void
}

/** A terminal that keeps all output. A slow one takes a frame only when the test says so. */
function terminal(isSlow = false): Kept {
  const written: string[] = []
  const isFrame = (text: string): boolean => text.includes('\u001b[?2026h')
  let looks = 0
  const stdin = Object.assign(new EventEmitter(), {
    isTTY: true,
    setRawMode: () => undefined,
    pause: () => undefined,
  })
  const stdout = Object.assign(new EventEmitter(), {
    rows: 10,
    write: (text: string) => written.push(text) > 0 && !(isSlow && isFrame(text)),
  })
  Object.defineProperty(stdout, 'columns', { get: () => ((looks += 1) > 0 ? 60 : 0) })
  return {
    parts: { stdin, stdout } as unknown as Terminal,
    frames: () => written.filter(isFrame).map(plainText),
    looks: () => looks,
    press: (key) => void stdin.emit('data', Buffer.from(key)),
    drain: () => void stdout.emit('drain'),
    resize: () => void stdout.emit('resize'),
  }
}

const STREAM = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n'

t.test('shows that a node became unreachable, waits for it, and shows it again', async (t) => {
  let calls = 0
  const port = await bytesServer(t, (socket) => {
    calls += 1
    socket.write(`${STREAM}data: ${JSON.stringify(liveView({ version: `v${calls}` }))}\n\n`)
    if (calls === 1) socket.end()
  })
  const { parts, frames, press } = terminal()
  const watched = watchLive(
    { adminUrl: () => `http://127.0.0.1:${port}`, managementKey: new Secret('k'), hasColour: false },
    parts,
  )
  await until('the second node is shown', () => frames().some((text) => text.includes('Sluice v2  ready')))
  press('q')
  await watched
  const titles = frames().map((text) => text.split('\r\n')[0] ?? '')
  t.match(titles[0], 'Sluice  waiting for the node')
  t.ok(
    titles.some((title) => /^Sluice v1 {2}.*; down for 0 s/.test(title)),
    titles.join('\n'),
  )
})

t.test('ends with the reason when the key is refused later', async (t) => {
  const body = '{"error":{"message":"Invalid API key."}}'
  const port = await bytesServer(
    t,
    (socket) =>
      void socket.write(`HTTP/1.1 401 Unauthorized\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
  )
  const { parts } = terminal()
  const watched = watchLive(
    { adminUrl: () => `http://127.0.0.1:${port}`, managementKey: new Secret('k'), hasColour: false },
    parts,
  )
  await t.rejects(watched, { message: 'the node refused this key: Invalid API key.' })
})

t.test('redraws at once after a resize, and leaves a restored terminal alone', async (t) => {
  const port = await bytesServer(
    t,
    (socket) => void socket.write(`${STREAM}data: ${JSON.stringify(liveView({}))}\n\n`),
  )
  const { parts, frames, press, resize } = terminal()
  const watched = watchLive(
    { adminUrl: () => `http://127.0.0.1:${port}`, managementKey: new Secret('k'), hasColour: false },
    parts,
  )
  await until('a look is drawn', () => frames().length === 2)
  resize()
  t.equal(frames().length, 3)
  press('q')
  await watched
  resize()
  t.equal(frames().length, 3)
})

t.test('a slow terminal gets only the newest frame', async (t) => {
  const sockets: Socket[] = []
  const port = await bytesServer(t, (socket) => {
    socket.write(STREAM)
    sockets.push(socket)
  })
  const { parts, frames, looks, press, drain } = terminal(true)
  const watched = watchLive(
    { adminUrl: () => `http://127.0.0.1:${port}`, managementKey: new Secret('k'), hasColour: false },
    parts,
  )
  await until('it is asked', () => sockets.length === 1)
  const before = looks()
  for (const version of ['a', 'b', 'c'])
    sockets[0]?.write(`data: ${JSON.stringify(liveView({ version }))}\n\n`)
  await until('all three are looked at', () => looks() === before + 3)
  t.equal(frames().length, 1)
  drain()
  await until('the newest is drawn', () => frames().length === 2)
  t.match(frames()[1], /^Sluice c /)
  press('q')
  await watched
})
