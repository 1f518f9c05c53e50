import fc from 'fast-check'
import * as value from './body-values.ts'
import type { Body } from './body-values.ts'

const { text, base64, cache, figure, flag, named } = value

const inputText = fc.record({ type: fc.constant('input_text'), text })
const image = fc.record({
  type: fc.constant('input_image'),
  image_url: fc.oneof(
    value.url,
    base64.map((data) => `data:image/png;base64,${data}`),
  ),
  detail: fc.constantFrom('auto', 'low', 'high'),
})
const file = fc.oneof(
  fc.record({
    type: fc.constant('input_file'),
    filename: fc.constant('a.pdf'),
    file_data: base64.map((data) => `data:application/pdf;base64,${data}`),
  }),
  fc.record({ type: fc.constant('input_file'), file_url: value.url }),
)
const given = fc.oneof(text, fc.array(fc.oneof(inputText, image, file), { maxLength: 3 }))
const printed = fc.oneof(
  text,
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('output_text'), text, annotations: fc.constant([]) }),
      fc.record({ type: fc.constant('refusal'), refusal: text }),
    ),
    { maxLength: 2 },
  ),
)
const summary = fc.array(fc.record({ type: fc.constant('summary_text'), text }), { maxLength: 2 })
const encrypted = fc.oneof(
  value.signature,
  value.signature.map((data) => `sl1.google-gemini-v1.${data}`),
  value.signature.map((data) => `sl1.google-gemini-v1+call.${data}`),
  value.signature.map((data) => `sl1.anthropic-claude-v1+redacted.${data}`),
)

const item = fc.oneof(
  fc.record(
    { type: fc.constant('message'), role: fc.constantFrom('user', 'system', 'developer'), content: text },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record({ role: fc.constant('user'), content: given }),
  fc.record(
    { type: fc.constant('message'), role: fc.constant('assistant'), content: printed, id: named },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record(
    { type: fc.constant('reasoning'), id: fc.constant('rs_1'), summary, encrypted_content: encrypted },
    { requiredKeys: ['type', 'summary', 'encrypted_content'] },
  ),
  fc.record(
    {
      type: fc.constant('function_call'),
      call_id: fc.constantFrom('call_1', 'call_2'),
      name: named,
      namespace: fc.constantFrom('crm', 'mcp__x__'),
      arguments: fc.oneof(
        fc.constantFrom('', '{"a":'),
        value.input.map((one) => JSON.stringify(one)),
      ),
    },
    { requiredKeys: ['type', 'call_id', 'name', 'arguments'] },
  ),
  fc.record({
    type: fc.constant('custom_tool_call'),
    call_id: fc.constantFrom('call_1', 'call_2'),
    name: named,
    input: text,
  }),
  fc.record({
    type: fc.constantFrom('function_call_output', 'custom_tool_call_output'),
    call_id: fc.constantFrom('call_1', 'call_2'),
    output: given,
  }),
)

const tool = fc.record(
  { type: fc.constant('function'), name: named, description: text, parameters: value.schema, strict: flag },
  { requiredKeys: ['type', 'name'] },
)

const freeform = fc.record(
  { type: fc.constant('custom'), name: named, description: text, format: value.grammar() },
  { requiredKeys: ['type', 'name'] },
)
const namespaced = (name: string) =>
  fc.record(
    {
      type: fc.constant('namespace'),
      name: fc.constant(name),
      description: text,
      tools: fc.array(fc.oneof(tool, freeform), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['type', 'name', 'tools'] },
  )
/** Each namespace once. */
const tools = fc
  .tuple(
    fc.array(fc.oneof(tool, tool, freeform), { minLength: 1, maxLength: 3 }),
    fc.option(namespaced('crm'), { freq: 2 }),
    fc.option(namespaced('mcp__x__'), { freq: 2 }),
  )
  .map(([plain, ...spaces]): readonly Body[] => [...plain, ...spaces.filter((one) => one !== null)])

/** Bodies of responses, as the internal form carries them. */
export const responseBodies: fc.Arbitrary<Body> = value.joined(
  fc.record({
    model: fc.constant('m'),
    input: fc.oneof(
      text,
      fc.array(item, { maxLength: 8 }).map((items) => [{ role: 'user', content: 'Hi' }, ...items]),
    ),
  }),
  cache,
  value
    .some({
      tools,
      tool_choice: fc.constantFrom('auto', 'none', 'required', { type: 'function', name: 'f' }),
      parallel_tool_calls: flag,
    })
    .map(({ tools, ...choice }): Body => (tools === undefined ? {} : { tools, ...choice })),
  value.some({
    instructions: fc.oneof(text, fc.constant(null)),
    max_output_tokens: fc.integer({ min: 1, max: 100_000 }),
    stream: flag,
    store: fc.constantFrom(false, null),
    temperature: figure,
    top_p: figure,
    top_k: fc.nat(5),
    presence_penalty: figure,
    frequency_penalty: figure,
    service_tier: fc.constantFrom('auto', 'flex', null),
    prompt_cache_key: text,
    user: text,
    metadata: fc.constant({ a: 'b' }),
    include: fc.constantFrom([], ['reasoning.encrypted_content']),
    reasoning: value.some({
      effort: fc.constantFrom('none', 'minimal', 'low', 'high', 'xhigh', null),
      summary: fc.constantFrom('auto', 'detailed', null),
      enabled: flag,
      exclude: flag,
    }),
    text: value.some({
      verbosity: fc.constantFrom('low', 'medium', null),
      format: fc.oneof(
        fc.constantFrom<Body>({ type: 'text' }, { type: 'json_object' }),
        fc.record(
          {
            type: fc.constant('json_schema'),
            name: named,
            description: text,
            schema: value.schema,
            strict: flag,
          },
          { requiredKeys: ['type', 'name', 'schema'] },
        ),
      ),
    }),
  }),
)
