import t from 'tap'
import { Compile } from 'typebox/compile'
import { messageError } from '../../../../src/schemas/inference/message-errors.ts'
import { ASKED_MAX, INFERENCE_BODY_BYTES_MAX } from '../../../../src/schemas/inference/inference-limits.ts'
import { MessageAnswer, MessageEvent } from '../../../../src/schemas/inference/messages.ts'
import { AUTHORIZATION, MANAGEMENT_KEY } from '../../../support/front.ts'
import { openChat, type ChatFrontOptions } from '../../../support/inference/chat-front.ts'
import { messageDataOf } from '../../../support/inference/message-events.ts'
import type { Teardown } from '../../../support/teardown.ts'
import { PASSED_HEADER_CHARS_MAX } from '../../../../src/server/operations/inference/create-message.ts'

const hello = {
  model: 'sluice/echo-1',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello there, you' }],
}
const isAnswer = Compile(MessageAnswer)
const isEvent = Compile(MessageEvent)
const tool = (name: string): object => ({ name, input_schema: { type: 'object' } })

interface Event {
  readonly type: string
  readonly index?: number
  readonly delta?: Readonly<Record<string, unknown>>
  readonly content_block?: { readonly type: string }
  readonly usage?: unknown
}

type Post = (body: object, headers?: Readonly<Record<string, string>>) => Promise<Response>

