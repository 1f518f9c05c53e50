import Type from 'typebox'
import {
  CacheControl,
  Count,
  EFFORTS,
  Figure,
  Flag,
  Free,
  nullable,
  oneOf,
  OPENAI_KEPT,
  optional,
  PASSING,
  REASONING,
  SERVER_TOOLS,
  ServerTool,
  VERBOSITIES,
  Word,
} from './preset-fields.ts'

const OPEN = { additionalProperties: true } as const

const TextPart = Type.Object({ type: Type.Literal('text'), text: Type.String() }, OPEN)
const Texts = Type.Union([Type.String(), Type.Array(TextPart)])
/** Only the type is checked for parts without a schema here. */
const Content = Type.Union([
  Type.String(),
  Type.Array(
    Type.Union([
      TextPart,
      Type.Object(
        { type: oneOf('image_url', 'input_audio', 'file', 'video_url', 'input_video', 'refusal') },
        OPEN,
      ),
    ]),
  ),
])

const Message = Type.Union([
  Type.Object({ role: Type.Literal('system'), content: Texts }, OPEN),
  Type.Object({ role: Type.Literal('developer'), content: Texts }, OPEN),
  Type.Object({ role: Type.Literal('user'), content: Content }, OPEN),
  Type.Object({ role: Type.Literal('assistant'), content: optional(nullable(Content)) }, OPEN),
  Type.Object({ role: Type.Literal('tool'), content: Content, tool_call_id: Type.String() }, OPEN),
])

const SEARCH_TOOLS = [
  'web_search',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'web_search_2025_08_26',
]

const Tool = Type.Union([
  Type.Object({
    type: Type.Literal('function'),
    function: Type.Object({
      name: Type.String(),
      description: optional(Type.String()),
      parameters: optional(Free),
      strict: Flag,
    }),
    cache_control: optional(CacheControl),
  }),
  Type.Object({ type: Type.Literal('custom'), custom: Type.Object({ name: Type.String() }, OPEN) }),
  ServerTool,
  Type.Object({ type: oneOf(...SEARCH_TOOLS) }, OPEN),
])

const Named = Type.Object({ name: Type.String() })
const ToolChoice = Type.Union([
  Type.Literal('auto'),
  Type.Literal('none'),
  Type.Literal('required'),
  Type.Object({ type: Type.Literal('function'), function: Named }),
  Type.Object({ type: Type.Literal('custom'), custom: Named }),
  Type.Object({
    type: Type.Literal('allowed_tools'),
    allowed_tools: Type.Object({ mode: oneOf('auto', 'required'), tools: Type.Array(Free) }),
  }),
  Type.Object({ type: oneOf(...SEARCH_TOOLS, ...SERVER_TOOLS) }, OPEN),
])

const ResponseFormat = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({ type: Type.Literal('json_object') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    json_schema: Type.Object({
      name: Type.String(),
      description: optional(Type.String()),
      schema: optional(Free),
      strict: Flag,
    }),
  }),
  Type.Object({ type: Type.Literal('grammar'), grammar: Type.String() }),
  Type.Object({ type: Type.Literal('python') }),
])

/** Kept in addition to the fields of every form. */
const OWN = {
  max_tokens: Count,
  max_completion_tokens: Count,
  stop: optional(nullable(Type.Union([Type.String(), Type.Array(Type.String())]))),
  seed: Count,
  response_format: optional(ResponseFormat),
  logit_bias: optional(nullable(Type.Object({}, { additionalProperties: Type.Number() }))),
  logprobs: Flag,
  top_k: Count,
  min_p: Figure,
  top_a: Figure,
  repetition_penalty: Figure,
  tools: optional(Type.Array(Tool)),
  tool_choice: optional(ToolChoice),
  reasoning: optional(nullable(Type.Object({ ...REASONING, exclude: Flag }))),
  reasoning_effort: optional(nullable(oneOf(...EFFORTS))),
  include_reasoning: Flag,
  verbosity: optional(nullable(oneOf(...VERBOSITIES))),
  modalities: optional(nullable(Type.Array(oneOf('text', 'image', 'audio')))),
  audio: optional(nullable(Free)),
  web_search_options: optional(nullable(Free)),
  transforms: optional(nullable(Type.Array(Type.String()))),
}

/** The fields of the body below that a preset keeps: those whose loss its caller would notice. */
export const CHAT_KEPT = Type.Object({ ...OPENAI_KEPT, ...OWN })

/** Body of POST /presets/{slug}/chat/completions. B2.2; other fields are ignored. */
export const PresetChatBody = Type.Object({
  ...CHAT_KEPT.properties,
  ...PASSING,
  messages: Type.Array(Message, {
    description:
      'Messages with role `system` or `developer` become the system prompt, joined by blank lines; the others are validated, but not saved.',
  }),
  stream_options: optional(nullable(Free)),
  prediction: optional(nullable(Free)),
  store: Flag,
  safety_identifier: Word,
})
