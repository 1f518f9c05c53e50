/** What a caller gets of the stream of a provider that speaks responses. */
import t from 'tap'
import {
  STREAM_EVENT_BYTES_MAX,
  STREAM_MENDED_BYTES_MAX,
} from '../../../src/schemas/inference/stream-limits.ts'
import { USAGE_BYTES_MAX } from '../../../src/schemas/models/provider-limits.ts'
import { NativeResponsesStream } from '../../../src/dialects/responses/stream.ts'
import { sameWhereverCut, summaryOf, type StreamSummary } from '../../support/inference/cut-streams.ts'
import { bodyOf, type FakeEvent } from '../../support/inference/fake-stream.ts'
import { HEAD, FAILURE_OF } from '../../support/inference/provider-chunks.ts'
import {
  messageStream,
  named,
  RESPONSE,
  RESPONSES_STREAMS,
  searchCall,
  USAGE,
} from '../../support/inference/responses-streams.ts'
import { REPORTED_SEARCHES_MAX } from '../../../src/dialects/usage.ts'

const WHOLE = '{"input_tokens":1,"cost":0}'
const SHOWN = { whole: WHOLE, added: '"cost":0.5,"is_byok":false' }

const streamed = (): NativeResponsesStream => new NativeResponsesStream(HEAD, FAILURE_OF)

interface Sent {
  readonly name: string
  readonly data: string
}

/** The events of a caller's stream, which has an `event:` line and a `data:` line for each. */
function eventsOf(bytes: Uint8Array | null): readonly Sent[] {
  if (bytes === null) return []
  const parts = Buffer.from(bytes).toString().split('\n\n')
  if (parts.pop() !== '') throw new Error('an event without an end')
  return parts.map((part) => {
    const [, name = '', data = ''] = /^event: ([\w.]+)\ndata: (\{.*\})$/.exec(part) ?? []
    if (name === '') throw new Error(`no event: ${part}`)
    return { name, data }
  })
}

const STREAMS = { open: streamed, eventsOf, shown: SHOWN }
const summary = (pieces: readonly Uint8Array[]): StreamSummary<Sent> => summaryOf(STREAMS, pieces)

const given = (events: readonly FakeEvent[]): readonly Sent[] => summary([bodyOf(events)]).events
const one = (data: string, event = ''): readonly Sent[] => {
  const { events, failure } = streamed().read(
    Buffer.from(`${event === '' ? '' : `event: ${event}\n`}data: ${data}\n\n`),
  )
  if (failure !== null) throw new Error(failure.name)
  return eventsOf(events)
}

t.test('the last event belongs to its own stream, even if other streams end before it is sent', async (t) => {
  const one = streamed()
  one.read(bodyOf(messageStream(['Hello'])))
  for (const word of ['World', 'Other']) streamed().read(bodyOf(messageStream([word])))
  const [last] = eventsOf(Buffer.concat(one.finalEvents?.withUsage(SHOWN) ?? []))
  t.match(last?.data, /Hello/)
  t.notMatch(last?.data, /World|Other/)
})

t.test('events that no rule changes keep their bytes', async (t) => {
  const data =
    '{ "type" : "response.output_text.delta", "sequence_number":0 ,"x":[1.0,1E5,-0,1e400,"1e400"],' +
    '"delta":"\\u00e9 \\/ é","model":"stays","usage":null, "response":null }'
  t.same(one(data), [{ name: 'response.output_text.delta', data }])
  const unknown = '{"type":"response.dance.begun","sequence_number":0,"response":[1],"steps":[{"a":1}]}'
  t.same(one(unknown), [{ name: 'response.dance.begun', data: unknown }])
  const bare = '{"sequence_number":0,"type":"response.created"}'
  t.same(one(bare), [{ name: 'response.created', data: bare }], 'without a response')
})

