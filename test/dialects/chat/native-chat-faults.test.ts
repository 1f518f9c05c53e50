/** Streams of providers that are broken, hostile or failing. */
import { isUtf8 } from 'node:buffer'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { MIB } from '../../../src/schemas/limits/limits.ts'
import { CHOICES_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import {
  STREAM_EVENT_BYTES_MAX,
  STREAM_MENDED_BYTES_MAX,
} from '../../../src/schemas/inference/stream-limits.ts'
import { dataOf, HEAD, FAILURE_OF, streamOf } from '../../support/inference/provider-chunks.ts'
import { NativeChatStream } from '../../../src/dialects/chat/stream.ts'

const streamed = (): NativeChatStream => new NativeChatStream(HEAD, FAILURE_OF)
const read = (stream: NativeChatStream, ...events: readonly (object | string)[]): readonly string[] => {
  const { events: given, failure } = stream.read(streamOf(events))
  if (failure !== null) throw new Error(failure.name)
  return dataOf(given)
}
const choice = (delta: object, more: object = {}): object => ({
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})
const BEGUN = choice({ role: 'assistant', content: 'x' })

t.test('an event that is not a chat event fails the stream, after the events before it', async (t) => {
  const broken = [
    '{nope',
    '{"choices":[]}}',
    '[]',
    'null',
    '"text"',
    '7',
    '{"choices":{}}',
    '{"choices":[7]}',
    '{"choices":[{"delta":"x"}]}',
    '{"choices":[{"delta":[]}]}',
    `{"choices":[{"delta":{"content":${'[{"thinking":'.repeat(5_000)}1${'}]'.repeat(5_000)}}}]}`,
    `{"choices":[],"deep":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    `{"choices":[{"delta":{},"finish_reason":"${'x'.repeat(300)}"}]}`,
    JSON.stringify({ choices: Array.from({ length: 9 }, (_, index) => ({ index, delta: {} })) }),
    '{"choices":[{"delta":{"content":"\u0001"}}]}',
  ]
  for (const event of broken) {
    const stream = streamed()
    const { events, failure } = stream.read(streamOf([BEGUN, event, BEGUN]))
    t.equal(dataOf(events).filter((data) => data.includes('"content":"x"')).length, 1, event.slice(0, 80))
    t.match(failure, { name: 'upstream_invalid' })
    t.match(stream.read(streamOf([BEGUN])), { events: null, failure: { name: 'upstream_invalid' } })
    t.match(stream.end(), { name: 'upstream_invalid' })
  }
})

t.test('a stream with more choices than a call can request fails', async (t) => {
  const stream = streamed()
  const begun = (index: number): object => ({ choices: [{ index, delta: { role: 'assistant' } }] })
  t.equal(
    read(stream, ...Array.from({ length: CHOICES_MAX }, (_, index) => begun(index))).length,
    CHOICES_MAX,
  )
  t.match(stream.read(streamOf([begun(CHOICES_MAX)])), {
    events: null,
    failure: { name: 'upstream_invalid' },
  })
})

t.test('bytes that are not UTF-8 are replaced', async (t) => {
  const [before, behind] = ['data: {"choices":[{"delta":{"content":"a', '"}}]}\n\n'].map((text) =>
    Buffer.from(text),
  )
  const { events } = streamed().read(
    Buffer.concat([before ?? Buffer.of(), Buffer.of(0xff), behind ?? Buffer.of()]),
  )
  t.ok(events !== null && isUtf8(events))
  t.match(dataOf(events)[1], /"content":"a\ufffd"/)
})

t.test('an event that is too large fails the stream, after the events before it', async (t) => {
  const stream = streamed()
  t.equal(dataOf(stream.read(streamOf([BEGUN])).events).length, 1)
  const piece = Buffer.alloc(STREAM_EVENT_BYTES_MAX / 8, 'x')
  stream.read(Buffer.from('data: {"choices":[{"delta":{"content":"'))
  let failure = null
  for (let nth = 0; nth < 8; nth++) failure = stream.read(piece).failure
  t.match(failure, { name: 'upstream_too_large', fields: { limit: STREAM_EVENT_BYTES_MAX } })
})

t.test(
  'an event of megabytes is passed on when spliced, and up to STREAM_MENDED_BYTES_MAX when parsed',
  async (t) => {
    const oddly = (event: object): string => JSON.stringify(event).replace('"delta"', '"\\u0064elta"')
    for (const [count, formOf] of [
      [1_000_000, JSON.stringify],
      [200_000, oddly],
    ] as const) {
      const text = 'é"'.repeat(count)
      const stream = streamed()
      for (const more of [{}, { name: null }]) {
        const [given] = read(stream, formOf(choice({ role: 'assistant', content: text, ...more })))
        t.match(JSON.parse(given ?? ''), { choices: [{ delta: { content: text } }] })
      }
      t.equal(stream.outputBytes, 2 * 3 * count)
    }
    const bytes = (content: string): number => Buffer.byteLength(oddly(choice({ content })))
    const most = 'x'.repeat(STREAM_MENDED_BYTES_MAX - bytes(''))
    t.equal(read(streamed(), oddly(choice({ content: most }))).length, 2)
    const above = streamed().read(streamOf([oddly(choice({ content: `${most}x` }))]))
    t.match(above, { failure: { name: 'upstream_invalid' } })
  },
)

t.test('an error event of the provider becomes a failure, reported without secrets', async (t) => {
  const failed = (event: object | string): unknown => {
    const stream = streamed()
    const text = typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`
    const { events, failure } = stream.read(Buffer.concat([streamOf([BEGUN]), Buffer.from(text)]))
    t.equal(dataOf(events).length, 1)
    return failure
  }
  const error = (members: object): object => ({ error: { message: 'because', ...members } })
  t.match(failed(error({})), { name: 'upstream_failed', detail: 'The answer broke off with an error.' })
  t.match(failed(error({ code: 429 })), { name: 'upstream_overloaded' })
  t.match(failed(error({ code: '503' })), { name: 'upstream_failed' })
  t.match(failed(error({ code: 400 })), { name: 'upstream_refused', detail: 'The answer broke off: because' })
  t.match(failed(error({ code: 402 })), { name: 'upstream_credential' })
  t.match(failed(error({ code: 200 })), { name: 'upstream_failed' })
  t.match(failed(error({ type: 'rate_limit_error' })), {
    name: 'upstream_overloaded',
    metadata: { provider_code: 'rate_limit_error' },
  })
  t.match(failed(error({ code: 'context_length_exceeded' })), { name: 'upstream_refused' })
  t.match(failed(error({ code: 'invalid_api_key' })), { name: 'upstream_credential' })
  t.match(failed(error({ code: { toString: 1, valueOf: 1 } })), { name: 'upstream_failed' })
  t.match(failed(error({ code: 400, message: `no provider-key at api.maker.example` })), {
    detail: 'The answer broke off: no […] at [link]',
  })
  t.match(failed({ ...choice({}, { finish_reason: 'error' }), ...error({ code: 529 }) }), {
    name: 'upstream_overloaded',
  })
  t.match(failed(choice({}, { finish_reason: 'error' })), { name: 'upstream_failed' })
  t.match(failed({ object: 'error', message: 'x', code: 400 }), { name: 'upstream_refused', detail: /: x$/ })
  t.match(failed({ error: 'plain' }), { name: 'upstream_failed' })
  t.match(failed('event: error\ndata: {"message":"x","type":"overloaded_error"}\n\n'), {
    name: 'upstream_overloaded',
  })
  t.match(failed('event: error\ndata: nope\n\n'), { name: 'upstream_failed' })
  t.match(failed({ error: { message: 'x'.repeat(100_000), code: 400 } }), { name: 'upstream_failed' })
})

t.test('two streams that are read alternately do not mix', async (t) => {
  const [one, two] = [
    streamed(),
    new NativeChatStream({ ...HEAD, id: 'gen_02', provider: 'p "2"' }, FAILURE_OF),
  ]
  for (let nth = 0; nth < 3; nth++) {
    t.match(read(one, BEGUN), [/"id":"gen_01k0"/])
    t.match(read(two, BEGUN), [/"provider":"p \\"2\\""/])
  }
  const large = streamOf([choice({ role: 'assistant', content: 'x'.repeat(100_000) })])
  for (let nth = 0; nth < 2; nth++) {
    t.match(dataOf(one.read(large).events)[0], /gen_01k0/)
    t.match(dataOf(two.read(large).events)[0], /gen_02/)
  }
})

t.test('an event of many small values is refused before the values take memory', async (t) => {
  const many = (item: string): string => `[${`${item},`.repeat(1_200_000)}${item}]`
  for (const event of [
    `{"choices":${many('{}')}}`,
    `{"choices":[{"delta":{"tool_calls":${many('{}')}}}]}`,
    `{"\\u0063hoices":[],"x":${many('[]')}}`,
    `{"choices":[]${',"provider":0'.repeat(1_100_000)}}`,
    `{"choices":[]${',"usage":0'.repeat(1_100_000)}}`,
  ]) {
    const { failure } = streamed().read(streamOf([event]))
    t.match(failure, { name: 'upstream_invalid' }, event.slice(0, 50))
  }
})

t.test('a waiting stream keeps no memory of its last read', async (t) => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const streams: NativeChatStream[] = []
  const before = process.memoryUsage().arrayBuffers
  for (let nth = 0; nth < 128; nth++) {
    const bytes = Buffer.alloc(MIB, ':')
    const event = streamOf([{ long: 'x'.repeat(MIB / 2), ...BEGUN }])
    bytes[bytes.length - event.length - 1] = 0x0a
    event.copy(bytes, bytes.length - event.length)
    const stream = streamed()
    t.equal(dataOf(stream.read(bytes).events).length, 1)
    streams.push(stream)
  }
  gc()
  const held = process.memoryUsage().arrayBuffers - before
  t.ok(held < 32 * MIB, `${streams.length} streams hold ${held} bytes`)
})

t.test('an exception in one stream does not affect other streams', async (t) => {
  const broken = new NativeChatStream(HEAD, () => {
    throw new Error('a bug')
  })
  t.throws(() => broken.read(streamOf([BEGUN, { error: { message: 'x' } }])), { message: 'a bug' })
  t.equal(read(streamed(), BEGUN).length, 1)
})
