import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { MIB } from '../../../../src/schemas/limits/limits.ts'
import { STREAM_EVENT_BYTES_MAX } from '../../../../src/schemas/inference/stream-limits.ts'
import { NativeChatStream } from '../../../../src/server/upstream/inference/chat/native-chat-stream.ts'
import { dataOf, HEAD, REDACTED, streamOf } from '../../../support/inference/provider-chunks.ts'

const streamed = (): NativeChatStream => new NativeChatStream(HEAD, REDACTED)
const read = (stream: NativeChatStream, ...events: readonly (object | string)[]): readonly string[] => {
  const { events: given, failure } = stream.read(streamOf(events))
  if (failure !== null) throw new Error(failure.name)
  return dataOf(given)
}
const choice = (delta: object, more: object = {}): object => ({
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
})
const BEGUN = choice({ role: 'assistant', content: 'x' })
const OURS = `"id":"gen_01k0","object":"chat.completion.chunk","created":1795312800,"model":"maker/model-1","provider":"maker"`

t.test('bytes that no rule names stay as they came', async (t) => {
  const begin =
    '{ "id" : "chatcmpl-1","object":"chat.completion.chunk","created":1700000000, "model":"m-2024",'
  const tail = (text: string, usage = '', end = ''): string =>
    `"x":[1.0,1E5,-0,1e400,"1e400"], "choices" : [ {"index":0,"delta":{"role":"assistant","content":"${text}"},` +
    `"logprobs":null,"finish_reason":null} ]${usage}, "obfuscation":"\\u00e9\\/"${end} }`
  const head = `{ "id" : "gen_01k0","object":"chat.completion.chunk","created":1700000000, "model":"maker/model-1","provider":"maker",`
  const stream = streamed()
  for (const text of ['\\u00e9 é \\n', 'again', '', '\\"usage\\":null', 'null']) {
    const given = read(
      stream,
      begin + tail(text),
      begin + tail(text, ' , "usage":null'),
      begin + tail(text, ',"usage":{}', ',"usage ":null'),
    )
    const whole = `${head}${tail(text)}`.replace(/ }$/, ' }')
    t.same(given, [whole, whole, head + tail(text, '', ',"usage ":null')])
  }
  t.equal(stream.upstreamId, 'chatcmpl-1')
})

t.test('nulls are taken out wherever they stand, and missing members are added', async (t) => {
  const given = (delta: string, more = ''): string => {
    const [data] = read(streamed(), `{${more}"choices":[{"delta":{"role":"assistant"${delta}}}]}`)
    return data ?? ''
  }
  const end = (delta = '', more = ''): string =>
    `{${more}"choices":[{"delta":{"role":"assistant"${delta}},"index":0,"finish_reason":null}],${OURS}}`
  t.equal(given(''), end())
  t.equal(
    given('', '"usage":null,"system_fingerprint":null,"error":null,"service_tier":null,'),
    end('', '"service_tier":null,'),
  )
  t.equal(given(',"tool_calls":null,"audio":null , "content":null'), end(' , "content":null'))
  t.equal(
    given(
      ',"tool_calls":[{"id":null,"type":null,"function":{"name":null,"arguments":null}},{"function":null,"index":5}]',
    ),
    end(',"tool_calls":[{"type":"function","function":{},"index":0},{"index":5}]'),
  )
  t.equal(given(',"content":"a\\u0000"'), end(',"content":"a\\u0000"'))
  const [, second] = read(
    streamed(),
    '{"choices":[{"delta":{"role":null}}],"created":1.5,"id":null,"provider":"p","model":"m","provider":"q"}',
  )
  t.equal(
    second,
    `{"choices":[{"delta":{},"index":0,"finish_reason":null}],"created":1795312800,"id":"gen_01k0","provider":"maker",` +
      `"model":"maker/model-1","object":"chat.completion.chunk"}`,
  )
})

t.test('each choice begins with its role', async (t) => {
  const stream = streamed()
  const role = (index: number, created: number): object => ({
    created,
    choices: [{ index, delta: { role: 'assistant', content: '' }, finish_reason: null }],
  })
  const given = read(
    stream,
    { created: 17, ...choice({ content: 'a' }) },
    {
      created: 18,
      choices: [
        { index: 1, delta: {} },
        { index: 2, delta: { role: 'assistant' } },
        { index: 3, delta: {} },
      ],
    },
    choice({ content: 'b' }),
  ).map((data) => JSON.parse(data) as object)
  t.equal(given.length, 6)
  t.match(given, [
    role(0, 17),
    { choices: [{ delta: { content: 'a' } }] },
    role(1, 18),
    role(3, 18),
    { choices: { length: 3 } },
    {},
  ])
})

