import t from 'tap'
import { STREAM_EVENT_BYTES_MAX } from '../../../src/schemas/inference/stream-limits.ts'
import { GeminiPartStream, geminiWhole } from '../../../src/dialects/gemini/parts.ts'
import { geminiErrorEvent, geminiEvents } from '../../support/inference/gemini/fake-gemini.ts'
import { bodyOf } from '../../support/inference/fake-stream.ts'
import { orNull } from '../../support/must.ts'
import type { WrittenPart } from '../../../src/dialects/parts.ts'
import { failuresOfEvents } from '../../../src/server/upstream/provider-failure.ts'

const REDACTED = { credential: 'AIzaSecretSecret', host: 'google.example' }
const STOP = { kind: 'finish', choice: 0, reason: 'stop', native: 'STOP', stopSequence: null }

function read(body: Uint8Array, pieces: readonly Uint8Array[] = [body]) {
  const stream = new GeminiPartStream(failuresOfEvents(REDACTED))
  const parts: WrittenPart[] = []
  for (const piece of pieces) {
    const own = Uint8Array.from(piece)
    parts.push(...stream.read(own).parts)
    own.fill(0x21)
  }
  const failure = stream.end()
  return { stream, failure, parts: failure === null ? [...parts, ...stream.finalParts] : parts }
}

const streamOf = (...chunks: readonly (object | string)[]) =>
  bodyOf(chunks.map((chunk) => ({ data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) })))
const chunk = (parts: unknown, more: object = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, ...more }],
})
const stated = (text: string, finishReason?: string) => chunk([{ text }], { finishReason })
const partsOf = (...chunks: readonly object[]) => read(streamOf(...chunks)).parts

t.test('a stream gives the same parts however it is split into reads', async (t) => {
  const words = ['Hé', '😀', '"\\\n']
  const calls = [{ name: 'f', args: { a: { b: ['é'] } } }]
  for (const lineEnd of ['\n', '\r\n'] as const) {
    const body = bodyOf(geminiEvents({ words, thoughts: ['Hm'], calls }), { lineEnd, comment: 'x' })
    const { parts } = read(body)
    t.equal(parts.length, 8)
    t.same(
      read(
        body,
        Array.from(body, (byte) => Uint8Array.of(byte)),
      ).parts,
      parts,
      'single bytes',
    )
    for (let at = 0; at <= body.length; at++) {
      const cut = read(body, [body.subarray(0, at), body.subarray(at)])
      if (JSON.stringify(cut.parts) !== JSON.stringify(parts)) t.same(cut.parts, parts, `cut at ${at}`)
    }
  }
})

t.test('a stream that breaks off at any byte is not whole', async (t) => {
  const body = bodyOf(geminiEvents({ calls: [{ name: 'f', args: {} }] }))
  for (let at = 0; at < body.length - 1; at++)
    if (read(body.subarray(0, at)).failure?.name !== 'upstream_failed') t.fail(`cut at ${at}`)
  t.equal(read(body.subarray(0, -1)).failure?.name, 'upstream_failed', 'the last event has no end')
})

t.test('texts, thoughts and calls are parts, each with its signature', async (t) => {
  const parts = partsOf(
    chunk([{ text: 'Hm', thought: true, thoughtSignature: 'S1' }, { text: '' }]),
    chunk([{ text: 'So', thoughtSignature: 'S2' }, { functionCall: { name: 'f', args: { b: 1, a: [] } } }]),
    chunk([
      { functionCall: { name: 'g' }, thoughtSignature: 'S3' },
      { text: '', thoughtSignature: 'S4' },
    ]),
    chunk([{ executableCode: { code: 'x' } }, {}, { text: null, thoughtSignature: null }], {
      finishReason: 'STOP',
    }),
  )
  const signed = (data: string, of: string) => ({
    ...{ kind: 'signature', choice: 0, of },
    signature: { format: 'google-gemini-v1', data },
  })
  const [one, two] = parts.filter((part) => part.kind === 'tool')
  t.match(parts, [
    { kind: 'reasoning', choice: 0, text: 'Hm', isSummary: true },
    signed('S1', 'reasoning'),
    { kind: 'text', choice: 0, text: 'So' },
    signed('S2', 'redacted'),
    { kind: 'tool', choice: 0, name: 'f', id: /^call_0_[0-9a-f]{16}$/ },
    { kind: 'arguments', choice: 0, text: '{"b":1,"a":[]}' },
    { kind: 'tool', choice: 0, name: 'g', id: /^call_1_[0-9a-f]{16}$/ },
    { kind: 'arguments', choice: 0, text: '{}' },
    signed('S3', 'call'),
    signed('S4', 'redacted'),
    { ...STOP, reason: 'tool_calls' },
  ])
  t.equal(parts.length, 11)
  t.not(one?.id, two?.id)
})

