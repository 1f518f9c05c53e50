import Type from 'typebox'
import { CacheControl, Flag, Free, KEPT, nullable, optional, PASSING, oneOf, Word } from './preset-fields.ts'

const OPEN = { additionalProperties: true } as const

/** Only the type is checked for parts without a schema here. */
const Content = Type.Union([
  Type.String(),
  Type.Array(
    Type.Union([
      Type.Object({ type: Type.Literal('text'), text: Type.String() }, OPEN),
      Type.Object(
        { type: Type.String({ pattern: '^(?!text$)[a-z_]+$', title: 'the name of a content block' }) },
        OPEN,
      ),
    ]),
  ),
])

const Tool = Type.Union([
  Type.Object({
    type: optional(Type.Literal('custom')),
    name: Type.String(),
    input_schema: Free,
    description: optional(Type.String()),
    cache_control: optional(nullable(CacheControl)),
    defer_loading: optional(Type.Boolean()),
    strict: optional(Type.Boolean()),
    eager_input_streaming: Flag,
    input_examples: optional(Type.Array(Free)),
    allowed_callers: optional(Type.Array(Type.String())),
  }),
  Type.Object(
    { type: Type.String({ pattern: '^(?!custom$)[\\w:.-]+$', title: 'the name of a server tool' }) },
    OPEN,
  ),
])

const SINGLE = { disable_parallel_tool_use: optional(Type.Boolean()) }
const ToolChoice = Type.Union([
  Type.Object({ type: Type.Literal('auto'), ...SINGLE }),
  Type.Object({ type: Type.Literal('any'), ...SINGLE }),
  Type.Object({ type: Type.Literal('none') }),
  Type.Object({ type: Type.Literal('tool'), name: Type.String(), ...SINGLE }),
])

const Thinking = Type.Union([
  Type.Object({ type: Type.Literal('enabled'), budget_tokens: Type.Integer() }, OPEN),
  Type.Object({ type: Type.Literal('disabled') }, OPEN),
  Type.Object({ type: Type.Literal('adaptive') }, OPEN),
])

/** Kept in addition to the fields of every form. */
const OWN = {
  max_tokens: optional(Type.Integer()),
  stop_sequences: optional(Type.Array(Type.String())),
  thinking: optional(Thinking),
  tools: optional(Type.Array(Tool)),
  tool_choice: optional(ToolChoice),
  output_config: optional(Free),
  context_management: optional(nullable(Free)),
  fallbacks: optional(nullable(Type.Array(Free))),
  service_tier: optional(
    Type.String({ minLength: 1, description: '`fast` is saved as `priority`; `auto` is not saved.' }),
  ),
  speed: Word,
}

/** The fields of the body below that a preset keeps: those whose loss its caller would notice. */
export const MESSAGES_KEPT = Type.Object({ ...KEPT, ...OWN })

/** Body of POST /presets/{slug}/messages. B2.2; other fields are ignored. */
export const PresetMessagesBody = Type.Object({
  ...MESSAGES_KEPT.properties,
  ...PASSING,
  system: optional(
    Type.Union(
      [Type.String(), Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() }, OPEN))],
      { description: 'System prompt of the preset; several blocks are joined by blank lines.' },
    ),
  ),
  messages: nullable(
    Type.Array(Type.Object({ role: oneOf('user', 'assistant', 'system'), content: Content }, OPEN), {
      description: 'Validated, but not saved.',
    }),
  ),
  metadata: optional(
    Type.Object({ user_id: Word }, { description: 'Id of the end user; not saved in the preset.' }),
  ),
})
