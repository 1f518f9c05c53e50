/** What a provider of chat writes in other types than clients take, natively: streamed, whole, wherever cut. D23. */
import t from 'tap'
import { TOOLS_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import { nativeAnswer } from '../../../src/dialects/native-answer.ts'
import { sameWhereverCut, summaryOf } from '../../support/inference/cut-streams.ts'
import { dataOf, HEAD, FAILURE_OF, streamOf } from '../../support/inference/provider-chunks.ts'
import { must } from '../../support/must.ts'
import { NativeChatStream } from '../../../src/dialects/chat/stream.ts'
import { CONTENT_PARTS_MAX } from '../../../src/dialects/chat/tool-members.ts'

const STREAMS = { open: () => new NativeChatStream(HEAD, FAILURE_OF), eventsOf: dataOf }
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

t.test('a content list becomes a text, and its reasoning and pictures become separate members', async (t) => {
  for (const [given, expected] of LISTS) {
    t.equal(deltaOf(given), expected)
    t.equal(messageOf(given), expected)
  }
})

t.test('parts of a content list count as output: texts and reasoning once each', async (t) => {
  const delivered = (delta: string): readonly [boolean, number] => {
    const { hasOutput, outputBytes } = summaryOf(STREAMS, [streamOf([event(delta)])])
    return [hasOutput, outputBytes]
  }
  t.same(delivered(`"content":[${thinking('"h\\u00e9"')},${text('"é\\n"')}]`), [true, 6])
  t.same(delivered(`"reasoning":"hm!","content":[${thinking('"hm"')}]`), [true, 3])
  t.same(delivered('"content":[{"type":"reference","reference_ids":[1]}]'), [false, 0])
  t.same(delivered('"content":[{"type":"image_url","image_url":{"url":"u"}}]'), [true, 0])
})

t.test('a content list has a maximum length', async (t) => {
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

t.test('arguments that are an object become a text with their JSON, byte for byte', async (t) => {
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

type Calls = readonly (readonly [
  index: number,
  id: string | undefined,
  name: string | undefined,
  json: string,
])[]

/** The fragments of calls that a stream gives for some, each in an event of its own. */
function fragmentsOf(calls: readonly string[], choice = '"index":0,'): Calls {
  const stream = STREAMS.open()
  return calls.flatMap((call) => {
    const event = `{"choices":[{${choice}"delta":{"role":"assistant","tool_calls":[${call}]}}]}`
    const { events, failure } = stream.read(streamOf([event]))
    if (failure !== null) throw new Error(failure.name)
    return dataOf(events).flatMap((data) => {
      const [one] = (JSON.parse(data) as { choices: [{ delta: { tool_calls: Fragment[] } }] }).choices
      return one.delta.tool_calls.map(
        ({ index, id, function: of }) => [index, id, of?.name, of?.arguments ?? ''] as const,
      )
    })
  })
}

interface Fragment {
  readonly index: number
  readonly id?: string
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

const fragment = (index: number | null, id: string | null, name: string | null, json: string): string => {
  const called = { ...(name !== null && { name }), arguments: json }
  return JSON.stringify({ ...(index !== null && { index }), ...(id !== null && { id }), function: called })
}

t.test('a call with a used index gets the next free index, and so do its fragments', async (t) => {
  const both: Calls = [
    [0, 'c1', 'f', '{"p":"a"}'],
    [1, 'c2', 'f', '{"p":"b"}'],
  ]
  const repeated = [fragment(0, 'c1', 'f', '{"p":"a"}'), fragment(0, 'c2', 'f', '{"p":"b"}')]
  t.same(fragmentsOf(repeated), both)
  t.same(fragmentsOf([repeated.join()]), both, 'in one event')
  t.same(fragmentsOf(repeated, ''), both, 'a choice without an index')
  t.same(fragmentsOf(repeated.map((one) => one.replace('"index":0,', ''))), both, 'without an index')
  t.same(fragmentsOf(repeated.map((one) => one.replace('"index":0,', '"index":null,'))), both, 'null')
  t.same(
    fragmentsOf([
      fragment(0, 'c1', 'f', ''),
      fragment(0, null, null, '1'),
      fragment(0, 'c2', 'g', ''),
      fragment(0, null, null, '2'),
      fragment(1, 'c3', 'h', ''),
      fragment(1, null, null, '3'),
      fragment(0, 'c1', null, '4'),
      fragment(0, 'c2', 'g', '5'),
    ]),
    [
      [0, 'c1', 'f', ''],
      [0, undefined, undefined, '1'],
      [1, 'c2', 'g', ''],
      [1, undefined, undefined, '2'],
      [2, 'c3', 'h', ''],
      [2, undefined, undefined, '3'],
      [0, 'c1', undefined, '4'],
      [1, 'c2', 'g', '5'],
    ],
  )
  const long = ['x', 'y'].map((end) => fragment(3, 'c'.repeat(10_000) + end, 'f', end))
  t.same(
    fragmentsOf([...long, ...long]).map(([index, , , json]) => [index, json]),
    [
      [3, 'x'],
      [4, 'y'],
      [3, 'x'],
      [4, 'y'],
    ],
    'long ids',
  )
})

t.test('keeps an index if its call id differs by an escape only, or another choice has it', async (t) => {
  const [first = ''] = [fragment(0, 'c1', 'f', '{')]
  t.same(
    fragmentsOf([first, first.replace('c1', 'c\\u0031')]).map(([index]) => index),
    [0, 0],
  )
  const stream = STREAMS.open()
  const choices = [1, 0].map(
    (index) => `{"delta":{"tool_calls":[${first.replace('c1', `c${index}`)}]},"index":${index}}`,
  )
  const { events } = stream.read(streamOf([`{"choices":[${choices.join()}]}`]))
  const last = JSON.parse(dataOf(events).at(-1) ?? '') as { choices: { delta: { tool_calls: Fragment[] } }[] }
  t.same(
    last.choices.map(({ delta }) => delta.tool_calls[0]?.index),
    [0, 0],
  )
})

t.test('a call without an index in its first fragment gets the index of the next fragment', async (t) => {
  for (const index of [0, 1, 7])
    t.same(
      fragmentsOf([
        fragment(null, 'c1', 'f', ''),
        fragment(index, null, null, '{"p":'),
        fragment(index, null, null, '1}'),
        fragment(null, 'c2', 'g', ''),
        fragment(index + 1, null, null, '{}'),
      ]),
      [
        [0, 'c1', 'f', ''],
        [0, undefined, undefined, '{"p":'],
        [0, undefined, undefined, '1}'],
        [1, 'c2', 'g', ''],
        [1, undefined, undefined, '{}'],
      ],
    )
})

t.test('an event that differs from the previous one only in its text may begin another call', async (t) => {
  const stream = STREAMS.open()
  const shown = ['a', 'b', 'c', 'd', 'e', 'f'].map((content) => {
    const delta = `"content":"${content}","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]`
    const { events } = stream.read(streamOf([event(delta)]))
    return /"index":(\d+)\}\]/.exec(dataOf(events)[0] ?? '')?.[1]
  })
  t.same(shown, ['0', '1', '2', '3', '4', '5'])
})

t.test('a stream has at most as many calls as a request may declare tools', async (t) => {
  const calls = Array.from({ length: TOOLS_MAX + 1 }, (_, nth) => fragment(0, `c${nth}`, 'f', '{}'))
  t.equal(fragmentsOf(calls.slice(0, -1)).at(-1)?.[0], TOOLS_MAX - 1)
  t.throws(() => fragmentsOf(calls), { message: 'upstream_invalid' })
})

const CALLS = [
  fragment(0, 'c1', 'f', '{"p":'),
  fragment(0, null, null, '"é"}'),
  fragment(0, 'c2', 'f', '{"p":"b"}'),
  fragment(null, 'c3', 'g', '{'),
  fragment(2, null, null, '}'),
].map((call) => `"tool_calls":[${call}]`)

t.test('streams with such members give the same events however they are split into reads', async (t) => {
  const text = [...LISTS.map(([delta]) => delta), ...ARGUMENTS.map(([json]) => called(json)), ...CALLS]
  const events = [...text.map((delta) => event(delta)), event('"content":"x"', '"stop"'), '[DONE]']
  const bytes = streamOf(events)
  t.match(summaryOf(STREAMS, [bytes]), { end: null, isDone: true })
  sameWhereverCut(t, STREAMS, { bytes, wholeAt: bytes.indexOf('"stop"') })
})
