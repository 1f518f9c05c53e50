import Type, { type Static } from 'typebox'
import { ASKED_MAX, MESSAGES_MAX, TOOLS_MAX } from './inference-limits.ts'
import {
  AnsweringModel,
  CHARGED,
  Count,
  DEAR,
  Figure,
  Format,
  Free,
  FunctionName,
  maybe,
  MESSAGES_ACCOUNT,
  MESSAGES_STATE,
  Model,
  OPEN,
  orNull,
  otherThan,
  OURS,
  ReportedTier,
  ServerToolUse,
  Stream,
  TextOrNull,
} from './text-members.ts'

const TextBlock = Type.Object({ type: Type.Literal('text'), text: Type.String() }, OPEN)
/** A block of a type without a schema here; only its type is checked. */
const OtherBlock = Type.Object({ type: otherThan('text') }, OPEN)
const Content = Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, OtherBlock]))])

const Message = Type.Union([
  Type.Object({ role: Type.Literal('user'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('assistant'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('system'), content: Content }, OPEN),
])
export type Message = Static<typeof Message>

const Tool = Type.Union([
  Type.Object({ type: maybe(Type.Literal('custom')), name: FunctionName, input_schema: Free }, OPEN),
  Type.Object({ type: otherThan('custom') }, OPEN),
])

const ToolChoice = Type.Union([
  Type.Object({ type: Type.Literal('tool'), name: FunctionName }, OPEN),
  Type.Object({ type: otherThan('tool') }, OPEN),
])

const PROMPT = {
  model: Model,
  messages: Type.Array(Message, {
    minItems: 1,
    maxItems: MESSAGES_MAX,
    description: 'The conversation so far, oldest message first.',
  }),
  system: maybe(Type.Union([Type.String(), Type.Array(TextBlock)])),
  tools: maybe(
    Type.Array(Tool, {
      maxItems: TOOLS_MAX,
      description:
        'Tools that the model may call. When a spending limit applies, tools that the provider runs need `max_uses`.',
    }),
  ),
  tool_choice: maybe(ToolChoice),
  thinking: maybe(Type.Object({ type: Type.String(), budget_tokens: maybe(Type.Integer()) }, OPEN)),
  output_config: maybe(Type.Object({ effort: maybe(Type.String()), format: Format }, OPEN)),
  output_format: Format,
  mcp_servers: maybe(Type.Array(Free)),
  ...MESSAGES_STATE,
  ...MESSAGES_ACCOUNT,
}

/** Body of POST /messages. D4; `@anthropic-ai/sdk` sends these members. */
export const MessagesBody = Type.Object(
  {
    ...PROMPT,
    max_tokens: maybe(
      Type.Integer({
        minimum: 1,
        maximum: ASKED_MAX,
        description:
          'Maximum number of output tokens. `max_tokens` is required unless a preset supplies a value.',
      }),
    ),
    stream: Stream,
    stop_sequences: maybe(Type.Array(Type.String({ minLength: 1 }))),
    temperature: Figure,
    top_p: Figure,
    top_k: maybe(Type.Integer()),
    metadata: maybe(Type.Object({ user_id: maybe(Type.String()) }, OPEN)),
    ...OURS,
    ...DEAR,
  },
  OPEN,
)
export type MessagesBody = Static<typeof MessagesBody>

export const CountTokensBody = Type.Object({ ...PROMPT, ...OURS }, OPEN)

/** Usage of an answer, with its cost; a provider's usage has more members. */
export const MessagesUsageShape = Type.Object({
  input_tokens: Type.Optional(orNull(Count)),
  cache_creation_input_tokens: Type.Optional(orNull(Count)),
  cache_read_input_tokens: Type.Optional(orNull(Count)),
  cache_creation: Type.Optional(
    orNull(Type.Object({ ephemeral_5m_input_tokens: Count, ephemeral_1h_input_tokens: Count }, OPEN)),
  ),
  output_tokens: Count,
  output_tokens_details: Type.Optional(orNull(Type.Object({ thinking_tokens: Count }, OPEN))),
  server_tool_use: ServerToolUse,
  service_tier: ReportedTier,
  ...CHARGED,
})

const HEAD = {
  id: Type.String({
    description:
      'Id assigned by the provider, or `msg_…`. The id of the call is in the header `x-generation-id`.',
  }),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: AnsweringModel,
  content: Type.Array(Type.Object({ type: Type.String() }, OPEN)),
  stop_reason: TextOrNull,
  stop_sequence: TextOrNull,
}

/** Whole answer of POST /messages; a provider's answer has more members. */
export const MessageAnswer = Type.Object({ ...HEAD, usage: MessagesUsageShape })

/** The data of each event of a streamed answer. A provider's events have more members, and more types. */
export const MessageEvent = Type.Object(
  {
    type: Type.String({
      description:
        '`message_start`, `content_block_start`, `content_block_delta`, `content_block_stop`, `message_delta`, ' +
        '`message_stop`, `ping`, `error`, or another type of the provider; also in the `event:` line.',
    }),
    message: Type.Optional(Type.Object({ ...HEAD, usage: Free }, OPEN)),
    index: Type.Optional(Count),
    content_block: Type.Optional(Type.Object({ type: Type.String() }, OPEN)),
    delta: Type.Optional(Free),
    usage: Type.Optional(MessagesUsageShape),
    error: Type.Optional(
      Type.Object(
        { type: Type.String(), message: Type.String() },
        { ...OPEN, description: 'Reason why the answer is incomplete; no more events follow.' },
      ),
    ),
  },
  OPEN,
)

/** Answer of POST /messages/count_tokens; a provider's may have more members. */
export const TokenCount = Type.Object({ input_tokens: Count })
