import t from 'tap'
import { BARE_EVENTS_MAX, STREAM_EVENT_BYTES_MAX } from '../../../src/schemas/inference/stream-limits.ts'
import { USAGE_BYTES_MAX } from '../../../src/schemas/models/provider-limits.ts'
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
const OURS = `"id":"gen_01k0","object":"chat.completion.chunk","created":1795312800,"model":"maker/model-1","provider":"maker"`

t.test('bytes that no rule changes are passed on as received', async (t) => {
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

t.test('nulls are removed at every depth, and missing members are added', async (t) => {
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
    end(',"tool_calls":[{"type":"function","function":{},"index":0},{"index":0}]'),
  )
  t.equal(
    given(',"tool_calls":[{"id":"c","function":{}},{"id":"d","index":3},{"function":{}}]'),
    end(
      ',"tool_calls":[{"id":"c","function":{},"index":0,"type":"function"},' +
        '{"id":"d","index":3,"type":"function"},{"function":{},"index":3}]',
    ),
  )
  t.equal(
    given(',"reasoning_content":"\\u0061b","tool_calls":null'),
    end(',"reasoning_content":"\\u0061b","reasoning":"\\u0061b"'),
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

t.test('all events have the time of the first event that is passed on', async (t) => {
  const createdOf = (...events: readonly object[]): readonly unknown[] => {
    const stream = streamed()
    const created = read(stream, ...events).map((data) => (JSON.parse(data) as { created: number }).created)
    t.equal(stream.createdS, created[0])
    return created
  }
  const filter = { created: 0, choices: [] }
  const begun = { created: 17, ...choice({ role: 'assistant' }) }
  const behind = { ...choice({}), created: 18 }
  t.same(createdOf(filter, begun, choice({}), behind, { created: 19, ...choice({}) }), [17, 17, 17, 17])
  t.same(createdOf(behind, begun, choice({}, { index: 1 })), [18, 18, 18, 18, 18], 'roles have it, too')
  t.same(createdOf(choice({ role: 'assistant' }), begun, filter, behind), [
    HEAD.createdS,
    HEAD.createdS,
    HEAD.createdS,
  ])
  const late = { ...choice({ role: 'assistant' }), created: 18 }
  t.same(createdOf(late, choice({})), [18, 18], 'also where it comes last, and the next event begins alike')
  t.same(createdOf({ created: null, ...choice({ role: 'assistant' }) }, begun), [
    HEAD.createdS,
    HEAD.createdS,
  ])
})

t.test('the first event of each choice has a role', async (t) => {
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
    role(1, 17),
    role(3, 17),
    { choices: { length: 3 } },
    {},
  ])
})

t.test('usage is removed from every place where a provider puts it, and the last usage counts', async (t) => {
  const usage = (prompt: number): object => ({ usage: { prompt_tokens: prompt, completion_tokens: 1 } })
  const reported = (...events: readonly object[]): unknown => {
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
  t.equal(reported(), null)
  t.same(reported({ choices: [], ...usage(7) }), input(7))
  t.same(reported({ ...usage(8) }, { usage: null, choices: [] }), input(8))
  t.same(
    reported(
      { ...choice({ content: 'y' }), ...usage(1) },
      { ...choice({}), ...usage(9) },
      { ...choice({}), usage: null },
    ),
    input(9),
  )
  t.same(reported(choice({}, usage(10))), input(10))
  t.same(reported({ ...usage(14), ...choice({}) }, { ...usage(14), ...choice({}, usage(15)) }), input(14))
  t.same(reported({ ...choice({}, usage(10)), ...usage(11) }), input(11))
  const first = { ...usage(12), ...choice({}) }
  t.same(reported(first, { ...choice({}), ...usage(13) }, first), input(12))
  t.equal(reported({ usage: { prompt_tokens: 1, completion_tokens: 0 } }), null, 'output was delivered')
  t.equal(
    reported({ usage: { prompt_tokens: 1, completion_tokens: 1, more: 'x'.repeat(USAGE_BYTES_MAX) } }),
    null,
  )
})

t.test('events without choices, without data or with other names are not passed on', async (t) => {
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

t.test('text, reasoning, a tool call, a picture and audio each count as output', async (t) => {
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

t.test('reads nothing after [DONE]', async (t) => {
  const stream = streamed()
  t.equal(read(stream, BEGUN, ' [DONE] ', choice({ content: 'late' }), '{nope').length, 1)
  t.equal(stream.isDone, true)
  t.same(stream.read(streamOf([BEGUN])), { events: null, failure: null })
  const large = Buffer.from(`data: ${'x'.repeat(STREAM_EVENT_BYTES_MAX + 1)}\n\n`)
  t.match(streamed().read(Buffer.concat([streamOf([BEGUN, '[DONE]']), large])), { failure: null })
})

t.test('the finish reason is passed on, with the native one', async (t) => {
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

t.test('a stream only awaits its usage once every choice that began has ended', async (t) => {
  const stream = streamed()
  const awaits = (...events: readonly (object | string)[]): boolean => {
    read(stream, ...events)
    return stream.awaitsUsage
  }
  const other = (finish: string | null): object => ({
    choices: [{ index: 1, delta: { content: 'y' }, finish_reason: finish }],
  })
  t.notOk(awaits({ id: 'c', choices: [] }), 'none has begun')
  t.notOk(awaits(BEGUN))
  t.notOk(awaits(other(null)))
  t.notOk(awaits(choice({}, { finish_reason: 'stop' })), 'the other one goes on')
  t.ok(awaits(other('length')))
  t.notOk(awaits({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }), 'it has come')
  const done = streamed()
  read(done, BEGUN, choice({}, { finish_reason: 'stop' }), '[DONE]')
  t.notOk(done.awaitsUsage, 'it will not come')
})

t.test('a stream fails when the provider sends too many events without output', async (t) => {
  const stream = streamed()
  read(stream, BEGUN)
  const empty = streamOf(Array.from({ length: BARE_EVENTS_MAX / 4 }, () => ({ choices: [] })))
  let reads = 0
  for (; ; reads++) {
    const { failure } = stream.read(empty)
    if (failure === null) continue
    t.match(failure, { name: 'upstream_invalid' })
    break
  }
  t.ok(reads >= 4, 'so many may come at once')
})
