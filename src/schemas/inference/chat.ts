import Type, { type Static } from 'typebox'
import { ASKED_MAX, CHOICES_MAX, MESSAGES_MAX, STOPS_MAX, TOOLS_MAX } from './inference-limits.ts'
import {
  AnsweringModel,
  CacheKey,
  CHARGED,
  CHAT_ACCOUNT,
  CHAT_STATE,
  Count,
  DEAR,
  Figure,
  Flag,
  Format,
  FunctionName,
  maybe,
  Modalities,
  Model,
  OPEN,
  orNull,
  otherThan,
  OURS,
  Reasoning,
  ReportedTier,
  ServerToolUse,
  Stream,
  TextOrNull,
} from './text-members.ts'

const Tokens = maybe(Type.Integer({ minimum: 1, maximum: ASKED_MAX }))

const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() }, OPEN)
/** A part of a type without a schema here; only its type is checked. */
const OtherPart = Type.Object({ type: otherThan('text') }, OPEN)
const Content = Type.Union([Type.String(), Type.Array(Type.Union([TextPart, OtherPart]))])

const ChatMessage = Type.Union([
  Type.Object({ role: Type.Literal('system'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('developer'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('user'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('assistant'), content: maybe(Content) }, OPEN),
  Type.Object({ role: Type.Literal('tool'), content: Content, tool_call_id: Type.String() }, OPEN),
])
export type ChatMessage = Static<typeof ChatMessage>

const Tool = Type.Union([
  Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: FunctionName }, OPEN) }, OPEN),
  Type.Object({ type: otherThan('function') }, OPEN),
])

const ToolChoice = Type.Union([
  Type.Enum(['auto', 'none', 'required']),
  Type.Object({ type: Type.Literal('function'), function: Type.Object({ name: FunctionName }, OPEN) }, OPEN),
  Type.Object({ type: otherThan('function') }, OPEN),
])

const Search = Type.Optional(
  Type.Unknown({
    description:
      'Web search settings, sent to the provider. A web search is refused when a spending limit applies, because its cost has no maximum.',
  }),
)

/** Members that make providers search the web; null and false request nothing. */
export const SEARCHES = { web_search_options: Search, search_parameters: Search, enable_search: Search }

/** Body of POST /chat/completions. D4; S and O of the clients send these members. */
export const ChatBody = Type.Object(
  {
    model: Model,
    messages: Type.Array(ChatMessage, {
      minItems: 1,
      maxItems: MESSAGES_MAX,
      description: 'The conversation so far, oldest message first.',
    }),
    stream: Stream,
    stream_options: maybe(
      Type.Object(
        { include_usage: Type.Optional(Type.Boolean()) },
        {
          ...OPEN,
          description:
            "Streaming options. The last event always has the usage; with `include_usage: true` its `choices` are empty, as in OpenAI's streams.",
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
    response_format: Format,
    modalities: Modalities,
    reasoning: Reasoning,
    reasoning_effort: maybe(Type.String()),
    ...OURS,
    prompt_cache_key: CacheKey,
    ...CHAT_STATE,
    ...CHAT_ACCOUNT,
    ...DEAR,
    ...SEARCHES,
    user: maybe(Type.String()),
  },
  OPEN,
)
export type ChatBody = Static<typeof ChatBody>

/** Audio and image tokens among those of the prompt or of the answer. */
const MEDIA_TOKENS = { audio_tokens: Type.Optional(Count), image_tokens: Type.Optional(Count) }

/** Usage of an answer, with its cost. */
export const ChatUsage = Type.Object({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_tokens_details: Type.Object({ cached_tokens: Count, cache_write_tokens: Count, ...MEDIA_TOKENS }),
  completion_tokens_details: Type.Object({ reasoning_tokens: Count, ...MEDIA_TOKENS }),
  server_tool_use: ServerToolUse,
  ...CHARGED,
  cost_details: Type.Object({
    upstream_inference_cost: orNull(Type.Number()),
    upstream_inference_prompt_cost: Type.Number(),
    upstream_inference_completions_cost: Type.Number(),
  }),
})

const Head = {
  id: Type.String({ description: 'Id of the call, `gen_…`; also in the header `x-generation-id`.' }),
  created: Type.Integer({ description: 'Unix seconds.' }),
  model: AnsweringModel,
  provider: Type.String(),
  service_tier: ReportedTier,
}

/** Output of the model other than its text. */
const BESIDE_TEXT = {
  refusal: Type.Optional(TextOrNull),
  reasoning: Type.Optional(TextOrNull),
  reasoning_details: Type.Optional(
    Type.Array(Type.Object({ type: Type.String() }, OPEN), {
      description:
        'Reasoning with its signatures, to be sent back unchanged in the next turn: `reasoning.text`, ' +
        '`reasoning.summary` or `reasoning.encrypted`. In a stream, all fragments of one entry have the same `index`.',
    }),
  ),
}

const FunctionCall = Type.Object({ name: Type.Optional(Type.String()), arguments: Type.String() })

/** Whole answer of POST /chat/completions; a provider's answer has more members. */
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
        content: Type.Optional(TextOrNull),
        ...BESIDE_TEXT,
        tool_calls: Type.Optional(
          Type.Array(
            Type.Object({
              id: Type.Optional(Type.String()),
              type: Type.String({ description: '`function`, or a type that the provider defines.' }),
              function: Type.Optional(FunctionCall),
            }),
          ),
        ),
      }),
    }),
  ),
  usage: ChatUsage,
})

/** The data of each event of a streamed answer; `[DONE]` follows the last one. A provider's events have more members. */
export const ChatChunk = Type.Object({
  ...Head,
  object: Type.Literal('chat.completion.chunk'),
  system_fingerprint: Type.Optional(Type.String()),
  choices: Type.Array(
    Type.Object({
      index: Count,
      delta: Type.Object({
        role: Type.Optional(Type.Literal('assistant')),
        content: Type.Optional(TextOrNull),
        ...BESIDE_TEXT,
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
      { ...OPEN, description: 'Reason why the answer is incomplete; no more events follow.' },
    ),
  ),
})
