import t from 'tap'
import { DIALECT_FACTS, type Dialect, type EventNews } from '../../../bench/streams/dialects.ts'

const news = (dialect: Dialect, event: unknown): EventNews =>
  DIALECT_FACTS[dialect].news(typeof event === 'string' ? event : JSON.stringify(event), '')
const SILENT: EventNews = { hasToken: false, isEnd: false, error: null, tokens: null }
const TOKEN: EventNews = { ...SILENT, hasToken: true }
const END: EventNews = { ...SILENT, isEnd: true }

t.test('chat: text, reasoning and tool calls are tokens; a role and an empty text are not', async (t) => {
  const delta = (members: object): EventNews => news('chat', { choices: [{ index: 0, delta: members }] })
  for (const members of [
    { content: 'a' },
    { reasoning: 'a' },
    { reasoning_content: 'a' },
    { tool_calls: [{ index: 0 }] },
  ])
    t.same(delta(members), TOKEN, JSON.stringify(members))
  for (const members of [{ role: 'assistant', content: '' }, { content: null }, {}, { tool_calls: [] }])
    t.same(delta(members), SILENT, JSON.stringify(members))
  t.same(news('chat', { choices: [], usage: { completion_tokens: 7 } }), { ...SILENT, tokens: 7 })
  t.same(news('chat', '[DONE]'), END)
  t.same(news('chat', { error: { message: 'over' } }), { ...SILENT, error: 'over' })
})

t.test('responses: deltas are tokens, and the completed or incomplete response is the end', async (t) => {
  t.same(news('responses', { type: 'response.output_text.delta', delta: 'a' }), TOKEN)
  t.same(news('responses', { type: 'response.function_call_arguments.delta', delta: '{' }), TOKEN)
  t.same(news('responses', { type: 'response.output_text.done', text: 'a' }), SILENT)
  for (const type of ['response.completed', 'response.incomplete'])
    t.same(news('responses', { type, response: { usage: { output_tokens: 3 } } }), { ...END, tokens: 3 })
  t.match(news('responses', { type: 'response.failed', response: { error: { message: 'no' } } }), {
    error: 'no',
  })
  t.match(news('responses', { type: 'error', message: 'no' }), { error: 'no' })
})

t.test('messages: text, thinking and arguments are tokens, and message_stop is the end', async (t) => {
  for (const delta of [{ text: 'a' }, { thinking: 'a' }, { partial_json: '{' }])
    t.same(news('messages', { type: 'content_block_delta', delta }), TOKEN)
  t.same(news('messages', { type: 'content_block_delta', delta: { signature: 'x' } }), SILENT)
  t.same(news('messages', { type: 'message_delta', usage: { output_tokens: 4 } }), { ...SILENT, tokens: 4 })
  t.same(news('messages', { type: 'message_stop' }), END)
  t.match(news('messages', { type: 'error', error: { type: 'overloaded_error' } }), {
    error: 'overloaded_error',
  })
})

t.test('ignores an event that is not a JSON object', async (t) => {
  for (const dialect of ['chat', 'responses', 'messages'] as const)
    for (const data of ['', 'x', '[]', '1', 'null', '{'])
      t.same(news(dialect, data), SILENT, `${dialect} ${data}`)
})
