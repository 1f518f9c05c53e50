/**
 * Streamed replies over real sockets: pace, silence, slow readers, ends that are whole and ends that are not.
 */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import {
  STREAM_LAST_EVENT_MS_MAX,
  STREAM_SILENCE_MS,
  STREAM_WAITING_BYTES_MAX,
} from '../../../../src/schemas/inference/stream-limits.ts'
import { REPLY_BEAT_MS, REPLY_STALL_MS } from '../../../../src/schemas/limits/limits.ts'
import type { HttpOptions } from '../../../../src/server/http/front.ts'
import { TIMER_STEP_MS, Timers } from '../../../../src/server/http/timers.ts'
import type { Call } from '../../../../src/server/operations/define.ts'
import { AUTHORIZATION, openFront, operation, patient } from '../../../support/front.ts'
import { gate } from '../../../support/gate.ts'
import { until } from '../../../support/wait.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'
import type { EventStream } from '../../../../src/server/ports/inference/inference.ts'

const LAST_CHUNK = /\r\n0\r\n(?:x-sluice-end: 1\r\n)?\r\n$/
const asked = (headers: Readonly<Record<string, string>> = {}): string =>
  requestText('GET /api/v1/events', { authorization: AUTHORIZATION, ...headers })
const second = requestText('GET /api/v1/second', { authorization: AUTHORIZATION })
const event = (text: string): Buffer => Buffer.from(`data: ${text}\n\n`)
const turn = (): Promise<void> => new Promise(setImmediate)

/** A front whose operation hands its stream to the test, and returns when the test says so. */
async function open(t: Test, more: Partial<HttpOptions> = {}) {
  const [begun, finish] = [gate(), gate()]
  const seen: { call: Call; stream: EventStream }[] = []
  const opened = await openFront(
    t,
    [
      operation({
        id: 'test.events',
        method: 'get',
        path: '/events',
        input: {},
        outlivesClient: true,
        async run(call: Call) {
          const stream = call.events({
            headers: { 'x-generation-id': 'gen_1' },
            silence: () => Buffer.from(': waiting\n\n'),
          })
          seen.push({ call, stream })
          begun.open()
          await finish.opened
          return { ok: true, value: { kind: 'streamed' } }
        },
      }),
      operation({
        id: 'test.second',
        method: 'get',
        path: '/second',
        input: {},
        run: () => ({ ok: true, value: { kind: 'json', value: 'second' } }),
      }),
    ],
    { timers: patient(), ...more },
  )
  const client = rawClient(opened.port)
  const begin = async (text = asked()) => {
    client.send(text)
    await begun.opened
    const [first] = seen
    if (first === undefined) throw new Error('no stream')
    return first
  }
  return { ...opened, client, begin, finish: () => finish.open() }
}