async function openMessages(t: Teardown, options: ChatFrontOptions = {}) {
  const front = await openChat(t, options)
  const post: Post = (body, headers = { authorization: AUTHORIZATION }) =>
    fetch(`${front.url}/api/v1/messages?beta=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  return { ...front, post }
}

const eventsOf = async (response: Response): Promise<readonly Event[]> =>
  messageDataOf(Buffer.from(await response.text())).map((data) => JSON.parse(data) as Event)

t.test(
  'messages.create 200: a whole answer repeats the last user text, with its usage and its id',
  async (t) => {
    const { post } = await openMessages(t)
    const result = { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'ignored' }] }
    const blocks = [
      { type: 'text', text: 'Hello' },
      { type: 'image', source: {} },
      { type: 'text', text: 'you' },
    ]
    const messages = [
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'First' },
      { role: 'user', content: blocks },
      { role: 'user', content: [result] },
    ]
    const response = await post({ ...hello, messages, system: [{ type: 'text', text: 'Be brief.' }] })
    t.equal(response.status, 200)
    const answer = (await response.json()) as Record<string, unknown>
    t.ok(isAnswer.Check(answer), JSON.stringify(answer))
    t.match(answer, {
      ...{ type: 'message', role: 'assistant', model: 'sluice/echo-1', stop_reason: 'end_turn' },
      content: [{ type: 'text', text: 'Hello\nyou' }],
      usage: { input_tokens: 6, output_tokens: 2, cost: 0, is_byok: false },
    })
    const id = response.headers.get('x-generation-id') ?? ''
    t.equal(answer['id'], id.replace('gen_', 'msg_'))
    t.equal(response.headers.get('request-id'), response.headers.get('x-request-id'))
  },
)

t.test('a stream has its events in order, byte for byte except for its id', async (t) => {
  const { post } = await openMessages(t)
  const content = [{ role: 'user', content: 'Hello there' }]
  const response = await post({ ...hello, messages: content, stream: true })
  t.equal(response.headers.get('content-type'), 'text/event-stream')
  const text = await response.text()
  const event = (type: string, members: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
  const delta = (stated: string): string =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: stated } })
  const head = { id: 'msg_01k0', type: 'message', role: 'assistant', model: 'sluice/echo-1', content: [] }
  const stopped = (reason: string | null): object => ({ stop_reason: reason, stop_sequence: null })
  const input = { input_tokens: 2, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const message = { ...head, ...stopped(null), usage: { ...input, output_tokens: 0 } }
  const usage = { ...input, output_tokens: 2, cost: 0, is_byok: false }
  t.equal(
    text.replace(/msg_[0-9a-f]{32}/, 'msg_01k0'),
    [
      event('message_start', { message }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      ...[delta('Hello'), delta(' there'), event('content_block_stop', { index: 0 })],
      event('message_delta', { delta: stopped('end_turn'), usage }),
      event('message_stop', {}),
    ].join(''),
  )
})

t.test('streamed and whole answers have the same content', async (t) => {
  const { post } = await openMessages(t)
  const cases: Readonly<Record<string, unknown>>[] = [
    {},
    { max_tokens: 2 },
    { stop_sequences: ['you'] },
    { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    { messages: [{ role: 'user', content: '' }] },
    { messages: [{ role: 'user', content: '  ü 😀\n\n"quoted" \\ \u2028 end  ' }] },
    { tools: [tool('look')], tool_choice: { type: 'tool', name: 'look' } },
    { unknown_member: { a: 1 }, metadata: { user_id: 'u' }, temperature: 0, service_tier: 'auto' },
  ]
  for (const [nth, more] of cases.entries()) {
    const whole = (await (await post({ ...hello, ...more })).json()) as {
      readonly content: readonly Readonly<Record<string, unknown>>[]
      readonly stop_reason: string
      readonly usage: unknown
    }
    const events = await eventsOf(await post({ ...hello, ...more, stream: true }))
    t.ok(isAnswer.Check(whole), `case ${nth}`)
    for (const event of events) t.ok(isEvent.Check(event), event.type)
    const last = events.at(-2)
    t.same([last?.delta?.['stop_reason'], last?.usage], [whole.stop_reason, whole.usage], `case ${nth}`)
    const begun = events.filter(({ type }) => type === 'content_block_start')
    t.equal(begun.length, events.filter(({ type }) => type === 'content_block_stop').length)
    t.same(
      begun.map(({ content_block }) => content_block?.type),
      whole.content.map(({ type }) => type),
    )
    for (const [index, block] of whole.content.entries()) {
      const deltas = events.filter((event) => event.type === 'content_block_delta' && event.index === index)
      const stated = deltas.map(
        ({ delta = {} }) => delta['text'] ?? delta['thinking'] ?? delta['partial_json'],
      )
      const text = block['text'] ?? block['thinking'] ?? JSON.stringify(block['input'])
      t.equal(stated.join(''), text, `case ${nth}`)
    }
  }
})

t.test("messages.create 400: errors have Anthropic's form", async (t) => {
  const { post } = await openMessages(t)
  const cases: readonly [Readonly<Record<string, unknown>>, string][] = [
    [{ messages: [] }, '/messages'],
    [{ max_tokens: undefined }, '/max_tokens'],
    [{ max_tokens: null }, '/max_tokens'],
    [{ max_tokens: 0 }, '/max_tokens'],
    [{ max_tokens: ASKED_MAX + 1 }, '/max_tokens'],
    [{ stream: 'yes' }, '/stream'],
    [{ system: 7 }, '/system'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, '/messages/0/role'],
    [{ messages: [{ role: 'user', content: [{ type: 'text' }] }] }, '/messages/0/content/0/text'],
    [{ tools: [{ name: 'x' }] }, '/tools/0'],
    [{ plugins: [{ id: 'web' }] }, '/plugins'],
    [{ tools: [{ type: 'openrouter:web_search' }] }, '/tools/0/type'],
    [{ output_config: { format: { type: 'json_schema' } } }, '/output_config/format'],
  ]
  for (const [more, path] of cases) {
    const response = await post({ ...hello, ...more })
    t.equal(response.status, 400, path)
    const body = (await response.json()) as {
      readonly error: { readonly metadata: { readonly issues: readonly { readonly path: string }[] } }
      readonly request_id: string
    }
    t.match(body, { type: 'error', error: { type: 'invalid_request_error', code: 400, message: String } })
    t.equal(body.request_id, response.headers.get('request-id'))
    t.ok(body.error.metadata.issues[0]?.path.startsWith(path), JSON.stringify(body.error.metadata.issues))
  }
})

t.test('accepts a key in `x-api-key` too, and `authorization` takes precedence', async (t) => {
  const { post, url } = await openMessages(t)
  const key = AUTHORIZATION.replace('Bearer ', '')
  t.equal((await post(hello, { 'x-api-key': key })).status, 200)
  t.equal((await post(hello, { 'x-api-key': key, authorization: 'Bearer sk-slc-none' })).status, 401)
  t.equal((await post(hello, { 'x-api-key': 'none', authorization: AUTHORIZATION })).status, 200)
  const chat = { method: 'POST', headers: { 'x-api-key': key, 'content-type': 'application/json' } }
  const other = await fetch(`${url}/api/v1/chat/completions`, { ...chat, body: JSON.stringify(hello) })
  t.equal(other.status, 401)
})

t.test('messages.create 403, 404, 413: every failure has the error format of Anthropic', async (t) => {
  const { post, url } = await openMessages(t, { keys: { allowedModels: ['openai/*'] } })
  const reply = async (answer: Promise<Response>): Promise<readonly [number, string]> => {
    const response = await answer
    const body = (await response.json()) as { readonly error: { readonly type: string } }
    t.match(body, { type: 'error', request_id: response.headers.get('request-id') })
    return [response.status, body.error.type]
  }
  t.same(await reply(post(hello)), [403, 'permission_error'])
  t.same(await reply(post(hello, { authorization: `Bearer ${MANAGEMENT_KEY}` })), [403, 'permission_error'])
  t.same(await reply(post(hello, {})), [401, 'authentication_error'])
  t.same(await reply(post({ ...hello, model: 'sluice/echo-2' })), [404, 'not_found_error'])
  const large = { ...hello, system: 'x'.repeat(INFERENCE_BODY_BYTES_MAX) }
  t.same(await reply(post(large)), [413, 'request_too_large'])
  for (const path of ['/nothing', '/batches/x']) {
    const headers = { authorization: AUTHORIZATION }
    t.same(await reply(fetch(`${url}/api/v1/messages${path}`, { headers })), [404, 'not_found_error'])
  }
  t.equal((await reply(fetch(`${url}/api/v1/messages`)))[0], 405)
  t.notMatch(await (await fetch(`${url}/api/v1/messagesx`)).json(), { type: 'error' })
})

t.test('every status has its Anthropic error type', (t) => {
  const typeOf = (status: number): unknown => {
    const answer = messageError({ status, message: 'm', metadata: {}, requestId: 'r' })
    return (answer as { readonly error: { readonly type: string } }).error.type
  }
  const types = {
    ...{ 400: 'invalid_request_error', 422: 'invalid_request_error', 408: 'invalid_request_error' },
    ...{ 402: 'billing_error', 429: 'rate_limit_error', 500: 'api_error', 502: 'api_error' },
    ...{ 503: 'overloaded_error', 524: 'timeout_error', 529: 'overloaded_error' },
  }
  for (const [status, type] of Object.entries(types)) t.equal(typeOf(Number(status)), type)
  t.end()
})

t.test('refuses an `anthropic-beta` header that is not a list of plain words', async (t) => {
  const { post } = await openMessages(t)
  const authorization = AUTHORIZATION
  for (const value of ['a b', 'a,', 'a;q=1', 'x'.repeat(PASSED_HEADER_CHARS_MAX + 1)]) {
    const response = await post(hello, { authorization, 'anthropic-beta': value })
    t.equal(response.status, 400, value)
    t.match(await response.json(), { error: { metadata: { issues: [{ path: '/anthropic-beta' }] } } })
  }
  t.equal((await post(hello, { authorization, 'anthropic-beta': 'a-2025-01-01, b' })).status, 200)
})
