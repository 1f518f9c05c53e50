/** Calls whose blocks a provider of messages has open at once, as callers of other dialects get them. */
import t from 'tap'
import { chatMessageOf, responseOf } from '../../../../support/inference/accumulated.ts'
import { streams } from '../../../../support/inference/fake-stream.ts'
import {
  block,
  blockEnd,
  delta,
  started,
  STOP,
  stopped,
} from '../../../../support/inference/message-events.ts'
import { named } from '../../../../support/inference/responses-streams.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'

const use = (id: string): object => ({ type: 'tool_use', id, name: 'look', input: {} })
const json = (partial_json: string, index: number): object =>
  delta({ type: 'input_json_delta', partial_json }, index)
const EVENTS = [
  ...[started(), block(use('c1')), block(use('c2'), 1)],
  ...[json('{"at":', 0), json('{"at":', 1), json('"a"}', 0), json('"b"}', 1)],
  ...[blockEnd(), blockEnd(1), stopped({ output_tokens: 4 }, 'tool_use'), STOP],
]

t.test('two blocks that are open at the same time become two tool calls', async (t) => {
  const { send, first, spend, rest } = await rigged(t, 'messages')
  const tools = [{ type: 'function', name: 'look', parameters: { type: 'object' } }]
  first.usually(streams(named(EVENTS as never)))
  const chat = await send('chat', {
    stream: true,
    tools: tools.map(({ name }) => ({ type: 'function', function: { name } })),
  })
  t.match(await chatMessageOf(Buffer.from(await chat.arrayBuffer())), {
    tool_calls: [
      { id: 'c1', function: { name: 'look', arguments: '{"at":"a"}' } },
      { id: 'c2', function: { name: 'look', arguments: '{"at":"b"}' } },
    ],
  })
  const responses = await send('responses', { stream: true, tools })
  t.match(await responseOf(Buffer.from(await responses.arrayBuffer())), {
    output: [
      { call_id: 'c1', name: 'look', arguments: '{"at":"a"}' },
      { call_id: 'c2', name: 'look', arguments: '{"at":"b"}' },
    ],
  })
  for (const { end } of spend.holds) t.match(end, { isEstimated: false })
  t.equal(await rest(), 0)
})
