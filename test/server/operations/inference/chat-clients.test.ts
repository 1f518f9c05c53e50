/** Chat as clients of other vendors call it; one of them validates every answer and every event. */
import OpenAI from 'openai'
import t from 'tap'
import { openChat } from '../../../support/inference/chat-front.ts'
import { KEY } from '../../../support/front.ts'
import { openRouterClient } from '../../../support/wire/foreign-clients.ts'
import { ECHO_TOKENS_MAX } from '../../../../src/workers/echo.ts'

const model = 'sluice/echo-1'
const messages = [{ role: 'user' as const, content: 'Hello there, you' }]
const look = { type: 'function' as const, function: { name: 'look', parameters: {} } }
const chosen = { tools: [look], tool_choice: { type: 'function' as const, function: { name: 'look' } } }

t.test("OpenAI's client reads answers, streams, tool calls and errors", async (t) => {
  const { url, front } = await openChat(t)
  const { completions } = new OpenAI({ apiKey: KEY, baseURL: `${url}/api/v1`, maxRetries: 0 }).chat
  const whole = await completions.create({ model, messages })
  t.equal(whole.choices[0]?.message.content, 'Hello there, you')
  let text = ''
  let tokens = 0
  for await (const chunk of await completions.create({ model, messages, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? ''
    tokens = chunk.usage?.total_tokens ?? tokens
  }
  t.equal(text, 'Hello there, you')
  t.equal(tokens, 6)
  const called = await completions.stream({ model, messages, ...chosen }).finalChatCompletion()
  t.match(called.choices[0]?.message.tool_calls, [
    { id: 'call_0', function: { name: 'look', arguments: '{"text":"Hello there, you"}' } },
  ])
  const refused: unknown = await completions
    .create({ model, messages, n: 9 })
    .catch((error: unknown) => error)
  t.match(refused, { status: 400, type: 'body_invalid', param: 'n' })
  const leaving = await completions.create({ model: `${model}:slow`, messages: long(), stream: true })
  for await (const chunk of leaving) if (chunk.choices[0]?.delta.content === ' w3') break
  while (front.load.calls > 0) await new Promise(setImmediate)
})

t.test("OpenAI's client keeps the text so far and raises an error when a stream breaks off", async (t) => {
  const { url, front } = await openChat(t)
  const { completions } = new OpenAI({ apiKey: KEY, baseURL: `${url}/api/v1`, maxRetries: 0 }).chat
  let text = ''
  const reading = async (): Promise<void> => {
    const stream = await completions.create({ model: `${model}:slow`, messages: long(), stream: true })
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      if (text === 'w0 w1') void front.drain(0)
    }
  }
  t.match(await reading().catch((error: unknown) => error), { type: 'draining' })
  t.match(text, /^w0 w1/)
})

t.test("OpenRouter's client accepts and validates answers and streams", async (t) => {
  const { url } = await openChat(t)
  const { chat } = await openRouterClient({ baseUrl: `${url}/api/v1`, apiKey: KEY })
  for (const more of [{}, { n: 2 }, { reasoning: { effort: 'low' } }, { maxTokens: 1 }]) {
    const whole = await chat.send({ chatRequest: { model, messages, ...more } })
    t.type(whole.choices[0]?.message.content, 'string')
    let last: number | undefined
    for await (const chunk of await chat.send({ chatRequest: { model, messages, stream: true, ...more } }))
      last = chunk.usage?.totalTokens
    t.equal(last, whole.usage?.totalTokens)
  }
  const tools = { tools: chosen.tools, toolChoice: chosen.tool_choice }
  const called = await chat.send({ chatRequest: { model, messages, ...tools } })
  t.equal(called.choices[0]?.finishReason, 'tool_calls')
  for await (const chunk of await chat.send({ chatRequest: { model, messages, stream: true, ...tools } }))
    t.ok(chunk)
})

function long(): { role: 'user'; content: string }[] {
  const content = Array.from({ length: ECHO_TOKENS_MAX }, (_, nth) => `w${nth}`).join(' ')
  return [{ role: 'user', content }]
}