t.test('each event is sent before the next is written, after the head of an unbuffered answer', async (t) => {
  const { client, begin, finish, untilSettled, settled } = await open(t)
  const { stream } = await begin()
  for (let nth = 0; nth < 20; nth++) {
    stream.write(event(`n${nth}.`))
    await client.until(new RegExp(`data: n${nth}\\.\n\n`))
  }
  const [head = ''] = client.text.split('\r\n\r\n')
  t.match(head, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(head, /\r\ncontent-type: text\/event-stream\r\n/i)
  t.match(head, /\r\ncache-control: no-cache, no-transform\r\n/i)
  t.match(head, /\r\nx-accel-buffering: no\r\n/i)
  t.match(head, /\r\nx-generation-id: gen_1\r\n/i)
  t.match(head, /\r\ntransfer-encoding: chunked/i)
  stream.end()
  t.notOk(stream.isOpen)
  await client.untilEnd(LAST_CHUNK)
  finish()
  await untilSettled(1)
  t.match(settled[0], { status: 200, failure: null, isClientGone: false })
})

t.test('the connection of a completed stream serves the next request', async (t) => {
  const { client, begin, finish } = await open(t)
  const { stream } = await begin()
  stream.write(event('all'))
  stream.end()
  await client.untilEnd(LAST_CHUNK)
  finish()
  client.send(second)
  t.match(await client.until(/"second"/), /"second"$/)
})

for (const [what, before, headers] of [
  ['the only event', [], {}],
  ['an event after others', ['n1.', 'n2.'], {}],
  ['the only event of a connection that closes', [], { connection: 'close' }],
  ['more than the socket takes at once', ['n1.', 'x'.repeat(STREAM_WAITING_BYTES_MAX)], {}],
] as const)
  t.test(`the last event may be written with the end: ${what}`, async (t) => {
    const { client, begin, finish, untilSettled, settled } = await open(t)
    const { stream } = await begin(asked(headers))
    for (const text of before) stream.write(event(text))
    stream.end(event('last.'))
    t.notOk(stream.isOpen)
    stream.end(event('more'))
    await client.untilEnd(LAST_CHUNK)
    const sent = [...client.text.matchAll(/^data: (.*)$/gm)].map(([, text]) => text)
    t.same(sent, [...before, 'last.'])
    finish()
    await untilSettled(1)
    t.match(settled[0], { status: 200, failure: null, isClientGone: false })
  })

t.test('a client that asked to close its connection gets the last chunk, and then the end', async (t) => {
  const { client, begin, finish } = await open(t)
  const { stream } = await begin(asked({ connection: 'close' }))
  stream.write(event('all'))
  stream.end()
  finish()
  const text = await client.closed()
  t.match(text, /data: all\n\n/)
  t.match(text, LAST_CHUNK)
})

t.test('a stream without events is an empty answer', async (t) => {
  const { client, begin, finish } = await open(t)
  const { stream } = await begin()
  stream.end()
  finish()
  t.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 200 OK\r\n/)
})

t.test('a broken stream ends with its last event and without the last chunk', async (t) => {
  for (const headers of [{}, { connection: 'close' }]) {
    const { client, begin, finish } = await open(t)
    const { stream } = await begin(asked(headers))
    stream.write(event('half'))
    stream.breakOff(event('error'))
    t.notOk(stream.isOpen)
    stream.write(event('never'))
    finish()
    const text = await client.closed()
    t.match(text, /data: half\n\n[^]*data: error\n\n(?:\r\n)?$/)
    t.notMatch(text, /never/)
    t.notMatch(text, LAST_CHUNK)
  }
})

t.test('an operation that returns while its stream is open breaks the stream', async (t) => {
  const { client, begin, finish } = await open(t)
  const { stream } = await begin()
  stream.write(event('half'))
  finish()
  t.notMatch(await client.closed(), LAST_CHUNK)
  t.notOk(stream.isOpen)
})

t.test('comments are sent during silence, each STREAM_SILENCE_MS after the last write', async (t) => {
  let now = 0
  const { client, begin, finish } = await open(t, { timers: new Timers(() => now) })
  const { stream } = await begin()
  now += STREAM_SILENCE_MS + 2 * TIMER_STEP_MS
  await client.until(/: waiting\n\n/)
  stream.write(event('one'))
  await client.until(/data: one/)
  now += STREAM_SILENCE_MS - 2 * TIMER_STEP_MS
  for (let turns = 0; turns < 20; turns++) await turn()
  t.equal(client.text.split(': waiting').length, 2, 'none too early')
  now += 4 * TIMER_STEP_MS
  await client.until(/: waiting\n\n/, 2)
  stream.end()
  finish()
})

