/**
 * Chats by presets: the request that the provider gets, that of the built-in model, and the refusals. D10,
 * C19.
 */
import t from 'tap'
import { INLINE_JSON_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { fail } from '../../../../src/schemas/failures.ts'
import { openChat } from '../../../support/inference/chat-front.ts'
import { openChatProvider } from '../../../support/inference/chat-provider-front.ts'
import { bodyOf, strictChat } from '../../../support/inference/fake-chat.ts'
import { memoryConfigs, MemoryVersion, type MemoryPresets } from '../../../support/presets/presets.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import { present } from '../../../support/must.ts'

const tool = (name: string): object => ({ type: 'function', function: { name } })
const PRESETS: MemoryPresets = {
  helper: [
    { model: 'acme/one' },
    new MemoryVersion(
      { model: 'acme/one', temperature: 0.5, max_tokens: 3, tools: [tool('f'), tool('g')] },
      { systemPrompt: 'Be "brief".' },
    ),
  ],
  bare: [{ temperature: 0.5 }],
  other: [
    new MemoryVersion(
      { model: 'acme/one', max_output_tokens: 3, text: { verbosity: 'low' }, truncation: 'auto' },
      { systemPrompt: 'Be brief.', source: 'responses' },
    ),
  ],
  echo: [new MemoryVersion({ model: 'sluice/echo-1', max_tokens: 1 }, { systemPrompt: 'one two three' })],
  web: [{ model: 'acme/one', plugins: [{ id: 'web' }] }],
  chain: [{ model: 'acme/none', models: ['acme/one'] }],
  strict: [{ model: 'acme/one', top_k: 4 }],
  archived: [{ model: 'acme/one' }],
}
const presetConfigs = memoryConfigs(PRESETS, 'w')
const messages = [{ role: 'user', content: 'Hello there' }]

t.test('200: a preset fills members that the request lacks, by each form of its name', async (t) => {
  const { post, first, rest } = await openChatProvider(t, { presetConfigs })
  const names = [
    { model: '@preset/helper' },
    { preset: 'helper' },
    { model: 'acme/one@preset/helper@2' },
    { model: '@preset/helper', preset: 'helper' },
  ]
  for (const stream of [true, false]) {
    for (const name of names) {
      const response = await post({ ...name, messages, stream })
      t.equal(response.status, 200)
      t.match(await response.text(), /"model":"acme\/one"/)
      const sent = bodyOf(present(first.calls.at(-1)))
      t.match(sent, { model: 'first-model', temperature: 0.5, max_tokens: 3, tools: [tool('f'), tool('g')] })
      t.same(sent['messages'], [{ role: 'system', content: 'Be "brief".' }, ...messages])
      t.notOk('preset' in sent)
    }
  }
  const pinned = await post({ model: '@preset/helper@1', messages })
  t.equal(pinned.status, 200)
  t.notOk('temperature' in bodyOf(present(first.calls.at(-1))))
  t.equal(await rest(), 0)
})

t.test('200: members of the request win, except tools, which are joined', async (t) => {
  const { post, first } = await openChatProvider(t, { presetConfigs })
  const own = { temperature: 0, max_completion_tokens: 9, tools: [tool('g'), tool('h')], stop: null }
  await post({ model: 'acme/chat@preset/helper', messages, ...own })
  const sent = bodyOf(present(first.calls[0]))
  t.match(sent, { temperature: 0, max_completion_tokens: 9, tools: [tool('g'), tool('h'), tool('f')] })
  t.notOk('max_tokens' in sent)
})

t.test('200: a body parsed in a worker thread is merged like a small one and frees its memory', async (t) => {
  const { post, first, rest } = await openChatProvider(t, { presetConfigs })
  const content = 'é '.repeat(INLINE_JSON_BYTES_MAX)
  const response = await post({ preset: 'helper', messages: [{ role: 'user', content }], stream: true })
  t.equal(response.status, 200)
  await response.text()
  t.same(bodyOf(present(first.calls[0]))['messages'], [
    { role: 'system', content: 'Be "brief".' },
    { role: 'user', content },
  ])
  t.equal(await rest(), 0)
})

t.test('200: the prompt of the preset is included in the maximum cost of the call', async (t) => {
  const spend = keptSpend()
  const { post } = await openChatProvider(t, { presetConfigs, spend })
  await post({ model: 'acme/one', messages, max_tokens: 3, tools: [tool('f'), tool('g')], temperature: 0.5 })
  await post({ preset: 'helper', messages })
  const [without, by] = spend.holds.map(({ ask }) => ask.bound.anyNano ?? 0)
  t.ok((by ?? 0) > (without ?? 0))
})

t.test('200: the built-in model sees the merged request', async (t) => {
  const { post } = await openChat(t, { presetConfigs })
  const response = await post({ preset: 'echo', messages })
  t.match(await response.json(), {
    choices: [{ message: { content: 'Hello' }, finish_reason: 'length' }],
    usage: { prompt_tokens: 5, completion_tokens: 1 },
  })
})

t.test('200: fields of a preset in another dialect are translated, or reported as dropped', async (t) => {
  const { post, first } = await openChatProvider(t, { presetConfigs })
  const response = await post({ preset: 'other', messages, transforms: ['x'] })
  t.equal(response.headers.get('x-sluice-dropped'), 'transforms,truncation')
  t.same(bodyOf(present(first.calls[0])), {
    ...{ model: 'first-model', max_tokens: 3, verbosity: 'low' },
    messages: [{ role: 'system', content: 'Be brief.' }, messages[0]],
  })
})

t.test('200: a strict provider gets no member of a preset that it would refuse', async (t) => {
  const { post, first } = await openChatProvider(t, { presetConfigs, firstProvider: { strict: true } })
  first.usually(strictChat())
  const response = await post({ preset: 'strict', messages })
  t.equal(response.headers.get('x-sluice-dropped'), 'top_k')
})

t.test('200: the models of a preset are tried after the model of the request', async (t) => {
  const { post } = await openChatProvider(t, { presetConfigs })
  const response = await post({ model: 'acme/other@preset/chain', messages, provider: { only: ['first'] } })
  t.match(await response.json(), { model: 'acme/one' })
})

t.test('400 404 503: refuses invalid, unknown and unavailable presets like embeddings', async (t) => {
  const { post, first } = await openChatProvider(t, { presetConfigs })
  const refused = async (body: object): Promise<unknown> => {
    const response = await post({ messages, ...body })
    const { error } = (await response.json()) as { error: { type: string; param: string | null } }
    return [response.status, error.type, error.param]
  }
  t.same(await refused({}), [400, 'body_invalid', 'model'])
  t.same(await refused({ model: null }), [400, 'body_invalid', 'model'])
  t.same(await refused({ preset: 'none' }), [404, 'preset_unknown', null])
  t.same(await refused({ preset: 'archived' }), [404, 'preset_unknown', null])
  t.same(await refused({ preset: 'helper@9' }), [404, 'preset_version_unknown', null])
  t.same(await refused({ preset: 'a b' }), [400, 'body_invalid', 'preset'])
  t.same(await refused({ model: '@preset/' }), [400, 'preset_reference_invalid', null])
  t.same(await refused({ model: '@preset/helper', preset: 'bare' }), [400, 'presets_differ', null])
  t.same(await refused({ preset: 'bare' }), [400, 'preset_without_model', null])
  t.same(await refused({ preset: 'chain' }), [404, 'model_unknown', 'model'])
  t.same(await refused({ preset: 'web' }), [400, 'not_supported', 'plugins'])
  t.equal(first.calls.length, 0)
  const away = { find: () => Promise.resolve(fail('store_unavailable', { retryAfterS: 1 })) }
  const other = await openChat(t, { presetConfigs: away })
  t.equal((await other.post({ preset: 'echo', messages })).status, 503)
})