t.test('usage is taken out wherever a provider puts it, and the last one counts', async (t) => {
  const usage = (prompt: number): object => ({ usage: { prompt_tokens: prompt, completion_tokens: 1 } })
  const told = (...events: readonly object[]): unknown => {
    const stream = streamed()
    for (const data of read(stream, BEGUN, ...events)) t.notMatch(data, /usage/)
    return stream.usage
  }
  const input = (count: number): object => ({
    input: count,
    cacheRead: 0,
    cacheWrite: 0,
    output: 1,
    reasoning: 0,
  })
  t.equal(told(), null)
  t.same(told({ choices: [], ...usage(7) }), input(7))
  t.same(told({ ...usage(8) }, { usage: null, choices: [] }), input(8))
  t.same(
    told(
      { ...choice({ content: 'y' }), ...usage(1) },
      { ...choice({}), ...usage(9) },
      { ...choice({}), usage: null },
    ),
    input(9),
  )
  t.same(told(choice({}, usage(10))), input(10))
  t.same(told({ ...choice({}, usage(10)), ...usage(11) }), input(11))
  t.equal(told({ usage: { prompt_tokens: 1, completion_tokens: 0 } }), null, 'output was delivered')
  t.equal(told({ usage: { prompt_tokens: 1, completion_tokens: 1, more: 'x'.repeat(5_000) } }), null)
})

t.test('events without choices, without data and with other names are not passed on', async (t) => {
  const stream = streamed()
  const filter = { id: '', choices: [], prompt_filter_results: [] }
  const { events, failure } = stream.read(
    Buffer.concat([
      Buffer.from(': hi\n\ndata:\n\ndata:  \n\nevent: ping\ndata: {}\n\n'),
      streamOf([filter, { choices: null }]),
    ]),
  )
  t.same({ events, failure }, { events: null, failure: null })
  t.equal(stream.upstreamId, null)
  t.match(stream.end(), { name: 'upstream_failed' })
})

t.test('an output is text, reasoning, a tool call, a picture or a sound', async (t) => {
  const delivered = (delta: object): readonly [boolean, number] => {
    const stream = streamed()
    read(stream, choice(delta))
    return [stream.hasOutput, stream.outputBytes]
  }
  const call = (called: object): object => ({ tool_calls: [{ index: 0, id: 'c', function: called }] })
  for (const delta of [
    {},
    { role: 'assistant', content: '' },
    { content: null },
    { tool_calls: [] },
    { images: [] },
    { extra: 'x' },
  ])
    t.same(delivered(delta), [false, 0], JSON.stringify(delta))
  t.same(delivered({ content: 'é\n"' }), [true, 4])
  t.same(delivered({ refusal: 'no' }), [true, 2])
  t.same(delivered({ reasoning_content: 'hm' }), [true, 2])
  t.same(
    delivered({ reasoning: 'hm', reasoning_content: 'hm', reasoning_details: [{ type: 't', text: 'hm' }] }),
    [true, 2],
  )
  t.same(delivered({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'abc' }] }), [true, 0])
  t.same(delivered({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'abc' }] }] }), [true, 3])
  t.same(delivered(call({ name: 'f', arguments: '' })), [true, 0])
  t.same(delivered(call({ arguments: '{"a":' })), [true, 5])
  t.same(delivered({ function_call: { name: 'f', arguments: '{}' } }), [true, 2])
  t.same(delivered({ audio: { data: 'AA==' } }), [true, 0])
  t.same(delivered({ images: [{ type: 'image_url' }] }), [true, 0])
})

t.test('a stream is whole when every choice that began has ended', async (t) => {
  const end = (...events: readonly (object | string)[]): unknown => {
    const stream = streamed()
    read(stream, ...events)
    return stream.end()
  }
  const broken = { name: 'upstream_failed' }
  const two = {
    choices: [
      { index: 0, delta: {}, finish_reason: 'stop' },
      { index: 1, delta: {} },
    ],
  }
  t.match(end(), broken)
  t.match(end('[DONE]'), broken)
  t.match(end(BEGUN, '[DONE]'), broken)
  t.match(end(BEGUN, choice({}, { finish_reason: '' })), broken)
  t.match(end(two, '[DONE]'), broken)
  t.equal(end(BEGUN, choice({}, { finish_reason: 'stop' })), null)
  t.equal(end(two, { choices: [{ index: 1, delta: {}, finish_reason: 'length' }] }), null)
  t.equal(end(choice({}, { finish_reason: 'stop' }), choice({ content: 'late' })), null)
})

t.test('nothing behind [DONE] is read', async (t) => {
  const stream = streamed()
  t.equal(read(stream, BEGUN, ' [DONE] ', choice({ content: 'late' }), '{nope').length, 1)
  t.equal(stream.isDone, true)
  t.same(stream.read(streamOf([BEGUN])), { events: null, failure: null })
})

t.test('the finish reason passes, with the native one', async (t) => {
  const stream = streamed()
  const [data, other] = read(
    stream,
    choice({ role: 'assistant' }, { finish_reason: 'say "x"' }),
    choice({}, { finish_reason: 'stop', native_finish_reason: 'end' }),
  )
  t.match(JSON.parse(data ?? ''), {
    choices: [{ finish_reason: 'say "x"', native_finish_reason: 'say "x"' }],
  })
  t.match(JSON.parse(other ?? ''), { choices: [{ finish_reason: 'stop', native_finish_reason: 'end' }] })
  t.equal(stream.finishReason, 'stop')
})

