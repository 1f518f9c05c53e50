import t from 'tap'
import { STREAM_EVENT_BYTES_MAX } from '../../../src/schemas/inference/stream-limits.ts'
import { USAGE_BYTES_MAX } from '../../../src/schemas/models/provider-limits.ts'
import { NativeMessagesStream } from '../../../src/dialects/messages/stream.ts'
import { sameWhereverCut, summaryOf } from '../../support/inference/cut-streams.ts'
import {
  ANSWER,
  block,
  blockEnd,
  delta,
  messageDataOf,
  messageStreamOf,
  started,
  STOP,
  stopped,
  text,
} from '../../support/inference/message-events.ts'
import { HEAD, FAILURE_OF } from '../../support/inference/provider-chunks.ts'

const streamed = (): NativeMessagesStream => new NativeMessagesStream(HEAD, FAILURE_OF)
const read = (stream: NativeMessagesStream, ...events: readonly (object | string)[]): readonly string[] => {
  const { events: given, failure } = stream.read(messageStreamOf(events))
  if (failure !== null) throw new Error(failure.name)
  return messageDataOf(given)
}
const WHOLE = '{"input_tokens":7,"output_tokens":5,"cost":0.5,"is_byok":true}'
const ADDED = '"cost":0.5,"is_byok":true'
const SHOWN = { whole: WHOLE, added: ADDED }
const STREAMS = { open: streamed, eventsOf: messageDataOf, shown: SHOWN }
const last = (stream: NativeMessagesStream): readonly string[] =>
  messageDataOf(Buffer.concat(stream.finalEvents.withUsage(SHOWN)))

t.test('bytes that no rule changes are passed on as received', (t) => {
  const events = [
    '{ "type":"message_start", "x":1.0,"message" : { "id" : "msg_1","type":"message","role":"assistant", "model":"c", ' +
      '"content":[],"stop_reason":null,"stop_sequence":null,"usage":{ "input_tokens" : 3,"output_tokens":1,"y":1e400} } }',
    '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}',
    '{"type":"content_block_delta" ,"index":0,"delta":{"type":"thinking_delta","thinking":"\\u00e9 é"},"z":-0}',
    '{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"AA=\\/="}}',
    '{"type":"content_block_stop","index":0}',
    '{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"AAAA"}}',
    '{"type":"content_block_delta","index":1,"delta":{"type":"citations_delta","citation":{"a":[1.50]}}}',
    '{"type":"content_block_start","index":2,"content_block":{"type":"server_tool_use","id":"s","name":"w","input":{}}}',
    '{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\\"q\\": 1"}}',
    '{"type":"something_new","model":"c","usage":null,"message":"text","delta":7}',
    '{"type":"something_new","message":{"model":"c"}}',
  ]
  const [first = '', ...others] = events
  const stream = streamed()
  t.same(read(stream, ...events), [first.replace('"model":"c"', '"model":"maker/model-1"'), ...others])
  t.equal(stream.upstreamId, 'msg_1')
  t.equal(stream.outputBytes, 5 + 7)
  t.end()
})

t.test('the last usage is held back until the end, and gets the members that Sluice adds', (t) => {
  const stream = streamed()
  const end = '{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":'
  const stop = '{ "type":"message_stop","amazon":{"x":1}}'
  const logged = '{"output_tokens":4 , "cost":9,"service":{"cost":1},"is_byok":null}'
  t.equal(read(stream, started(), block({ type: 'text', text: '' }), text('Hi'), blockEnd()).length, 4)
  t.same(read(stream, `${end}${logged}, "w":1}`), [])
  t.equal(stream.end()?.name, 'upstream_failed')
  t.same(read(stream, stop, text('late')), [])
  t.equal(stream.isDone, true)
  t.equal(stream.end(), null)
  t.match(stream, { finishReason: 'end_turn', usage: { input: 9, output: 4, reasoning: 0 } })
  t.same(last(stream), [
    `${end}{"output_tokens":4 ,"service":{"cost":1},${ADDED}}, "w":1}`.replace(' ,"service"', ',"service"'),
    stop,
  ])
  t.same(last(stream), last(stream), 'it can be asked for twice')
  t.end()
})