t.test('a response object has the canonical model and every member that clients require', async (t) => {
  const begun = named([{ type: 'response.created', sequence_number: 0, response: RESPONSE }])
  t.equal(
    given(begun)[0]?.data,
    begun[0]?.data.replace('"m-2026"', '"maker/model-1"'),
    'nothing else of a full one changes',
  )
  const [small] = one(
    '{"response":{"tools":null,"output":null,"created_at":5.9,"completed_at":"x","id":null,' +
      '"parallel_tool_calls":null ,"temperature":null},"type":"response.queued"}',
  )
  t.equal(
    small?.data,
    '{"response":{"created_at":5,"completed_at":null ,"temperature":null,"id":"resp_01k0",' +
      '"object":"response","status":"queued","background":null,"error":null,"incomplete_details":null,' +
      '"instructions":null,"max_output_tokens":null,"metadata":{},"model":"maker/model-1","output":[],' +
      '"parallel_tool_calls":true,"presence_penalty":null,"frequency_penalty":null,' +
      '"previous_response_id":null,"reasoning":null,"service_tier":null,"tool_choice":"auto","tools":[],' +
      '"top_p":null,"truncation":null,"usage":null,"user":null},"type":"response.queued"}',
  )
  const empty = one('{"type":"response.created","response":{}}')
  t.match(JSON.parse(empty[0]?.data ?? ''), {
    response: { id: 'resp_01k0', created_at: HEAD.createdS, status: 'in_progress' },
  })
})

t.test('the type is in the event line and in the data, wherever the provider puts it', async (t) => {
  t.same(one('{"delta":"x"}', 'response.refusal.delta'), [
    { name: 'response.refusal.delta', data: '{"delta":"x","type":"response.refusal.delta"}' },
  ])
  t.same(one('{"type":"a.b"}', 'c.d'), [{ name: 'a.b', data: '{"type":"a.b"}' }])
  for (const junk of ['""', '5', 'null', '[1]', `"${'a'.repeat(200)}"`]) {
    const expected = (data: string) => [{ name: 'a.b', data }]
    t.same(one(`{"type":${junk}}`, 'a.b'), expected('{"type":"a.b"}'), junk)
    t.same(one(`{"type":${junk},"delta":"x"}`, 'a.b'), expected('{"delta":"x","type":"a.b"}'), junk)
    t.same(one(`{"delta":"x", "type":${junk}}`, 'a.b'), expected('{"delta":"x","type":"a.b"}'), junk)
  }
  t.same(one('{}'), [])
  t.throws(() => one('{"type":"a\\nb"}'), /upstream_invalid/, 'a type with a line end')
  t.same(one('{"type":5}'), [])
  t.same(one('{"type":"é"}'), [])
})

t.test('pings, comments and end marks are not passed on, and sequence numbers have no gaps', async (t) => {
  for (const [provider, events] of Object.entries(RESPONSES_STREAMS)) {
    const numbers = given(events).map(
      ({ data }) => (JSON.parse(data) as { sequence_number: number }).sequence_number,
    )
    t.same(
      numbers,
      numbers.map((_, nth) => nth),
      provider,
    )
    t.ok(numbers.length > 5, provider)
  }
  const silent = given(RESPONSES_STREAMS['openai, while it is silent'] ?? [])
  t.same(silent, given(RESPONSES_STREAMS['openai'] ?? []))
  t.same(one('{"type":"ping"}', 'ping'), [])
  t.same(one('[DONE]'), [])
  const [bare] = one('{"type":"response.output_text.delta","delta":"x"}')
  t.equal(bare?.data, '{"type":"response.output_text.delta","delta":"x"}', 'none is added')
})

