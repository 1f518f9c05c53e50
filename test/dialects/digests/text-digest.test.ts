/** What is read of the bodies of all dialects alike. */
import t from 'tap'
import { providerBody } from '../../../src/schemas/inference/provider-body.ts'
import { DIALECTS, type Dialect, type TextInput } from '../../../src/schemas/inference/text-request.ts'
import { keptChat } from '../../support/inference/kept-chat.ts'

const LEAST: Readonly<Record<Dialect, object>> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x' },
  messages: { messages: [{ role: 'user', content: 'x' }], max_tokens: 5 },
}
const provider = { require_parameters: true }

function digestOf(dialect: Dialect, more: object): TextInput {
  const body = { model: 'm', provider, ...LEAST[dialect], ...more }
  return keptChat(JSON.stringify(body), { dialect }).digest
}

const parametersOf = (dialect: Dialect, more: object): readonly string[] => digestOf(dialect, more).parameters

const schema = { type: 'json_schema', name: 'n', schema: {} }
const PARAMETERS: readonly (readonly [Dialect, object, readonly string[]])[] = [
  ['chat', {}, []],
  ['chat', { max_tokens: 5, max_completion_tokens: 5, seed: 1, stop: ['x'] }, ['max_tokens', 'seed', 'stop']],
  ['chat', { seed: null, tools: [], constructor: 1, toString: 1, unknown: 1 }, []],
  ['chat', { response_format: { type: 'text' } }, []],
  ['chat', { response_format: { type: 'json_object' } }, ['response_format']],
  ['chat', { response_format: { type: 'constructor' } }, []],
  ['chat', { response_format: { type: 'json_schema', json_schema: {} } }, ['structured_outputs']],
  ['chat', { reasoning_effort: 'low', reasoning: { effort: 'low' } }, ['reasoning']],
  ['responses', { max_output_tokens: 5, top_p: 1 }, ['max_tokens', 'top_p']],
  ['responses', { text: { format: { type: 'text' }, verbosity: 'low' } }, []],
  ['responses', { text: { format: schema } }, ['structured_outputs']],
  ['messages', { stop_sequences: ['x'], top_k: 3 }, ['max_tokens', 'stop', 'top_k']],
  ['messages', { stop_sequences: [], thinking: { type: 'disabled' } }, ['max_tokens']],
  ['messages', { thinking: { type: 'adaptive' } }, ['max_tokens', 'reasoning']],
  ['messages', { output_config: { effort: 'low' } }, ['max_tokens', 'reasoning']],
  ['messages', { output_config: { format: schema } }, ['max_tokens', 'structured_outputs']],
  [
    'messages',
    { output_format: schema, tools: [{ name: 'f', input_schema: {} }] },
    ['max_tokens', 'structured_outputs', 'tools'],
  ],
]

t.test('require_parameters requires the parameters of a body, by their names in the catalogue', async (t) => {
  for (const [dialect, more, names] of PARAMETERS)
    t.same([...parametersOf(dialect, more)].sort(), names, `${dialect} ${JSON.stringify(more)}`)
  t.same(parametersOf('chat', { seed: 1, provider: { require_parameters: false } }), [])
  t.same(parametersOf('chat', { seed: 1, provider: null }), [])
})

const DEAR: readonly (readonly [object, string | null])[] = [
  [{}, null],
  ...['auto', 'default', 'priority', null].map((service_tier) => [{ service_tier }, null] as const),
  ...['', 7, {}, true].map((service_tier) => [{ service_tier }, 'service_tier'] as const),
  [{ speed: 'fast', inference_geo: 'us', fallbacks: [] }, null],
  [{ fallbacks: [{ model: 'dear' }] }, 'fallbacks'],
  [{ fallbacks: 'default' }, 'fallbacks'],
  ...[null, {}, [], { edits: null }, { edits: [] }].map(
    (context_management) => [{ context_management }, null] as const,
  ),
  [{ context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }, null],
  [
    { context_management: { edits: [{ type: 'clear_tool_uses_20250919' }, { type: 'compact_20260112' }] } },
    null,
  ],
  ...[
    [{ type: 'compaction', compact_threshold: 1_000 }],
    { edits: [{ type: 'clear_thinking_20251015' }, { type: 'rewrite_20270101' }] },
    ...[{ edits: [null] }, { edits: ['compact_20260112'] }, { edits: { type: 'compact_20260112' } }],
    ...['auto', true, 1, [{}], [{ type: ['compaction'] }]],
  ].map((context_management) => [{ context_management }, 'context_management'] as const),
]

t.test(
  'names the member that may make a call cost more than the catalogue price, in all dialects',
  async (t) => {
    for (const dialect of DIALECTS)
      for (const [more, name] of DEAR)
        t.equal(digestOf(dialect, more).dearMember, name, `${dialect} ${JSON.stringify(more)}`)
  },
)

