import t from 'tap'
import { Compile } from 'typebox/compile'
import { ChatAnswer, ChatChunk } from '../../../../src/schemas/inference/chat.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import { eventsOf, openChat, type Chunk } from '../../../support/inference/chat-front.ts'
import {
  ASKED_MAX,
  CHOICES_MAX,
  ECHO_SLOW_MS,
  ECHO_UNITS_MAX,
  INFERENCE_BODY_BYTES_MAX,
  MESSAGES_MAX,
  STOPS_MAX,
  TOOLS_MAX,
} from '../../../../src/schemas/inference/inference-limits.ts'
import { LocalCalls } from '../../../../src/server/upstream/local-calls.ts'
import { AUTHORIZATION, MANAGEMENT_KEY } from '../../../support/front.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'
import {
  ECHO_CALLS_MAX,
  ECHO_ORGANIZATION_CALLS_MAX,
} from '../../../../src/server/upstream/inference/echo.ts'
import { FUNCTION_NAME_CHARS_MAX } from '../../../../src/schemas/inference/text-members.ts'
import { ECHO_TOKENS_MAX } from '../../../../src/workers/echo.ts'

const hello = { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there, you' }] }
const isAnswer = Compile(ChatAnswer)
const isChunk = Compile(ChatChunk)
const textOf = (chunks: readonly Chunk[], index = 0): string =>
  chunks
    .flatMap(({ choices }) => choices.filter((choice) => choice.index === index))
    .map(({ delta }) => delta.content ?? '')
    .join('')
const finishOf = (chunks: readonly Chunk[]): readonly (string | null)[] =>
  chunks
    .flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason))
    .filter((one) => one !== null)

t.test('chat.create 200: a whole answer repeats the last user text, with its usage and its id', async (t) => {
  const { post } = await openChat(t)
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'First' },
    { role: 'assistant', content: 'First' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Hello' },
        { type: 'text', text: 'you' },
      ],
    },
  ]
  const response = await post({ ...hello, messages })
  t.equal(response.status, 200)
  const answer = (await response.json()) as Record<string, unknown>
  t.ok(isAnswer.Check(answer), [...isAnswer.Errors(answer)].map(({ message }) => message).join())
  t.match(answer, {
    object: 'chat.completion',
    model: 'sluice/echo-1',
    provider: 'local',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello\nyou' } }],
    usage: { prompt_tokens: 6, completion_tokens: 2, total_tokens: 8, cost: 0, is_byok: false },
  })
  t.match(answer['id'], /^gen_[0-9a-f]{32}$/)
  t.equal(response.headers.get('x-generation-id'), answer['id'])
})

t.test('a stream has role, words, finish, usage and [DONE], in this order', async (t) => {
  const { post } = await openChat(t)
  const response = await post({ ...hello, stream: true })
  t.equal(response.headers.get('content-type'), 'text/event-stream')
  const { chunks, isDone } = eventsOf(await response.text())
  t.ok(isDone)
  for (const chunk of chunks) t.ok(isChunk.Check(chunk), JSON.stringify(chunk))
  t.same(
    chunks.map(({ choices }) => choices[0]?.delta),
    [
      { role: 'assistant', content: '' },
      { content: 'Hello' },
      { content: ' there,' },
      { content: ' you' },
      {},
      { role: 'assistant', content: '' },
    ],
  )
  t.same(finishOf(chunks), ['stop'])
  t.match(chunks.at(-1)?.usage, { prompt_tokens: 3, completion_tokens: 3, cost: 0 })
  t.equal(new Set(chunks.map(({ id }) => id)).size, 1)
  t.equal(response.headers.get('x-generation-id'), chunks[0]?.id)
})

t.test('returns usage in the requested form', async (t) => {
  const { post } = await openChat(t)
  const response = await post({ ...hello, stream: true, stream_options: { include_usage: true } })
  const { chunks } = eventsOf(await response.text())
  t.same(chunks.at(-1)?.choices, [])
  t.ok(chunks.at(-1)?.usage)
})

