/** Responses as clients of other vendors call them; one of them validates every answer and every event. */
import OpenAI from 'openai'
import t from 'tap'
import { openRouterResponses } from '../../../prove/inference/clients/openrouter-responses.ts'
import { KEY } from '../../../support/front.ts'
import { openChat } from '../../../support/inference/chat-front.ts'

const model = 'sluice/echo-1'
const input = 'Hello there, you'
const look = { type: 'function' as const, name: 'look', parameters: {}, strict: false }
const chosen = { tools: [look], tool_choice: { type: 'function' as const, name: 'look' } }
const LONG = Array.from({ length: 8_000 }, (_, nth) => `w${nth}`).join(' ')

t.test("OpenAI's client reads answers, streams, tool calls and errors", async (t) => {
  const { url, front } = await openChat(t)
  const { responses } = new OpenAI({ apiKey: KEY, baseURL: `${url}/api/v1`, maxRetries: 0 })
  const whole = await responses.create({ model, input })
  t.match(whole, { status: 'completed', output_text: input, usage: { total_tokens: 6 } })
  const stream = responses.stream({ model, input, reasoning: { effort: 'low' } })
  let text = ''
  for await (const event of stream) if (event.type === 'response.output_text.delta') text += event.delta
  t.equal(text, input)
  const final = await stream.finalResponse()
  t.match(final, { status: 'completed', output_text: input, usage: { total_tokens: 9 } })
  const called = await responses.stream({ model, input, ...chosen }).finalResponse()
  t.match(called.output, [{ type: 'function_call', name: 'look', arguments: `{"text":"${input}"}` }])
  const refused = (body: object): Promise<unknown> =>
    responses.create({ model, input, ...body }).catch((error: unknown) => error)
  t.match(await refused({ max_output_tokens: 0 }), { status: 400, type: 'body_invalid' })
  t.match(await refused({ previous_response_id: 'resp_1' }), {
    status: 400,
    type: 'stateless',
    param: 'previous_response_id',
  })
  const leaving = await responses.create({ model: `${model}:slow`, input: LONG, stream: true })
  for await (const event of leaving)
    if (event.type === 'response.output_text.delta' && event.delta === ' w3') break
  while (front.load.calls > 0) await new Promise(setImmediate)
})

t.test("OpenAI's client keeps the text so far and raises an error when a stream breaks off", async (t) => {
  const { url, front } = await openChat(t)
  const { responses } = new OpenAI({ apiKey: KEY, baseURL: `${url}/api/v1`, maxRetries: 0 })
  let text = ''
  const reading = async (): Promise<void> => {
    for await (const event of responses.stream({ model: `${model}:slow`, input: LONG })) {
      if (event.type !== 'response.output_text.delta') continue
      text += event.delta
      if (text === 'w0 w1') void front.drain(0)
    }
  }
  t.match(await reading().catch((error: unknown) => error), { code: 'draining' })
  t.match(text, /^w0 w1/)
})

t.test("OpenRouter's client accepts and validates every answer and every event", async (t) => {
  const { url } = await openChat(t)
  const client = await openRouterResponses(`${url}/api/v1`, KEY)
  for (const more of [{}, { effort: 'low' as const }, { hasTool: true, mustCall: true }])
    for (const isStream of [false, true]) {
      const seen = await client.ask({ model, prompt: input, isStream, ...more })
      t.equal(seen.error, null)
      t.equal(seen.finish, 'completed')
      t.equal(seen.calls[0]?.argument ?? seen.text, input)
    }
})