t.test('what is no event of chat fails the stream, with the events before it', async (t) => {
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

t.test('an event that is too large fails the stream, with the events before it', async (t) => {
  const stream = streamed()
  t.equal(dataOf(stream.read(streamOf([BEGUN])).events).length, 1)
  const piece = Buffer.alloc(STREAM_EVENT_BYTES_MAX / 8, 'x')
  stream.read(Buffer.from('data: {"choices":[{"delta":{"content":"'))
  let failure = null
  for (let nth = 0; nth < 8; nth++) failure = stream.read(piece).failure
  t.match(failure, { name: 'upstream_too_large', fields: { limit: STREAM_EVENT_BYTES_MAX } })
})

t.test('an event of megabytes passes, spliced or parsed', async (t) => {
  const text = 'é"'.repeat(1_000_000)
  for (const event of [
    choice({ role: 'assistant', content: text }),
    choice({ role: 'assistant', content: text, name: null }),
  ]) {
    const stream = streamed()
    for (const data of [JSON.stringify(event), JSON.stringify(event).replace('"delta"', '"\\u0064elta"')]) {
      const [given] = read(stream, data)
      t.match(JSON.parse(given ?? ''), { choices: [{ delta: { content: text } }] })
    }
    t.equal(stream.outputBytes, 2 * 3_000_000)
  }
})

t.test("a provider's error event is its failure, told without what is secret", async (t) => {
  const failed = (event: object | string): unknown => {
    const stream = streamed()
    const text = typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`
    const { events, failure } = stream.read(Buffer.concat([streamOf([BEGUN]), Buffer.from(text)]))
    t.equal(dataOf(events).length, 1)
    return failure
  }
  const error = (members: object): object => ({ error: { message: 'because', ...members } })
  t.match(failed(error({})), { name: 'upstream_failed', detail: 'It broke off with an error.' })
  t.match(failed(error({ code: 429 })), { name: 'upstream_overloaded' })
  t.match(failed(error({ code: '503' })), { name: 'upstream_failed' })
  t.match(failed(error({ code: 400 })), { name: 'upstream_refused', detail: 'It broke off: because' })
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
    detail: 'It broke off: no […] at [link]',
  })
  t.match(failed({ ...choice({}, { finish_reason: 'error' }), ...error({ code: 529 }) }), {
    name: 'upstream_overloaded',
  })
  t.match(failed(choice({}, { finish_reason: 'error' })), { name: 'upstream_failed' })
  t.match(failed({ error: 'plain' }), { name: 'upstream_failed' })
  t.match(failed('event: error\ndata: {"message":"x","type":"overloaded_error"}\n\n'), {
    name: 'upstream_overloaded',
  })
  t.match(failed('event: error\ndata: nope\n\n'), { name: 'upstream_failed' })
  t.match(failed({ error: { message: 'x'.repeat(100_000), code: 400 } }), { name: 'upstream_failed' })
})

t.test('two streams that are read by turns do not mix', async (t) => {
  const [one, two] = [
    streamed(),
    new NativeChatStream({ ...HEAD, id: 'gen_02', provider: 'p "2"' }, REDACTED),
  ]
  for (let nth = 0; nth < 3; nth++) {
    t.match(read(one, BEGUN), [/"id":"gen_01k0"/])
    t.match(read(two, BEGUN), [/"provider":"p \\"2\\""/])
  }
  const large = streamOf([choice({ role: 'assistant', content: 'x'.repeat(100_000) })])
  const [kept, later] = [one.read(large).events, two.read(large).events]
  t.not(kept?.buffer, later?.buffer)
  t.match(dataOf(kept)[0], /gen_01k0/)
})

t.test('an event of many small values is refused before they take memory', async (t) => {
  const many = (item: string): string => `[${`${item},`.repeat(1_200_000)}${item}]`
  for (const event of [
    `{"choices":${many('{}')}}`,
    `{"choices":[{"delta":{"tool_calls":${many('{}')}}}]}`,
    `{"\\u0063hoices":[],"x":${many('[]')}}`,
    `{"choices":[]${',"provider":0'.repeat(1_000_000)}${',"a":[]'.repeat(100_000)}`,
  ]) {
    const { failure } = streamed().read(streamOf([event]))
    t.match(failure, { name: 'upstream_invalid' }, event.slice(0, 50))
  }
})

t.test('a stream that waits holds nothing of its last read', async (t) => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc') as () => void
  const streams: NativeChatStream[] = []
  const before = process.memoryUsage().arrayBuffers
  for (let nth = 0; nth < 128; nth++) {
    const bytes = Buffer.alloc(MIB, ':')
    const event = streamOf([BEGUN])
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