t.test('streamed and whole answers have the same content', async (t) => {
  const { post } = await openChat(t)
  const cases: Readonly<Record<string, unknown>>[] = [
    {},
    { max_tokens: 2 },
    { max_completion_tokens: 1, max_tokens: 3 },
    { stop: ' there' },
    { stop: ['you', 'lo'] },
    { n: 3 },
    { reasoning: { effort: 'low' } },
    { reasoning: { effort: 'low' }, max_tokens: 2 },
    { reasoning_effort: 'high', n: 2 },
    { messages: [{ role: 'user', content: '' }] },
    { messages: [{ role: 'system', content: 'none of a user' }] },
    { messages: [{ role: 'user', content: '  ü 😀\n\n"quoted" \\ \u2028 end  ' }] },
    { tools: [tool('look')], tool_choice: { type: 'function', function: { name: 'look' } } },
    { tools: [tool('look')], tool_choice: { type: 'function', function: { name: 'look' } }, max_tokens: 2 },
    { unknown_member: { a: 1 }, seed: 7, temperature: 0, user: 'u', extra_body: null },
  ]
  for (const [nth, more] of cases.entries()) {
    const whole = (await (await post({ ...hello, ...more })).json()) as Whole
    const { chunks, isDone } = eventsOf(await (await post({ ...hello, ...more, stream: true })).text())
    const name = `case ${nth}`
    t.ok(isDone, name)
    t.ok(isAnswer.Check(whole), name)
    t.same(chunks.at(-1)?.usage, whole.usage, name)
    t.same(
      finishOf(chunks),
      whole.choices.map(({ finish_reason }) => finish_reason),
      name,
    )
    for (const { index, message } of whole.choices) {
      t.equal(textOf(chunks, index), message.content ?? '', name)
      const deltas = chunks.flatMap(({ choices }) => choices.filter((one) => one.index === index))
      t.equal(deltas.map(({ delta }) => delta.reasoning ?? '').join(''), message.reasoning ?? '', name)
      const fragments = deltas.flatMap(({ delta }) => delta.tool_calls ?? [])
      t.equal(
        fragments.map((one) => one.function.arguments).join(''),
        message.tool_calls?.[0]?.function.arguments ?? '',
        name,
      )
    }
  }
})

t.test('a call of the requested tool is streamed in three fragments', async (t) => {
  const { post } = await openChat(t)
  const choice = { tools: [tool('look')], tool_choice: { type: 'function', function: { name: 'look' } } }
  const whole = (await (await post({ ...hello, ...choice })).json()) as Whole
  const [first] = whole.choices
  t.equal(first?.finish_reason, 'tool_calls')
  t.equal(first?.message.content, null)
  t.match(first?.message.tool_calls, [
    { type: 'function', function: { name: 'look', arguments: '{"text":"Hello there, you"}' } },
  ])
  const { chunks } = eventsOf(await (await post({ ...hello, ...choice, stream: true })).text())
  t.equal(
    chunks.filter(({ choices }) => (choices[0]?.delta.tool_calls?.[0]?.function.arguments ?? '') !== '')
      .length,
    3,
  )
})

t.test(
  'the slow variant streams word by word, and a caller who disconnects is charged for the words sent',
  async (t) => {
    const spend = keptSpend()
    const { port, untilSettled, settled } = await openChat(t, { spend })
    const words = Array.from({ length: 1_000 }, (_, nth) => `w${nth}`).join(' ')
    const body = JSON.stringify({
      model: 'sluice/echo-1:slow',
      stream: true,
      messages: [{ role: 'user', content: words }],
    })
    const client = rawClient(port)
    client.send(
      requestText(
        'POST /api/v1/chat/completions',
        { authorization: AUTHORIZATION, 'content-length': String(body.length) },
        body,
      ),
    )
    await client.until(/ w2"/)
    client.destroy()
    await untilSettled(1)
    t.match(settled[0], { operation: 'chat.create', isClientGone: true })
    const [hold] = spend.holds
    t.match(hold?.end, { isEstimated: true, tokens: 1_000, provider: 'local' })
  },
)

t.test('fragments of a tool call split no character', async (t) => {
  const { post } = await openChat(t)
  for (const content of ['😀', '😀😀', 'a😀b', '😀a😀', '']) {
    const choice = { tools: [tool('look')], tool_choice: { type: 'function', function: { name: 'look' } } }
    const asked = { ...hello, messages: [{ role: 'user', content }], ...choice, stream: true }
    const { chunks } = eventsOf(await (await post(asked)).text())
    const fragments = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])
    for (const { function: called } of fragments) t.ok(called.arguments.isWellFormed(), called.arguments)
    const text = fragments.map((one) => one.function.arguments).join('')
    t.same(JSON.parse(text), { text: content })
  }
})

t.test("chat.create 400: errors name the field, with `type` and `param` for OpenAI's client", async (t) => {
  const { post } = await openChat(t)
  const cases: readonly [Readonly<Record<string, unknown>>, string][] = [
    [{ messages: [] }, 'messages'],
    [{ messages: 'hi' }, 'messages'],
    [{ n: CHOICES_MAX + 1 }, 'n'],
    [{ messages: Array.from({ length: MESSAGES_MAX + 1 }, () => hello.messages[0]) }, 'messages'],
    [{ tools: Array.from({ length: TOOLS_MAX + 1 }, () => tool('look')) }, 'tools'],
    [{ stream: 'yes' }, 'stream'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: 1e308, n: CHOICES_MAX }, 'max_tokens'],
    [{ max_completion_tokens: ASKED_MAX + 1 }, 'max_completion_tokens'],
    [{ stop: Array.from({ length: STOPS_MAX + 1 }, () => 'x') }, 'stop'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'function', content: 'x' }] }, 'messages[0].role'],
    [{ response_format: { type: 'json_object' } }, 'response_format.type'],
    [{ tool_choice: { type: 'function', function: { name: 'gone' } } }, 'tool_choice'],
  ]
  for (const [more, path] of cases) {
    for (const stream of [false, true]) {
      const response = await post({ ...hello, stream, ...more })
      const { error } = (await response.json()) as { error: Record<string, unknown> }
      t.equal(response.status, 400, path)
      t.equal(error['type'], 'body_invalid')
      t.ok(String(error['param']).startsWith(path), `${String(error['param'])} is at ${path}`)
    }
  }
  const unfit = await post({ ...hello, model: 'sluice/lexical-1' })
  t.match(await unfit.json(), {
    error: { code: 400, type: 'model_unfit', param: 'model', message: /sluice\/echo-1/ },
  })
})