t.test('reading an answer again gives the same call ids, and another answer different ones', async (t) => {
  const idOf = (responseId: string) => {
    const call = chunk([{ functionCall: { name: 'f' } }], { finishReason: 'STOP' })
    const [part] = partsOf({ ...call, responseId })
    return part?.kind === 'tool' ? part.id : null
  }
  t.equal(idOf('one'), idOf('one'))
  t.not(idOf('one'), idOf('two'))
})

const ENDS: readonly (readonly [string, string])[] = [
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ...['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'].map(
    (native) => [native, 'content_filter'] as const,
  ),
  ['A_WORD_OF_TOMORROW', 'stop'],
]

t.test('each native finish reason is translated', async (t) => {
  for (const [native, reason] of ENDS) {
    const { parts, stream } = read(streamOf(stated('Hi', native)))
    t.same(parts.at(-1), { ...STOP, reason, native })
    t.equal(stream.finishReason, native)
  }
})

t.test('a failed answer fails the stream, after its parts', async (t) => {
  for (const native of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'OTHER']) {
    const { parts, failure, stream } = read(streamOf(stated('Hi', native), stated('more', 'STOP')))
    t.match(failure, { name: 'upstream_failed', detail: `The answer ended with ${native}.` })
    t.same(parts, [{ kind: 'text', choice: 0, text: 'Hi' }])
    t.equal(stream.finishReason, native)
  }
})

t.test('a refused prompt ends with the finish reason of a content filter', async (t) => {
  const blocked = {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: { promptTokenCount: 3 },
  }
  const { parts, failure, stream } = read(streamOf(blocked))
  t.equal(failure, null)
  t.same(parts, [{ ...STOP, reason: 'content_filter', native: 'PROHIBITED_CONTENT' }])
  t.match(stream.usage, { input: 3, output: 0 })
})

t.test('only the last of several finish reasons counts', async (t) => {
  t.same(partsOf(stated('a', 'STOP'), stated('b', 'STOP'), stated('', 'MAX_TOKENS'), { usageMetadata: {} }), [
    { kind: 'text', choice: 0, text: 'a' },
    { kind: 'text', choice: 0, text: 'b' },
    { ...STOP, reason: 'length', native: 'MAX_TOKENS' },
  ])
})

t.test('a stream without a finish reason has failed, however it ends', async (t) => {
  const ends = [[stated('Hi')], [stated('Hi'), '[DONE]'], [stated('Hi', 'FINISH_REASON_UNSPECIFIED')], []]
  for (const chunks of ends) t.match(read(streamOf(...chunks)).failure, { name: 'upstream_failed' })
  t.equal(read(streamOf(stated('Hi', 'STOP'), '[DONE]')).failure, null)
})

t.test('an error in a stream is mapped by its status, without the key', async (t) => {
  const failures = [
    [503, 'UNAVAILABLE', 'upstream_failed'],
    [429, 'RESOURCE_EXHAUSTED', 'upstream_overloaded'],
    [400, 'INVALID_ARGUMENT', 'upstream_refused'],
  ] as const
  for (const [code, status, name] of failures) {
    const error = geminiErrorEvent(code, status, `Bad ${REDACTED.credential}`)
    const { failure, parts } = read(bodyOf([{ data: JSON.stringify(stated('Hi')) }, error]))
    t.equal(failure?.name, name)
    t.notMatch(JSON.stringify(failure), REDACTED.credential)
    t.same(parts, [{ kind: 'text', choice: 0, text: 'Hi' }])
    t.equal(read(bodyOf([{ ...error, event: 'error' }])).failure?.name, name)
    t.equal(orNull(geminiWhole(Buffer.from(error.data))), null)
  }
})

