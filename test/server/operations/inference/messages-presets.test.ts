/** Messages that use a preset: the parts of it that the provider gets, in the form of messages. */
import t from 'tap'
import { bodyOf } from '../../../support/inference/fake-chat.ts'
import { openMessagesProvider } from '../../../support/inference/messages-front.ts'
import { present } from '../../../support/must.ts'
import { memoryConfigs, MemoryVersion, type MemoryPresets } from '../../../support/presets/presets.ts'

const tool = (name: string): object => ({ name, input_schema: { type: 'object' } })
const chatTool = (name: string): object => ({ type: 'function', function: { name, parameters: {} } })
const CONFIG = { model: 'acme/one', temperature: 0.5, max_tokens: 3, tools: [tool('f'), tool('g')] }
const OF_CHAT = {
  ...{ model: 'acme/one', max_completion_tokens: 5, stop: 'x', seed: 1, tool_choice: 'required' },
  tools: [chatTool('f'), { type: 'web_search' }],
}
const PRESETS: MemoryPresets = {
  helper: [new MemoryVersion(CONFIG, { systemPrompt: 'Be "brief".', source: 'messages' })],
  ofchat: [new MemoryVersion(OF_CHAT, { source: 'chat' })],
  short: [new MemoryVersion({ temperature: 0 }, { systemPrompt: 'x', source: 'messages' })],
}
const presetConfigs = memoryConfigs(PRESETS, 'w')
const messages = [{ role: 'user', content: 'Hello there' }]
const brief = { type: 'text', text: 'Be "brief".' }

t.test('a preset fills members that the request lacks, including max_tokens', async (t) => {
  const { send, first, rest } = await openMessagesProvider(t, { presetConfigs })
  for (const stream of [true, false]) {
    const response = await send({ model: '@preset/helper', messages, stream })
    t.equal(response.status, 200)
    await response.text()
    t.same(bodyOf(present(first.calls.at(-1))), {
      ...{ model: 'first-model', messages, stream, temperature: 0.5, max_tokens: 3 },
      ...{ tools: [tool('f'), tool('g')], system: 'Be "brief".' },
    })
  }
  t.equal(await rest(), 0)
})

t.test('members of the request win, and tools and system prompts are joined', async (t) => {
  const { send, first } = await openMessagesProvider(t, { presetConfigs })
  const own = { preset: 'helper', messages, max_tokens: 9, temperature: 0, tools: [tool('g'), tool('h')] }
  const cached = { type: 'text', text: 'own', cache_control: { type: 'ephemeral' } }
  const systems: readonly (readonly [unknown, unknown])[] = [
    ['o\u00e9 "wn"', [brief, { type: 'text', text: 'o\u00e9 "wn"' }]],
    [[cached], [brief, cached]],
    [[], [brief]],
    [null, 'Be "brief".'],
  ]
  for (const [system, merged] of systems) {
    await (await send({ ...own, system })).text()
    t.same(bodyOf(present(first.calls.at(-1))), {
      ...{ model: 'first-model', messages, max_tokens: 9, temperature: 0 },
      ...{ tools: [tool('g'), tool('h'), tool('f')], system: merged },
    })
  }
})

t.test('fields of a preset in another dialect are translated, or reported as dropped', async (t) => {
  const { send, first } = await openMessagesProvider(t, { presetConfigs })
  const response = await send({ model: '@preset/ofchat', messages })
  t.equal(response.headers.get('x-sluice-dropped'), 'tools,seed')
  t.same(bodyOf(present(first.calls[0])), {
    ...{ model: 'first-model', messages, max_tokens: 5, stop_sequences: ['x'] },
    ...{ tools: [tool('f')], tool_choice: { type: 'any' } },
  })
})

t.test('a call is refused if neither the request nor the preset has max_tokens', async (t) => {
  const { send, first } = await openMessagesProvider(t, { presetConfigs })
  const response = await send({ model: 'acme/one@preset/short', messages })
  t.equal(response.status, 400)
  t.match(await response.json(), { error: { metadata: { issues: [{ path: '/max_tokens' }] } } })
  t.equal(first.calls.length, 0)
})

t.test('a token count uses the prompt and the tools of a preset, and no other fields', async (t) => {
  const { send, first } = await openMessagesProvider(t, { presetConfigs })
  const response = await send({ model: '@preset/helper', messages }, {}, '/count_tokens')
  t.equal(response.status, 200)
  t.same(bodyOf(present(first.calls[0])), {
    ...{ model: 'first-model', messages, system: 'Be "brief".', tools: [tool('f'), tool('g')] },
  })
})