t.test('the last event is held until the usage with the cost is known', async (t) => {
  const stream = streamed()
  const { events } = stream.read(bodyOf(messageStream(['Hi', ' there'])))
  t.notMatch(Buffer.from(events ?? []).toString(), 'response.completed')
  t.equal(stream.isDone, true)
  t.equal(stream.end(), null)
  t.match(stream, { outputBytes: 8, finishReason: 'completed', upstreamId: RESPONSE.id })
  t.same(stream.usage, { input: 9, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 })
  t.ok(stream.heldBytes > 500)
  const [last] = eventsOf(Buffer.concat(stream.finalEvents?.withUsage(SHOWN) ?? []))
  t.equal(last?.name, 'response.completed')
  const { response } = JSON.parse(last?.data ?? '') as { response: Record<string, unknown> }
  t.same(response['usage'], { ...USAGE, cost: 0.5, is_byok: false })
  t.equal(response['model'], HEAD.model)
  t.same(stream.read(bodyOf(messageStream(['x']))), { events: null, failure: null }, 'nothing follows')
})

t.test('replaces a missing or implausible usage, and completes an incomplete one', async (t) => {
  const usageOf = (usage: unknown, more: object = {}): unknown => {
    const response = { ...RESPONSE, status: 'completed', output: [{ type: 'message' }], usage, ...more }
    const [last] = given(named([{ type: 'response.completed', sequence_number: 0, response }]))
    return (JSON.parse(last?.data ?? '') as { response: { usage: unknown } }).response.usage
  }
  const ours = JSON.parse(WHOLE) as unknown
  for (const wrong of [
    null,
    undefined,
    7,
    {},
    { ...USAGE, output_tokens: 0, total_tokens: 9 },
    { ...USAGE, input_tokens: 0 },
    { ...USAGE, input_tokens: -9 },
    { ...USAGE, output_tokens: 4.5 },
    { ...USAGE, x: 'y'.repeat(USAGE_BYTES_MAX) },
  ])
    t.same(usageOf(wrong), ours, JSON.stringify(wrong)?.slice(0, 80))
  t.same(usageOf({ input_tokens: 9, output_tokens: 4, cost: 7, cost_details: null, x: 1 }), {
    ...USAGE,
    cost: 0.5,
    x: 1,
    is_byok: false,
  })
  t.same(usageOf({ ...USAGE, input_tokens_details: { audio: 1 } }), {
    ...USAGE,
    input_tokens_details: { audio: 1, cached_tokens: 0 },
    cost: 0.5,
    is_byok: false,
  })
  t.same(usageOf(USAGE, { id: null }), { ...USAGE, cost: 0.5, is_byok: false }, 'next to added members')
})

