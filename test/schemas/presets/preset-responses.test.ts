import t from 'tap'
import {
  PRESET_METADATA_KEY_CHARS_MAX,
  PRESET_METADATA_PAIRS_MAX,
  PRESET_METADATA_VALUE_CHARS_MAX,
  PRESET_TOOL_CALLS_MAX,
  PRESET_USER_CHARS_MAX,
} from '../../../src/schemas/presets/preset-limits.ts'
import { OPENAI_ROWS, readPreset, testFields, type FieldRow } from '../../support/presets/preset-tables.ts'

const read = (body: unknown) => readPreset('preset_responses', body)
const open = (type: string): object => ({ type, whatever: { it: ['has'] } })

const HOSTED = [
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'web_search',
  'web_search_2025_08_26',
  'file_search',
  'computer_use_preview',
  'code_interpreter',
  'mcp',
  'image_generation',
  'local_shell',
  'shell',
  'apply_patch',
  'custom',
  'namespace',
]
const SERVER_TOOLS = [
  'advisor',
  'subagent',
  'datetime',
  'files',
  'fusion',
  'image_generation',
  'experimental__search_models',
  'web_fetch',
  'web_search',
  'apply_patch',
  'bash',
  'shell',
  'tool_search',
].map((name) => `openrouter:${name}`)
const ITEMS = [
  'reasoning',
  'function_call',
  'function_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'custom_tool_call',
  'custom_tool_call_output',
  'compaction',
  'context_compaction',
  'item_reference',
  'additional_tools',
  'agent_message',
  'openrouter:web_search',
  'configuration_update',
  'web_search_call',
  'file_search_call',
  'computer_call',
  'computer_call_output',
  'image_generation_call',
  'code_interpreter_call',
  'tool_search_call',
  'tool_search_output',
  'compaction_trigger',
  'program',
  'program_output',
  'openrouter:what_comes_next',
]
const FUNCTION = {
  type: 'function',
  name: 'look',
  parameters: { type: 'object', properties: { any: { thing: 1 } } },
  strict: true,
}
const part = (type: string): object => ({ role: 'user', content: [{ type, text: 't', refusal: 'r' }] })

const ROWS: Readonly<Record<string, FieldRow>> = {
  ...OPENAI_ROWS,
  max_output_tokens: {
    kept: [1, 4096],
    silent: [null],
    refused: [
      [1.5, '/max_output_tokens'],
      ['1', '/max_output_tokens'],
    ],
  },
  top_k: { kept: [40], silent: [null], refused: [[0.5, '/top_k']] },
  tools: {
    kept: [
      [],
      [FUNCTION, { ...FUNCTION, parameters: null, description: null, strict: null, defer_loading: true }],
      HOSTED.map(open),
      SERVER_TOOLS.map(open),
      SERVER_TOOLS.map((type) => ({ type, parameters: { any: 1 } })),
    ],
    keptAs: [[[{ ...FUNCTION, colour: 'red' }], [FUNCTION]]],
    refused: [
      ['x', '/tools'],
      [[{}], '/tools/0/type'],
      [[{ type: 'other' }], '/tools/0/type'],
      [[{ type: 'openrouter:other' }], '/tools/0/type'],
      [[{ type: 'function', parameters: {} }], '/tools/0/name'],
      [[{ type: 'function', name: 'x' }], '/tools/0/parameters'],
      [[FUNCTION, { ...FUNCTION, strict: 'yes' }], '/tools/1/strict'],
      [[{ ...FUNCTION, name: 5 }], '/tools/0/name'],
      [[{ ...FUNCTION, defer_loading: 1 }], '/tools/0/defer_loading'],
      [[{ type: 'openrouter:bash', parameters: 5 }], '/tools/0/parameters'],
    ],
  },
  tool_choice: {
    kept: [
      'auto',
      'none',
      'required',
      { type: 'function', name: 'look' },
      { type: 'web_search_preview' },
      { type: 'apply_patch' },
      { type: 'shell' },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'look' }] },
    ],
    refused: [
      ['any', '/tool_choice'],
      [{ type: 'other' }, '/tool_choice/type'],
      [{ type: 'function' }, '/tool_choice/name'],
      [5, '/tool_choice'],
      [{ type: 'allowed_tools', mode: 'none', tools: [] }, '/tool_choice/mode'],
      [{ type: 'allowed_tools', mode: 'auto' }, '/tool_choice/tools'],
    ],
  },
  text: {
    kept: [
      {},
      { format: { type: 'text' }, verbosity: 'max' },
      { format: { type: 'json_object' }, verbosity: null },
      {
        format: {
          type: 'json_schema',
          name: 'n',
          schema: { type: 'object', x: 1 },
          description: 'd',
          strict: null,
        },
      },
    ],
    keptAs: [
      [
        { verbosity: 'low', colour: 'red', format: { type: 'text', more: 1 } },
        { verbosity: 'low', format: { type: 'text' } },
      ],
    ],
    refused: [
      [{ verbosity: 'huge' }, '/text/verbosity'],
      [{ format: { type: 'xml' } }, '/text/format/type'],
      [{ format: { type: 'json_schema', name: 'n' } }, '/text/format/schema'],
      [{ format: { type: 'json_schema', schema: {} } }, '/text/format/name'],
      ['x', '/text'],
    ],
  },
  reasoning: {
    kept: [
      { effort: 'max', summary: 'auto', max_tokens: 5, enabled: true, context: 'all_turns', mode: 'pro' },
      { effort: null, mode: null },
    ],
    keptAs: [[{ effort: 'low', wibble: 1 }, { effort: 'low' }]],
    silent: [null],
    refused: [
      [{ effort: 'huge' }, '/reasoning/effort'],
      [{ summary: 5 }, '/reasoning/summary'],
      [{ max_tokens: 0.5 }, '/reasoning/max_tokens'],
      [{ enabled: 1 }, '/reasoning/enabled'],
      [{ context: 'x' }, '/reasoning/context'],
      [{ mode: 'x' }, '/reasoning/mode'],
      ['low', '/reasoning'],
    ],
  },
  modalities: {
    kept: [['text', 'image'], []],
    refused: [
      [['audio'], '/modalities/0'],
      ['text', '/modalities'],
    ],
  },
  truncation: { kept: ['auto', 'disabled'], silent: [null], refused: [['on', '/truncation']] },
  include: {
    kept: [
      [
        'file_search_call.results',
        'message.input_image.image_url',
        'computer_call_output.output.image_url',
        'reasoning.encrypted_content',
        'code_interpreter_call.outputs',
      ],
    ],
    silent: [null],
    refused: [
      [['other'], '/include/0'],
      ['x', '/include'],
    ],
  },
  input: {
    ignored: [
      '',
      'hi',
      [],
      [
        { role: 'user', content: 'hi' },
        { type: 'message', role: 'assistant', content: null, id: 'm', status: 'completed' },
      ],
      ['input_text', 'input_image', 'input_file', 'input_audio', 'input_video', 'output_text', 'refusal'].map(
        part,
      ),
      ITEMS.map(open),
    ],
    refused: [
      [5, '/input'],
      [{}, '/input'],
      [[5], '/input/0'],
      [[{ type: 'other' }], '/input/0/type'],
      [[{ role: 'boss', content: 'x' }], '/input/0/role'],
      [[{ role: 'user' }], '/input/0/content'],
      [[{ role: 'user', content: 5 }], '/input/0/content'],
      [[part('other')], '/input/0/content/0/type'],
      [[{ role: 'user', content: [{ type: 'input_text', text: 5 }] }], '/input/0/content/0/text'],
      [[{ content: 'x' }], '/input/0/role'],
    ],
  },
  prompt: {
    ignored: [{ id: 'p' }, { id: 'p', variables: { a: 1 } }, { id: 'p', variables: null }],
    silent: [null],
    refused: [
      [{}, '/prompt/id'],
      [{ id: 5 }, '/prompt/id'],
      [{ id: 'p', variables: 5 }, '/prompt/variables'],
      ['p', '/prompt'],
    ],
  },
  background: { ignored: [true, false], silent: [null], refused: [['no', '/background']] },
  store: {
    silent: [false],
    refused: [
      [true, '/store'],
      ['false', '/store'],
    ],
  },
}

