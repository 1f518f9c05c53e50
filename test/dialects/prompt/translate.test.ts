import t from 'tap'
import { translateRequest } from '../../../src/dialects/translate.ts'
import { INFERENCE_DEPTH_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import { DIALECTS } from '../../../src/schemas/inference/text-request.ts'
import { LAX } from '../../support/inference/bodies/translated.ts'
import { refusalsOf } from '../../../src/dialects/refusals.ts'
import { TEXT_PROTOCOLS } from '../../../src/schemas/models/protocols.ts'
import { JSON_VALUES_MAX } from '../../../src/schemas/limits/limits.ts'

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))

t.test('bytes of one form become bytes of another form, with unchanged texts', (t) => {
  const content = 'ü\u2028"\\\u0000😀</script>'
  // The body is part of a larger buffer, as those of uploads are.
  const json = bytesOf({ model: 'm', messages: [{ role: 'user', content }], seed: 1 })
  const body = Buffer.concat([Buffer.from('xx'), json]).subarray(2)
  const answer = translateRequest({ dialect: 'chat', protocol: 'responses', body, terms: LAX })
  t.same(answer.ok && JSON.parse(Buffer.from(answer.body).toString()), {
    model: 'up',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: content }] }],
    store: false,
  })
  t.same(answer.ok && answer.dropped, ['seed'])
  t.end()
})

t.test('reports members that the endpoint does not support by their paths', (t) => {
  const body = bytesOf({ model: 'm', messages: [{ role: 'user', content: 'a' }], stop: 'x' })
  t.match(translateRequest({ dialect: 'chat', protocol: 'responses', body, terms: LAX }), {
    ok: false,
    issues: [{ path: '/stop', message: String, expected: String }],
  })
  t.end()
})

t.test('`__proto__` in a body is treated as an ordinary member name', (t) => {
  const schema = '{"type":"object","properties":{"__proto__":{"type":"string"}}}'
  const tool = `{"type":"function","function":{"name":"f","parameters":${schema}}}`
  const json = `{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[${tool}],"__proto__":{"n":2}}`
  for (const protocol of ['responses', 'messages', 'chat'] as const) {
    const answer = translateRequest({ dialect: 'chat', protocol, body: Buffer.from(json), terms: LAX })
    t.ok(answer.ok && Buffer.from(answer.body).toString().includes(schema), protocol)
    t.same(answer.ok && answer.dropped, ['__proto__'])
  }
  t.end()
})

t.test('arguments nested more deeply than a body may be are kept as text', (t) => {
  const nested = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
  const inputOf = (json: string): unknown => {
    const tool_calls = [{ id: 'x', type: 'function', function: { name: 'f', arguments: json } }]
    const body = bytesOf({ model: 'm', messages: [{ role: 'assistant', tool_calls }] })
    const answer = translateRequest({ dialect: 'chat', protocol: 'messages', body, terms: LAX })
    const { messages } = JSON.parse(answer.ok ? Buffer.from(answer.body).toString() : '') as {
      readonly messages: readonly { readonly content: readonly { readonly input?: unknown }[] }[]
    }
    return messages[1]?.content[0]?.input
  }
  const most = nested(INFERENCE_DEPTH_MAX)
  t.same(inputOf(most), JSON.parse(most))
  for (const levels of [INFERENCE_DEPTH_MAX + 1, 100_000])
    t.same(inputOf(nested(levels)), { text: nested(levels) })
  const quoted = { a: `"\\${'[{'.repeat(INFERENCE_DEPTH_MAX)}` }
  t.same(inputOf(JSON.stringify(quoted)), quoted, 'brackets of texts are no levels')
  t.end()
})

t.test('long integers in tool arguments keep their digits, for every pair of dialect and protocol', (t) => {
  const digits = '9007199254740993'
  const json = `{"id":${digits}}`
  const quoted = JSON.stringify(json)
  const user = { role: 'user', content: 'Hi' }
  const called = { name: 'f', arguments: json }
  const bodies = {
    chat: {
      messages: [
        user,
        { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: called }] },
        { role: 'tool', tool_call_id: 'c', content: 'ok' },
      ],
    },
    responses: {
      input: [
        user,
        { type: 'function_call', call_id: 'c', ...called },
        { type: 'function_call_output', call_id: 'c', output: 'ok' },
      ],
    },
    messages: {
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: '@' }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'ok' }] },
      ],
    },
  }
  for (const dialect of DIALECTS)
    for (const protocol of TEXT_PROTOCOLS) {
      const text = JSON.stringify({ model: 'm', max_tokens: 99, ...bodies[dialect] })
      const body = new TextEncoder().encode(text.replace('"@"', json))
      const read = translateRequest({ dialect, protocol, body, terms: LAX })
      const sent = read.ok ? Buffer.from(read.body).toString() : ''
      const isText = protocol === 'chat' || protocol === 'responses'
      t.ok(sent.includes(isText ? quoted : json), `${dialect} at ${protocol}: ${sent}`)
    }
  t.end()
})

t.test('a body with more values than a thread can parse is refused for endpoints of other forms', (t) => {
  const enum_ = Array.from({ length: JSON_VALUES_MAX }, () => 1)
  const tools = [{ type: 'function', function: { name: 'f', parameters: { enum: enum_ } } }]
  const body = bytesOf({ model: 'm', messages: [{ role: 'user', content: 'a' }], tools })
  const answer = translateRequest({ dialect: 'chat', protocol: 'messages', body, terms: LAX })
  t.match(answer, { ok: false, issues: [{ path: '', expected: /^at most 1048576 / }] })
  const targets = [{ protocol: 'messages', terms: LAX }] as const
  t.match(refusalsOf({ sent: { dialect: 'chat', body }, targets }), [[{ path: '' }]])
  t.end()
})
