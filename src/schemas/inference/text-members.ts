/** Members that the bodies and answers of all text calls share, in every dialect. */
import Type, { type TSchema } from 'typebox'
import { SESSION_ID_CHARS_MAX } from '../limits/limits.ts'
import type { MarkPlan } from '../kept-body.ts'
import { ProviderPreferences } from '../models/preferences.ts'
import { MODEL_OR_PRESET, TextPresetName } from '../presets/preset-references.ts'
import { FALLBACK_MODELS_MAX } from './inference-limits.ts'

/** Characters of the name of a function. Decision. */
export const FUNCTION_NAME_CHARS_MAX = 256

/** Members that are not listed are passed on, since no list of providers' members is complete. */
export const OPEN = { additionalProperties: true } as const

export const orNull = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
/** A member that may be left out or be null. */
export const maybe = <T extends TSchema>(shape: T) => Type.Optional(orNull(shape))

export const Flag = maybe(Type.Boolean())
export const Figure = maybe(Type.Number())
/** An object whose members are not checked. */
export const Free = Type.Object({}, OPEN)
/** The type of a part, an item or a tool that has no schema here; only its type is checked. */
export const otherThan = (...types: readonly string[]) => {
  const words = types.length > 1 ? `(?:${types.join('|')})` : types[0]
  return Type.String({ pattern: `^(?!${words}$)`, title: 'another type' })
}

export const FunctionName = Type.String({ minLength: 1, maxLength: FUNCTION_NAME_CHARS_MAX })
/** A form of answer. */
export const Format = maybe(Type.Object({ type: Type.String() }, OPEN))
export const Reasoning = maybe(
  Type.Object({ effort: maybe(Type.String()), enabled: Flag, exclude: Flag }, OPEN),
)

export const Model = Type.Optional(
  Type.String({
    minLength: 1,
    description: `Id of a text model, optionally with a variant, or an alias. ${MODEL_OR_PRESET}`,
  }),
)
export const Stream = maybe(
  Type.Boolean({
    description:
      'Set to true to stream the answer as server-sent events. The `Accept` header does not turn on streaming.',
  }),
)
/** The type is not checked, since providers differ; Sluice uses only a text. */
export const CacheKey = Type.Optional(
  Type.Unknown({
    description: 'Cache key, sent to the provider. Calls with the same cache key use the same endpoint.',
  }),
)

const Stored = Type.Optional(
  Type.Unknown({
    description: "The value is sent to the provider only with the workspace's own provider key.",
  }),
)
/** Members of OpenAI's chat and responses with which a call refers to another call. */
export const CACHE_OPTIONS = { prompt_cache_options: Stored }
/** Members of chat that make a provider store a call. */
export const CHAT_STATE = { store: Stored, ...CACHE_OPTIONS }
const OfAccount = Type.Optional(
  Type.Unknown({
    description:
      "The value is sent to the provider. With the operator's provider key, the value must not refer to objects in the provider account.",
  }),
)
/** Members of some providers that may refer to objects in an account, in every dialect. */
export const ACCOUNT = { extra_body: OfAccount }
/** Such members of chat. */
export const CHAT_ACCOUNT = {
  ...ACCOUNT,
  google: OfAccount,
  cached_content: OfAccount,
  cachedContent: OfAccount,
  data_sources: OfAccount,
  dataSources: OfAccount,
  audio: OfAccount,
}
/** Such members of responses. */
export const RESPONSES_ACCOUNT = { ...ACCOUNT, agent: OfAccount, agent_reference: OfAccount }
/** Such members of messages. */
export const MESSAGES_ACCOUNT = { ...ACCOUNT, workspace_id: OfAccount, user_profile_id: OfAccount }

/** Members of messages that refer to objects stored by a provider, or make it store them. */
export const MESSAGES_STATE = { thread: Stored, container: Stored, diagnostics: Stored }

