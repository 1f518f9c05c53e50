import t from 'tap'
import { Compile } from 'typebox/compile'
import { ChatAnswer } from '../../src/schemas/inference/chat.ts'
import { answerOfJob, joinedAnswer, nativeAnswer } from '../../src/dialects/native-answer.ts'
import { randomFrom } from '../support/embeddings/random-answers.ts'
import { HEAD, written } from '../support/inference/provider-chunks.ts'
import { must } from '../support/must.ts'

const NO_CHAT = { name: 'upstream_invalid', detail: "The provider's answer is not in the chat format." }
const isAnswer = Compile(ChatAnswer)
const USAGE_JSON = JSON.stringify({
  prompt_tokens: 1,
  completion_tokens: 1,
  total_tokens: 2,
  prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
  cost: 0,
  cost_details: {
    upstream_inference_cost: null,
    upstream_inference_prompt_cost: 0,
    upstream_inference_completions_cost: 0,
  },
  is_byok: false,
})
const USAGE = { whole: USAGE_JSON, added: null }
const read = (body: object | string): ReturnType<typeof nativeAnswer> =>
  nativeAnswer('chat', Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), HEAD)
const given = (body: object | string): string => Buffer.concat(must(read(body)).withUsage(USAGE)).toString()
const message = (members: object, more: object = {}): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 17,
  model: 'm-1',
  system_fingerprint: 'fp',
  choices: [{ index: 0, message: { role: 'assistant', ...members }, finish_reason: 'stop', ...more }],
})

t.test('bytes that no rule changes are passed on as received', async (t) => {
  const body = ` { "id":"chatcmpl-1", "object":"chat.completion","created":17,"model":"m-1" ,
  "choices" : [{"index":0,"message":{"role":"assistant","content":"\\u00e9 é 1e400","x":[1.0,1e400]},
  "logprobs":null,"finish_reason":"stop","native_finish_reason":"s"}], "usage" : {"prompt_tokens":3,
  "completion_tokens":2}, "system_fingerprint":null,"z":{"usage":null} } `
  const expected = body
    .replace('"chatcmpl-1"', '"gen_01k0"')
    .replace('"m-1"', '"maker/model-1","provider":"maker"')
    .replace(/, "usage" : \{[^}]*\}/, '')
    .replace(/ } $/, ` ,"usage":${USAGE_JSON}}`)
    .trimStart()
  t.equal(given(body), expected)
  const answer = must(read(body))
  t.match(answer, {
    outputBytes: 11,
    finishReason: 'stop',
    upstreamId: 'chatcmpl-1',
    usage: { input: 3, output: 2 },
  })
  t.equal(given(body), given(body), 'the pieces can be asked for twice')
})

t.test('adds members that clients require, and removes nulls that they refuse', async (t) => {
  const calls = [
    { id: 'c', function: { name: 'f', arguments: null } },
    { id: 'd', type: 'function', function: { name: 'g' } },
  ]
  const body = {
    choices: [
      { message: { content: null, tool_calls: calls, audio: null, reasoning_details: null, images: null } },
      {
        message: { role: null, content: 'x', tool_calls: null, refusal: null },
        finish_reason: 'stop',
        usage: { a: 1 },
      },
    ],
    usage: null,
    error: null,
    provider: 'other',
  }
  const answer: unknown = JSON.parse(given(body))
  t.ok(isAnswer.Check(answer))
  t.same(answer, {
    id: HEAD.id,
    object: 'chat.completion',
    created: HEAD.createdS,
    model: HEAD.model,
    provider: HEAD.provider,
    system_fingerprint: null,
    choices: [
      {
        index: 0,
        finish_reason: null,
        message: {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'f', arguments: '' } },
            { id: 'd', type: 'function', function: { name: 'g', arguments: '' } },
          ],
        },
      },
      {
        index: 1,
        finish_reason: 'stop',
        native_finish_reason: 'stop',
        message: { role: 'assistant', content: 'x', refusal: null },
      },
    ],
    usage: JSON.parse(USAGE_JSON),
  })
})

t.test('calls of a whole answer that share an index get different indexes', async (t) => {
  const shown = (...calls: readonly string[]): readonly unknown[] => {
    const text = given(`{"choices":[{"message":{"tool_calls":[${calls.join(',')}]}}]}`)
    const { choices } = JSON.parse(text) as {
      readonly choices: readonly {
        readonly message: { readonly tool_calls: readonly { index?: unknown }[] }
      }[]
    }
    return choices[0]?.message.tool_calls.map(({ index }) => index) ?? []
  }
  const call = (index: string): string =>
    `{"id":"c","type":"function",${index}"function":{"name":"f","arguments":"{}"}}`
  t.same(shown(call('"index":0,'), call('"index":0,')), [0, 1])
  t.same(shown(call('"index":null,'), call('"index":7,')), [0, 1])
  t.same(shown(call('"index":0,'), call('"index":1,')), [0, 1])
  t.same(shown(call(''), call('')), [undefined, undefined], 'a whole answer needs none')
})

