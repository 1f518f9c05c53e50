/** A value of each request field other than its default, so that a call shows what becomes of the field. */
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export type Body = Readonly<Record<string, unknown>>

export interface FieldSample {
  /** The field, with what stands around it. */
  readonly set: Body
  /** The other members of the request, with and without the field. */
  readonly beside?: Body
  /** Where a protocol takes other values. */
  readonly at?: Readonly<Partial<Record<TextProtocol, Body>>>
}

/** The least request of each dialect. */
export const LEAST: Readonly<Record<Dialect, Body>> = {
  chat: { messages: [{ role: 'user', content: 'Hi' }] },
  responses: { input: 'Hi' },
  messages: { max_tokens: 5_000, messages: [{ role: 'user', content: 'Hi' }] },
}

const one = (name: string, value: unknown, more: Omit<FieldSample, 'set'> = {}) =>
  [name, { set: { [name]: value }, ...more }] as const
const all = (value: unknown, ...names: readonly string[]) => names.map((name) => one(name, value))

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}
const CHAT_TOOLS = { tools: [{ type: 'function', function: { name: 'look', parameters: SCHEMA } }] }
const RESPONSES_TOOLS = { tools: [{ type: 'function', name: 'look', parameters: SCHEMA }] }
const MESSAGES_TOOLS = { tools: [{ name: 'look', input_schema: SCHEMA }] }
const ENDED = [{ role: 'user', content: 'Bye' }]

/** Members that all dialects have, or that the table has for all. */
const SHARED = [
  one('temperature', 0.5),
  one('top_p', 0.5),
  one('top_k', 5),
  one('cache_control', { type: 'ephemeral' }),
  one('stream', true),
  one('speed', 'fast'),
  one('inference_geo', 'us'),
  one('fallbacks', [{ model: 'other' }]),
  one('context_management', { edits: [{ type: 'clear_tool_uses_20250919' }] }),
  one('compaction', { type: 'auto' }),
  one('prompt_cache_options', { ttl: '1h' }),
  one('prompt_cache_retention', '24h'),
  one('safety_identifier', 'somebody'),
  one('moderation', { model: 'x' }),
  one('image_config', { aspect_ratio: '1:1' }),
  one('modalities', ['text', 'audio']),
  one('logprobs', true),
  one('top_logprobs', 2),
  one('store', true),
]
/** Members of OpenAI's two forms. */
const OPENAI = [
  one('min_p', 0.5),
  one('top_a', 0.5),
  one('seed', 7),
  ...all(0.5, 'presence_penalty', 'frequency_penalty', 'repetition_penalty'),
  one('logit_bias', { 1: 2 }),
  one('service_tier', 'flex', { at: { messages: { service_tier: 'default' } } }),
  one('prompt_cache_key', 'key'),
  one('user', 'somebody'),
  one('metadata', { a: 'b' }),
]
/** Azure's, with a credential of the caller. */
const DATA_SOURCES = [{ type: 'azure_search', parameters: { authentication: { type: 'api_key', key: 'k' } } }]
const FORMAT = { type: 'json_schema', name: 'said', schema: SCHEMA }

export const SAMPLES: Readonly<Record<Dialect, ReadonlyMap<string, FieldSample>>> = {
  chat: new Map<string, FieldSample>([
    ...SHARED,
    ...OPENAI,
    one('messages', ENDED),
    ...all(77, 'max_tokens', 'max_completion_tokens'),
    one('tools', CHAT_TOOLS.tools),
    one('tool_choice', 'required', { beside: CHAT_TOOLS }),
    one('response_format', { type: 'json_schema', json_schema: { name: 'said', schema: SCHEMA } }),
    one('reasoning', { effort: 'low' }),
    one('reasoning_effort', 'low'),
    one('include_reasoning', false, { beside: { reasoning: { effort: 'low' } } }),
    one('parallel_tool_calls', false, { beside: CHAT_TOOLS }),
    one('stop', 'x'),
    one('verbosity', 'low'),
    one('n', 2),
    one('audio', { voice: 'alloy', format: 'wav' }),
    one('prediction', { type: 'content', content: 'Hi' }),
    one('functions', [{ name: 'look' }]),
    one('function_call', { name: 'look' }),
    one('web_search_options', {}),
    one('search_parameters', { mode: 'on' }),
    one('enable_search', true),
    ...all('cachedContents/1', 'cached_content', 'cachedContent'),
    ...all(DATA_SOURCES, 'data_sources', 'dataSources'),
    one('prompt_cache_breakpoint', { type: 'ephemeral' }),
  ]),
  responses: new Map<string, FieldSample>([
    ...SHARED,
    ...OPENAI,
    one('input', 'Bye'),
    one('instructions', 'Be brief.'),
    one('max_output_tokens', 77),
    one('tools', RESPONSES_TOOLS.tools),
    one('tool_choice', 'required', { beside: RESPONSES_TOOLS }),
    ['text.format', { set: { text: { format: FORMAT } } }],
    ['text.verbosity', { set: { text: { verbosity: 'low' } } }],
    one('reasoning', { effort: 'low' }),
    one('parallel_tool_calls', false, { beside: RESPONSES_TOOLS }),
    one('background', true),
    one('previous_response_id', 'resp_1'),
    one('conversation', 'conv_1'),
    one('prompt', { id: 'pmpt_1' }),
    one('max_tool_calls', 3),
    one('truncation', 'auto'),
    one('stream_options', { include_obfuscation: false }),
    one('access_programs', ['x']),
    one('image', { quality: 'low' }),
    one('generate', false),
  ]),
  messages: new Map<string, FieldSample>([
    ...SHARED,
    one('messages', ENDED),
    one('system', 'Be brief.'),
    one('max_tokens', 77),
    one('tools', MESSAGES_TOOLS.tools),
    one('tool_choice', { type: 'any' }, { beside: MESSAGES_TOOLS }),
    [
      'tool_choice.disable_parallel_tool_use',
      {
        set: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
        beside: { ...MESSAGES_TOOLS, tool_choice: { type: 'auto' } },
      },
    ],
    ['output_config.format', { set: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } } }],
    one('output_format', { type: 'json_schema', schema: SCHEMA }),
    one('thinking', { type: 'enabled', budget_tokens: 2_000 }),
    ['output_config.effort', { set: { output_config: { effort: 'low' } } }],
    one('stop_sequences', ['x']),
    one('service_tier', 'standard_only'),
    ['metadata.user_id', { set: { metadata: { user_id: 'somebody' } } }],
    one('mcp_servers', [{ type: 'url', name: 'm', url: 'https://mcp.example' }]),
    one('container', 'container_1'),
    one('thread', { id: 't' }),
    one('diagnostics', { id: 'd' }),
    one('betas', ['x']),
    one('billing_policy', 'x'),
    one('fallback_credit_token', 'x'),
    one('user_profile_id', 'x'),
    one('workspace_id', 'x'),
  ]),
}