t.test('a usage that is missing or not credible is replaced', (t) => {
  const ended = (usage: unknown, first: unknown = { input_tokens: 9, output_tokens: 1 }): unknown => {
    const stream = streamed()
    read(
      stream,
      started({}, first),
      block({ type: 'text', text: '' }),
      text('Hi'),
      { ...stopped(), usage },
      STOP,
    )
    return (JSON.parse(last(stream)[0] ?? '') as { usage: unknown }).usage
  }
  const ours: unknown = JSON.parse(WHOLE)
  const members: object = JSON.parse(`{${ADDED}}`) as object
  t.same(ended({ output_tokens: 4 }), { output_tokens: 4, ...members })
  t.same(ended({ output_tokens: 4, input_tokens: 2 }, null), {
    output_tokens: 4,
    input_tokens: 2,
    ...members,
  })
  for (const usage of [
    undefined,
    null,
    {},
    7,
    { output_tokens: 0 },
    { output_tokens: -1 },
    { output_tokens: '4' },
  ])
    t.same(ended(usage), ours, JSON.stringify(usage))
  t.same(ended({ output_tokens: 1.5 }), ours)
  t.same(ended({ output_tokens: 4, more: 'x'.repeat(USAGE_BYTES_MAX) }), ours)
  t.same(ended({ output_tokens: 4 }, { input_tokens: 0, output_tokens: 0 }), ours, 'no input')
  t.same(ended({ output_tokens: 4, ['\u0063ost']: 1 }), { output_tokens: 4, ...members })
  const stream = streamed()
  read(stream, started(), text('Hi'), STOP)
  t.same(
    last(stream).map((data) => JSON.parse(data) as object),
    [{ type: 'message_delta', delta: { stop_reason: null, stop_sequence: null }, usage: ours }, STOP],
  )
  t.end()
})

t.test('a usage that turns out not to be the last one is sent before the next event', (t) => {
  const stream = streamed()
  read(stream, started(), block({ type: 'text', text: '' }), text('Hi'))
  t.same(read(stream, stopped({ output_tokens: 2 }, 'pause_turn'), { type: 'ping' }), [])
  const next = read(stream, stopped(null), text('more'))
  t.same(
    next.map((data) => JSON.parse(data) as object),
    [stopped({ output_tokens: 2 }, 'pause_turn'), stopped({ output_tokens: 2 }), text('more')],
  )
  t.same(read(stream, stopped({ output_tokens: 9 }, 'max_tokens'), STOP), [])
  t.match(stream, { finishReason: 'max_tokens', usage: { input: 9, output: 9 } })
  t.equal(last(stream).length, 2)
  t.end()
})

t.test('the first event is a message that clients can read, whatever the provider sent first', (t) => {
  const usage = {
    input_tokens: 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 0,
  }
  const whole = { type: 'message', role: 'assistant', model: HEAD.model, content: [], stop_reason: null }
  const ours = { id: 'msg_01k0', ...whole, stop_sequence: null, usage }
  const first = (...events: readonly (object | string)[]): unknown =>
    (JSON.parse(read(streamed(), ...events)[0] ?? '') as { message: unknown }).message
  t.same(first(text('x')), ours)
  t.same(first({ type: 'new_thing' }), ours)
  t.same(first({ type: 'message_start' }), ours)
  t.same(first({ type: 'message_start', message: null }), ours)
  t.same(first({ type: 'message_start', message: {} }), ours)
  t.same(first(started({ id: null, type: null, role: null, content: null }, null)), ours)
  t.same(first(started({}, {})), { ...ours, id: 'msg_up1', usage: { input_tokens: 0, output_tokens: 0 } })
  t.same(first(started({}, { input_tokens: null, x: 1, output_tokens: 2.5 })), {
    ...ours,
    id: 'msg_up1',
    usage: { input_tokens: 0, x: 1, output_tokens: 0 },
  })
  const stream = streamed()
  t.equal(read(stream, text('x'), started(), text('y')).length, 3, 'a second begin is not passed on')
  t.match(stream, { upstreamId: 'msg_up1', usage: { input: 9 } })
  t.end()
})

