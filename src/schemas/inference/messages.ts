import Type, { type Static, type TSchema } from 'typebox'
import { SESSION_ID_CHARS_MAX } from '../limits/limits.ts'
import { ProviderPreferences } from '../models/preferences.ts'
import { MODEL_OR_PRESET, PresetName } from '../presets/preset-references.ts'
import { FALLBACK_MODELS_MAX, FUNCTION_NAME_CHARS_MAX, MESSAGES_MAX, TOOLS_MAX } from './inference-limits.ts'

/** Members that are not named here are passed on: providers have more than any list. D4. */
const OPEN = { additionalProperties: true } as const
const maybe = <T extends TSchema>(shape: T) => Type.Optional(Type.Union([shape, Type.Null()]))
const Figure = maybe(Type.Number())

const TextBlock = Type.Object({ type: Type.Literal('text'), text: Type.String() }, OPEN)
/** A block of a type without a description here is checked by its type alone. */
const OtherBlock = Type.Object({ type: Type.String({ pattern: '^(?!text$)', title: 'another type' }) }, OPEN)
const Content = Type.Union([Type.String(), Type.Array(Type.Union([TextBlock, OtherBlock]))])

const Message = Type.Union([
  Type.Object({ role: Type.Literal('user'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('assistant'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('system'), content: Content }, OPEN),
])
export type Message = Static<typeof Message>

const ToolName = Type.String({ minLength: 1, maxLength: FUNCTION_NAME_CHARS_MAX })
const Tool = Type.Union([
  Type.Object(
    { type: maybe(Type.Literal('custom')), name: ToolName, input_schema: Type.Object({}, OPEN) },
    OPEN,
  ),
  Type.Object({ type: Type.String({ pattern: '^(?!custom$)', title: 'another type' }) }, OPEN),
])

const ToolChoice = Type.Union([
  Type.Object({ type: Type.Literal('tool'), name: ToolName }, OPEN),
  Type.Object({ type: Type.String({ pattern: '^(?!tool$)', title: 'another type' }) }, OPEN),
])

const Format = maybe(Type.Object({ type: Type.String() }, OPEN))

const PROMPT = {
  model: Type.Optional(
    Type.String({
      minLength: 1,
      description: `Id of a model that writes text, a variant of it or an alias. ${MODEL_OR_PRESET}`,
    }),
  ),
  messages: Type.Array(Message, {
    minItems: 1,
    maxItems: MESSAGES_MAX,
    description: 'The conversation so far, the oldest first.',
  }),
  system: maybe(Type.Union([Type.String(), Type.Array(TextBlock)])),
  tools: maybe(Type.Array(Tool, { maxItems: TOOLS_MAX })),
  tool_choice: maybe(ToolChoice),
  thinking: maybe(Type.Object({ type: Type.String(), budget_tokens: maybe(Type.Integer()) }, OPEN)),
  output_config: maybe(Type.Object({ effort: maybe(Type.String()), format: Format }, OPEN)),
  output_format: Format,
  mcp_servers: maybe(Type.Array(Type.Object({}, OPEN))),
}

/** Members that are for Sluice alone. D4. */
const OURS = {
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
  session_id: maybe(Type.String({ maxLength: SESSION_ID_CHARS_MAX })),
}

/** Body of POST /messages. D4; `@anthropic-ai/sdk` sends these members. */
export const MessagesBody = Type.Object(
  {
    ...PROMPT,
    max_tokens: maybe(
      Type.Integer({
        minimum: 1,
        description: 'The most tokens of the answer. Required, unless a preset has it.',
      }),
    ),
    stream: maybe(
      Type.Boolean({
        description: 'True: the answer comes as server-sent events. `Accept` does not matter.',
      }),
    ),
    stop_sequences: maybe(Type.Array(Type.String({ minLength: 1 }))),
    temperature: Figure,
    top_p: Figure,
    top_k: maybe(Type.Integer()),
    metadata: maybe(Type.Object({ user_id: maybe(Type.String()) }, OPEN)),
    ...OURS,
  },
  OPEN,
)
export type MessagesBody = Static<typeof MessagesBody>

/** Body of POST /messages/count_tokens. */
export const CountTokensBody = Type.Object({ ...PROMPT, ...OURS }, OPEN)

const Count = Type.Integer({ minimum: 0 })

/** Usage of an answer, with what it cost; a provider's has more members. D13, D24. */
export const MessagesUsageShape = Type.Object({
  input_tokens: Type.Optional(Type.Union([Count, Type.Null()])),
  cache_creation_input_tokens: Type.Optional(Type.Union([Count, Type.Null()])),
  cache_read_input_tokens: Type.Optional(Type.Union([Count, Type.Null()])),
  output_tokens: Count,
  cost: Type.Number({ description: 'USD.' }),
  is_byok: Type.Boolean(),
  is_estimated: Type.Optional(
    Type.Boolean({ description: 'True: the provider told no credible counts, and ours stand in. D26.' }),
  ),
})

const TextOrNull = Type.Union([Type.String(), Type.Null()])

const HEAD = {
  id: Type.String({ description: "The provider's own id, or `msg_…` of the call." }),
  type: Type.Literal('message'),
  role: Type.Literal('assistant'),
  model: Type.String({ description: 'Canonical id of the model that answered.' }),
  content: Type.Array(Type.Object({ type: Type.String() }, OPEN)),
  stop_reason: TextOrNull,
  stop_sequence: TextOrNull,
}

/** Answer of POST /messages that is not streamed; a provider's has more members. D14. */
export const MessageAnswer = Type.Object({ ...HEAD, usage: MessagesUsageShape })

/**
 * The data of each event of a streamed answer. A provider's events have more members, and more types. D13.
 */
export const MessageEvent = Type.Object(
  {
    type: Type.String({
      description:
        '`message_start`, `content_block_start`, `content_block_delta`, `content_block_stop`, `message_delta`, ' +
        '`message_stop`, `ping`, `error`, or another type of the provider; also in the `event:` line.',
    }),
    message: Type.Optional(Type.Object({ ...HEAD, usage: Type.Object({}, OPEN) }, OPEN)),
    index: Type.Optional(Count),
    content_block: Type.Optional(Type.Object({ type: Type.String() }, OPEN)),
    delta: Type.Optional(Type.Object({}, OPEN)),
    usage: Type.Optional(MessagesUsageShape),
    error: Type.Optional(
      Type.Object(
        { type: Type.String(), message: Type.String() },
        { ...OPEN, description: 'Why the answer is not whole: no event follows. D21.' },
      ),
    ),
  },
  OPEN,
)

/** Answer of POST /messages/count_tokens; a provider's may have more members. */
export const TokenCount = Type.Object({ input_tokens: Count })
