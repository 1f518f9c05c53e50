/** Large events of translated streams, which a thread reads first. D12, acceptance: streamed is whole. */
import t from 'tap'
import { fail, ok } from '../../../src/schemas/failures.ts'
import { TRANSLATED_INLINE_BYTES_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import { EVENT_VALUES_MAX, largeEvent } from '../../../src/dialects/large-event.ts'
import type { ReadLarge } from '../../../src/dialects/part-events.ts'
import { joinedParts } from '../../support/inference/cut-parts.ts'
import { FAILURE_OF } from '../../support/inference/provider-chunks.ts'
import { orNull } from '../../support/must.ts'
import type { WrittenPart, PartRead, PartStream } from '../../../src/dialects/parts.ts'
import { PART_PROTOCOLS } from '../../../src/dialects/translate.ts'
import type { TextProtocol } from '../../../src/schemas/models/protocols.ts'

const SIGNATURE = 'x'
/** What the thread gives, without the thread. */
const threaded =
  (protocol: TextProtocol, seen: number[] = []): ReadLarge =>
  (data) => {
    seen.push(data.length)
    return Promise.resolve(ok(structuredClone(largeEvent({ protocol, data }))))
  }

async function readAll(stream: PartStream, bytes: Buffer): Promise<PartRead> {
  const own = Buffer.from(bytes)
  let read = stream.read(own)
  own.fill(0x21)
  const parts: WrittenPart[] = [...read.parts]
  while (read.rest !== undefined) {
    read = await read.rest()
    parts.push(...read.parts)
  }
  return { parts: [...parts, ...(stream.finalParts ?? [])], failure: read.failure ?? stream.end() }
}

const streamOf = (...events: readonly object[]): Buffer =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''))

const LONG = 'é"{'.repeat(TRANSLATED_INLINE_BYTES_MAX)
const ARGS = { text: LONG, list: [{ a: [null, true, 1.5] }] }
const JSON_ARGS = JSON.stringify(ARGS)
const call = { name: 'f', arguments: JSON_ARGS }
const item = { type: 'function_call', id: 'i1', call_id: 'c1', ...call }
const usage = { input_tokens: 3, output_tokens: 5, total_tokens: 8 }
const block = { type: 'tool_use', id: 'c1', name: 'f', input: ARGS }
const FILLED = { instructions: { never: ['read'] } }

