import t from 'tap'
import { OPENAI_ROWS, readPreset, testFields, type FieldRow } from '../../support/presets/preset-tables.ts'

const read = (messages: unknown, more: object = {}) => readPreset('preset_chat', { messages, ...more })
const promptOf = (messages: unknown) =>
  (read(messages) as { input: { systemPrompt: string | null } }).input.systemPrompt

const FUNCTION = {
  type: 'function',
  function: { name: 'look', description: 'd', parameters: { any: { thing: 1 } }, strict: null },
  cache_control: { type: 'ephemeral' },
}
const user = (content: unknown): object => ({ role: 'user', content })

const ROWS: Readonly<Record<string, FieldRow>> = {
  ...OPENAI_ROWS,
  max_tokens: {
    kept: [100],
    silent: [null],
    refused: [
      ['1', '/max_tokens'],
      [0.5, '/max_tokens'],
    ],
  },
  max_completion_tokens: { kept: [100], silent: [null], refused: [['1', '/max_completion_tokens']] },
  top_k: { kept: [40], silent: [null], refused: [[0.5, '/top_k']] },
  stop: {
    kept: ['end', ['a', 'b']],
    silent: [null],
    refused: [
      [5, '/stop'],
      [[5], '/stop/0'],
    ],
  },
  seed: { kept: [7], silent: [null], refused: [['7', '/seed']] },
  response_format: {
    kept: [
      { type: 'text' },
      { type: 'json_object' },
      { type: 'json_schema', json_schema: { name: 'n', schema: { a: 1 }, strict: true } },
      { type: 'grammar', grammar: 'g' },
      { type: 'python' },
    ],
    refused: [
      [{ type: 'xml' }, '/response_format/type'],
      [{ type: 'json_schema', json_schema: {} }, '/response_format/json_schema/name'],
      ['text', '/response_format'],
    ],
  },
  logit_bias: {
    kept: [{ 50256: -100 }, {}],
    silent: [null],
    refused: [
      [{ 1: 'x' }, '/logit_bias/1'],
      [[], '/logit_bias'],
    ],
  },
  logprobs: { kept: [true], silent: [null], refused: [[1, '/logprobs']] },
  min_p: { kept: [0.1], silent: [null], refused: [['x', '/min_p']] },
  top_a: { kept: [0.1], silent: [null], refused: [['x', '/top_a']] },
  repetition_penalty: { kept: [1.1], silent: [null], refused: [['x', '/repetition_penalty']] },
  reasoning: {
    kept: [{ effort: 'high', exclude: true }],
    silent: [null],
    refused: [
      [{ effort: 'x' }, '/reasoning/effort'],
      [{ exclude: 1 }, '/reasoning/exclude'],
    ],
  },
  reasoning_effort: { kept: ['minimal'], silent: [null], refused: [['x', '/reasoning_effort']] },
  include_reasoning: { kept: [true], silent: [null], refused: [['x', '/include_reasoning']] },
  verbosity: { kept: ['low'], silent: [null], refused: [['x', '/verbosity']] },
  modalities: { kept: [['text', 'image', 'audio']], silent: [null], refused: [[['video'], '/modalities/0']] },
  audio: { kept: [{ voice: 'v', format: 'mp3' }], silent: [null], refused: [['x', '/audio']] },
  web_search_options: {
    kept: [{ search_context_size: 'low' }],
    silent: [null],
    refused: [['x', '/web_search_options']],
  },
  transforms: {
    kept: [['middle-out'], []],
    silent: [null],
    refused: [
      ['x', '/transforms'],
      [[5], '/transforms/0'],
    ],
  },
  tools: {
    kept: [
      [FUNCTION],
      [
        { type: 'openrouter:web_search', parameters: { a: 1 } },
        { type: 'web_search_preview', max_results: 5 },
        { type: 'custom', custom: { name: 'c', format: { a: 1 } } },
      ],
      [],
    ],
    keptAs: [[[{ ...FUNCTION, name: 'x' }], [FUNCTION]]],
    refused: [
      [[{ type: 'function' }], '/tools/0/function'],
      [[{ type: 'function', function: {} }], '/tools/0/function/name'],
      [[{ type: 'other' }], '/tools/0/type'],
      [[{ type: 'function', function: { name: 'x', parameters: 5 } }], '/tools/0/function/parameters'],
      [{}, '/tools'],
    ],
  },
  tool_choice: {
    kept: [
      'auto',
      'none',
      'required',
      { type: 'function', function: { name: 'look' } },
      { type: 'openrouter:web_search' },
      { type: 'custom', custom: { name: 'c' } },
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function' }] } },
    ],
    refused: [
      ['any', '/tool_choice'],
      [{ type: 'function', name: 'look' }, '/tool_choice/function'],
      [{ type: 'other' }, '/tool_choice/type'],
    ],
  },
  stream_options: { ignored: [{ include_usage: true }], silent: [null], refused: [['x', '/stream_options']] },
  prediction: {
    ignored: [{ type: 'content', content: 'x' }],
    silent: [null],
    refused: [['x', '/prediction']],
  },
  store: { ignored: [true], silent: [false, null], refused: [['x', '/store']] },
  messages: {
    ignored: [
      [],
      [
        user('hi'),
        user([
          { type: 'text', text: 'hi' },
          { type: 'image_url', image_url: { url: 'x' } },
        ]),
      ],
      [
        { role: 'assistant', tool_calls: [{}] },
        { role: 'assistant', content: null },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
      ],
      [['input_audio', 'file', 'video_url', 'input_video', 'refusal'].map((type) => ({ type }))].map(user),
    ],
    refused: [
      [null, '/messages'],
      ['hi', '/messages'],
      [[5], '/messages/0'],
      [[{ role: 'boss', content: 'x' }], '/messages/0/role'],
      [[{ content: 'x' }], '/messages/0/role'],
      [[{ role: 'user' }], '/messages/0/content'],
      [[user(5)], '/messages/0/content'],
      [[user([{ type: 'other' }])], '/messages/0/content/0/type'],
      [[user([{ type: 'text' }])], '/messages/0/content/0/text'],
      [[{ role: 'tool', content: 'x' }], '/messages/0/tool_call_id'],
      [[{ role: 'system', content: [{ type: 'image_url', text: 'x' }] }], '/messages/0/content/0/type'],
      [[user('x'), { role: 'system', content: null }], '/messages/1/content'],
    ],
  },
}

testFields(t, { body: 'preset_chat', needs: { messages: [] }, rows: ROWS })

t.test('messages are required', async (t) => {
  t.same(readPreset('preset_chat', { model: 'a/b' }), { failure: 'body_invalid', paths: ['/messages'] })
})

t.test(
  'system and developer messages become the system prompt, in order, with a blank line between them',
  async (t) => {
    t.equal(
      promptOf([
        { role: 'system', content: 'Be brief.' },
        user('hi'),
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'Be ' },
            { type: 'text', text: 'kind.' },
          ],
        },
      ]),
      'Be brief.\n\nBe kind.',
    )
    t.equal(promptOf([{ role: 'system', content: '' }]), '')
    t.equal(promptOf([user('hi')]), null)
  },
)

t.test('refuses a previous response, which this form does not have', async (t) => {
  t.match(read([], { previous_response_id: 'r' }), { failure: 'previous_response_unsupported' })
})