t.test('chat.create 403, 404, 413: forbidden keys, unknown models, and too large bodies', async (t) => {
  const { post } = await openChat(t, { keys: { allowedModels: ['openai/*'] } })
  t.equal((await post(hello)).status, 403)
  t.equal((await post({ ...hello, model: 'sluice/echo-2' })).status, 404)
  t.equal((await post(hello, { authorization: `Bearer ${MANAGEMENT_KEY}` })).status, 403)
  const large = { ...hello, messages: [{ role: 'user', content: 'x'.repeat(INFERENCE_BODY_BYTES_MAX) }] }
  t.equal((await post(large)).status, 413)
})

t.test('an answer with the maximum number of words is complete', async (t) => {
  const { post } = await openChat(t)
  const content = Array.from({ length: 1_500 }, (_, nth) => `word${nth}`).join(' ')
  const response = await post({ ...hello, stream: true, messages: [{ role: 'user', content }] })
  const { chunks, isDone } = eventsOf(await response.text())
  t.ok(isDone)
  t.equal(textOf(chunks), content)
})

t.test('all answers of a call together have ECHO_TOKENS_MAX tokens at most', async (t) => {
  const { post } = await openChat(t)
  const content = 'a '.repeat(2 * ECHO_TOKENS_MAX)
  for (const n of [1, 4]) {
    const answer = (await (
      await post({ ...hello, n, messages: [{ role: 'user', content }] })
    ).json()) as Whole
    t.match(answer.usage, { completion_tokens: ECHO_TOKENS_MAX })
    t.equal(answer.choices.length, n)
    for (const choice of answer.choices) t.equal(choice.finish_reason, 'length')
  }
})

t.test('a text that is too long to repeat is shortened', async (t) => {
  const { post } = await openChat(t)
  const content = 'x'.repeat(ECHO_UNITS_MAX + 1)
  const more = { messages: [{ role: 'user', content }], stop: ['y'.repeat(ECHO_UNITS_MAX + 1), 'never'] }
  const answer = (await (await post({ ...hello, ...more })).json()) as Whole
  t.equal(answer.choices[0]?.message.content, content.slice(1))
  t.equal(answer.choices[0]?.finish_reason, 'length')
  const whole = { messages: [{ role: 'user', content: content.slice(1) }] }
  t.match(await (await post({ ...hello, ...whole })).json(), { choices: [{ finish_reason: 'stop' }] })
  const named = { tools: [tool('n'.repeat(FUNCTION_NAME_CHARS_MAX + 1))] }
  t.equal((await post({ ...hello, ...named })).status, 400)
})

t.test('the calls of one organization leave capacity for other organizations', (t) => {
  const calls = new LocalCalls({ max: ECHO_CALLS_MAX, ofOneMax: ECHO_ORGANIZATION_CALLS_MAX })
  const ends = Array.from({ length: ECHO_ORGANIZATION_CALLS_MAX }, () => calls.begin('a'))
  t.ok(ends.every((end) => end !== null))
  t.equal(calls.begin('a'), null)
  const organizations = ECHO_CALLS_MAX / ECHO_ORGANIZATION_CALLS_MAX
  for (let nth = 1; nth < organizations; nth++)
    for (let count = 0; count < ECHO_ORGANIZATION_CALLS_MAX; count++) t.ok(calls.begin(`b${nth}`))
  t.equal(calls.begin('c'), null, 'the front is full')
  ends[0]?.()
  t.ok(calls.begin('c'))
  t.end()
})

t.test('the slow variant waits before each word', async (t) => {
  const { post } = await openChat(t)
  const startedAt = performance.now()
  await (await post({ ...hello, model: 'sluice/echo-1:slow' })).text()
  t.ok(performance.now() - startedAt >= 2 * ECHO_SLOW_MS)
})

function tool(name: string): object {
  return { type: 'function', function: { name, parameters: {} } }
}

interface Whole {
  readonly choices: readonly {
    readonly index: number
    readonly finish_reason: string
    readonly message: {
      readonly content: string | null
      readonly reasoning?: string
      readonly tool_calls?: readonly { readonly function: { readonly arguments: string } }[]
    }
  }[]
  readonly usage: Readonly<Record<string, unknown>>
}
