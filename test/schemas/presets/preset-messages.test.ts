import t from 'tap'
import { COMMON_ROWS, readPreset, testFields, type FieldRow } from '../../support/presets/preset-tables.ts'

const promptOf = (system: unknown) =>
  (readPreset('preset_messages', { system, messages: [] }) as { input: { systemPrompt: string | null } })
    .input.systemPrompt
const TOOL = {
  name: 'look',
  input_schema: { type: 'object', any: { thing: 1 } },
  description: 'd',
  cache_control: { type: 'ephemeral', ttl: '5m' },
}
const user = (content: unknown): object => ({ role: 'user', content })

const ROWS: Readonly<Record<string, FieldRow>> = {
  ...COMMON_ROWS,
  max_tokens: {
    kept: [1024],
    silent: [null],
    refused: [
      ['1', '/max_tokens'],
      [0.5, '/max_tokens'],
    ],
  },
  stop_sequences: {
    kept: [['a', 'b']],
    refused: [
      ['a', '/stop_sequences'],
      [[5], '/stop_sequences/0'],
    ],
  },
  thinking: {
    kept: [
      { type: 'enabled', budget_tokens: 2048, display: 'omitted' },
      { type: 'disabled' },
      { type: 'adaptive', display: null },
    ],
    refused: [
      [{ type: 'enabled' }, '/thinking/budget_tokens'],
      [{ type: 'other' }, '/thinking/type'],
      ['enabled', '/thinking'],
    ],
  },
  tools: {
    kept: [
      [
        TOOL,
        {
          ...TOOL,
          type: 'custom',
          defer_loading: true,
          strict: true,
          eager_input_streaming: null,
          input_examples: [{ a: 1 }],
          allowed_callers: ['direct'],
        },
      ],
      [
        { type: 'bash_20250124', name: 'bash' },
        { type: 'openrouter:web_search', parameters: {} },
      ],
    ],
    keptAs: [[[{ ...TOOL, colour: 'red' }], [TOOL]]],
    refused: [
      [{}, '/tools'],
      [[{ name: 'x' }], '/tools/0/input_schema'],
      [[{ ...TOOL, name: 5 }], '/tools/0/name'],
      [[{ ...TOOL, type: 'custom', input_schema: 5 }], '/tools/0/input_schema'],
      [[{ type: '' }], '/tools/0/type'],
      [[5], '/tools/0'],
    ],
  },
  tool_choice: {
    kept: [
      { type: 'auto', disable_parallel_tool_use: true },
      { type: 'any' },
      { type: 'none' },
      { type: 'tool', name: 'look' },
    ],
    refused: [
      ['auto', '/tool_choice'],
      [{ type: 'tool' }, '/tool_choice/name'],
      [{ type: 'other' }, '/tool_choice/type'],
      [{ type: 'any', disable_parallel_tool_use: 1 }, '/tool_choice/disable_parallel_tool_use'],
    ],
  },
  output_config: {
    kept: [{ effort: 'low', format: { type: 'json_schema', schema: {} } }],
    refused: [['x', '/output_config']],
  },
  context_management: {
    kept: [{ edits: [{ type: 'compact_20260112' }] }],
    silent: [null],
    refused: [['x', '/context_management']],
  },
  fallbacks: {
    kept: [[{ model: 'a/b' }]],
    silent: [null],
    refused: [
      ['x', '/fallbacks'],
      [[5], '/fallbacks/0'],
    ],
  },
  service_tier: {
    kept: ['standard_only', 'priority'],
    keptAs: [['fast', 'priority']],
    silent: ['auto'],
    refused: [
      [5, '/service_tier'],
      ['', '/service_tier'],
    ],
  },
  speed: { kept: ['fast'], silent: [null], refused: [[5, '/speed']] },
  metadata: {
    ignored: [{ user_id: 'u' }, { user_id: null }],
    refused: [
      [{ user_id: 5 }, '/metadata/user_id'],
      ['x', '/metadata'],
    ],
  },
  messages: {
    ignored: [
      [],
      [
        user('hi'),
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'x' },
            { type: 'tool_use', id: 'i' },
          ],
        },
        { role: 'system', content: 'x' },
      ],
    ],
    silent: [null],
    refused: [
      ['x', '/messages'],
      [[{ role: 'boss', content: 'x' }], '/messages/0/role'],
      [[{ role: 'user' }], '/messages/0/content'],
      [[user(null)], '/messages/0/content'],
      [[user([{ type: 'text' }])], '/messages/0/content/0/text'],
      [[user([{ text: 'x' }])], '/messages/0/content/0/type'],
      [[5], '/messages/0'],
    ],
  },
}

testFields(t, { body: 'preset_messages', needs: { messages: null }, rows: ROWS })

t.test('messages are required', async (t) => {
  t.same(readPreset('preset_messages', { model: 'a/b' }), { failure: 'body_invalid', paths: ['/messages'] })
})

t.test('the system prompt is a text, or blocks of text with a blank line between them', async (t) => {
  t.equal(promptOf('Be brief.'), 'Be brief.')
  t.equal(
    promptOf([
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'Be kind.' },
    ]),
    'Be brief.\n\nBe kind.',
  )
  t.equal(promptOf([]), null)
  t.match(readPreset('preset_messages', { system: 'x', messages: null }), {
    input: { ignored: [], config: {} },
  })
  const refusals = [
    [5, '/system'],
    [[{ type: 'image', text: 'x' }], '/system/0/type'],
    [[{ type: 'text' }], '/system/0/text'],
  ] as const
  for (const [system, path] of refusals)
    t.same(
      readPreset('preset_messages', { system, messages: [] }),
      { failure: 'body_invalid', paths: [path] },
      path,
    )
})
