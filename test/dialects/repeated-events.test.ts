/** Events that differ from those before them in one text: the short way gives what the whole walk gives. */
import t, { type Test } from 'tap'
import { randomFrom } from '../support/embeddings/random-answers.ts'
import { dataOf, HEAD, FAILURE_OF } from '../support/inference/provider-chunks.ts'
import { NativeChatStream } from '../../src/dialects/chat/stream.ts'

const event = (choice: string, rest = ',"usage":null'): string =>
  `{"id":"c-1","object":"chat.completion.chunk","created":17,"model":"m-1","choices":[${choice}]${rest}}`
const text = (json: string, rest = '"logprobs":null,"finish_reason":null'): string =>
  `{"index":0,"delta":{"content":${json}},${rest}}`
const BEGUN = event('{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}')

/** The output and the state of a stream after an event that follows others. */
function readBehind(before: readonly string[], data: string): object {
  const stream = new NativeChatStream(HEAD, FAILURE_OF)
  for (const one of before) stream.read(Buffer.from(`data: ${one}\n\n`))
  const bytesBefore = stream.outputBytes
  const { events, failure } = stream.read(Buffer.from(`data: ${data}\n\n`))
  const { hasOutput, usage, finishReason, upstreamId, isDone } = stream
  const outputBytes = stream.outputBytes - bytesBefore
  return {
    events: dataOf(events),
    failure,
    end: stream.end(),
    outputBytes,
    hasOutput,
    usage,
    finishReason,
    upstreamId,
    isDone,
  }
}

/** A first output, after which no stream has seen an event twice. */
const FIRST = event('{"index":0,"delta":{"content":"a","x":1},"finish_reason":null}')
const same = (t: Test, like: string, data: string): void =>
  void t.same(readBehind([BEGUN, FIRST, like, like, like], data), readBehind([BEGUN, FIRST], data), data)

t.test('a repeated event gives the same bytes as the walk, for texts of every kind', async (t) => {
  const like = event(text('"a"'))
  const texts = [
    '""',
    '"é\\u00e9\\ud83d\\ude00"',
    '"\\"}],\\"usage\\":null"',
    '"\\\\"',
    '"\\ud800"',
    '"x\ty"',
    '"\\x"',
    '"',
  ]
  for (const json of [...texts, 'null', '7', '["a"]', '[{"type":"text","text":"b"}]', '"a","content":"b"'])
    same(t, like, event(text(json)))
})

t.test('an event that differs outside its text is read by the walk', async (t) => {
  const like = event(text('"a"'), ',"usage":null,"x":"1"')
  for (const data of [
    event(text('"b"'), ',"usage":null,"x":"22"'),
    event(text('"b"'), ',"usage":{"prompt_tokens":1,"completion_tokens":2},"x":"1"'),
    event(text('"b"', '"logprobs":null,"finish_reason":"stop"'), ',"usage":null,"x":"1"'),
    event(text('"b"').replace('"index":0', '"index":1'), ',"usage":null,"x":"1"'),
    event(text('"b"'), ',"usage":null,"x":"1"} '),
    event(text('"b"'), ',"usage":null,"x":"1"}}'),
    event(`${text('"b"')},${text('"c"')}`, ',"usage":null,"x":"1"'),
    event(text('"b"'), ',"usage":null,"x":"1"').replace('c-1', 'c-2'),
    event(text('"b"'), ',"error":{"message":"no"},"usage":null,"x":"1"'),
  ])
    same(t, like, data)
})

t.test('members around the text are replaced, removed and counted as by the walk', async (t) => {
  for (const like of [
    event('{"delta":{"tool_calls":null,"content":"a","refusal":null,"name":null}}', ''),
    event('{"index":0,"delta":{"reasoning_content":"hm","content":"a"},"finish_reason":""}'),
    event('{"index":0,"delta":{"content":"a","reasoning":"hm","refusal":"éé"},"usage":null}'),
    `{"choices":[${text('"a"')}],"id":"c-1","system_fingerprint":null,"provider":"p"}`,
  ])
    for (const json of ['""', '"b"', '"\\u00e9 and more"'])
      same(t, like, like.replace('"content":"a"', `"content":${json}`))
})

t.test('random texts give the same bytes as the walk, each event after the previous one', async (t) => {
  const random = randomFrom(7)
  const stream = new NativeChatStream(HEAD, FAILURE_OF)
  stream.read(Buffer.from(`data: ${BEGUN}\n\n`))
  const letters = ['a', ' ', '"', '\\', '\n', 'é', '😀', '}', ']', ',', ':', '\u2028', '\0']
  let bytes = 0
  for (let nth = 0; nth < 2_000; nth++) {
    const stated = Array.from(
      { length: random() * 12 },
      () => letters[Math.floor(random() * letters.length)] ?? '',
    ).join('')
    bytes += Buffer.byteLength(stated)
    const [data = ''] = dataOf(
      stream.read(Buffer.from(`data: ${event(text(JSON.stringify(stated)))}\n\n`)).events,
    )
    const { content } = (JSON.parse(data) as { choices: [{ delta: { content: string } }] }).choices[0].delta
    if (content !== stated) t.equal(content, stated, `text ${nth}`)
  }
  t.equal(stream.outputBytes, bytes)
})
