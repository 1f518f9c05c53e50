/** Calls of one dialect at providers that speak another: the messages of both sides, and the charge. */
import t from 'tap'
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { PROMPT_TOKENS } from '../../../support/inference/fake-chat.ts'
import { PROVIDER_PATHS, rigged, SENT_TEXT as TEXT } from '../../../support/inference/text-rig.ts'
import { TEXT_PROTOCOLS } from '../../../../src/schemas/models/protocols.ts'

const PAIRS = DIALECTS.flatMap((from) =>
  TEXT_PROTOCOLS.filter((to) => to !== from).map((to) => [from, to] as const),
)
const COST = (PROMPT_TOKENS * 1_000 + 4 * 2_000) / 1e9

/** The text of a whole answer. */
const SAIDOnce: Readonly<Record<Dialect, (answer: never) => unknown>> = {
  chat: ({ choices: [choice] }: { choices: [{ message: { content: string } }] }) => choice.message.content,
  responses: ({ output: [item] }: { output: [{ content: [{ text: string }] }] }) => item.content[0].text,
  messages: ({ content: [block] }: { content: [{ text: string }] }) => block.text,
}
/** The last event of a whole stream. */
const ENDS: Readonly<Record<Dialect, RegExp>> = {
  chat: /data: \[DONE\]\n\n$/,
  responses: /event: response\.completed\ndata: .*\n\n$/,
  messages: /event: message_stop\ndata: .*\n\n$/,
}

for (const [from, to] of PAIRS) {
  t.test(`${from} at a provider that speaks ${to}: a whole answer`, async (t) => {
    const { send, first, spend, rest } = await rigged(t, to)
    const response = await send(from)
    const answer = (await response.json()) as Record<string, unknown>
    t.equal(response.status, 200, JSON.stringify(answer))
    t.equal(SAIDOnce[from](answer as never), 'Hello there, you')
    t.match(answer, { model: 'acme/one', usage: { cost: COST, is_byok: false } })
    t.match(spend.holds[0]?.end, { costNano: COST * 1e9, isEstimated: false, provider: 'first' })
    t.equal(first.calls[0]?.path, PROVIDER_PATHS[to])
    t.equal(await rest(), 0)
  })

  t.test(`${from} at a provider that speaks ${to}: a streamed answer`, async (t) => {
    const { send, first, spend, rest } = await rigged(t, to)
    const response = await send(from, { stream: true })
    const text = await response.text()
    t.equal(response.status, 200, text)
    t.match(text, ENDS[from])
    t.match(first.calls[0]?.path, to === 'gemini' ? /:streamGenerateContent\?alt=sse$/ : PROVIDER_PATHS[to])
    for (const word of ['"Hello"', '" there"', '","', '" you"']) t.ok(text.includes(word), word)
    t.ok(text.includes(`"cost":${COST}`))
    t.match(spend.holds[0]?.end, { costNano: COST * 1e9, isEstimated: false, provider: 'first' })
    t.equal(await rest(), 0)
  })
}

t.test(
  'fields that only tune the answer are dropped and reported, or refused with `require_parameters`',
  async (t) => {
    const { send, first } = await rigged(t, 'messages')
    const response = await send('chat', { seed: 7, logit_bias: { 1: 2 }, n: 1 })
    t.equal(response.status, 200)
    t.equal(response.headers.get('x-sluice-dropped'), 'seed,logit_bias')
    await response.text()
    const strict = await send('chat', { seed: 7, provider: { require_parameters: true } })
    t.equal(strict.status, 404)
    t.match(await strict.json(), {
      error: {
        type: 'endpoint_excluded',
        message: /Preferences that exclude endpoints: require_parameters \(`seed`\)\.$/,
      },
    })
    t.equal(first.calls.length, 1)
  },
)

