/** Responses of the built-in model, and refusals before any model is asked. */
import t from 'tap'
import { Compile } from 'typebox/compile'
import { ASKED_MAX, MESSAGES_MAX, TOOLS_MAX } from '../../../../src/schemas/inference/inference-limits.ts'
import { ResponsesAnswer } from '../../../../src/schemas/inference/responses.ts'
import { openChat, type ChatFront } from '../../../support/inference/chat-front.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import type { Teardown } from '../../../support/teardown.ts'
import { openRouterShapes } from '../../../support/wire/foreign-clients.ts'

const hello = { model: 'sluice/echo-1', input: 'Hello there, you' }
const isAnswer = Compile(ResponsesAnswer)
const LOOK = { type: 'function', name: 'look', parameters: {} }
const CALLS = { tools: [LOOK], tool_choice: { type: 'function', name: 'look' } }

const open = (t: Teardown, options: Parameters<typeof openChat>[1] = {}): Promise<ChatFront> =>
  openChat(t, { path: '/responses', ...options })

interface Answer {
  readonly id: string
  readonly status: string
  readonly incomplete_details: object | null
  readonly output: readonly Item[]
  readonly usage: object
}

interface Item {
  readonly id: string
  readonly type: string
  readonly content?: readonly { readonly text: string }[]
  readonly summary?: readonly { readonly text: string }[]
  readonly arguments?: string
}

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly item?: Item
  readonly item_id?: string
  readonly delta?: string
  readonly response?: Answer
}

function eventsOf(text: string): readonly Event[] {
  const parts = text.split('\n\n')
  if (parts.pop() !== '') throw new Error('an event without an end')
  return parts.map((part) => {
    const [, name = '', data = ''] = /^event: ([\w.]+)\ndata: ([^\n]+)$/.exec(part) ?? []
    const event = JSON.parse(data) as Event
    if (event.type !== name) throw new Error(part)
    return event
  })
}

t.test(
  'responses.create 200: a whole answer repeats the last user text, with its usage and its id',
  async (t) => {
    const { post } = await open(t)
    const input = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'First' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'First' }] },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'a b' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hello' },
          { type: 'input_text', text: 'you' },
        ],
      },
    ]
    const response = await post({ ...hello, instructions: 'In English.', input })
    t.equal(response.status, 200)
    const answer = (await response.json()) as Answer
    t.ok(isAnswer.Check(answer), JSON.stringify(answer))
    t.match(answer, {
      object: 'response',
      status: 'completed',
      model: 'sluice/echo-1',
      output: [
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello\nyou' }] },
      ],
      usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12, cost: 0, is_byok: false },
    })
    t.equal(answer.id.replace('resp_', 'gen_'), response.headers.get('x-generation-id'))
  },
)

t.test('a stream has the events of each item from its start to its end', async (t) => {
  const { post } = await open(t)
  const response = await post({ ...hello, stream: true, reasoning: { effort: 'low' } })
  t.equal(response.headers.get('content-type'), 'text/event-stream')
  const events = eventsOf(await response.text())
  t.same(
    events.map(({ type }) => type.replace('response.', '')),
    [
      ...['created', 'in_progress'],
      ...['output_item.added', 'reasoning_summary_part.added'],
      ...Array.from({ length: 3 }, () => 'reasoning_summary_text.delta'),
      ...['reasoning_summary_text.done', 'reasoning_summary_part.done', 'output_item.done'],
      ...['output_item.added', 'content_part.added'],
      ...Array.from({ length: 3 }, () => 'output_text.delta'),
      ...['output_text.done', 'content_part.done', 'output_item.done', 'completed'],
    ],
  )
  t.same(
    events.map(({ sequence_number: number }) => number),
    events.map((_, nth) => nth),
  )
  const id = response.headers.get('x-generation-id')?.replace('gen_', 'resp_')
  for (const { response: reported } of events) if (reported !== undefined) t.equal(reported.id, id)
})