t.test('reasoning is sent under both names that clients read', async (t) => {
  const stated = (members: string): string => {
    const text = given(`{"choices":[{"message":{"role":"assistant"${members}}}]}`)
    return /"message":(\{[^}]*\})/.exec(text)?.[1] ?? ''
  }
  t.equal(
    stated(',"reasoning_content":"\\u00e9 é","content":"x"'),
    '{"role":"assistant","reasoning_content":"\\u00e9 é","content":"x","reasoning":"\\u00e9 é"}',
  )
  for (const members of [
    ',"reasoning_content":"a","reasoning":"b"',
    ',"reasoning":"b","reasoning_content":"a"',
    ',"reasoning_content":""',
    ',"reasoning_content":null',
    ',"reasoning":"b"',
  ])
    t.equal(stated(members), `{"role":"assistant"${members}}`)
  t.equal(
    stated(',"reasoning_content":"a","audio":null'),
    '{"role":"assistant","reasoning_content":"a","reasoning":"a"}',
  )
  const long = 'x'.repeat(100_000)
  const answer = must(read(message({ content: '', reasoning_content: long })))
  t.equal(answer.outputBytes, long.length, 'it counts once')
  t.match(given(message({ content: '', reasoning_content: long })), `"reasoning":"${long}"`)
})

t.test('output and usage are counted over all choices', async (t) => {
  const two = {
    choices: [
      {
        message: {
          content: 'é',
          reasoning_content: 'hm',
          tool_calls: [{ id: 'c', function: { arguments: '{}' } }],
        },
      },
      { message: { content: 'abc' }, finish_reason: 'length' },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 0 },
  }
  t.match(must(read(two)), { outputBytes: 9, finishReason: 'length', upstreamId: null, usage: null })
  const silent = { ...message({ content: '' }), usage: { prompt_tokens: 1, completion_tokens: 0 } }
  t.match(must(read(silent)), { outputBytes: 0, usage: { input: 1, output: 0 } })
})

t.test('repairs escaped names, duplicate members and bytes that are not UTF-8', async (t) => {
  const body = JSON.stringify(message({ content: 'x' }))
  const odd = [
    body.replace('"id"', '"\\u0069d"'),
    body.replace('{"id"', '{"id":7,"id"'),
    body.replace('"message"', '"message":null,"message"'),
    Buffer.concat([Buffer.from(body.slice(0, -1)), Buffer.from(',"z":"'), Buffer.of(0xff, 0x22, 0x7d)]),
  ]
  for (const one of odd) {
    const answer = must(nativeAnswer('chat', Buffer.from(one), HEAD))
    const text = Buffer.concat(answer.withUsage(USAGE)).toString()
    t.ok(isAnswer.Check(JSON.parse(text)), text)
    t.notMatch(text, 'chatcmpl')
  }
})

t.test('a thread reads and writes answers as the loop does, in transferable memory', async (t) => {
  const body = JSON.stringify({
    ...message({ content: 'x' }),
    usage: { prompt_tokens: 1, completion_tokens: 2 },
  })
  for (const one of [body, body.replace('"id"', '"\\u0069d"'), body.slice(1), '{}']) {
    const out = joinedAnswer({ dialect: 'chat', answer: Buffer.from(one), head: HEAD })
    const here = nativeAnswer('chat', Buffer.from(one), HEAD)
    const there = answerOfJob(out)
    t.same(JSON.parse(JSON.stringify(there)), JSON.parse(JSON.stringify(here)))
    if (!here.ok || !out.ok) continue
    t.equal(Buffer.concat(must(there).withUsage(USAGE)).toString(), given(one))
    t.equal(out.answer.buffer.byteLength, out.answer.length)
  }
})

t.test('refuses bodies that are not an answer', async (t) => {
  const body = JSON.stringify(message({ content: 'x' }))
  const broken = [
    '',
    'nope',
    '[]',
    'null',
    `${body}}`,
    body.slice(0, -1),
    '{}',
    '{"choices":[]}',
    '{"choices":null}',
    '{"choices":[{}]}',
    '{"choices":[{"message":null}]}',
    '{"choices":[{"message":"x"}]}',
    '{"choices":[7]}',
    '{"error":{"message":"x"}}',
    '{"object":"error","message":"x","code":400}',
    body.replace('{', '{"error":{"code":500},'),
    body.replace('"stop"', '"error"'),
    `{"choices":${'['.repeat(10_000)}`,
  ]
  for (const one of broken) t.match(read(one), { ok: false, failure: NO_CHAT }, one.slice(0, 80))
})

t.test('mutated answers never throw, and every accepted answer is a valid one', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = randomFrom(seed)
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
  const whole = {
    ...message({ content: 'x "y"', tool_calls: [call], audio: null }),
    usage: { prompt_tokens: 1 },
  }
  let passed = 0
  for (let nth = 0; nth < 2_000; nth++) {
    const bytes = Buffer.from(written(whole, random))
    for (let count = Math.floor(random() * 3); count > 0; count--)
      bytes[Math.floor(random() * bytes.length)] = '{}[]",:\\n0 \n'.charCodeAt(Math.floor(random() * 12))
    const outcome = nativeAnswer('chat', bytes, HEAD)
    if (!outcome.ok) continue
    passed++
    const text = Buffer.concat(outcome.value.withUsage(USAGE)).toString()
    const answer = JSON.parse(text) as { id: unknown; model: unknown; usage: unknown }
    const { id, model } = HEAD
    if (answer.id !== id || answer.model !== model || JSON.stringify(answer.usage) !== USAGE_JSON)
      throw new Error(`seed ${seed}, answer ${nth}: ${text}`)
  }
  t.ok(passed > 500, `seed ${seed}: ${passed} passed`)
})
