/** What a provider of chat writes in other types than clients take, natively: streamed, whole, wherever cut. D23. */
import t from 'tap'
import { CONTENT_PARTS_MAX } from '../../../../src/schemas/inference/stream-limits.ts'
import { NativeChatStream } from '../../../../src/server/upstream/inference/chat/native-chat-stream.ts'
import { nativeAnswer } from '../../../../src/server/upstream/inference/native-answer.ts'
import { sameWhereverCut, summaryOf } from '../../../support/inference/cut-streams.ts'
import { dataOf, HEAD, REDACTED, streamOf } from '../../../support/inference/provider-chunks.ts'
import { must } from '../../../support/must.ts'

const STREAMS = { open: () => new NativeChatStream(HEAD, REDACTED), eventsOf: dataOf }
const event = (delta: string, finish = 'null'): string =>
  `{"created":17,"choices":[{"index":0,"delta":{"role":"assistant",${delta}},"finish_reason":${finish}}]}`
/** The delta that becomes of one. */
const deltaOf = (delta: string): string => {
  const [data = ''] = summaryOf(STREAMS, [streamOf([event(delta)])]).events
  return /"delta":\{"role":"assistant",(.*)\},"finish_reason"/.exec(data)?.[1] ?? data
}
/** The message that becomes of one. */
const messageOf = (members: string): string => {
  const body = `{"choices":[{"index":0,"message":{"role":"assistant",${members}},"finish_reason":"stop"}]}`
  const answer = must(nativeAnswer('chat', Buffer.from(body), HEAD))
  const text = Buffer.concat(answer.withUsage({ whole: '{}', added: null })).toString()
  return /"message":\{"role":"assistant",(.*)\},"finish_reason"/.exec(text)?.[1] ?? text
}

const text = (json: string): string => `{"type":"text","text":${json}}`
const thinking = (json: string): string => `{"type":"thinking","thinking":[${text(json)}],"closed":true}`
const details = (json: string): string =>
  `"reasoning":"${json}","reasoning_details":[{"type":"reasoning.text","text":"${json}","index":0}]`

const LISTS: readonly (readonly [string, string])[] = [
  [`"content":[${thinking('"hm"')}]`, `"content":"",${details('hm')}`],
  [`"content":[${text('"\\u00e9 \\"é"')}, ${text('" x"')}]`, '"content":"\\u00e9 \\"é x"'],
  [
    `"content" : [ ${thinking('"h"')} ,${text('"a"')},${thinking('"m"')},${text('"b"')}],"x":1`,
    `"content" : "ab","x":1,${details('hm')}`,
  ],
  ['"content":[]', '"content":""'],
  ['"content":["a",{"text":"b"},7,null,[{"text":"c"}]]', '"content":"ab"'],
  ['"content":[{"text":"a","type":"reference"},{"type":"t\\u0065xt","text":"b"}]', '"content":"b"'],
  ['"content":[{"thinking":"hm","type":"thinking"}],"audio":null', `"content":"",${details('hm')}`],
  [
    `"reasoning":"hm","content":[${thinking('"hm"')}],"reasoning_details":[]`,
    '"reasoning":"hm","content":"","reasoning_details":[]',
  ],
  [
    `"content":[${thinking('"a"')}],"reasoning_content":"b"`,
    '"content":"","reasoning_content":"b","reasoning":"b",' +
      '"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]',
  ],
  [
    '"content":[{"type":"image_url","image_url":{"url":"u"}},{"image_url":{"url":"v"}},{"image_url":"w"}]',
    '"content":"","images":[{"type":"image_url","image_url":{"url":"u"}},{"type":"image_url","image_url":{"url":"v"}}]',
  ],
  ['"content":[{"type":"text","text":"a","text":"b"}]', '"content":"b"'],
  ['"content":[{"typ\\u0065":"text","text":"b"}]', '"content":"b"'],
]

t.test(
  'a content that is a list becomes a text, with its reasoning and its pictures beside it',
  async (t) => {
    for (const [given, expected] of LISTS) {
      t.equal(deltaOf(given), expected)
      t.equal(messageOf(given), expected)
    }
  },
)

t.test('parts of a list count as output: texts and reasoning once each', async (t) => {
  const delivered = (delta: string): readonly [boolean, number] => {
    const { hasOutput, outputBytes } = summaryOf(STREAMS, [streamOf([event(delta)])])
    return [hasOutput, outputBytes]
  }
  t.same(delivered(`"content":[${thinking('"h\\u00e9"')},${text('"é\\n"')}]`), [true, 6])
  t.same(delivered(`"reasoning":"hm!","content":[${thinking('"hm"')}]`), [true, 3])
  t.same(delivered('"content":[{"type":"reference","reference_ids":[1]}]'), [false, 0])
  t.same(delivered('"content":[{"type":"image_url","image_url":{"url":"u"}}]'), [true, 0])
})

t.test('a list has a bound', async (t) => {
  const list = (count: number): Buffer => streamOf([event(`"content":[${Array(count).fill('"a"').join()}]`)])
  t.equal(summaryOf(STREAMS, [list(CONTENT_PARTS_MAX)]).outputBytes, CONTENT_PARTS_MAX)
  t.match(summaryOf(STREAMS, [list(CONTENT_PARTS_MAX + 1)]).failure, { name: 'upstream_invalid' })
})

/** Arguments as a provider writes them, and the text that clients get. */
const ARGUMENTS: readonly (readonly [string, string])[] = [
  ['{"p":"a"}', '{"p":"a"}'],
  [
    '{ "p" : "é\\u00e9\\"\\n", "n": 12345678901234567890 }',
    '{ "p" : "é\\u00e9\\"\\n", "n": 12345678901234567890 }',
  ],
  ['{}', '{}'],
  ['[1,{"a":null}]', '[1,{"a":null}]'],
  ['7', '7'],
]
const called = (json: string): string =>
  `"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":${json}}}]`

t.test('arguments that are an object become its JSON as a text, as it came', async (t) => {
  for (const [given, expected] of ARGUMENTS) {
    t.equal(deltaOf(called(given)), called(JSON.stringify(expected)))
    t.equal(messageOf(called(given)), called(JSON.stringify(expected)))
    const { hasOutput, outputBytes } = summaryOf(STREAMS, [streamOf([event(called(given))])])
    t.same([hasOutput, outputBytes], [true, Buffer.byteLength(expected)])
  }
  t.equal(
    deltaOf('"function_call":{"name":"f","arguments":{"a":1}}'),
    '"function_call":{"name":"f","arguments":"{\\"a\\":1}"}',
  )
})

t.test('streams with such members are the same wherever their reads are cut', async (t) => {
  const said = [...LISTS.map(([delta]) => delta), ...ARGUMENTS.map(([json]) => called(json))]
  const events = [...said.map((delta) => event(delta)), event('"content":"x"', '"stop"'), '[DONE]']
  const bytes = streamOf(events)
  t.match(summaryOf(STREAMS, [bytes]), { end: null, isDone: true })
  sameWhereverCut(t, STREAMS, { bytes, wholeAt: bytes.indexOf('"stop"') })
})
