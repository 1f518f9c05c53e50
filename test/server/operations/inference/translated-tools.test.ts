/** Tools of Codex at providers that have functions only: the messages of both sides. D6. */
import t, { type Test } from 'tap'
import { AUTHORIZATION } from '../../../support/front.ts'
import { openChatProvider } from '../../../support/inference/chat-provider-front.ts'
import { eventsIn } from '../../../support/inference/accumulated.ts'
import { answersMessages, strictMessages } from '../../../support/inference/fake-messages.ts'
import { strictGemini } from '../../../support/inference/gemini/fake-gemini.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'

const PATCH = '*** Begin Patch\n*** End Patch'
const TOOLS = [
  {
    type: 'custom',
    name: 'apply_patch',
    description: 'Edits files.',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
  },
  {
    type: 'namespace',
    name: 'crm',
    description: 'Customers.',
    tools: [{ type: 'function', name: 'get', parameters: { type: 'object', properties: {} } }],
  },
  // Some providers take no such name.
  { type: 'function', name: 'fs.read', parameters: { type: 'object', properties: {} } },
]
const BODY = { model: 'acme/one', input: 'Hi', tools: TOOLS, include: ['reasoning.encrypted_content'] }
const CALLS = [
  { name: 'apply_patch', input: { input: PATCH } },
  { name: 'crm__get', input: { id: 1 } },
  { name: 'fs_read', input: {} },
]
const FAKES: Readonly<Record<string, FakeAnswer>> = {
  messages: strictMessages(
    answersMessages({
      words: ['.'],
      stop: 'tool_use',
      blocks: CALLS.map((call, nth) => ({ type: 'tool_use', id: `c${nth}`, ...call })),
    }),
  ),
  gemini: strictGemini({ words: [], calls: CALLS.map(({ name, input }) => ({ name, args: input })) }),
}
const EXPECTED = [
  { type: 'custom_tool_call', name: 'apply_patch', input: PATCH },
  { type: 'function_call', name: 'get', namespace: 'crm', arguments: '{"id":1}' },
  { type: 'function_call', name: 'fs.read', arguments: '{}' },
]

async function rigged(t: Test, protocol: string) {
  const front = await openChatProvider(t, {
    firstProvider: { protocol: protocol === 'gemini' ? 'google' : 'anthropic' },
    firstFacts: { speaks: [protocol], upstream_model: 'gemini-2.5-flash' },
  })
  front.first.usually(FAKES[protocol] ?? (() => undefined))
  return {
    first: front.first,
    send: (more: object = {}) =>
      fetch(`${front.url}/api/v1/responses`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: JSON.stringify({ ...BODY, ...more }),
      }),
  }
}

interface Item {
  readonly type: string
}
const callsOf = (output: readonly Item[]): readonly Item[] =>
  output.filter(({ type }) => type.endsWith('_call'))

for (const protocol of ['messages', 'gemini'])
  t.test(
    `freeform and namespaced tools at ${protocol}: calls and the next turn, streamed and whole`,
    async (t) => {
      const { send, first } = await rigged(t, protocol)
      const whole = await send()
      t.equal(whole.headers.get('x-sluice-dropped'), null)
      const { output } = (await whole.json()) as { readonly output: readonly Item[] }
      t.match(callsOf(output), EXPECTED)
      const streamed = await send({ stream: true })
      const events = eventsIn(Buffer.from(await streamed.arrayBuffer()))
      const { response } = events.at(-1) as { readonly response: { readonly output: readonly Item[] } }
      t.match(callsOf(response.output), EXPECTED)
      const deltas = events.filter(({ type }) => type === 'response.custom_tool_call_input.delta')
      t.equal(deltas.map(({ delta }) => delta).join(''), PATCH)
      const results = [
        {
          type: 'custom_tool_call_output',
          call_id: Reflect.get(callsOf(output)[0] ?? {}, 'call_id'),
          output: 'ok',
        },
        {
          type: 'function_call_output',
          call_id: Reflect.get(callsOf(output)[1] ?? {}, 'call_id'),
          output: 'ok',
        },
        {
          type: 'function_call_output',
          call_id: Reflect.get(callsOf(output)[2] ?? {}, 'call_id'),
          output: 'ok',
        },
      ]
      const next = await send({ input: [{ role: 'user', content: 'Hi' }, ...output, ...results] })
      t.equal(next.status, 200, await next.text())
      const sent = first.calls.at(-1)?.body.toString() ?? ''
      for (const { name } of CALLS) t.ok(sent.includes(`"name":"${name}"`), name)
    },
  )
