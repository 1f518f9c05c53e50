import Type from 'typebox'
import {
  Flag,
  Free,
  nullable,
  oneOf,
  OPENAI_KEPT,
  optional,
  PASSING,
  REASONING,
  ServerTool,
  VERBOSITIES,
  Word,
  Count,
  SERVER_TOOLS,
} from './preset-fields.ts'

const OPEN = { additionalProperties: true } as const

/** Types of items in `input`; includes items that a session sends again, also those of providers. */
const ITEM_TYPES = [
  'reasoning',
  'function_call',
  'function_call_output',
  'apply_patch_call',
  'apply_patch_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'shell_call',
  'shell_call_output',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'mcp_call',
  'custom_tool_call',
  'custom_tool_call_output',
  'compaction',
  'context_compaction',
  'item_reference',
  'additional_tools',
  'agent_message',
  'configuration_update',
  'web_search_call',
  'file_search_call',
  'computer_call',
  'computer_call_output',
  'image_generation_call',
  'code_interpreter_call',
  'tool_search_call',
  'tool_search_output',
  'compaction_trigger',
  'program',
  'program_output',
]

/** Only the type is checked for parts without a schema here. */
const ContentPart = Type.Union([
  Type.Object({ type: Type.Literal('input_text'), text: Type.String() }, OPEN),
  Type.Object({ type: Type.Literal('output_text'), text: Type.String() }, OPEN),
  Type.Object({ type: Type.Literal('refusal'), refusal: Type.String() }, OPEN),
  Type.Object({ type: oneOf('input_image', 'input_file', 'input_audio', 'input_video') }, OPEN),
])

const Message = Type.Object(
  {
    type: optional(Type.Literal('message')),
    role: oneOf('user', 'system', 'assistant', 'developer'),
    content: Type.Union([Type.String(), Type.Null(), Type.Array(ContentPart)]),
  },
  OPEN,
)

const InputItem = Type.Union([
  Message,
  Type.Object(
    {
      type: Type.String({
        pattern: `^(${ITEM_TYPES.join('|')}|openrouter:.+)$`,
        title: `one of ${ITEM_TYPES.join(', ')}, openrouter:*`,
      }),
    },
    OPEN,
  ),
])

/** Tools that providers run; Sluice knows only their types. */
const HOSTED_TOOLS = [
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'web_search',
  'web_search_2025_08_26',
  'file_search',
  'computer_use_preview',
  'code_interpreter',
  'mcp',
  'image_generation',
  'local_shell',
  'shell',
  'apply_patch',
  'custom',
  'namespace',
]

const Tool = Type.Union([
  Type.Object({
    type: Type.Literal('function'),
    name: Type.String(),
    parameters: nullable(Free),
    description: Word,
    strict: Flag,
    defer_loading: optional(Type.Boolean()),
    async: optional(Type.Boolean()),
  }),
  ServerTool,
  Type.Object({ type: oneOf(...HOSTED_TOOLS) }, OPEN),
])

const ToolChoice = Type.Union([
  Type.Literal('auto'),
  Type.Literal('none'),
  Type.Literal('required'),
  Type.Object({ type: Type.Literal('function'), name: Type.String() }),
  Type.Object({
    type: Type.Literal('allowed_tools'),
    mode: oneOf('auto', 'required'),
    tools: Type.Array(Free),
  }),
  Type.Object({ type: oneOf(...HOSTED_TOOLS, ...SERVER_TOOLS) }, OPEN),
])

const TextFormat = Type.Union([
  Type.Object({ type: Type.Literal('text') }),
  Type.Object({ type: Type.Literal('json_object') }),
  Type.Object({
    type: Type.Literal('json_schema'),
    name: Type.String(),
    schema: Free,
    description: optional(Type.String()),
    strict: Flag,
  }),
])

/** Kept in addition to the fields of every form. */
const OWN = {
  max_output_tokens: Count,
  tools: optional(Type.Array(Tool)),
  tool_choice: optional(ToolChoice),
  text: optional(
    Type.Object({ format: optional(TextFormat), verbosity: optional(nullable(oneOf(...VERBOSITIES))) }),
  ),
  reasoning: optional(nullable(Type.Object(REASONING))),
  modalities: optional(Type.Array(oneOf('text', 'image'))),
  truncation: optional(nullable(oneOf('auto', 'disabled'))),
  include: optional(
    nullable(
      Type.Array(
        oneOf(
          'file_search_call.results',
          'message.input_image.image_url',
          'computer_call_output.output.image_url',
          'reasoning.encrypted_content',
          'code_interpreter_call.outputs',
        ),
      ),
    ),
  ),
}

/** The fields of the body below that a preset keeps. */
export const RESPONSES_KEPT = Type.Object({ ...OPENAI_KEPT, ...OWN })

/** Body of POST /presets/{slug}/responses. §4.2, B1.2; other fields are ignored. */
export const PresetResponsesBody = Type.Object({
  ...RESPONSES_KEPT.properties,
  ...PASSING,
  instructions: optional(nullable(Type.String({ description: 'The system prompt of the preset.' }))),
  input: optional(
    Type.Union([Type.String(), Type.Array(InputItem)], { description: 'Validated, but not saved.' }),
  ),
  prompt: optional(nullable(Type.Object({ id: Type.String(), variables: optional(nullable(Free)) }))),
  previous_response_id: optional(
    Type.Unknown({
      description: 'Must be null: a preset cannot continue a response. Send the full history in `input`.',
    }),
  ),
  background: Flag,
  store: optional(Type.Literal(false)),
})
