import Type, { type TSchema } from 'typebox'
import { SESSION_ID_CHARS_MAX } from '../limits/limits.ts'
import { ProviderPreferences } from '../models/preferences.ts'
import {
  PRESET_METADATA_KEY_CHARS_MAX,
  PRESET_METADATA_PAIRS_MAX,
  PRESET_METADATA_VALUE_CHARS_MAX,
  PRESET_USER_CHARS_MAX,
} from './preset-limits.ts'
import { Trace } from '../trace.ts'

/** Fields that requests to models share in every wire form. */

export const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
export const optional = <T extends TSchema>(shape: T) => Type.Optional(shape)
export const oneOf = (...words: readonly string[]) => Type.Enum([...words])
/** An object whose members the caller chooses. */
export const Free = Type.Object({}, { additionalProperties: true })
export const Flag = optional(nullable(Type.Boolean()))
export const Count = optional(nullable(Type.Integer()))
export const Figure = optional(nullable(Type.Number()))
export const Word = optional(nullable(Type.String()))

export const EFFORTS = ['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none'] as const
export const VERBOSITIES = ['low', 'medium', 'high', 'xhigh', 'max'] as const

/** Types of OpenRouter's own tools. */
export const SERVER_TOOLS = [
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

export const ServerTool = Type.Object(
  { type: Type.Enum(SERVER_TOOLS), parameters: optional(Free) },
  { additionalProperties: true },
)

const StopCondition = Type.Union([
  Type.Object({ type: Type.Literal('step_count_is'), step_count: Type.Integer() }),
  Type.Object({ type: Type.Literal('has_tool_call'), tool_name: Type.String({ minLength: 1 }) }),
  Type.Object({ type: Type.Literal('max_tokens_used'), max_tokens: Type.Integer() }),
  Type.Object({ type: Type.Literal('max_cost'), max_cost_in_dollars: Type.Number() }),
  Type.Object({ type: Type.Literal('finish_reason_is'), reason: Type.String({ minLength: 1 }) }),
])

/** Metadata of a request. §8. */
export const Metadata = Type.Unsafe<Readonly<Record<string, string>>>(
  Type.Object(
    {},
    {
      additionalProperties: Type.String({
        maxLength: PRESET_METADATA_VALUE_CHARS_MAX,
        title: `a string of at most ${PRESET_METADATA_VALUE_CHARS_MAX} characters`,
      }),
      maxProperties: PRESET_METADATA_PAIRS_MAX,
      propertyNames: Type.String({
        maxLength: PRESET_METADATA_KEY_CHARS_MAX,
        pattern: '^[^\\[\\]]*$',
        title: `at most ${PRESET_METADATA_KEY_CHARS_MAX} characters without brackets`,
      }),
    },
  ),
)

const Plugin = Type.Object(
  {
    id: oneOf(
      'auto-router',
      'auto-beta-router',
      'context-compression',
      'file-parser',
      'fusion',
      'moderation',
      'pareto-router',
      'response-healing',
      'switchyard-router',
      'web',
      'web-fetch',
    ),
  },
  { additionalProperties: true },
)

export const REASONING = {
  effort: optional(nullable(oneOf(...EFFORTS))),
  summary: optional(nullable(oneOf('auto', 'concise', 'detailed'))),
  max_tokens: Count,
  enabled: Flag,
  context: optional(nullable(oneOf('auto', 'all_turns', 'current_turn'))),
  mode: optional(nullable(oneOf('standard', 'pro'))),
}

export const CacheControl = Type.Object({ type: Type.Literal('ephemeral'), ttl: optional(oneOf('5m', '1h')) })

/** Fields with the same meaning in every form, which a preset keeps. */
export const KEPT = {
  model: optional(
    Type.String({
      minLength: 1,
      description: 'Optional: calls that use a preset with a model can omit the model.',
    }),
  ),
  models: optional(Type.Array(Type.String({ minLength: 1 }), { description: 'Fallback models, in order.' })),
  temperature: Figure,
  top_p: Figure,
  top_k: optional(Type.Integer()),
  stop_server_tools_when: optional(
    Type.Array(StopCondition, {
      minItems: 1,
      description: 'Conditions, any of which ends the tool loop; they take precedence over `max_tool_calls`.',
    }),
  ),
  plugins: optional(Type.Array(Plugin)),
  provider: optional(nullable(ProviderPreferences)),
  route: optional(nullable(oneOf('fallback', 'sort'))),
  cache_control: optional(CacheControl),
}

/** Fields of OpenAI's two forms that a preset keeps. */
export const OPENAI_KEPT = {
  ...KEPT,
  presence_penalty: Figure,
  frequency_penalty: Figure,
  top_logprobs: Count,
  max_tool_calls: optional(
    nullable(
      Type.Integer({
        description: 'Maximum number of server-tool steps, at most 30; stop conditions take precedence.',
      }),
    ),
  ),
  parallel_tool_calls: Flag,
  metadata: optional(nullable(Metadata)),
  image_config: optional(
    Type.Object(
      {},
      {
        additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Array(Type.Unknown())], {
          title: 'a string, number or array',
        }),
      },
    ),
  ),
  service_tier: optional(
    nullable(
      Type.Union(
        ['auto', 'default', 'fast', 'flex', 'priority', 'scale', 'ultrafast'].map((tier) =>
          Type.Literal(tier),
        ),
        { description: '`fast` is saved as `priority`; `auto` is not saved.' },
      ),
    ),
  ),
  prompt_cache_options: optional(nullable(Type.Object({ mode: Type.Literal('explicit'), ttl: Word }))),
}

/** Fields that belong to a single request, which a preset never keeps. */
export const PASSING = {
  stream: optional(Type.Boolean()),
  session_id: optional(
    Type.String({
      maxLength: SESSION_ID_CHARS_MAX,
      description: 'Groups calls of one conversation; takes precedence over `x-session-id`.',
    }),
  ),
  user: optional(Type.String({ maxLength: PRESET_USER_CHARS_MAX })),
  trace: optional(Trace),
  debug: optional(Type.Object({ echo_upstream_body: optional(Type.Boolean()) })),
  prompt_cache_key: Word,
  safety_identifier: Word,
}
