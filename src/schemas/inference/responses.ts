import Type, { type Static } from 'typebox'
import { ASKED_MAX, MESSAGES_MAX, TOOLS_MAX } from './inference-limits.ts'
import {
  AnsweringModel,
  CACHE_OPTIONS,
  CacheKey,
  CHARGED,
  Count,
  DEAR,
  Figure,
  Flag,
  Format,
  Free,
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
  RESPONSES_ACCOUNT,
  Stream,
} from './text-members.ts'

const TextPart = Type.Object({ type: Type.Enum(['input_text', 'output_text']), text: Type.String() }, OPEN)
/** A part of a type without a schema here; only its type is checked. */
const OtherPart = Type.Object({ type: otherThan('input_text', 'output_text') }, OPEN)
const Content = Type.Union([Type.String(), Type.Array(Type.Union([TextPart, OtherPart]))])

const Message = Type.Object(
  {
    type: Type.Optional(Type.Literal('message')),
    role: Type.Enum(['user', 'system', 'assistant', 'developer']),
    content: orNull(Content),
  },
  OPEN,
)
const FunctionCall = Type.Object(
  {
    type: Type.Literal('function_call'),
    call_id: Type.String(),
    name: FunctionName,
    arguments: Type.String(),
  },
  OPEN,
)
const FunctionOutput = Type.Object(
  { type: Type.Literal('function_call_output'), call_id: Type.String(), output: Content },
  OPEN,
)
/** A reference is left out as a whole when the provider stores nothing, so other members are not allowed. */
const Reference = Type.Object(
  { type: Type.Literal('item_reference'), id: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
)
const OtherItem = Type.Object(
  { type: otherThan('message', 'function_call', 'function_call_output', 'item_reference') },
  OPEN,
)
const Item = Type.Union([Message, FunctionCall, FunctionOutput, Reference, OtherItem])
export type ResponsesItem = Static<typeof Item>

const Tool = Type.Union([
  Type.Object({ type: Type.Literal('function'), name: FunctionName }, OPEN),
  Type.Object({ type: otherThan('function') }, OPEN),
])

const ToolChoice = Type.Union([
  Type.Enum(['auto', 'none', 'required']),
  Type.Object({ type: Type.Literal('function'), name: FunctionName }, OPEN),
  Type.Object({ type: otherThan('function') }, OPEN),
])

/** Body of POST /responses. D4, D8, B1.2; S and O of the clients send these members. */
export const ResponsesBody = Type.Object(
  {
    model: Model,
    input: maybe(
      Type.Union([Type.String(), Type.Array(Item, { maxItems: MESSAGES_MAX })], {
        description: 'Text, or the conversation so far as items, oldest first.',
      }),
    ),
    instructions: maybe(Type.String({ description: 'Instructions for the model, placed before the input.' })),
    stream: Stream,
    max_output_tokens: maybe(Type.Integer({ minimum: 1, maximum: ASKED_MAX })),
    max_tool_calls: maybe(
      Type.Integer({
        minimum: 1,
        maximum: ASKED_MAX,
        description:
          'Maximum number of tool calls that the provider runs. `max_tool_calls` is required for tools that the provider runs when a spending limit applies.',
      }),
    ),
    temperature: Figure,
    top_p: Figure,
    presence_penalty: Figure,
    frequency_penalty: Figure,
    tools: maybe(Type.Array(Tool, { maxItems: TOOLS_MAX })),
    tool_choice: maybe(ToolChoice),
    parallel_tool_calls: Flag,
    text: maybe(Type.Object({ format: Format }, OPEN)),
    modalities: Modalities,
    reasoning: Reasoning,
    include: maybe(Type.Array(Type.String())),
    truncation: maybe(Type.String()),
    metadata: maybe(Free),
    store: maybe(
      Type.Boolean({
        description:
          "Must not be true with the operator's provider key, because Sluice stores nothing in the operator's account.",
      }),
    ),
    background: maybe(
      Type.Boolean({
        description:
          "Must not be true with the operator's provider key, because the provider stores the answer.",
      }),
    ),
    previous_response_id: maybe(
      Type.String({
        description:
          "Requires the workspace's own provider key, because the provider stored the earlier response.",
      }),
    ),
    conversation: maybe(
      Type.Union([Type.String(), Free], {
        description:
          "Requires the workspace's own provider key, because the provider stores the conversation.",
      }),
    ),
    prompt: maybe(
      Type.Object(
        {},
        {
          ...OPEN,
          description:
            "Requires the workspace's own provider key, because the provider stores the conversation.",
        },
      ),
    ),
    ...OURS,
    prompt_cache_key: CacheKey,
    ...CACHE_OPTIONS,
    ...RESPONSES_ACCOUNT,
    ...DEAR,
    user: maybe(Type.String()),
  },
  OPEN,
)
export type ResponsesBody = Static<typeof ResponsesBody>

/** Usage of an answer, with its cost; a provider's usage has more members. */
export const ResponsesUsage = Type.Object({
  input_tokens: Count,
  input_tokens_details: Type.Object({ cached_tokens: Count, cache_write_tokens: Type.Optional(Count) }),
  output_tokens: Count,
  output_tokens_details: Type.Object({ reasoning_tokens: Count }),
  total_tokens: Count,
  ...CHARGED,
  cost_details: Type.Object({
    upstream_inference_cost: orNull(Type.Number()),
    upstream_inference_input_cost: Type.Number(),
    upstream_inference_output_cost: Type.Number(),
  }),
})

const Seconds = Type.Integer({ description: 'Unix seconds.' })

/** A response; a provider's response has more members. */
const Response = {
  id: Type.String({
    description:
      'Id assigned by the provider, or `resp_…`. The id of the call is in the header `x-generation-id`.',
  }),
  object: Type.Literal('response'),
  created_at: Seconds,
  completed_at: orNull(Seconds),
  status: Type.String({ description: '`completed`, `incomplete`, `in_progress`, `queued` or `failed`.' }),
  error: orNull(Free),
  incomplete_details: orNull(Free),
  instructions: Type.Unknown(),
  max_output_tokens: orNull(Count),
  metadata: orNull(Free),
  model: AnsweringModel,
  output: Type.Array(Type.Unknown(), { description: 'Messages, reasoning and tool calls.' }),
  parallel_tool_calls: Type.Boolean(),
  presence_penalty: orNull(Type.Number()),
  frequency_penalty: orNull(Type.Number()),
  service_tier: ReportedTier,
  temperature: orNull(Type.Number()),
  tool_choice: Type.Unknown(),
  tools: Type.Array(Type.Unknown()),
  top_p: orNull(Type.Number()),
}

export const ResponsesAnswer = Type.Object({ ...Response, usage: ResponsesUsage })

/** The data of each event of a streamed answer; more members follow its type. */
export const ResponsesEvent = Type.Object(
  {
    type: Type.String({ description: 'Event type, as in the `event:` line.' }),
    sequence_number: Type.Optional(Count),
    response: Type.Optional(
      Type.Object(
        { ...Response, usage: orNull(Free) },
        {
          ...OPEN,
          description:
            'The response; sent in `response.created`, `.queued`, `.in_progress` and the last event.',
        },
      ),
    ),
  },
  OPEN,
)
