/** Calls of responses by presets: the request that the provider gets. D10, C19. */
import t from 'tap'
import { openChatProvider, type ChatProviderFront } from '../../../support/inference/chat-provider-front.ts'
import { bodyOf } from '../../../support/inference/fake-chat.ts'
import { answersResponses } from '../../../support/inference/fake-responses.ts'
import { present } from '../../../support/must.ts'
import { memoryConfigs, MemoryVersion } from '../../../support/presets/presets.ts'
import type { Teardown } from '../../../support/teardown.ts'

const tool = (name: string): object => ({ type: 'function', name, parameters: null })
const SCHEMA = { name: 'city', strict: true, schema: { type: 'object' } }
const presetConfigs = memoryConfigs(
  {
    own: [
      new MemoryVersion(
        {
          model: 'acme/one',
          temperature: 0.5,
          max_output_tokens: 3,
          text: { verbosity: 'low' },
          tools: [tool('f'), { type: 'web_search' }],
          top_k: 4,
        },
        { systemPrompt: 'Be "brief".', source: 'responses' },
      ),
    ],
    chat: [
      new MemoryVersion(
        {
          model: 'acme/one',
          max_tokens: 3,
          seed: 7,
          reasoning_effort: 'low',
          response_format: { type: 'json_schema', json_schema: SCHEMA },
          tools: [{ type: 'function', function: { name: 'f', parameters: { a: 1 } } }],
          tool_choice: { type: 'function', function: { name: 'f' } },
        },
        { source: 'chat' },
      ),
    ],
    messages: [
      new MemoryVersion(
        {
          model: 'acme/one',
          max_tokens: 4,
          stop_sequences: ['x'],
          tools: [
            { name: 'f', input_schema: { b: 1 } },
            { type: 'bash_20250124', name: 'bash' },
          ],
        },
        { source: 'messages' },
      ),
    ],
    storing: [{ model: 'acme/one' }],
  },
  'w',
)

async function open(t: Teardown): Promise<ChatProviderFront> {
  const front = await openChatProvider(t, {
    path: '/responses',
    providers: { speaks: ['responses'] },
    presetConfigs,
  })
  front.first.usually(answersResponses())
  return front
}

t.test('a preset fills members missing in the request, and its prompt comes first', async (t) => {
  const { post, first, rest } = await open(t)
  for (const stream of [true, false]) {
    for (const own of [{}, { instructions: null }, { instructions: 'In "English".' }]) {
      const response = await post({ preset: 'own', input: 'Hello', stream, ...own })
      t.equal(response.status, 200)
      await response.text()
      const { instructions = null } = own as { readonly instructions?: string | null }
      t.same(bodyOf(present(first.calls.at(-1))), {
        model: 'first-model',
        input: 'Hello',
        stream,
        store: false,
        instructions: instructions === null ? 'Be "brief".' : `Be "brief".\n\n${instructions}`,
        temperature: 0.5,
        max_output_tokens: 3,
        text: { verbosity: 'low' },
        top_k: 4,
        tools: [tool('f'), { type: 'web_search' }],
      })
    }
  }
  const tools = [{ type: 'web_search', x: 1 }, tool('g')]
  await (await post({ model: 'acme/one@preset/own', input: 'x', tools, temperature: 0 })).text()
  const sent = bodyOf(present(first.calls.at(-1)))
  t.match(sent, { temperature: 0, tools: [...tools, tool('f')] })
  t.equal(await rest(), 0)
})

t.test('fields of a preset in another dialect are translated, or reported as dropped', async (t) => {
  const { post, first } = await open(t)
  const chat = await post({ preset: 'chat', input: 'x' })
  t.equal(chat.headers.get('x-sluice-dropped'), 'seed')
  t.same(bodyOf(present(first.calls[0])), {
    model: 'first-model',
    input: 'x',
    store: false,
    max_output_tokens: 3,
    reasoning: { effort: 'low' },
    text: { format: { type: 'json_schema', ...SCHEMA } },
    // Chats are not strict where they say nothing, and responses are.
    tools: [{ type: 'function', name: 'f', parameters: { a: 1 }, strict: false }],
    tool_choice: { type: 'function', name: 'f' },
  })
  const messages = await post({ preset: 'messages', input: 'x' })
  t.equal(messages.headers.get('x-sluice-dropped'), 'tools,stop_sequences')
  t.match(bodyOf(present(first.calls[1])), {
    max_output_tokens: 4,
    tools: [{ type: 'function', name: 'f', parameters: { b: 1 } }],
  })
})
