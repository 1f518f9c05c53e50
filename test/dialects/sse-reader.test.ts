import t from 'tap'
import {
  BARE_EVENTS_MAX,
  BARE_EVENTS_PER_S,
  STRAY_LINES_MAX,
  STRAY_LINES_PER_EVENT,
  STRAY_LINES_PER_S,
} from '../../src/schemas/inference/stream-limits.ts'
import { MIB } from '../../src/schemas/limits/limits.ts'
import { SseReader, type SseRead } from '../../src/dialects/sse-reader.ts'
import { randomFrom } from '../support/embeddings/random-answers.ts'
import { eventsOf, type ReferenceEvent } from '../support/inference/sse-reference.ts'

const BOM = '\ufeff'
const STREAMS = [
  'data: {"a":1}\n\ndata: [DONE]\n\n',
  `${BOM}data: first\n\n${BOM}data: a mark in the middle is a field\n\ndata:second\n\n`,
  ': a comment\n\n:\n:data: x\ndata: one\n: between\ndata: two\ndata\ndata:\ndata:  three\n\n',
  'id: 7\nretry: 100\nevent: error\ndata: {}\n\nevent\ndata: no name\n\nevent: lost\n\ndata: unnamed\n\n',
  'datax: 1\ndat: 2\ndata : 3\n data: 4\neventually: 5\nDATA: 6\ndata: 7\n\n\n\n\ndata: never ended\n',
  'data: é€😀 "\\u00e9"\nfield without colon\ndata: : ::\nevent: messäge\n\ndata',
  '\ndata: after an empty line\n\n',
]

const collected = (read: SseRead): readonly ReferenceEvent[] =>
  read.events.map(({ name, data }) => ({ name, data: data.toString() }))

/** The events of a stream that comes in these pieces, each in memory that is used again afterwards. */
function eventsIn(pieces: readonly Uint8Array[]): readonly ReferenceEvent[] {
  const reader = new SseReader()
  return pieces.flatMap((piece) => {
    const own = Uint8Array.from(piece)
    const events = collected(reader.read(own))
    own.fill(0x21)
    return events
  })
}

for (const [lineEnd, called] of [
  ['\n', 'LF'],
  ['\r', 'CR'],
  ['\r\n', 'CRLF'],
] as const) {
  t.test(`events with ${called} are the same however the stream is split into reads`, async (t) => {
    for (const stream of STREAMS) {
      const bytes = Buffer.from(stream.replaceAll('\n', lineEnd))
      const expected = eventsOf(bytes)
      t.same(eventsIn([bytes]), expected, stream)
      t.same(eventsIn([...bytes].map((byte) => Uint8Array.of(byte))), expected, 'single bytes')
      for (let at = 0; at <= bytes.length; at++) {
        const events = eventsIn([bytes.subarray(0, at), bytes.subarray(at)])
        if (JSON.stringify(events) !== JSON.stringify(expected)) t.same(events, expected, `cut at ${at}`)
      }
    }
  })
}

t.test('random streams in random pieces give the events that the standard prescribes', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = randomFrom(seed)
  const parts = [
    '\n',
    '\n',
    '\r',
    '\r\n',
    'data',
    'data:',
    'event: ',
    ': ',
    ' ',
    'x',
    'é',
    BOM,
    'id: 1',
    'da',
  ]
  for (let nth = 0; nth < 3_000; nth++) {
    const count = Math.floor(random() * 24)
    const text = Array.from({ length: count }, () => parts[Math.floor(random() * parts.length)] ?? '')
    const bytes = Buffer.from(text.join(''))
    const pieces: Buffer[] = []
    for (let at = 0; at < bytes.length;) {
      const end = at + 1 + Math.floor(random() * 8)
      pieces.push(bytes.subarray(at, end))
      at = end
    }
    const found = JSON.stringify(eventsIn(pieces))
    const expected = JSON.stringify(eventsOf(bytes))
    if (found !== expected) t.equal(found, expected, `seed ${seed}, stream ${nth}: ${JSON.stringify(text)}`)
  }
  t.pass(`seed ${seed}`)
})

t.test('bytes that begin like a byte order mark but are not one belong to an unknown field', async (t) => {
  for (const begin of [[0xef], [0xef, 0xbb], [0xef, 0xbb, 0xbe]]) {
    const bytes = Buffer.concat([Buffer.from(begin), Buffer.from('data: 1\n\ndata: 2\n\n')])
    t.same(eventsIn([bytes]), [{ name: '', data: '2' }])
    t.same(eventsIn([...bytes].map((byte) => Uint8Array.of(byte))), [{ name: '', data: '2' }])
  }
})

t.test('data that arrive in one read and one line are a slice of the read bytes', async (t) => {
  const bytes = Buffer.from('data: {"a":1}\n\ndata: b\ndata: c\n\n')
  const [one, two] = new SseReader().read(bytes).events
  t.equal(one?.data.buffer, bytes.buffer)
  t.equal(one?.data.byteOffset, bytes.byteOffset + 6)
  t.equal(one?.isOneLine, true)
  t.equal(two?.isOneLine, false)
})