t.test('members of `cache_control` that another protocol lacks are reported as dropped', async (t) => {
  const marked = { type: 'ephemeral', ttl: '1h', scope: 'organization' }
  for (const to of ['messages', 'gemini'] as const) {
    const { send } = await rigged(t, to)
    const from = to === 'messages' ? 'chat' : 'messages'
    for (const body of [
      { cache_control: marked },
      { messages: [{ role: 'user', content: [{ type: 'text', text: TEXT, cache_control: marked }] }] },
    ]) {
      const response = await send(from, body)
      t.equal(response.status, 200, await response.text())
      const names = response.headers.get('x-sluice-dropped')?.split(',') ?? []
      t.ok(names.includes('cache_control.scope'), `${from} to ${to}: ${JSON.stringify(body)}: ${names}`)
      t.notOk(names.includes('cache_control.ttl'))
    }
    const plain = await send(from, { cache_control: { type: 'ephemeral' } })
    t.notMatch(plain.headers.get('x-sluice-dropped') ?? '', /cache_control\./)
    await plain.text()
  }
})

t.test('reports `anthropic-beta` features as dropped if the provider speaks another protocol', async (t) => {
  const { url } = await rigged(t, 'chat')
  const ask = async (path: string) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method: 'POST',
      headers: {
        ...{ authorization: AUTHORIZATION, 'content-type': 'application/json' },
        'anthropic-beta': 'context-1m-2025-08-07, files-api-2025-04-14',
      },
      body: JSON.stringify({ model: 'acme/one', max_tokens: 9, messages: [{ role: 'user', content: TEXT }] }),
    })
    t.equal(response.status, 200, await response.text())
    return response.headers.get('x-sluice-dropped')
  }
  t.equal(await ask('/messages'), 'anthropic-beta.context-1m-2025-08-07,anthropic-beta.files-api-2025-04-14')
  t.equal(await ask('/chat/completions'), null)
})

t.test('a field that would change the answer gets 400 with its path, and is not sent', async (t) => {
  for (const [from, to, body, path] of [
    ['chat', 'messages', { n: 2 }, '/n'],
    ['chat', 'gemini', { prediction: { type: 'content', content: 'x' } }, '/prediction'],
    ['messages', 'responses', { stop_sequences: ['x'] }, '/stop_sequences'],
    ['responses', 'chat', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, '/tools/0'],
  ] as const) {
    const { send, first } = await rigged(t, to)
    const response = await send(from, body)
    const reported = await response.json()
    t.equal(response.status, 400, JSON.stringify(reported))
    t.match(reported, { error: { metadata: { error_type: 'field_unsupported', issues: [{ path }] } } })
    t.equal(first.calls.length, 0)
  }
})

