/** Answers that try to break the readers of parts: words that every object has, deep JSON, countless parts. */
import t from 'tap'
import { ChatParts, chatWhole } from '../../../src/dialects/chat/parts.ts'
import { MessagesParts, messageWhole } from '../../../src/dialects/messages/parts.ts'
import { PARTS_MAX } from '../../../src/dialects/part-events.ts'
import { ResponsesParts, responseWhole } from '../../../src/dialects/responses/parts.ts'
import { finish, stated, tool } from '../../support/inference/chat-parts.ts'
import { partsOf } from '../../support/inference/cut-parts.ts'
import { FAILURE_OF } from '../../support/inference/provider-chunks.ts'
import { orNull } from '../../support/must.ts'

const WORDS = ['constructor', 'toString', '__proto__', 'hasOwnProperty']
const body = (answer: object): Buffer => Buffer.from(JSON.stringify(answer))
const chat = (message: object, finish_reason = 'stop'): Buffer =>
  body({ choices: [{ message, finish_reason }] })
const message = (content: readonly object[], stop_reason = 'end_turn'): Buffer =>
  body({ content, stop_reason })
const text = (part: string): object => ({ type: 'text', text: part })

t.test('a finish reason that is a member name of every object is an unknown one', async (t) => {
  for (const word of WORDS) {
    t.same(orNull(chatWhole(chat({ content: 'x' }, word)))?.parts, [
      stated('text', 'x'),
      finish('stop', word),
    ])
    t.same(orNull(messageWhole(message([text('x')], word)))?.parts, [
      stated('text', 'x'),
      finish('stop', word),
    ])
    const details = { status: 'incomplete', incomplete_details: { reason: word } }
    t.same(orNull(responseWhole(body({ output: [], ...details })))?.parts, [finish('length', word)])
    const event = body({ type: word, output_index: 0, delta: 'x' })
    const { parts, failure } = partsOf(new ResponsesParts(FAILURE_OF), [Buffer.from(`data: ${event}\n\n`)])
    t.same({ parts, failure }, { parts: [], failure: null }, 'an event that is skipped')
  }
})

t.test('JSON nested too deeply to be written again is invalid, streamed or whole', async (t) => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const withDeep = (event: object): string => JSON.stringify(event).replace('"DEEP"', deep)
  const calls = { tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: 'DEEP' } }] }
  const block = { type: 'tool_use', id: 'c', name: 'f', input: 'DEEP' }
  const streams = [
    [new ChatParts(FAILURE_OF), [{ choices: [{ index: 0, delta: calls }] }]],
    [
      new MessagesParts(FAILURE_OF),
      [
        { type: 'content_block_start', index: 0, content_block: block },
        { type: 'content_block_stop', index: 0 },
      ],
    ],
    [new ResponsesParts(FAILURE_OF), [{ type: 'response.failed', response: { error: 'DEEP' } }]],
  ] as const
  for (const [stream, events] of streams) {
    const bytes = Buffer.from(events.map((event) => `data: ${withDeep(event)}\n\n`).join(''))
    t.match(partsOf(stream, [bytes]).failure, { name: 'upstream_invalid' })
  }
  const whole = (answer: object): Buffer => Buffer.from(withDeep(answer))
  t.equal(orNull(chatWhole(whole({ choices: [{ message: calls }] }))), null)
  t.equal(orNull(messageWhole(whole({ content: [block] }))), null)
})

t.test('a text of a whole answer in several pieces is one part', async (t) => {
  const pieces = Array.from({ length: PARTS_MAX + 1 }, () => text('x'))
  const whole = stated('text', 'x'.repeat(pieces.length))
  t.same(orNull(chatWhole(chat({ content: pieces })))?.parts, [whole, finish('stop')])
  t.same(orNull(messageWhole(message(pieces)))?.parts, [whole, finish('stop', 'end_turn')])
  const output = [
    { type: 'reasoning', summary: [{ text: 'a' }, { text: 'b' }] },
    { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'c' }] },
    { type: 'message', content: [text('d'), text('e'), { type: 'refusal', refusal: 'f' }] },
    { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
    { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{}' },
  ]
  t.same(orNull(responseWhole(body({ output })))?.parts, [
    { ...stated('reasoning', 'a\n\nb'), isSummary: true },
    stated('reasoning', 'c'),
    stated('text', 'de'),
    stated('refusal', 'f'),
    ...['c1', 'c2'].flatMap((id) => [tool(id), stated('arguments', '{}')]),
    finish('tool_calls', 'completed'),
  ])
})

t.test('a whole answer of too many parts is refused', async (t) => {
  const blocks = (count: number): readonly object[] =>
    Array.from({ length: count }, (_, nth) =>
      nth % 2 === 0 ? text('x') : { type: 'thinking', thinking: 'y', signature: '' },
    )
  t.equal(orNull(messageWhole(message(blocks(PARTS_MAX - 1))))?.parts.length, PARTS_MAX)
  t.equal(orNull(messageWhole(message(blocks(PARTS_MAX)))), null)
  const content = blocks(PARTS_MAX).map((block, nth) => (nth % 2 === 0 ? block : { ...block, thinking: 'y' }))
  t.equal(orNull(chatWhole(chat({ content }))), null)
})