t.test('an event larger than the maximum is refused, after the events before it', async (t) => {
  const failure = { name: 'upstream_too_large', fields: { limit: 10 } }
  const hundred = 'x'.repeat(100)
  for (const text of [
    'data: 12345678901\n\n',
    `data: ${hundred}`,
    'data: 12345\ndata: 12345\n\n',
    'data\n'.repeat(12),
  ]) {
    const whole = new SseReader(10)
    t.match(whole.read(Buffer.from(`data: 1234567890\n\n${text}\n\ndata: late\n\n`)), {
      events: [{ data: Buffer.from('1234567890') }],
      failure,
    })
    t.same(whole.read(Buffer.from('data: 1\n\n')), { events: [], failure })
    const single = new SseReader(10)
    const reads = [...Buffer.from(`${text}\n\n`)].map((byte) => single.read(Uint8Array.of(byte)))
    t.same(reads.at(-1), { events: [], failure }, text)
    t.ok(reads.every(({ events }) => events.length === 0))
  }
})

t.test('a line of an ignored field without an end is not kept in memory', async (t) => {
  for (const begin of [':', 'id: ', 'unknown', 'database: ', 'events: ']) {
    const reader = new SseReader()
    const more = Buffer.alloc(MIB, 'x')
    t.same(reader.read(Buffer.from(begin)), { events: [], failure: null })
    const before = process.memoryUsage().arrayBuffers
    for (let nth = 0; nth < 64; nth++) reader.read(more)
    t.ok(process.memoryUsage().arrayBuffers - before < 16 * MIB, begin)
    t.same(collected(reader.read(Buffer.from('\ndata: 1\n\n'))), [{ name: '', data: '1' }])
  }
})

t.test('ignores an event name longer than the maximum, however it is split into reads', async (t) => {
  const kept = 'n'.repeat(128)
  for (const begin of ['event:', 'event: ']) {
    for (const name of [kept, `${kept}n`, 'n'.repeat(100_000)]) {
      const bytes = Buffer.from(`event: first\n${begin}${name}\ndata: 1\n\n`)
      const expected = [{ name: name === kept ? kept : '', data: '1' }]
      t.same(eventsIn([bytes]), expected)
      t.same(eventsIn([...bytes].map((byte) => Uint8Array.of(byte))), expected)
    }
  }
})

const MANY = 200_000

t.test('an event may have very many lines; too many lines without an event are refused', async (t) => {
  const { failure } = new SseReader().read(Buffer.from('id\n'.repeat(MANY)))
  t.match(failure, { name: 'upstream_invalid' })
  const reader = new SseReader()
  const [event] = reader.read(Buffer.from(`${'data\n'.repeat(MANY)}\n`)).events
  t.equal(event?.data.length, MANY - 1)
  const x = Buffer.from('x')
  reader.read(Buffer.from('data:'))
  for (let nth = 0; nth < MANY; nth++) reader.read(x)
  t.equal(reader.read(Buffer.from('\n\n')).events[0]?.data.length, MANY)
})

t.test('a stream fails after too many lines that belong to no event', async (t) => {
  for (const line of [':\n', '\n', 'id: 1\n', 'event: a\n', 'x'.repeat(200) + '\n']) {
    let nowMs = 0
    const reader = new SseReader(MIB, () => nowMs)
    const read = (lines: number) => reader.read(Buffer.from(line.repeat(lines))).failure
    // The first name may be that of an event.
    if (line.startsWith('event')) read(1)
    t.equal(read(STRAY_LINES_MAX), null, line)
    nowMs += 1_000
    t.equal(read(STRAY_LINES_PER_S), null, 'more by time')
    t.match(read(1), { name: 'upstream_invalid' })
    t.match(reader.read(Buffer.from('data: 1\n\n')), { events: [], failure: { name: 'upstream_invalid' } })
  }
})

t.test('events may have a few lines of their own, for any number of events', async (t) => {
  const reader = new SseReader(MIB, () => 0)
  const lines = ': a\n'.repeat(STRAY_LINES_PER_EVENT - 1)
  const event = `${lines}id: 1\nevent: message\ndata: 1\n\n`
  for (let nth = 0; nth < 20; nth++)
    t.equal(reader.read(Buffer.from(event.repeat(STRAY_LINES_MAX / 10))).failure, null)
  t.equal(reader.read(Buffer.from(':\n'.repeat(STRAY_LINES_MAX))).failure, null, 'the bucket is full')
  t.match(reader.read(Buffer.from(':\n')).failure, { name: 'upstream_invalid' })
})

t.test('a stream fails after too many events without output; the limit grows with time', async (t) => {
  let nowMs = 0
  const reader = new SseReader(MIB, () => nowMs)
  for (let nth = 0; nth < BARE_EVENTS_MAX; nth++) if (reader.bareEvent() !== null) t.fail(`${nth}`)
  nowMs += 1_000
  for (let nth = 0; nth < BARE_EVENTS_PER_S; nth++) if (reader.bareEvent() !== null) t.fail(`${nth}`)
  t.match(reader.bareEvent(), { name: 'upstream_invalid' })
})
