import Type, { type Static, type TSchema } from 'typebox'
import { SESSION_ID_CHARS_MAX } from '../limits/limits.ts'
import { ProviderPreferences } from '../models/preferences.ts'
import { MODEL_OR_PRESET, PresetName } from '../presets/preset-references.ts'
import {
  CHOICES_MAX,
  FALLBACK_MODELS_MAX,
  FUNCTION_NAME_CHARS_MAX,
  MESSAGES_MAX,
  STOPS_MAX,
  TOOLS_MAX,
} from './inference-limits.ts'

/** Members that are not named here are passed on: providers have more than any list. D4. */
const OPEN = { additionalProperties: true } as const
const maybe = <T extends TSchema>(shape: T) => Type.Optional(Type.Union([shape, Type.Null()]))
const Flag = maybe(Type.Boolean())
const Figure = maybe(Type.Number())
const Tokens = maybe(Type.Integer({ minimum: 1 }))

const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() }, OPEN)
/** A part of a type without a description here is checked by its type alone. */
const OtherPart = Type.Object({ type: Type.String({ pattern: '^(?!text$)', title: 'another type' }) }, OPEN)
const Content = Type.Union([Type.String(), Type.Array(Type.Union([TextPart, OtherPart]))])

const ChatMessage = Type.Union([
  Type.Object({ role: Type.Literal('system'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('developer'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('user'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('assistant'), content: maybe(Content) }, OPEN),
  Type.Object({ role: Type.Literal('tool'), content: Content, tool_call_id: Type.String() }, OPEN),
])
export type ChatMessage = Static<typeof ChatMessage>

const FunctionName = Type.String({ minLength: 1, maxLength: FUNCTION_NAME_CHARS_MAX })

const Tool = Type.Union([
  Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: FunctionName }, OPEN) }, OPEN),
  Type.Object({ type: Type.String({ pattern: '^(?!function$)', title: 'another type' }) }, OPEN),
])

const ToolChoice = Type.Union([
  Type.Enum(['auto', 'none', 'required']),
  Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: FunctionName }, OPEN) }, OPEN),
  Type.Object({ type: Type.String({ pattern: '^(?!function$)', title: 'another type' }) }, OPEN),
])

/** Body of POST /chat/completions. D4; S and O of the clients send these members. */
export const ChatBody = Type.Object(
  {
    model: Type.Optional(
      Type.String({
        minLength: 1,
        description: `Id of a model that writes text, a variant of it or an alias. ${MODEL_OR_PRESET}`,
      }),
    ),
    messages: Type.Array(ChatMessage, {
      minItems: 1,
      maxItems: MESSAGES_MAX,
      description: 'The conversation so far, the oldest first.',
    }),
    stream: maybe(
      Type.Boolean({
        description: 'True: the answer comes as server-sent events. `Accept` does not matter.',
      }),
    ),
    stream_options: maybe(
      Type.Object(
        { include_usage: Type.Optional(Type.Boolean()) },
        {
          ...OPEN,
          description:
            'The last event always has the usage. With `include_usage: true` its `choices` are empty, as OpenAI sends it.',
        },
      ),
    ),
    max_tokens: Tokens,
    max_completion_tokens: Tokens,
    n: maybe(Type.Integer({ minimum: 1, maximum: CHOICES_MAX })),
    stop: maybe(
      Type.Union([
        Type.String({ minLength: 1 }),
        Type.Array(Type.String({ minLength: 1 }), { maxItems: STOPS_MAX }),
      ]),
    ),
    seed: maybe(Type.Integer()),
    temperature: Figure,
    top_p: Figure,
    presence_penalty: Figure,
    frequency_penalty: Figure,
    tools: maybe(Type.Array(Tool, { maxItems: TOOLS_MAX })),
    tool_choice: maybe(ToolChoice),
    parallel_tool_calls: Flag,
    response_format: maybe(Type.Object({ type: Type.String() }, OPEN)),
    reasoning: maybe(Type.Object({ effort: maybe(Type.String()), enabled: Flag, exclude: Flag }, OPEN)),
    reasoning_effort: maybe(Type.String()),
    provider: maybe(ProviderPreferences),
    models: maybe(
      Type.Array(Type.String({ minLength: 1 }), {
        maxItems: FALLBACK_MODELS_MAX,
        description: 'Models that are tried in this order after `model`.',
      }),
    ),
    preset: maybe(PresetName),
    plugins: maybe(Type.Array(Type.Unknown(), { description: 'Only an empty list is accepted.' })),
    transforms: maybe(Type.Array(Type.String(), { description: 'Accepted, without an effect.' })),
    stop_server_tools_when: Type.Optional(Type.Unknown({ description: 'Only null is accepted.' })),
    prompt_cache_key: Type.Optional(
      Type.Unknown({ description: 'Passed on; calls with the same one go to the same endpoint.' }),
    ),
    session_id: maybe(Type.String({ maxLength: SESSION_ID_CHARS_MAX })),
    user: maybe(Type.String()),
  },
  OPEN,
)
export type ChatBody = Static<typeof ChatBody>