t.test('a client that does not read pauses its source, and later gets all events in order', async (t) => {
  const { client, begin, finish } = await open(t)
  const { stream } = await begin()
  stream.write(event('first'))
  await client.until(/first/)
  client.socket.pause()
  let count = 0
  const piece = 'x'.repeat(8_000)
  while (stream.hasRoom) {
    const bytes = event(`${count++} ${piece}`)
    stream.write(bytes)
    // The memory is the source's, which uses it again.
    bytes.fill('!')
    await turn()
  }
  t.ok(count * piece.length > STREAM_WAITING_BYTES_MAX)
  let isRoom = false
  const room = stream.room().then(() => (isRoom = true))
  for (let turns = 0; turns < 50; turns++) await turn()
  t.notOk(isRoom, 'the source waits')
  client.socket.resume()
  await room
  t.ok(stream.hasRoom)
  stream.end()
  await client.untilEnd(LAST_CHUNK)
  finish()
  const numbers = [...client.text.matchAll(/data: (\d+) x/g)].map(([, number]) => Number(number))
  t.same(
    numbers,
    Array.from({ length: count }, (_, nth) => nth),
  )
})

t.test('a write that the socket does not accept fills the room of a stream', async (t) => {
  const { client, begin, finish } = await open(t)
  const { stream } = await begin()
  client.socket.pause()
  stream.write(Buffer.alloc(24 * 1024 * 1024, 'x'))
  t.notOk(stream.hasRoom)
  client.socket.resume()
  await stream.room()
  t.ok(stream.hasRoom)
  stream.end()
  finish()
  await client.untilEnd(LAST_CHUNK)
})

t.test('disconnects a client that reads nothing for REPLY_STALL_MS, and aborts its source', async (t) => {
  let now = 0
  const { client, begin, finish, untilSettled, settled } = await open(t, { timers: new Timers(() => now) })
  const { stream } = await begin()
  client.socket.pause()
  while (stream.hasRoom) {
    stream.write(event('x'.repeat(64_000)))
    await turn()
  }
  const room = stream.room()
  // The timers are looked at by a clock of the machine, and count by that of the test.
  await until(() => {
    now += REPLY_BEAT_MS / 4
    return !stream.isOpen
  })
  t.ok(now > REPLY_STALL_MS, `${now} ms`)
  await room
  t.notOk(stream.isOpen)
  finish()
  await untilSettled(1)
  t.match(settled[0], { failure: 'client_gone' })
})

t.test(
  'a last event that the client does not read keeps its connection open for a limited time only',
  async (t) => {
    let now = 0
    const { client, begin, finish, untilSettled, settled } = await open(t, { timers: new Timers(() => now) })
    const { stream } = await begin()
    client.socket.pause()
    while (stream.hasRoom) {
      stream.write(event('x'.repeat(64_000)))
      await turn()
    }
    stream.breakOff(event('error'))
    finish()
    for (let turns = 0; turns < 50; turns++) await turn()
    t.equal(settled.length, 0, 'the client may still read')
    now += STREAM_LAST_EVENT_MS_MAX + 2 * TIMER_STEP_MS
    await untilSettled(1)
    client.socket.resume()
    t.notMatch(await client.closed(), LAST_CHUNK)
  },
)

t.test('a node that stops ends the signal, and lets the operation write the last event', async (t) => {
  const { client, begin, finish, front } = await open(t)
  const { call, stream } = await begin()
  stream.write(event('half'))
  await client.until(/half/)
  const ended = once(call.signal, 'abort')
  const drained = front.drain(0)
  await ended
  t.ok(stream.isOpen)
  stream.breakOff(event('draining'))
  finish()
  t.match(await client.closed(), /data: draining\n\n/)
  await drained
})

t.test('a client that disconnects ends the signal and the stream', async (t) => {
  const { client, begin, finish, untilSettled, settled, front } = await open(t)
  const { call, stream } = await begin()
  stream.write(event('half'))
  await client.until(/half/)
  const ended = once(call.signal, 'abort')
  client.destroy()
  await ended
  t.notOk(stream.isOpen)
  stream.write(event('more'))
  stream.end()
  t.equal(settled.length, 0, 'the operation has work to do')
  finish()
  await untilSettled(1)
  t.match(settled[0], { isClientGone: true })
  t.match(front.load, { calls: 0, bodyBytes: 0 })
})