const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const HOSTILE: readonly (object | string)[] = [
  ...['{', 'null', '[]', '"a"', '1', '{"candidates":[{}]'],
  ...[{ candidates: {} }, { candidates: 'a' }, { candidates: [null] }, { candidates: [[]] }],
  ...[{ candidates: [{}, {}] }, { candidates: [{ index: 1 }] }, { candidates: [{ content: 'a' }] }],
  ...[chunk({}), chunk('a'), chunk([null]), chunk(['a']), chunk([{ text: 1 }]), chunk([{ text: {} }])],
  ...[
    chunk([{ text: 'a', thoughtSignature: 1 }]),
    chunk([{ functionCall: 'f' }]),
    chunk([{ functionCall: {} }]),
  ],
  ...[chunk([{ functionCall: { name: 1 } }]), chunk([{ functionCall: { name: '' } }])],
  ...[
    chunk([{ functionCall: { name: 'f', args: [] } }]),
    chunk([{ functionCall: { name: 'f', args: '{}' } }]),
  ],
  ...[chunk([{ inlineData: { mimeType: 'image/png', data: '' } }]), chunk([{ fileData: {} }])],
  ...[
    chunk([], { finishReason: 1 }),
    chunk([], { finishReason: '' }),
    chunk([], { finishReason: 'A'.repeat(257) }),
  ],
  JSON.stringify(chunk([{ functionCall: { name: 'f', args: 'ARGS' } }])).replace('"ARGS"', deep(100_000)),
]

t.test('refuses bodies that are not an answer of Gemini', async (t) => {
  for (const hostile of HOSTILE) {
    const { failure, parts } = read(streamOf(stated('Hi'), hostile, stated('more', 'STOP')))
    const shown = JSON.stringify(hostile).slice(0, 80)
    t.match(failure, { name: 'upstream_invalid' }, shown)
    t.same(parts, [{ kind: 'text', choice: 0, text: 'Hi' }], shown)
    const json = typeof hostile === 'string' ? hostile : JSON.stringify(hostile)
    t.equal(orNull(geminiWhole(Buffer.from(json))), null, shown)
  }
})

t.test('missing members and nulls are accepted', async (t) => {
  const empty = [{}, { candidates: [] }, { candidates: null }, { candidates: [{}] }]
  const none = [chunk(null), chunk([]), { candidates: [{ content: null }] }, chunk([{}]), { responseId: 7 }]
  const { parts, failure, stream } = read(streamOf(...empty, ...none, stated('Hi', 'STOP')))
  t.equal(failure, null)
  t.equal(parts.length, 2)
  t.equal(stream.upstreamId, null)
})

t.test('an event larger than the maximum fails the stream, and many parts in one event do not', async (t) => {
  const large = read(streamOf(stated('a'.repeat(STREAM_EVENT_BYTES_MAX), 'STOP')))
  t.equal(large.failure?.name, 'upstream_too_large')
  const count = 60_000
  const many = read(streamOf(chunk(Array(count).fill({ text: 'a' }), { finishReason: 'STOP' })))
  t.equal(many.parts.length, count + 1)
  t.equal(many.stream.outputBytes, count)
})

t.test('figures of a stream cover the events so far', async (t) => {
  const stream = new GeminiPartStream(failuresOfEvents(REDACTED))
  const [one, two] = [stated('é'), chunk([{ functionCall: { name: 'f', args: { a: 1 } } }])]
  stream.read(streamOf({ responseId: 'r1', candidates: [{ content: { parts: [{ text: '' }] } }] }))
  t.match(stream, { hasOutput: false, outputBytes: 0, upstreamId: 'r1', finishReason: null, usage: null })
  stream.read(streamOf(one))
  t.match(stream, { hasOutput: true, outputBytes: 2 })
  stream.read(streamOf({ ...two, responseId: 'r2' }))
  t.match(stream, { outputBytes: 2 + '{"a":1}'.length, upstreamId: 'r1', isDone: false })
  stream.read(Buffer.from('data: {"cand'))
  t.ok(stream.heldBytes > 0)
  t.same(stream.finalParts, [])
})
