/** Fields that presets keep of each form of calls, each with a value that changes something. */
import type { PresetSource } from '../../../src/dialects/presets/text-preset.ts'
import type { Members } from '../../../src/schemas/values/members.ts'

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } }

const SHARED = {
  models: ['acme/other'],
  temperature: 0.5,
  top_p: 0.9,
  top_k: 4,
  stop_server_tools_when: [{ type: 'step_count_is', step_count: 2 }],
  plugins: [{ id: 'web' }],
  provider: { sort: 'price' },
  route: 'fallback',
  cache_control: { type: 'ephemeral', ttl: '1h' },
}

const OPENAI = {
  ...SHARED,
  presence_penalty: 0.1,
  frequency_penalty: 0.2,
  top_logprobs: 2,
  max_tool_calls: 3,
  parallel_tool_calls: false,
  metadata: { team: 'a' },
  image_config: { size: '1K' },
  service_tier: 'priority',
  prompt_cache_options: { mode: 'explicit' },
}

export const SAVED_FIELDS: Readonly<Record<PresetSource, Members>> = {
  chat: {
    ...OPENAI,
    max_tokens: 5_000,
    max_completion_tokens: 6_000,
    stop: 'END',
    seed: 7,
    response_format: { type: 'json_schema', json_schema: { name: 'city', schema: SCHEMA, strict: true } },
    logit_bias: { 50: 1 },
    logprobs: true,
    min_p: 0.1,
    top_a: 0.2,
    repetition_penalty: 1.1,
    tools: [
      { type: 'function', function: { name: 'find', description: 'Finds.', parameters: SCHEMA } },
      { type: 'web_search' },
    ],
    tool_choice: 'required',
    reasoning: { effort: 'high' },
    reasoning_effort: 'low',
    include_reasoning: false,
    verbosity: 'low',
    modalities: ['text', 'image'],
    audio: { voice: 'alloy' },
    web_search_options: {},
    transforms: ['middle-out'],
  },
  responses: {
    ...OPENAI,
    max_output_tokens: 5_000,
    tools: [
      { type: 'function', name: 'find', description: 'Finds.', parameters: SCHEMA, strict: true },
      { type: 'web_search' },
    ],
    tool_choice: { type: 'function', name: 'find' },
    text: { format: { type: 'json_schema', name: 'city', schema: SCHEMA }, verbosity: 'low' },
    reasoning: { effort: 'high', summary: 'auto' },
    modalities: ['text', 'image'],
    truncation: 'auto',
    include: ['reasoning.encrypted_content'],
  },
  messages: {
    ...SHARED,
    max_tokens: 5_000,
    stop_sequences: ['END'],
    thinking: { type: 'enabled', budget_tokens: 2_048 },
    tools: [
      { name: 'find', description: 'Finds.', input_schema: SCHEMA },
      { type: 'bash_20250124', name: 'bash' },
    ],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    output_config: { effort: 'high', format: { type: 'json_schema', schema: SCHEMA } },
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    fallbacks: [{ model: 'claude-opus-4-6' }],
    service_tier: 'standard_only',
    speed: 'fast',
  },
}