/** Members that only Sluice uses, with the same names in every dialect. */
export const OURS = {
  provider: maybe(ProviderPreferences),
  models: maybe(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: FALLBACK_MODELS_MAX,
      description: 'Fallback models, tried in this order after `model`.',
    }),
  ),
  preset: maybe(TextPresetName),
  plugins: maybe(
    Type.Array(Type.Unknown(), { description: 'Must be an empty list: Sluice has no plug-ins.' }),
  ),
  transforms: maybe(Type.Array(Type.String(), { description: 'Accepted for compatibility; has no effect.' })),
  stop_server_tools_when: Type.Optional(
    Type.Unknown({ description: 'Must be null: Sluice does not run server tools.' }),
  ),
  session_id: maybe(Type.String({ maxLength: SESSION_ID_CHARS_MAX })),
}

const Dear = Type.Optional(
  Type.Unknown({
    description:
      'The value is sent to the provider. When a spending limit applies, values that can cost more than the prices in the catalogue are refused.',
  }),
)

/** The tier in answers; a chat stream may have it only in its last event. */
export const ReportedTier = Type.Optional(
  orNull(
    Type.String({
      description: 'Service tier reported by the provider; absent if the provider reports none.',
    }),
  ),
)

export const Modalities = maybe(
  Type.Array(Type.String(), {
    description: 'Output types: `text`, and other types that the model can generate.',
  }),
)

/** Members of providers that can make a call cost more than the catalogue's price. */
export const DEAR = {
  service_tier: Dear,
  speed: Dear,
  inference_geo: Dear,
  fallbacks: Dear,
  context_management: Dear,
  compaction: Dear,
}

/** Names of the members that no provider gets: those above, and OpenRouter's members that have no effect here. */
export const OURS_NAMES: readonly string[] = [...Object.keys(OURS), 'route', 'usage', 'trace', 'debug']

/**
 * Members that determine what a message, an item, a part, a block or a tool is, and therefore its cost. If
 * one of them occurs twice or with different capitalization, another parser might read a different request.
 */
export const DECIDING: readonly string[] = [
  'role',
  'type',
  'content',
  'output',
  'source',
  'url',
  'data',
  'media_type',
  'file',
  'file_id',
  'file_url',
  'file_data',
  'image',
  'images',
  'image_url',
  'input_image',
  'audio',
  'input_audio',
  'video',
  'video_url',
  'tools',
  'tool',
  'tool_changes',
  'definition',
  'environment',
  'container',
  'container_id',
  'file_ids',
  'vector_store_ids',
  'max_uses',
  'allowed_callers',
]

/** The plan for a part, a block or a tool, and for the objects inside it. */
export const DECIDED: MarkPlan = {
  once: DECIDING,
  get each() {
    return DECIDED
  },
  get members() {
    return DECIDED_WITHIN
  },
}

/** Members whose values contain parts or tools, or are the contents of these. */
export const DECIDED_WITHIN: Readonly<Record<string, MarkPlan>> = Object.fromEntries(
  DECIDING.map((name) => [name, DECIDED]),
)

export const Count = Type.Integer({ minimum: 0 })
export const TextOrNull = orNull(Type.String())
export const AnsweringModel = Type.String({ description: 'Id of the model that answered.' })

/** Sluice's members in a usage, in every dialect. */
export const CHARGED = {
  cost: Type.Number({ description: 'USD.' }),
  is_byok: Type.Boolean(),
  is_estimated: Type.Optional(
    Type.Boolean({
      description: 'True when the provider reported no credible counts and Sluice estimated them.',
    }),
  ),
}

/** Uses of the provider's own tools, in the usage of chat and messages. */
export const ServerToolUse = maybe(
  Type.Object(
    { web_search_requests: maybe(Count) },
    { ...OPEN, description: 'Tools that the provider ran and charged for.' },
  ),
)

/** Members of a usage that must come only from Sluice: a provider that is itself a gateway may report them too. */
export const USAGE_OURS: ReadonlySet<string> = new Set([...Object.keys(CHARGED), 'cost_details'])