t.test('streamed and whole answers have the same content, in shapes that clients validate', async (t) => {
  const { post } = await open(t)
  const { event: checkEvent, response: checkResponse } = await openRouterShapes()
  const cases: readonly object[] = [
    {},
    { max_output_tokens: 2 },
    { reasoning: { effort: 'low' } },
    { reasoning: { effort: 'low' }, max_output_tokens: 2 },
    { input: '' },
    { input: [] },
    { input: null },
    { input: [{ role: 'developer', content: 'none of a user' }] },
    { input: '  ü 😀\n\n"quoted" \\ \u2028 end  ' },
    CALLS,
    { ...CALLS, max_output_tokens: 2 },
    { ...CALLS, reasoning: { enabled: true } },
    { unknown_member: { a: 1 }, temperature: 0, user: 'u', store: false, service_tier: 'auto' },
  ]
  for (const [nth, more] of cases.entries()) {
    const name = `case ${nth}`
    const whole = (await (await post({ ...hello, ...more })).json()) as Answer
    const events = eventsOf(await (await post({ ...hello, ...more, stream: true })).text())
    t.ok(isAnswer.Check(whole), name)
    t.doesNotThrow(() => checkResponse(whole), name)
    for (const event of events) t.doesNotThrow(() => checkEvent(event), event.type)
    const last = events.at(-1)
    t.equal(last?.type, `response.${whole.status}`, name)
    const { response: streamed } = last ?? {}
    const masked = (answer: Answer | undefined): unknown =>
      JSON.parse(
        JSON.stringify(answer)
          .replaceAll(/(resp|msg|rs|fc)_[0-9a-f]{32}/g, '$1_')
          .replaceAll(/"(created_at|completed_at)":\d+/g, '"$1":0'),
      )
    t.same(masked(streamed), masked(whole), name)
    for (const { id, content, summary, arguments: json } of streamed?.output ?? []) {
      const text = json ?? (content ?? summary ?? []).map((part) => part.text).join('')
      const deltas = events.filter(({ item_id: of, delta }) => of === id && delta !== undefined)
      t.equal(deltas.map(({ delta }) => delta).join(''), text, name)
    }
    t.equal(new Set(streamed?.output.map(({ id }) => id)).size, streamed?.output.length, 'ids are their own')
  }
})

t.test('an answer that reaches its maximum is incomplete', async (t) => {
  const { post } = await open(t)
  const answer = (await (await post({ ...hello, max_output_tokens: 2 })).json()) as Answer
  t.match(answer, { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } })
  t.equal(answer.output[0]?.content?.[0]?.text, 'Hello there,')
})

t.test(
  "responses.create 400: errors name the field, with `type` and `param` for OpenAI's client",
  async (t) => {
    const { post } = await open(t)
    const cases: readonly (readonly [object, string])[] = [
      [{ input: 7 }, 'input'],
      [{ input: Array.from({ length: MESSAGES_MAX + 1 }, () => ({ role: 'user', content: 'x' })) }, 'input'],
      [{ input: [{ role: 'tool', content: 'x' }] }, 'input[0]'],
      [{ input: [{ content: 'x' }] }, 'input[0]'],
      [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input[0]'],
      [{ input: [{ type: 'function_call_output', output: 'x' }] }, 'input[0]'],
      [{ input: [{ type: 'item_reference', id: 'rs_1', x: 1 }] }, 'input[0]'],
      [{ tools: Array.from({ length: TOOLS_MAX + 1 }, () => LOOK) }, 'tools'],
      [{ tools: [{ type: 'function' }] }, 'tools[0]'],
      [{ stream: 'yes' }, 'stream'],
      [{ max_output_tokens: 0 }, 'max_output_tokens'],
      [{ max_output_tokens: ASKED_MAX + 1 }, 'max_output_tokens'],
      [{ max_tool_calls: ASKED_MAX + 1 }, 'max_tool_calls'],
      [{ text: { format: { type: 'json_object' } } }, 'text.format.type'],
      [{ tool_choice: { type: 'function', name: 'gone' } }, 'tool_choice'],
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
    const offered: readonly (readonly [object, string])[] = [
      [{ plugins: [{ id: 'web' }] }, 'plugins'],
      [{ tools: [LOOK, { type: 'openrouter:datetime' }] }, 'tools[1].type'],
      [
        { input: [{ type: 'additional_tools', tools: [{ type: 'openrouter:datetime' }] }] },
        'input[0].tools[0].type',
      ],
      [{ stop_server_tools_when: [] }, 'stop_server_tools_when'],
    ]
    for (const [more, param] of offered)
      t.match(await (await post({ ...hello, ...more })).json(), { error: { type: 'not_supported', param } })
    t.match(await (await post({ ...hello, previous_response_id: 'resp_1' })).json(), {
      error: { type: 'stateless', param: 'previous_response_id' },
    })
  },
)

t.test('every complete call is charged once, under the name of its operation', async (t) => {
  const spend = keptSpend()
  const { post, untilSettled, settled } = await open(t, { spend })
  await (await post({ ...hello, stream: true })).text()
  await (await post(hello)).text()
  await untilSettled(2)
  for (const { end } of spend.holds) t.match(end, { costNano: 0, tokens: 3 })
  t.match(settled, [{ operation: 'responses.create' }, { operation: 'responses.create' }])
})