t.test('tokens are counted if the protocol of the provider supports it', async (t) => {
  const { url, first } = await rigged(t, 'gemini')
  const count = (at: string, content: unknown = TEXT): Promise<Response> =>
    fetch(`${at}/api/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/one', messages: [{ role: 'user', content }] }),
    })
  const counted = await count(url)
  t.same(await counted.json(), { input_tokens: PROMPT_TOKENS })
  t.equal(counted.headers.get('x-sluice-dropped'), null)
  t.equal(first.calls[0]?.path, '/v1/models/first-model:countTokens')
  t.match(JSON.parse(first.calls[0]?.body.toString() ?? ''), {
    generateContentRequest: {
      model: 'models/first-model',
      contents: [{ role: 'user', parts: [{ text: TEXT }] }],
    },
  })
  const marked = await count(url, [{ type: 'text', text: TEXT, cache_control: { type: 'ephemeral' } }])
  t.equal(marked.headers.get('x-sluice-dropped'), 'cache_control', 'what is not counted is named')
  const other = await rigged(t, 'chat')
  const response = await count(other.url)
  t.equal(response.status, 404)
  t.match(await response.json(), { error: { metadata: { error_type: 'count_unavailable' } } })
})

t.test('reasoning that another provider signed is not sent to a provider of the same protocol', async (t) => {
  const { send, first } = await rigged(t, 'messages')
  const foreign = { type: 'thinking', thinking: 'hm', signature: 'sl1.google-gemini-v1.AAAA' }
  const own = { type: 'thinking', thinking: 'hm', signature: 'AAAA' }
  for (const [thinking, dropped] of [
    [foreign, 'reasoning'],
    [own, null],
  ] as const) {
    const response = await send('messages', {
      messages: [
        { role: 'user', content: TEXT },
        { role: 'assistant', content: [thinking, { type: 'text', text: 'Hi' }] },
        { role: 'user', content: 'Go on' },
      ],
    })
    t.equal(response.status, 200, await response.text())
    t.equal(response.headers.get('x-sluice-dropped'), dropped)
  }
  const [, sent] = (JSON.parse(first.calls[0]?.body.toString() ?? '') as { messages: object[] }).messages
  t.same(sent, { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] })
  t.ok(first.calls[1]?.body.includes('"signature":"AAAA"'))
})

t.test('reasoning without content or signature is not sent to a provider that stores nothing', async (t) => {
  const bare = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }] }
  const reported = { ...bare, id: 'rs_2', content: [{ type: 'reasoning_text', text: 'hm' }] }
  const own = { ...bare, id: 'rs_3', encrypted_content: 'gAAA' }
  const unsigned = { ...bare, encrypted_content: 'sl1.unsigned.' }
  const stated = { role: 'assistant', content: 'Hi' }
  const { send, first } = await rigged(t, 'responses')
  for (const [items, kept] of [
    [[bare, stated], [stated]],
    [[{ ...bare, encrypted_content: '' }, stated], [stated]],
    [
      [bare, reported, { ...bare, encrypted_content: null }, own, stated],
      [reported, own, stated],
    ],
    [
      [unsigned, own, stated],
      [own, stated],
    ],
    [[own, reported, stated], null],
  ] as const) {
    const input = [{ role: 'user', content: TEXT }, ...items]
    const response = await send('responses', { input })
    t.equal(response.status, 200, await response.text())
    t.equal(response.headers.get('x-sluice-dropped'), kept === null ? null : 'reasoning')
    const body = JSON.parse(first.calls.at(-1)?.body.toString() ?? '') as { input: object[] }
    t.same(body.input.slice(1), kept ?? items)
  }
})

t.test('a tool step without its thoughts continues without thinking, as Anthropic requires', async (t) => {
  const { send, first } = await rigged(t, 'messages')
  const foreign = { type: 'thinking', thinking: 'hm', signature: 'sl1.google-gemini-v1.AAAA' }
  const own = { ...foreign, signature: 'AAAA' }
  const call = { type: 'tool_use', id: 'c1', name: 'f', input: {} }
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'x' }] }
  const enabled = { type: 'enabled', budget_tokens: 1_024 }
  const text = { type: 'text', text: 'Hi' }
  for (const [content, thinking, sent] of [
    [[foreign, call], enabled, { type: 'disabled' }],
    [[foreign, text, call], enabled, { type: 'disabled' }],
    [[own, foreign, call], enabled, enabled],
    [[foreign, text], enabled, enabled],
    [[foreign, call], { type: 'adaptive' }, { type: 'adaptive' }],
    [[foreign, call], undefined, undefined],
  ] as const) {
    const messages = [{ role: 'user', content: TEXT }, { role: 'assistant', content }, result]
    const response = await send('messages', { max_tokens: 2_000, messages, ...(thinking && { thinking }) })
    t.equal(response.status, 200, await response.text())
    t.equal(response.headers.get('x-sluice-dropped'), 'reasoning')
    t.same(JSON.parse(first.calls.at(-1)?.body.toString() ?? '').thinking, sent)
  }
})

t.test('a request that only quotes such a signature is sent unchanged', async (t) => {
  const { send, first } = await rigged(t, 'messages')
  const asked = {
    max_tokens: 50,
    messages: [{ role: 'user', content: 'What is "sl1.x.y"?' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 1 }],
  }
  const response = await send('messages', asked)
  t.equal(response.status, 200, await response.text())
  t.equal(response.headers.get('x-sluice-dropped'), null)
  t.same(JSON.parse(first.calls[0]?.body.toString() ?? ''), { ...asked, model: 'first-model' })
})

t.test('only the reasoning of another provider is removed from a large request', async (t) => {
  const { send, first } = await rigged(t, 'responses')
  const foreign = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    encrypted_content: 'sl1.google-gemini-v1.AAAA',
  }
  const call = { type: 'custom_tool_call', call_id: 'c', name: 'apply_patch', input: '"sl1.'.repeat(100_000) }
  const response = await send('responses', { input: [{ role: 'user', content: TEXT }, foreign, call] })
  t.equal(response.status, 200, await response.text())
  t.equal(response.headers.get('x-sluice-dropped'), 'reasoning')
  const { input } = JSON.parse(first.calls[0]?.body.toString() ?? '') as { input: object[] }
  t.same(input, [{ role: 'user', content: TEXT }, call])
})