/** The same answer as the events of a stream, some of them large, and whole. */
const ANSWERS: Readonly<Record<TextProtocol, readonly [events: readonly object[], whole: object]>> = {
  chat: [
    [
      { id: 'a', choices: [{ index: 0, delta: { content: 'Hi' } }] },
      {
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: ARGS } }] },
          },
        ],
      },
      {
        choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }],
        usage: { prompt_tokens: 3, completion_tokens: 5 },
      },
    ],
    {
      id: 'a',
      choices: [
        {
          message: { content: 'Hi', tool_calls: [{ id: 'c1', type: 'function', function: call }] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 5 },
    },
  ],
  responses: [
    [
      { type: 'response.created', response: { id: 'a', ...FILLED, output: [] } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, arguments: '' } },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: JSON_ARGS },
      { type: 'response.output_item.done', output_index: 0, item },
      {
        type: 'response.completed',
        response: { id: 'a', ...FILLED, output: [item], status: 'completed', usage },
      },
    ],
    { id: 'a', output: [item], status: 'completed', usage },
  ],
  messages: [
    [
      { type: 'message_start', message: { id: 'a', usage: { input_tokens: 3, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
      { type: 'message_stop' },
    ],
    {
      ...{ id: 'a', type: 'message', content: [block], stop_reason: 'tool_use' },
      usage: { input_tokens: 3, output_tokens: 5 },
    },
  ],
  gemini: [
    [
      { responseId: 'a', candidates: [{ content: { parts: [{ text: 'Hi' }] } }] },
      {
        candidates: [
          { content: { parts: [{ functionCall: { name: 'f', args: ARGS }, thoughtSignature: 'AA==' }] } },
        ],
      },
      {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5 },
      },
    ],
    {
      responseId: 'a',
      candidates: [
        {
          content: {
            parts: [{ text: 'Hi' }, { functionCall: { name: 'f', args: ARGS }, thoughtSignature: 'AA==' }],
          },
          finishReason: 'STOP',
        },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5 },
    },
  ],
}

for (const [protocol, [events, answer]] of Object.entries(ANSWERS) as [
  TextProtocol,
  (typeof ANSWERS)['chat'],
][])
  t.test(`${protocol}: a stream with large events gives the same parts as the whole answer`, async (t) => {
    const seen: number[] = []
    const stream = PART_PROTOCOLS[protocol].stream(FAILURE_OF, {
      format: SIGNATURE,
      readLarge: threaded(protocol, seen),
    })
    const { parts, failure } = await readAll(stream, streamOf(...events))
    t.equal(failure, null)
    t.ok(
      seen.length > 0 && seen.every((bytes) => bytes > TRANSLATED_INLINE_BYTES_MAX),
      'small ones need no thread',
    )
    const whole = orNull(
      PART_PROTOCOLS[protocol].whole(Buffer.from(JSON.stringify(answer)), { format: SIGNATURE }),
    )
    const text = (all: readonly WrittenPart[] = []) => JSON.stringify(joinedParts(all))
    t.equal(text(parts), text(whole?.parts))
    t.match(text(parts), '"kind":"tool"')
    const { usage, outputBytes, finishReason, upstreamId } = stream
    t.match(whole, { usage, outputBytes, finishReason, upstreamId })
  })

t.test('arguments that an event contains twice are given once, as in a whole answer', async (t) => {
  const twice = { name: 'f', arguments: '{"a":1}{"a":1}' }
  const calls = [{ index: 0, id: 'c1', type: 'function', function: twice }]
  const given = (parts: readonly WrittenPart[] = []) =>
    parts.flatMap((part) => (part.kind === 'arguments' ? part.text : []))
  const { parts } = PART_PROTOCOLS.chat
    .stream(FAILURE_OF)
    .read(streamOf({ choices: [{ index: 0, delta: { tool_calls: calls } }] }))
  t.same(given(parts), ['{"a":1}'])
  const message = { content: null, tool_calls: calls }
  const answers = {
    chat: { choices: [{ message, finish_reason: 'tool_calls' }] },
    responses: { output: [{ ...item, ...twice }], status: 'completed' },
  }
  for (const [protocol, answer] of Object.entries(answers) as ['chat' | 'responses', object][])
    t.same(given(orNull(PART_PROTOCOLS[protocol].whole(Buffer.from(JSON.stringify(answer))))?.parts), [
      '{"a":1}',
    ])
})

const gemini = (readLarge: ReadLarge): PartStream =>
  PART_PROTOCOLS.gemini.stream(FAILURE_OF, { format: SIGNATURE, readLarge })

t.test('a large event that is an error, invalid or unreadable ends the stream', async (t) => {
  const pad = 'x'.repeat(TRANSLATED_INLINE_BYTES_MAX)
  const text = (stated: string): object => ({ candidates: [{ content: { parts: [{ text: stated }] } }] })
  const many = Array.from({ length: EVENT_VALUES_MAX }, () => ({ text: 'a' }))
  const cases: readonly (readonly [string, object | string, string])[] = [
    ['an error', { error: { code: 429, message: pad } }, 'upstream_failed'],
    ['no JSON', `{"a":"${pad}"`, 'upstream_invalid'],
    ['a list', [pad], 'upstream_invalid'],
    [
      'a medium',
      { candidates: [{ content: { parts: [{ inlineData: { data: pad } }] } }] },
      'upstream_invalid',
    ],
    ['too many values', { candidates: [{ content: { parts: many } }] }, 'upstream_invalid'],
  ]
  for (const [what, event, name] of cases) {
    const json = typeof event === 'string' ? event : JSON.stringify(event)
    const bytes = Buffer.concat([
      streamOf(text('Hi')),
      Buffer.from(`data: ${json}\n\n`),
      streamOf(text('behind')),
    ])
    const { parts, failure } = await readAll(gemini(threaded('gemini')), bytes)
    t.equal(failure?.name, name, what)
    t.same(parts, [{ kind: 'text', choice: 0, text: 'Hi' }], what)
  }
  const busy = await readAll(
    gemini(() => Promise.resolve(fail('busy'))),
    streamOf(text(pad)),
  )
  t.equal(busy.failure?.name, 'busy')
})

t.test('returns to the loop only the members of an event that it reads', (t) => {
  const data = Buffer.from(
    '{"candidates":[{"content":{"parts":[{"text":"a"}]},"b":{"c":[1]},"d":[[2]]}],"e":{"f":3}}',
  )
  t.same(largeEvent({ protocol: 'gemini', data }), {
    candidates: [{ content: { parts: [{ text: 'a' }] }, b: {}, d: [] }],
    e: {},
  })
  const figures = '{"usageMetadata":{"a":[{"b":9007199254740993}]}}'
  t.same(largeEvent({ protocol: 'gemini', data: Buffer.from(figures) }), {
    usageMetadata: { a: [{ b: 9007199254740992 }] },
  })
  t.end()
})