const Count = Type.Integer({ minimum: 0 })

/** Usage of an answer, with what it cost. D7, D13, D24. */
export const ChatUsage = Type.Object({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: Type.Object({ cached_tokens: Count, cache_write_tokens: Count }),
  completion_tokens_details: Type.Object({ reasoning_tokens: Count }),
  cost: Type.Number({ description: 'USD.' }),
  cost_details: Type.Object({
    upstream_inference_cost: Type.Union([Type.Number(), Type.Null()]),
    upstream_inference_prompt_cost: Type.Number(),
    upstream_inference_completions_cost: Type.Number(),
  }),
  is_byok: Type.Boolean(),
  is_estimated: Type.Optional(
    Type.Boolean({ description: 'True: the provider told no credible counts, and ours stand in. D26.' }),
  ),
})

const Head = {
  id: Type.String({ description: '`gen_…`; also in the header `x-generation-id`.' }),
  created: Type.Integer({ description: 'Unix seconds.' }),
  model: Type.String({ description: 'Canonical id of the model that answered.' }),
  provider: Type.String(),
}

const FunctionCall = Type.Object({ name: Type.Optional(Type.String()), arguments: Type.String() })
const TextOrNull = Type.Union([Type.String(), Type.Null()])
/** Some providers write parts where most write a text. */
const Said = Type.Union([Content, Type.Null()])

/** Answer of POST /chat/completions that is not streamed; a provider's has more members. D14. */
export const ChatAnswer = Type.Object({
  ...Head,
  object: Type.Literal('chat.completion'),
  system_fingerprint: TextOrNull,
  choices: Type.Array(
    Type.Object({
      index: Count,
      finish_reason: TextOrNull,
      native_finish_reason: Type.Optional(TextOrNull),
      message: Type.Object({
        role: Type.Literal('assistant'),
        content: Type.Optional(Said),
        reasoning: Type.Optional(TextOrNull),
        tool_calls: Type.Optional(
          Type.Array(
            Type.Object({
              id: Type.Optional(Type.String()),
              type: Type.String({ description: '`function`, or a type of the provider.' }),
              function: Type.Optional(FunctionCall),
            }),
          ),
        ),
      }),
    }),
  ),
  usage: ChatUsage,
})

/**
 * The data of each event of a streamed answer; behind the last one stands `[DONE]`. A provider's events have
 * more members. D13.
 */
export const ChatChunk = Type.Object({
  ...Head,
  object: Type.Literal('chat.completion.chunk'),
  system_fingerprint: Type.Optional(Type.String()),
  choices: Type.Array(
    Type.Object({
      index: Count,
      delta: Type.Object({
        role: Type.Optional(Type.Literal('assistant')),
        content: Type.Optional(Said),
        reasoning: Type.Optional(TextOrNull),
        tool_calls: Type.Optional(
          Type.Array(
            Type.Object({
              index: Count,
              id: Type.Optional(Type.String()),
              type: Type.Optional(Type.String()),
              function: Type.Optional(Type.Partial(FunctionCall)),
            }),
          ),
        ),
      }),
      finish_reason: TextOrNull,
      native_finish_reason: Type.Optional(TextOrNull),
    }),
  ),
  usage: Type.Optional(ChatUsage),
  error: Type.Optional(
    Type.Object(
      { code: Type.Integer(), message: Type.String(), type: Type.String() },
      { ...OPEN, description: 'Why the answer is not whole: no event follows. D21.' },
    ),
  ),
})