t.test('an event gets its missing name from its type, and its missing type from its name', (t) => {
  const given = (name: string, data: string): readonly string[] =>
    messageDataOf(
      streamed().read(Buffer.from(`event: message_start\ndata: {}\n\n${name}data: ${data}\n\n`)).events,
    ).slice(1)
  const text = '"index":0,"delta":{"type":"text_delta","text":"x"}'
  const whole = `{"type":"content_block_delta",${text}}`
  t.same(given('', whole), [whole])
  t.same(given('event: other\n', whole), [whole], 'clients go by the type')
  t.same(
    given('event: content_block_delta\n', `{${text}}`).map((data) => JSON.parse(data) as object),
    [JSON.parse(whole)],
  )
  t.same(
    given('', whole.replace('"type"', '"t\\u0079pe"')).map((data) => JSON.parse(data) as object),
    [JSON.parse(whole)],
  )
  t.same(given('', whole.replace('"content', '"cont\\u0065nt').replace('cont\\u0065nt', 'c\\u006fntent')), [
    whole,
  ])
  t.same(given('event: ping\n', '{}'), [])
  t.same(given('', '{"type": "ping"}'), [])
  t.same(given('', ''), [])
  t.same(given('', ' [DONE] '), [])
  t.end()
})

t.test('text, thinking, a signature, a citation and any other block count as output', (t) => {
  const delivered = (...events: readonly object[]): readonly [boolean, number] => {
    const stream = streamed()
    read(stream, started(), ...events)
    return [stream.hasOutput, stream.outputBytes]
  }
  for (const none of [
    block({ type: 'text', text: '' }),
    block({ type: 'thinking', thinking: '', signature: '' }),
    text(''),
    delta({ type: 'signature_delta', signature: '' }),
    delta({ type: 'input_json_delta', partial_json: '' }),
    blockEnd(),
    { type: 'new_thing', delta: { text: 'x' }, content_block: { type: 'tool_use' } },
    stopped(),
  ])
    t.same(delivered(none), [false, 0], JSON.stringify(none))
  t.same(delivered(text('é\n"')), [true, 4])
  t.same(delivered(block({ type: 'text', text: 'ab' })), [true, 2])
  t.same(delivered(delta({ type: 'thinking_delta', thinking: 'hm' })), [true, 2])
  t.same(delivered(delta({ type: 'signature_delta', signature: 'AA==' })), [true, 0])
  t.same(delivered(delta({ type: 'citations_delta', citation: { a: 1 } })), [true, 0])
  t.same(delivered(delta({ type: 'new_delta', data: 'x' })), [true, 0])
  t.same(delivered(block({ type: 'tool_use', id: 't', name: 'f', input: {} })), [true, 0])
  t.same(delivered(block({ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } })), [true, 7])
  t.same(delivered(block({ type: 'redacted_thinking', data: 'x' })), [true, 0])
  t.same(delivered(delta({ type: 'input_json_delta', partial_json: '{"a":' })), [true, 5])
  t.same(
    delivered({ ...started({ content: [{ type: 'text', text: 'abc' }] }) }),
    [false, 0],
    'a second begin',
  )
  const stream = streamed()
  read(stream, started({ content: [{ type: 'text', text: 'abc' }] }))
  t.match(stream, { hasOutput: true, outputBytes: 3 })
  t.end()
})

t.test('counts searches by their results until the usage reports their number', (t) => {
  const result = (content: unknown): object =>
    block({ type: 'web_search_tool_result', tool_use_id: 's', content })
  const stream = streamed()
  const search = block({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} })
  read(stream, started(), search, result([{ type: 'web_search_result', url: 'x' }]))
  t.match(stream.usage, { searches: 1 })
  read(stream, result({ type: 'web_search_tool_result_error', error_code: 'unavailable' }), text('Hi'))
  t.match(stream.usage, { searches: 1 }, 'a failure costs nothing')
  read(stream, result([]), { ...block({ type: 'text', text: '' }), odd: 1 })
  t.match(stream.usage, { searches: 2 })
  stream.read(Buffer.from(`data: ${JSON.stringify(result([])).replace('"content"', '"c\\u006fntent"')}\n\n`))
  t.match(stream.usage, { searches: 3 }, 'an event that is rewritten')
  read(stream, stopped({ output_tokens: 2, server_tool_use: { web_search_requests: 4 } }), STOP)
  t.match(stream.usage, { searches: 4 })
  t.end()
})

