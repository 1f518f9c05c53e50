import t from 'tap'
import { answerOfJob, joinedAnswer, nativeAnswer } from '../../../src/dialects/native-answer.ts'
import type { Outcome } from '../../../src/schemas/failures.ts'
import { randomFrom } from '../../support/embeddings/random-answers.ts'
import { HEAD, written } from '../../support/inference/provider-chunks.ts'
import { must } from '../../support/must.ts'
import type { NativeAnswer } from '../../../src/dialects/parts.ts'

const SHOWN = { whole: '{"input_tokens":1,"output_tokens":1,"cost":0.5}', added: '"cost":0.5' }
const nativeMessage = (body: Buffer): Outcome<NativeAnswer> => nativeAnswer('messages', body, HEAD)
const read = (body: object | string): Outcome<NativeAnswer> =>
  nativeMessage(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
const given = (body: object | string): string => Buffer.concat(must(read(body)).withUsage(SHOWN)).toString()
const message = (content: unknown, more: object = {}): object => ({
  ...{ id: 'msg_up1', type: 'message', role: 'assistant', model: 'claude-2026', content },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 3, output_tokens: 2 }, ...more },
})

t.test('bytes that no rule changes are passed on as received', (t) => {
  const body = ` { "id":"msg_1", "type":"message","role":"assistant","model":"c" ,
  "content" : [{"type":"thinking","thinking":"\\u00e9 é","signature":"A\\/="},{"type":"text","text":"1e400","x":[1.0,1e400]}],
  "stop_reason":"tool_use","stop_sequence":null, "usage" : {"input_tokens":3,"cost":1,
  "output_tokens":2, "z" : 1.0}, "model_x":{"model":"c","usage":null} } `
  const expected = body
    .replace('"model":"c"', '"model":"maker/model-1"')
    .replace('"cost":1,\n  "out', '\n  "out')
    .replace('3,\n  "output_tokens":2, "z" : 1.0}', '3,\n  "output_tokens":2, "z" : 1.0,"cost":0.5}')
    .trim()
  t.equal(given(body).replace(/3,\s*"out/, '3,"out'), expected.replace(/3,\s*"out/, '3,"out'))
  t.match(must(read(body)), {
    ...{ outputBytes: 5 + 5, finishReason: 'tool_use', upstreamId: 'msg_1' },
    usage: { input: 3, output: 2, reasoning: 0 },
  })
  t.equal(given(body), given(body), 'the pieces can be asked for twice')
  t.end()
})

t.test('adds members that clients require, and replaces a usage that is not credible', (t) => {
  const whole: unknown = JSON.parse(SHOWN.whole)
  const ours = {
    type: 'message',
    role: 'assistant',
    model: HEAD.model,
    stop_reason: null,
    stop_sequence: null,
  }
  t.same(JSON.parse(given({ content: [] })), { content: [], id: 'msg_01k0', ...ours, usage: whole })
  const nulls = { id: null, role: null, type: null, usage: null, error: null, content: [] }
  t.same(JSON.parse(given(nulls)), { content: [], id: 'msg_01k0', ...ours, usage: whole })
  const reported = (usage: unknown): unknown =>
    (JSON.parse(given(message([{ type: 'text', text: 'x' }], { usage }))) as { usage: unknown }).usage
  for (const usage of [undefined, 7, {}, { input_tokens: 3 }, { input_tokens: 3, output_tokens: 0 }])
    t.same(reported(usage), whole, JSON.stringify(usage))
  t.same(reported({ input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 1, cost: 'x' }), {
    ...{ input_tokens: 0, cache_read_input_tokens: 5, output_tokens: 1, cost: 0.5 },
  })
  t.end()
})

t.test('output is counted over all blocks', (t) => {
  const tool = { type: 'tool_use', id: 't', name: 'f', input: { a: 'é' } }
  const blocks = [{ type: 'text', text: 'é' }, { type: 'thinking', thinking: 'hm', signature: 'AA' }, tool]
  t.equal(must(read(message(blocks))).outputBytes, 2 + 2 + Buffer.byteLength(JSON.stringify(tool.input)))
  t.equal(must(read(message([]))).outputBytes, 0)
  t.end()
})

t.test('a thread reads and writes an answer as the loop does, in memory that can be transferred', (t) => {
  const body = JSON.stringify(message([{ type: 'text', text: 'x' }]))
  for (const one of [body, body.replace('"id"', '"\\u0069d"'), '{"content":[]}', body.slice(1), '{}']) {
    const out = joinedAnswer({ dialect: 'messages', answer: Buffer.from(one), head: HEAD })
    const here = nativeMessage(Buffer.from(one))
    const there = answerOfJob(out)
    t.same(JSON.parse(JSON.stringify(there)), JSON.parse(JSON.stringify(here)))
    if (!here.ok || !out.ok) continue
    t.equal(Buffer.concat(must(there).withUsage(SHOWN)).toString(), given(one))
    t.equal(out.answer.buffer.byteLength, out.answer.length)
  }
  t.end()
})

t.test('repairs escaped names, duplicate members and bytes that are not UTF-8', (t) => {
  const body = JSON.stringify(message([{ type: 'text', text: 'x' }]))
  const odd = [
    body.replace('"model"', '"mod\\u0065l"'),
    body.replace('{"id"', '{"model":7,"usage":null,"id"'),
    Buffer.concat([Buffer.from(body.slice(0, -1)), Buffer.from(',"z":"'), Buffer.of(0xff, 0x22, 0x7d)]),
  ]
  for (const one of odd) {
    const pieces = must(nativeMessage(Buffer.from(one))).withUsage(SHOWN)
    const text = Buffer.concat(pieces).toString()
    t.match(JSON.parse(text), { model: HEAD.model, usage: { input_tokens: 3, output_tokens: 2, cost: 0.5 } })
    t.notMatch(text, 'claude-2026')
  }
  t.end()
})

t.test('refuses bodies that are not an answer', (t) => {
  const body = JSON.stringify(message([{ type: 'text', text: 'x' }]))
  const error = '{"type":"error","error":{"type":"api_error","message":"x"}}'
  const none = [
    '',
    'nope',
    '[]',
    'null',
    `${body}}`,
    body.slice(0, -1),
    '{}',
    '{"content":null}',
    '{"content":"x"}',
  ]
  const failed = [error, '{"type":"error","content":[]}', body.replace('{', '{"error":{"code":500},')]
  for (const one of [...none, ...failed, '{"content":[7]}', `{"content":${'['.repeat(10_000)}`])
    t.match(read(one), { ok: false, failure: { name: 'upstream_invalid' } }, one.slice(0, 80))
  t.end()
})

t.test('mutated answers never throw, and every accepted answer is a valid one', (t) => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = randomFrom(seed)
  const tool = { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }
  const whole = message([{ type: 'text', text: 'x "y"' }, tool])
  let passed = 0
  for (let nth = 0; nth < 2_000; nth++) {
    const bytes = Buffer.from(written(whole, random))
    for (let count = Math.floor(random() * 3); count > 0; count--)
      bytes[Math.floor(random() * bytes.length)] = '{}[]",:\\n0 \n'.charCodeAt(Math.floor(random() * 12))
    const outcome = nativeMessage(bytes)
    if (!outcome.ok) continue
    passed++
    const text = Buffer.concat(outcome.value.withUsage(SHOWN)).toString()
    const answer = JSON.parse(text) as { model: unknown; content: unknown; usage: { cost: unknown } }
    if (answer.model !== HEAD.model || !Array.isArray(answer.content) || answer.usage.cost !== 0.5)
      throw new Error(`seed ${seed}, answer ${nth}: ${text}`)
  }
  t.ok(passed > 500, `seed ${seed}: ${passed} passed`)
  t.end()
})
