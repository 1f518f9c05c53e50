/** Calls of responses that a provider answers which speaks responses. */
import t from 'tap'
import { memberPath } from '../../../../src/schemas/issues.ts'
import { Compile } from 'typebox/compile'
import { ResponsesAnswer, ResponsesEvent } from '../../../../src/schemas/inference/responses.ts'
import { openChatProvider, type ChatProviderFront } from '../../../support/inference/chat-provider-front.ts'
import { bodyOf, PROMPT_TOKENS } from '../../../support/inference/fake-chat.ts'
import {
  answersResponses,
  responseEvents,
  saysResponse,
  tellsResponse,
} from '../../../support/inference/fake-responses.ts'
import {
  named,
  RESPONSE,
  RESPONSES_ANSWERS,
  searchCall,
  USAGE,
} from '../../../support/inference/responses-streams.ts'
import { boundedSpend, keptSpend } from '../../../support/money/free-spend.ts'
import { present } from '../../../support/must.ts'
import type { Teardown } from '../../../support/teardown.ts'

const hello = { model: 'acme/chat', input: 'Hello there' }
const isAnswer = Compile(ResponsesAnswer)
const isEvent = Compile(ResponsesEvent)
const COST = (PROMPT_TOKENS * 1_000 + 4 * 2_000) / 1e9

async function open(
  t: Teardown,
  options: Parameters<typeof openChatProvider>[1] = {},
): Promise<ChatProviderFront> {
  const front = await openChatProvider(t, {
    path: '/responses',
    providers: { speaks: ['responses'] },
    ...options,
  })
  front.first.usually(answersResponses())
  front.second.usually(answersResponses())
  return front
}

interface Event {
  readonly type: string
  readonly sequence_number: number
  readonly delta?: string
  readonly response?: { readonly model: string; readonly usage: object | null }
}

function eventsOf(text: string): readonly Event[] {
  return text
    .split('\n\n')
    .slice(0, -1)
    .filter((event) => !event.startsWith(':'))
    .map((event) => {
      const [, name, data] = /^event: ([\w.]+)\ndata: ([^\n]+)$/.exec(event) ?? []
      const read = JSON.parse(data ?? '') as Event
      if (read.type !== name) throw new Error(`${name ?? 'no name'} is not ${read.type}`)
      return read
    })
}

const textOf = (events: readonly Event[]): string =>
  events.map(({ type, delta = '' }) => (type === 'response.output_text.delta' ? delta : '')).join('')

t.test('a stream has the canonical model, and its usage and cost in the last event', async (t) => {
  const spend = keptSpend()
  const { post, first, rest } = await open(t, { spend })
  const response = await post({ ...hello, stream: true })
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-type'), 'text/event-stream')
  t.match(response.headers.get('x-generation-id'), /^gen_/)
  t.equal(response.headers.get('x-sluice-provider'), 'first')
  const events = eventsOf(await response.text())
  t.equal(textOf(events), 'Hello there, you')
  for (const [nth, event] of events.entries()) {
    t.equal(event.sequence_number, nth)
    t.ok(isEvent.Check(event), event.type)
    if (event.response !== undefined) t.match(event.response, { id: RESPONSE.id, model: 'acme/chat' })
  }
  const last = present(events.at(-1))
  t.equal(last.type, 'response.completed')
  t.match(last.response?.usage, { input_tokens: PROMPT_TOKENS, output_tokens: 4, cost: COST, is_byok: false })
  t.match(spend.holds[0]?.end, { costNano: COST * 1e9, isEstimated: false, provider: 'first' })
  const call = present(first.calls[0])
  t.equal(call.path, '/v1/responses')
  t.same(bodyOf(call), { model: 'first-model', input: 'Hello there', stream: true, store: false })
  t.equal(await rest(), 0)
})

t.test('events too large to copy in one turn arrive complete, the last one with its cost', async (t) => {
  const { post, first } = await open(t)
  const word = 'a "word" of é\n'.repeat(40_000)
  first.usually(answersResponses({ words: [word] }))
  const response = await post({ ...hello, stream: true })
  const events = eventsOf(await response.text())
  t.ok(textOf(events) === word)
  const last = JSON.stringify(events.at(-1))
  t.ok(last.includes(JSON.stringify(word).slice(1, -1)))
  const cost = (PROMPT_TOKENS * 1_000 + 2_000) / 1e9
  t.match(events.at(-1), { type: 'response.completed', response: { model: 'acme/chat', usage: { cost } } })
})