t.test('fails on errors of the provider, and on events that clients could not read', (t) => {
  const failed = (...events: readonly (object | string)[]): string | undefined => {
    const stream = streamed()
    const { failure } = stream.read(messageStreamOf([started(), ...events]))
    t.equal(stream.end()?.name, failure?.name ?? 'upstream_failed')
    t.same(stream.read(messageStreamOf([STOP])).events, null)
    return failure?.name
  }
  const error = (type: string): object => ({ type: 'error', error: { type, message: 'No.' } })
  t.equal(failed(error('overloaded_error')), 'upstream_overloaded')
  t.equal(failed(error('rate_limit_error')), 'upstream_overloaded')
  t.equal(failed(error('invalid_request_error')), 'upstream_refused')
  t.equal(failed(error('authentication_error')), 'upstream_credential')
  t.equal(failed(error('api_error')), 'upstream_failed')
  t.equal(failed(JSON.stringify(error('api_error'))), 'upstream_failed', 'without a name')
  t.equal(failed({ type: 'error' }), 'upstream_failed')
  t.equal(failed('{"error":{"message":"x"}}'), 'upstream_failed')
  t.equal(failed('{"error":{"message":"x"},"type":"new"}'), 'upstream_failed')
  for (const odd of [
    'nope',
    '[]',
    '{}',
    '{"type":7}',
    '{"type":"a b"}',
    '{"type":"a\\nb"}',
    '{"type":"ping"',
  ])
    t.equal(failed(odd), 'upstream_invalid', odd)
  t.equal(failed('{"type":"content_block_delta","index":0}'), 'upstream_invalid')
  t.equal(failed('{"type":"content_block_delta","index":0,"delta":"x"}'), 'upstream_invalid')
  t.equal(failed('{"type":"content_block_start","index":0,"content_block":null}'), 'upstream_invalid')
  const large = messageStreamOf([text('x'.repeat(STREAM_EVENT_BYTES_MAX + 1))])
  t.equal(streamed().read(large).failure?.name, 'upstream_too_large')
  t.match(streamed().read(messageStreamOf([STOP])), { failure: { name: 'upstream_invalid' } })
  t.match(streamed().read(Buffer.concat([messageStreamOf(ANSWER), large])), { failure: null })
  t.end()
})

for (const lineEnd of ['\n', '\r', '\r\n']) {
  t.test(`a stream with ${JSON.stringify(lineEnd)} gives the same events however it is split`, (t) => {
    const begin = Buffer.from(`\ufeff: hello${lineEnd}${lineEnd}id: 1${lineEnd}retry: 5${lineEnd}`)
    const bytes = Buffer.concat([begin, messageStreamOf(ANSWER, lineEnd)])
    t.match(summaryOf(STREAMS, [bytes]), {
      end: null,
      isDone: true,
      hasOutput: true,
      outputBytes: 9,
      events: { length: 6 },
    })
    const wholeAt = bytes.lastIndexOf(lineEnd + lineEnd) + lineEnd.length
    sameWhereverCut(t, STREAMS, { bytes, wholeAt })
    t.end()
  })
}

t.test('data in several lines, or with bytes that are not UTF-8, become one line', (t) => {
  const lines = JSON.stringify(text('x'), null, 1).replaceAll('\n', '\ndata: ')
  const stream = streamed()
  read(stream, started())
  const odd = Buffer.from(`data: ${lines}\n\ndata: ${JSON.stringify(text('!'))}\n\n`)
  odd[odd.indexOf('!')] = 0xff
  t.same(
    messageDataOf(stream.read(odd).events).map((data) => JSON.parse(data) as object),
    [text('x'), text('\ufffd')],
  )
  t.end()
})