t.test('tiers, speeds and regions that a body requests have the names of price modifiers', async (t) => {
  for (const dialect of DIALECTS)
    for (const [more, tiers] of [
      [{}, {}],
      [{ service_tier: 'auto', speed: null, inference_geo: 7 }, {}],
      [{ service_tier: 'standard_only' }, { service_tier: 'default' }],
      [
        { service_tier: 'Fast', speed: 'fast' },
        { service_tier: 'priority', speed: 'fast' },
      ],
      [{ inference_geo: 'us' }, { inference_geo: 'us' }],
    ] as const)
      t.same(digestOf(dialect, more).tiers, tiers, `${dialect} ${JSON.stringify(more)}`)
})

t.test('finds the path of a request to summarize the input', async (t) => {
  const pathOf = (more: object): unknown => digestOf('messages', more).compactionPath
  const compact = { type: 'compact_20260112' }
  const clear = { type: 'clear_tool_uses_20250919' }
  t.equal(pathOf({ context_management: { edits: [clear, compact] } }), '/context_management')
  t.equal(pathOf({ compaction: { type: 'summarize' } }), '/compaction')
  for (const none of [{}, { compaction: null }, { context_management: { edits: [clear] } }])
    t.equal(pathOf(none), undefined)
})

const STATE: readonly (readonly [Dialect, object, string | undefined])[] = [
  ...[undefined, null, false].map((store) => ['chat', { store }, undefined] as const),
  ...[true, 1, 'true', {}].map((store) => ['chat', { store }, '/store'] as const),
  ...(['chat', 'responses'] as const).flatMap((dialect) => [
    ...[null, 'x', {}, { ttl: '30m', comparison_response_id: null }].map(
      (prompt_cache_options) => [dialect, { prompt_cache_options }, undefined] as const,
    ),
    [
      dialect,
      { prompt_cache_options: { comparison_response_id: 'resp_1' } },
      '/prompt_cache_options/comparison_response_id',
    ] as const,
  ]),
  ['responses', { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, '/tools/0/container'],
  ['responses', { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, undefined],
  [
    'responses',
    {
      tools: [{ type: 'shell', environment: { type: 'container_auto' } }],
      input: [
        {
          ...{ type: 'additional_tools', role: 'developer' },
          tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }],
        },
      ],
    },
    '/input/0/tools/0/environment/container_id',
  ],
  ...[null, { thread: null, container: null, diagnostics: null }, { diagnostics: {} }].map(
    (more) => ['messages', { ...more }, undefined] as const,
  ),
  ['messages', { thread: { type: 'create' } }, '/thread'],
  ['messages', { thread: { type: 'continue', previous_message_id: 'msg_1' } }, '/thread'],
  ...['container_1', '', ['container_1'], 7].map(
    (container) => ['messages', { container }, '/container'] as const,
  ),
  ['messages', { container: { id: 'container_1', skills: [] } }, '/container/id'],
  ['messages', { container: { id: null, skills: [{ type: 'anthropic', skill_id: 'pdf' }] } }, undefined],
  ['messages', { diagnostics: { previous_message_id: 'msg_1' } }, '/diagnostics/previous_message_id'],
  ['messages', { diagnostics: { previous_message_id: null } }, undefined],
]

t.test('gives the path of state that a provider has stored, or is asked to store', async (t) => {
  for (const [dialect, more, path] of STATE)
    t.equal(digestOf(dialect, more).statePath, path, `${dialect} ${JSON.stringify(more)}`)
  const isStored = (thread: unknown): unknown => digestOf('messages', { thread }).size.hasStored
  for (const none of [null, undefined, { type: 'create' }]) t.equal(isStored(none), false)
  for (const stored of [{ type: 'continue' }, 'msg_1', {}]) t.equal(isStored(stored), true)
})

t.test('audio that the provider has stored counts as audio of the request', async (t) => {
  const audioOf = (audio: unknown): number =>
    digestOf('chat', { messages: [{ role: 'assistant', content: null, audio }] }).size.media.audio
  t.equal(audioOf({ id: 'audio_1' }), 1)
  for (const none of [null, undefined, {}, { id: null }]) t.equal(audioOf(none), 0)
})

t.test('when such a member occurs twice, only the last one, which was read, is sent', async (t) => {
  const twice =
    '{"model":"m","input":"x","speed":"fast","service_tier":"priority","service_tier":"flex","speed":null}'
  const { digest, body } = keptChat(twice, { dialect: 'responses' })
  t.equal(digest.dearMember, null)
  t.equal(
    Buffer.concat(providerBody(body, [])).toString(),
    '{"model":"m","input":"x","service_tier":"flex","speed":null}',
  )
})