t.test('a request of Codex arrives byte for byte, except the model', async (t) => {
  const { post, first } = await open(t)
  const message = (role: string, type: string, text: string): object => ({
    type: 'message',
    role,
    content: [{ type, text }],
  })
  const asked = {
    model: 'acme/chat',
    instructions: 'You are a coding agent. "é"\n',
    input: [
      message('developer', 'input_text', '<permissions>'),
      message('user', 'input_text', 'Fix it.'),
      { type: 'reasoning', summary: [], content: null, encrypted_content: 'gAAAA+/=' },
      {
        type: 'local_shell_call',
        call_id: 'c1',
        status: 'completed',
        action: { type: 'exec', command: ['ls'] },
      },
      { type: 'local_shell_call_output', call_id: 'c1', output: '{"output":"a"}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin Patch' },
      { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok' },
      { type: 'function_call', name: 'mcp__x', namespace: 'mcp', arguments: '{}', call_id: 'c3' },
      { type: 'function_call_output', call_id: 'c3', output: [{ type: 'input_text', text: 'ok' }] },
      message('assistant', 'output_text', 'Done.'),
    ],
    tools: [
      { type: 'function', name: 'shell', description: '', strict: false, parameters: { type: 'object' } },
      { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      { type: 'namespace', name: 'mcp', tools: [{ type: 'function', name: 'mcp__x' }] },
      { type: 'web_search', external_web_access: false },
    ],
    tool_choice: 'auto',
    parallel_tool_calls: false,
    reasoning: { effort: 'medium', summary: 'auto' },
    store: false,
    stream: true,
    include: ['reasoning.encrypted_content'],
    prompt_cache_key: '0199b4c1',
    text: { verbosity: 'low' },
    client_metadata: { originator: 'codex' },
  }
  const response = await post(asked)
  t.equal(textOf(eventsOf(await response.text())), 'Hello there, you')
  t.equal(present(first.calls[0]).body.toString(), JSON.stringify({ ...asked, model: 'first-model' }))
  t.equal(response.headers.get('x-sluice-dropped'), null)
})

t.test(
  'web searches are reserved by `max_tool_calls`, and charged by the search items of the answer',
  async (t) => {
    const pricing = { prompt: '0.000001', completion: '0.000002', web_search: '0.01' }
    const spend = keptSpend()
    const facts = { firstFacts: { pricing, context_length: 1_000 } }
    const { post, first, rest } = await open(t, { spend: boundedSpend(spend), ...facts })
    const asked = { model: 'acme/one', input: 'x', max_output_tokens: 50, tools: [{ type: 'web_search' }] }
    const refused = await post(asked)
    t.equal(refused.status, 403)
    t.match(await refused.json(), { error: { param: 'max_tool_calls', type: 'cost_unbounded' } })
    const within = await post({
      ...{ model: 'acme/one', max_output_tokens: 50, max_tool_calls: 3 },
      input: [{ type: 'additional_tools', role: 'developer', tools: [{ type: 'code_interpreter' }] }],
    })
    t.equal(within.status, 403)
    t.match(await within.json(), { error: { param: 'input[0].tools[0].type', type: 'cost_unbounded' } })
    t.equal(first.calls.length, 0)
    const output = [searchCall('search'), searchCall('open_page'), searchCall('search')]
    const response = { ...RESPONSE, status: 'completed', output, usage: USAGE }
    const begun = output.map((item) => ({ type: 'response.output_item.done', item }))
    const tokens = 9 * 1_000 + 4 * 2_000
    const bound = 4 * (1_000 * 1_000 + 50 * 2_000) + 3 * 10_000_000
    const ask = async (stream: boolean): Promise<string> =>
      (await post({ ...asked, max_tool_calls: 3, stream })).text()
    first.script(saysResponse(response))
    t.match(await ask(false), `"cost":${(tokens + 20_000_000) / 1e9}`)
    first.script(tellsResponse(named([...begun, { type: 'response.completed', response }])))
    t.match(await ask(true), `"cost":${(tokens + 20_000_000) / 1e9}`)
    first.script(tellsResponse(named(begun)))
    await t.rejects(ask(true))
    for (const { ask: hold } of spend.holds) t.equal(hold.bound.anyNano, bound)
    const [whole, streamed, broken] = spend.holds
    for (const held of [whole, streamed])
      t.match(held?.end, { costNano: tokens + 20_000_000, isEstimated: false })
    t.match(broken?.end, { isEstimated: true })
    t.ok((broken?.end as { costNano: number }).costNano > 20_000_000)
    t.equal(await rest(), 0)
  },
)

t.test('a whole answer has its usage and cost', async (t) => {
  const spend = keptSpend()
  const { post, first, rest } = await open(t, { spend })
  for (const body of [null, ...Object.values(RESPONSES_ANSWERS)]) {
    if (body !== null) first.script(saysResponse(body))
    const response = await post(hello)
    t.equal(response.status, 200)
    const answer = (await response.json()) as Record<string, unknown>
    t.ok(isAnswer.Check(answer), JSON.stringify(answer))
    t.match(answer, { model: 'acme/chat', object: 'response' })
  }
  t.match(spend.holds[0]?.end, { costNano: COST * 1e9, isEstimated: false })
  t.equal(await rest(), 0)
})

t.test('an answer that is too large for the event loop is read in a worker thread', async (t) => {
  const { post, first, rest } = await open(t)
  const text = 'é'.repeat(200_000)
  const output = [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text }] }]
  first.script(saysResponse({ ...RESPONSE, status: 'completed', output, usage: USAGE }))
  const answer = (await (await post(hello)).json()) as Record<string, unknown>
  t.same(answer['output'], output)
  t.match(answer, { model: 'acme/chat', usage: { input_tokens: 9, cost: COST } })
  t.equal(await rest(), 0)
})