t.test('distinguishes output events from others', async (t) => {
  const has = (event: object): boolean => {
    const stream = streamed()
    stream.read(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
    return stream.hasOutput
  }
  const delta = (type: string, text: unknown = 'x'): object => ({
    type: `response.${type}.delta`,
    delta: text,
  })
  for (const type of ['output_text', 'refusal', 'reasoning_text', 'reasoning_summary_text', 'audio'])
    t.ok(has(delta(type)), type)
  for (const type of ['function_call_arguments', 'custom_tool_call_input', 'mcp_call_arguments', 'anything'])
    t.ok(has(delta(type)), type)
  t.ok(has(delta('shell_call_output_content', { stdout: 'x' })))
  t.ok(has({ type: 'response.image_generation_call.partial_image', partial_image_b64: 'AA' }))
  t.ok(has({ type: 'response.output_text.done', text: 'x' }))
  for (const type of ['function_call', 'custom_tool_call', 'web_search_call', 'mcp_call'])
    t.ok(has({ type: 'response.output_item.added', item: { type } }), type)
  t.ok(has({ type: 'response.output_item.done', item: { type: 'message', content: [] } }))
  t.ok(has({ type: 'response.completed', response: { output: [{ type: 'message' }] } }))
  t.notOk(has({ type: 'response.completed', response: { output: [] } }))
  t.notOk(has({ type: 'response.created', response: { output: [{ type: 'message' }] } }))
  for (const type of ['message', 'reasoning'])
    t.notOk(has({ type: 'response.output_item.added', item: { type, content: [] } }), type)
  t.notOk(has(delta('output_text', '')))
  t.notOk(has({ type: 'response.content_part.added', part: { type: 'output_text', text: '' } }))
})

t.test('output is counted once, whichever of its events a provider leaves out', async (t) => {
  const all = RESPONSES_STREAMS['openai, reasoning'] ?? []
  const without = (out: RegExp): unknown =>
    summary([bodyOf(all.filter(({ event = '' }) => !out.test(event)))]).outputBytes
  t.equal(without(/nothing/), 11)
  t.equal(without(/delta$/), 11)
  t.equal(without(/delta$|text\.done$/), 11)
  t.equal(without(/delta$|done$/), 11)
  t.equal(without(/done$/), 11)
  t.equal(summary([bodyOf(RESPONSES_STREAMS['openai, a tool'] ?? [])]).outputBytes, 2)
})

t.test('searches are counted once, and visits of web pages do not count as searches', async (t) => {
  const output = [searchCall('search'), searchCall('open_page'), searchCall(), searchCall('find_in_page')]
  const items = output.flatMap((item) => [
    { type: 'response.output_item.added', item },
    { type: 'response.web_search_call.completed', item_id: 'ws_1' },
    { type: 'response.output_item.done', item },
  ])
  const last = (usage: unknown, all: readonly object[]): object => ({
    type: 'response.completed',
    response: { ...RESPONSE, output: all, usage },
  })
  const usageOf = (...events: readonly object[]): unknown => {
    const stream = streamed()
    for (const event of events) stream.read(Buffer.from(`data: ${JSON.stringify(event)}\n\n`))
    return stream.usage
  }
  const logged = { input: 9, cacheRead: 0, cacheWrite: 0, output: 4, reasoning: 0 }
  t.same(usageOf(...items, last(USAGE, output)), { ...logged, searches: 2 })
  t.same(usageOf(...items, last(USAGE, [])), { ...logged, searches: 2 }, 'in the items alone')
  t.same(usageOf(last(USAGE, output)), { ...logged, searches: 2 }, 'in the last event alone')
  t.same(usageOf(last(USAGE, [searchCall('open_page')])), logged)
  t.match(usageOf(...items), { input: 0, output: 0, searches: 2 }, 'of a stream that broke')
  t.equal(usageOf(...items.filter(({ type }) => !type.endsWith('item.done'))), null)
  const flood = Array.from({ length: REPORTED_SEARCHES_MAX + 5 }, () => searchCall('search'))
  t.match(usageOf(last(null, flood)), { searches: REPORTED_SEARCHES_MAX })
  const escaped = { type: 'response.output_item.done', item: { ...searchCall('search'), a: 1 } }
  const stream = streamed()
  stream.read(Buffer.from(`data: ${JSON.stringify(escaped).replace('"a"', '"\\u0061"')}\n\n`))
  t.match(stream.usage, { searches: 1 }, 'an event that is rewritten')
})

t.test('a stream fails after an error event, an invalid event or a missing end', async (t) => {
  const failed = (...events: readonly FakeEvent[]): unknown => {
    const stream = streamed()
    const { failure } = stream.read(bodyOf(events))
    t.same(stream.read(Buffer.from('data: {}\n\n')).failure, failure, 'and stays failed')
    t.same(stream.end(), failure ?? stream.end())
    return stream.end()
  }
  const error = { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.', param: null }
  t.match(failed(...named([error])), { name: 'upstream_overloaded' })
  t.match(failed({ data: JSON.stringify(error) }), { name: 'upstream_overloaded' }, 'without its name')
  t.match(failed({ event: 'error', data: '"no object"' }), { name: 'upstream_failed' })
  t.match(failed({ data: '{"error":{"message":"x","code":"context_length_exceeded"}}' }), {
    name: 'upstream_refused',
    fields: { refusal: 'context' },
  })
  t.match(failed({ data: '{"type":"x","error":null}' }), { name: 'upstream_failed' }, 'no error, and no end')
  const response = { ...RESPONSE, status: 'failed', error: { code: 'server_error', message: 'Oh.' } }
  t.match(failed(...named([{ type: 'response.failed', response }])), {
    name: 'upstream_failed',
    metadata: { provider_code: 'server_error' },
  })
  const refused = { ...response, error: { code: 'invalid_prompt', message: 'Odd.' } }
  t.match(failed(...named([{ type: 'response.failed', response: refused }])), {
    metadata: { provider_code: 'invalid_prompt' },
  })
  t.match(failed({ data: '{"type":"response.completed"}' }), { name: 'upstream_invalid' })
  for (const data of ['{', '[]', '7', '{"type":"x"}x', '{"type":"x","a":}'])
    t.match(failed({ data }), { name: 'upstream_invalid' }, data)
  t.equal(failed(...messageStream(['Hi'])), null)
  t.match(failed(...messageStream(['Hi']).slice(0, -1)), { name: 'upstream_failed' })
  const after = summary([
    bodyOf([
      ...named([{ type: 'response.output_text.delta', delta: 'x' }]),
      ...named([{ type: 'response.failed', response }]),
    ]),
  ])
  t.match(after, { failure: null, end: null, isDone: true, finishReason: 'failed' }, 'after an output')
})

t.test('events that the walk cannot handle are parsed, up to their maximum size', async (t) => {
  const odd = (more: string): string =>
    `{"ty\\u0070e":"response.created","response":{"model":"a","model":"b"${more}}}`
  const [event] = one(odd(''))
  t.equal(event?.name, 'response.created')
  t.match(JSON.parse(event?.data ?? ''), { response: { model: HEAD.model } })
  const long = `,"x":"${'y'.repeat(STREAM_MENDED_BYTES_MAX)}"`
  t.match(streamed().read(Buffer.from(`data: ${odd(long)}\n\n`)).failure, { name: 'upstream_invalid' })
  const regular = `{"type":"response.created","response":{"model":"a"${long}}}`
  t.equal(one(regular).length, 1, 'a larger regular event passes')
  const lines = JSON.stringify({ type: 'a', x: ['é'] }, null, 1).replaceAll('\n', '\ndata: ')
  t.same(one(lines), [{ name: 'a', data: '{"type":"a","x":["é"]}' }])
  t.match(streamed().read(Buffer.from(`data: "${'x'.repeat(STREAM_EVENT_BYTES_MAX)}`)).failure, {
    name: 'upstream_too_large',
  })
})

for (const lineEnd of ['\n', '\r', '\r\n'] as const) {
  t.test(`a stream with ${JSON.stringify(lineEnd)} gives the same events however it is split`, async (t) => {
    const events = [
      ...(RESPONSES_STREAMS['openai, a tool'] ?? []).slice(0, 4),
      ...(RESPONSES_STREAMS['a small server'] ?? []).slice(2),
    ]
    const bytes = bodyOf(events, { lineEnd, hasMark: true, comment: 'hello', fields: ['id: 1'] })
    const whole = summary([bytes])
    t.match(whole, { end: null, isDone: true, hasOutput: true, finishReason: 'completed' })
    t.equal(whole.events.length, events.length - 1)
    sameWhereverCut(t, STREAMS, { bytes, wholeAt: bytes.indexOf('data: [DONE]') - 40 })
  })
}

t.test('a stream only awaits its usage once a message or a call is done and no item is open', async (t) => {
  const stream = streamed()
  const awaits = (...events: readonly object[]): boolean => {
    stream.read(bodyOf(named(events as readonly Record<string, unknown>[])))
    return stream.awaitsUsage
  }
  const event = (state: string, item: object): object => ({ type: `response.output_item.${state}`, item })
  const [thought, message, call] = [{ type: 'reasoning' }, { type: 'message' }, { type: 'function_call' }]
  t.notOk(awaits({ type: 'response.created', response: RESPONSE }))
  t.notOk(awaits(event('added', thought), event('done', thought)), 'an answer follows')
  t.notOk(awaits(event('added', message), event('added', call)))
  t.notOk(awaits(event('done', message)), 'the call is open')
  t.ok(awaits(event('done', call)))
  t.notOk(awaits({ type: 'response.completed', response: RESPONSE }))
})