testFields(t, { body: 'preset_responses', needs: {}, rows: ROWS })

t.test('instructions become the system prompt, and are not part of the config', async (t) => {
  t.same(read({ instructions: 'Be\u0000 brief', model: 'a/b' }), {
    input: { config: { model: 'a/b' }, systemPrompt: 'Be\u0000 brief', source: 'responses', ignored: [] },
  })
  t.match(read({ instructions: null }), { input: { systemPrompt: null, ignored: [] } })
  t.same(read({ instructions: 5 }), { failure: 'body_invalid', paths: ['/instructions'] })
})

t.test('refuses any previous_response_id except null', async (t) => {
  for (const previous_response_id of ['r', 5, {}, [], false, '']) {
    t.same(read({ previous_response_id }), {
      failure: 'previous_response_unsupported',
      paths: ['/previous_response_id'],
    })
  }
  t.match(read({ previous_response_id: null }), { input: { config: {}, ignored: [] } })
})

t.test('max_tool_calls above the maximum is accepted and ignored with stop conditions', async (t) => {
  const stop_server_tools_when = [{ type: 'step_count_is', step_count: 50 }]
  for (const max_tool_calls of [PRESET_TOOL_CALLS_MAX + 1, 5]) {
    t.match(read({ max_tool_calls, stop_server_tools_when }), {
      input: { config: { stop_server_tools_when }, ignored: ['max_tool_calls'] },
    })
    t.notHas(read({ max_tool_calls, stop_server_tools_when }), { input: { config: { max_tool_calls } } })
  }
})

t.test('fields that clients always add are neither kept nor listed as ignored', async (t) => {
  t.same(read({ model: 'a/b', service_tier: 'auto', store: false, stream: false }), {
    input: { config: { model: 'a/b' }, systemPrompt: null, source: 'responses', ignored: [] },
  })
})

t.test('fields keep the order in which they were sent, at every depth', async (t) => {
  const text =
    '{"top_p":1,"model":"a/b","provider":{"zdr":true,"order":["z","a"]},' +
    '"tools":[{"name":"n","type":"function","parameters":{"z":1,"a":2}}],"models":["b","a"]}'
  const { input: request } = read(text) as { input: { config: object } }
  t.equal(JSON.stringify(request.config), text)
})

t.test('the limits of metadata, tool calls and end users are those of §8', async (t) => {
  t.same(
    [
      PRESET_METADATA_PAIRS_MAX,
      PRESET_METADATA_KEY_CHARS_MAX,
      PRESET_METADATA_VALUE_CHARS_MAX,
      PRESET_TOOL_CALLS_MAX,
      PRESET_USER_CHARS_MAX,
    ],
    [16, 64, 512, 30, 256],
  )
})