t.test('a response that fails after its first output is returned in full, and is charged', async (t) => {
  const spend = keptSpend()
  const { post, first } = await open(t, { spend })
  const failed = {
    ...RESPONSE,
    status: 'failed',
    error: { code: 'server_error', message: 'x' },
    usage: USAGE,
  }
  const end = named([{ type: 'response.failed', sequence_number: 9, response: failed }])
  first.script(tellsResponse([...responseEvents().slice(0, 6), ...end]))
  const events = eventsOf(await (await post({ ...hello, stream: true })).text())
  t.match(events.at(-1), { type: 'response.failed', sequence_number: 6, response: { usage: { cost: COST } } })
  t.match(spend.holds[0]?.end, { costNano: COST * 1e9, isEstimated: false })
})

t.test('refuses a model whose endpoints support no text protocol', async (t) => {
  const { post } = await open(t, { providers: { speaks: [] } })
  const response = await post(hello)
  t.equal(response.status, 400)
  t.match(await response.json(), {
    error: { type: 'model_unfit', message: /support no API that Sluice serves; .* needs responses/ },
  })
})

t.test('400 stateless: refuses storing at the operator account, and using items stored there', async (t) => {
  const { post, first } = await open(t)
  const cases: readonly (readonly [object, string])[] = [
    [{ store: true }, '/store'],
    [{ background: true }, '/background'],
    [{ conversation: 'conv_1' }, '/conversation'],
    [{ conversation: { id: 'conv_1' } }, '/conversation'],
    [{ previous_response_id: 'resp_1' }, '/previous_response_id'],
    [{ prompt: { id: 'pmpt_1' } }, '/prompt'],
    [
      { prompt_cache_options: { comparison_response_id: 'resp_1' } },
      '/prompt_cache_options/comparison_response_id',
    ],
    [
      {
        input: [
          { type: 'item_reference', id: 'rs_1' },
          { type: 'item_reference', id: 'msg_1' },
        ],
      },
      '/input/1',
    ],
  ]
  for (const [more, path] of cases) {
    const response = await post({ ...hello, ...more })
    t.equal(response.status, 400)
    t.match(await response.json(), {
      error: {
        ...{ type: 'stateless', param: memberPath(path), message: /store: false/ },
        metadata: { issues: [{ path }] },
      },
    })
  }
  t.equal(first.calls.length, 0)
  const none = {
    store: false,
    background: false,
    conversation: null,
    previous_response_id: null,
    prompt: null,
  }
  t.equal((await post({ ...hello, ...none })).status, 200)
})

t.test("under the workspace's own key requests with state pass unchanged", async (t) => {
  const { post, first } = await open(t, { ownKey: 'own-provider-key-1' })
  const state = {
    ...{ store: true, background: false, previous_response_id: 'resp_1', conversation: null },
    input: [
      { type: 'item_reference', id: 'rs_1' },
      { type: 'item_reference', id: 'msg_1' },
    ],
  }
  const response = await post({ ...hello, ...state })
  t.equal(response.status, 200)
  t.equal(response.headers.get('x-sluice-dropped'), null)
  t.match(await response.json(), { usage: { is_byok: true } })
  const call = present(first.calls[0])
  t.equal(call.headers['authorization'], 'Bearer own-provider-key-1')
  t.same(bodyOf(call), { model: 'first-model', ...state })
})

t.test('references to reasoning that was not stored are dropped and reported', async (t) => {
  const { post, first } = await open(t)
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
  const reference = { type: 'item_reference', id: 'rs_1' }
  const response = await post({
    ...hello,
    input: [{ role: 'user', content: 'x' }, reference, call, { ...reference, id: 'rs_2' }],
  })
  t.equal(response.status, 200)
  t.equal(response.headers.get('x-sluice-dropped'), 'item_reference')
  t.same(bodyOf(present(first.calls[0]))['input'], [{ role: 'user', content: 'x' }, call])
})
