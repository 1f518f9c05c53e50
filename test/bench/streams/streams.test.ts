import t from 'tap'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { chatEvents, eventsHead, fakeProvider, KEY, streamTest } from './fake-provider.ts'

const TEXTS = ['one', ' two', ' three']

t.test('counts whole streams with their tokens, however their events are split', async (t) => {
  const server = await fakeProvider(t, (response) => {
    eventsHead(response)
    for (const byte of chatEvents(TEXTS)) response.write(byte)
    response.end()
  })
  const { code, record, csv, hdr } = await streamTest(t, `${server.origin}/v1`, '--connections', '3')
  t.equal(code, 0)
  const [row] = record?.rows ?? []
  t.match(row, { case: '3 streams at once', pace: 'closed', failed: 0, figures: { cut: { median: 0 } } })
  t.match(record?.headline, /^p99 time to first token \S+ m?s at 3 streams at once; 0 failed$/)
  const calls = csv.slice(1).map((line) => line.split(','))
  t.equal(
    calls.length,
    server.requests.length - 1,
    'a line for each call but the first one, which no figure has',
  )
  t.ok(
    calls.every(
      ([, , , , status, outcome, , events, tokens]) =>
        status === '200' && outcome === 'whole' && events === '3' && tokens === '3',
    ),
  )
  const [, , , encoded = ''] =
    hdr
      .find((line) => line.startsWith('Tag=first_token'))
      ?.split(',')
      .slice(-4) ?? []
  t.equal(decodeFromCompressedBase64(encoded).totalCount, calls.length)
  t.ok(
    server.requests.every(
      ({ url, headers }) => url === '/v1/chat/completions' && headers.authorization === `Bearer ${KEY}`,
    ),
  )
})

t.test('a stream without its last event is cut, an error event fails it; both give a reason', async (t) => {
  const server = await fakeProvider(t, (response, _body, nth) => {
    if (nth === 0) return void eventsHead(response).end(chatEvents(TEXTS))
    if (nth % 3 === 0) return void eventsHead(response).end(chatEvents(TEXTS, false))
    if (nth % 3 === 1)
      return void eventsHead(response).write(chatEvents(TEXTS, false), () => response.destroy())
    eventsHead(response).end('data: {"error":{"message":"too much"}}\n\n')
  })
  const { code, record, csv } = await streamTest(
    t,
    server.origin,
    '--connections',
    '1',
    '--max-errors',
    '100%',
  )
  t.equal(code, 0)
  const outcomes = new Set(
    csv.slice(1).map((line) =>
      line
        .split(',')
        .filter((_, at) => at === 5 || at >= 11)
        .join(' '),
    ),
  )
  t.match([...outcomes].sort(), [
    /^cut the answer ended without its last event$/,
    /^cut the connection broke in the answer \(/,
    /^failed an error in the stream: too much$/,
  ])
  const [row] = record?.rows ?? []
  t.equal(row?.failed, csv.length - 1)
})

t.test('a test ends early when more calls fail than the share of --max-errors', async (t) => {
  const server = await fakeProvider(t, (response, _body, nth) => {
    if (nth === 0) eventsHead(response).end(chatEvents(TEXTS))
    else
      response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"no disk"}}')
  })
  const { code, record } = await streamTest(
    t,
    server.origin,
    '--rate',
    '100',
    '--duration',
    '60',
    '--max-errors',
    '10%',
  )
  t.equal(code, 1)
  t.ok(record?.notes.some((note) => note.endsWith('ended early')))
  t.match(record?.rows[0]?.failures[0], /^status 500: no disk, \d+ times$/)
})

t.test('a 429 is not a failure', async (t) => {
  const server = await fakeProvider(t, (response, _body, nth) => {
    if (nth === 0 || nth > 1) eventsHead(response).end(chatEvents(TEXTS))
    else response.writeHead(429, { 'retry-after': '1' }).end('{}')
  })
  const { code, record } = await streamTest(t, server.origin, '--connections', '1')
  t.equal(code, 0)
  t.match(record?.rows[0], { failed: 0, figures: { limited: { median: 1 } } })
  t.match(record?.notes, [/1 calls were answered with 429/])
})

t.test(
  'a refused first stream ends the test with the message of the answer, and without the key',
  async (t) => {
    const server = await fakeProvider(t, (response) => {
      const error = { message: `The key ${KEY} has used up its limit of $5.` }
      response.writeHead(402, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    })
    const { code, output, record } = await streamTest(t, server.origin)
    t.same([code, record, server.requests.length], [1, null, 1])
    t.match(output, /answers 402 to the first request: The key … has used up its limit of \$5\./)
    t.notMatch(output, KEY)
  },
)

t.test('an answer that is not an event stream ends the test before any load', async (t) => {
  const server = await fakeProvider(
    t,
    (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
  )
  const { code, output } = await streamTest(t, server.origin)
  t.same([code, server.requests.length], [1, 1])
  t.match(output, /answers text\/html to a streamed call/)
})

t.test('a file that cannot be written is reported before the first call', async (t) => {
  const server = await fakeProvider(t, (response) => void eventsHead(response).end(chatEvents(TEXTS)))
  const { code, output } = await streamTest(t, server.origin, '--hdr', '/dev/null/x')
  t.same([code, server.requests.length], [1, 0])
  t.match(output, /\/dev\/null\/x cannot be written/)
})
