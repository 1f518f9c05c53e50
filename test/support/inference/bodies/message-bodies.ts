import fc from 'fast-check'
import * as value from './body-values.ts'
import type { Body } from './body-values.ts'

const { text, base64, cache, figure, flag, named } = value

const textBlock = value.joined(fc.record({ type: fc.constant('text'), text }), cache)
const source = (mimeType: string) =>
  fc.oneof(
    base64.map((data) => ({ type: 'base64', media_type: mimeType, data })),
    value.url.map((url) => ({ type: 'url', url })),
  )
const image = value.joined(fc.record({ type: fc.constant('image'), source: source('image/png') }), cache)
const document = value.joined(
  fc.record(
    {
      type: fc.constant('document'),
      source: fc.oneof(
        source('application/pdf'),
        text.map((data) => ({ type: 'text', media_type: 'text/plain', data })),
        fc.array(textBlock, { maxLength: 2 }).map((content) => ({ type: 'content', content })),
      ),
      title: text,
    },
    { requiredKeys: ['type', 'source'] },
  ),
  cache,
)
const given = fc.oneof(textBlock, image, document)
const stated = fc.oneof(
  textBlock,
  fc.record({ type: fc.constant('thinking'), thinking: text, signature: value.signature }),
  fc.record({ type: fc.constant('redacted_thinking'), data: value.signature }),
)
const ids = ['toolu_1', 'toolu_2'] as const
const use = (id: string) =>
  value.joined(
    fc.record({ type: fc.constant('tool_use'), id: fc.constant(id), name: named, input: value.input }),
    cache,
  )
const result = (id: string) =>
  value.joined(
    fc.record(
      {
        type: fc.constant('tool_result'),
        tool_use_id: fc.constant(id),
        content: fc.oneof(text, fc.array(given, { maxLength: 2 })),
        is_error: fc.boolean(),
      },
      { requiredKeys: ['type', 'tool_use_id'] },
    ),
    cache,
  )
const ofCall = fc.record({
  type: fc.constant('thinking'),
  thinking: fc.constant(''),
  signature: callSignature(),
})

function callSignature(): fc.Arbitrary<string> {
  return value.signature.map((data) => `sl1.google-gemini-v1+call.${data}`)
}

const THOUGHT: Body = { type: 'thinking', thinking: 'Hm', signature: 'AA==' }

/** What the model said, and what its user said to that. */
const step = fc
  .tuple(
    fc.array(stated, { maxLength: 3 }),
    fc.tuple(use(ids[0]), fc.option(ofCall), use(ids[1])),
    fc.tuple(result(ids[0]), result(ids[1])),
    fc.oneof(
      named,
      fc.array(given, { maxLength: 3 }).map((parts) => [...parts, { type: 'text', text: 'Go on' }]),
    ),
    fc.nat(2),
  )
  .map(([parts, [one, signed, other], results, answer, calls]): readonly Body[] => {
    const uses = [one, ...(signed === null ? [] : [signed]), other].slice(0, calls === 0 ? 0 : undefined)
    const content = calls === 0 ? answer : [...results, ...(typeof answer === 'string' ? [] : answer)]
    // With a budget, Anthropic takes no step with calls that begins otherwise.
    const model = calls === 0 ? parts : [THOUGHT, ...parts, ...uses]
    return [...(model.length === 0 ? [] : [{ role: 'assistant', content: model }]), { role: 'user', content }]
  })

const tool = value.joined(
  fc.record(
    {
      name: named,
      description: text,
      input_schema: value.schema,
      strict: fc.constantFrom(true, undefined),
    },
    { requiredKeys: ['name', 'input_schema'] },
  ),
  cache,
)
const choice = value.joined(
  fc.constantFrom<Body>({ type: 'auto' }, { type: 'any' }, { type: 'tool', name: 'f' }),
  value.some({ disable_parallel_tool_use: fc.boolean() }),
)

/** Members that Anthropic takes with reasoning, and those that it takes only without. */
const sampled = fc.oneof(
  value.some({
    thinking: fc.constantFrom<Body>(
      { type: 'adaptive' },
      { type: 'adaptive', display: 'omitted' },
      { type: 'enabled', budget_tokens: 2_000 },
    ),
    tool_choice: fc.constantFrom<Body>({ type: 'auto' }, { type: 'none' }),
  }),
  value.some({
    thinking: fc.constant({ type: 'disabled' }),
    temperature: figure,
    top_k: fc.integer({ min: 1, max: 5 }),
    tool_choice: choice,
  }),
  value.some({ top_p: figure, tool_choice: fc.oneof(choice, fc.constant(null)) }),
)

/** Bodies of messages, as the internal form carries them. */
export const messageBodies: fc.Arbitrary<Body> = value.joined(
  fc.tuple(given, fc.array(step, { maxLength: 3 })).map(([first, steps]): Body => ({
    model: 'm',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, first] }, ...steps.flat()],
  })),
  fc.record({
    max_tokens: fc.integer({ min: 4_096, max: 100_000 }),
    tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
  }),
  cache,
  sampled,
  value.some({
    system: fc.oneof(text, fc.array(textBlock, { maxLength: 2 })),
    stop_sequences: fc.array(named, { maxLength: 2 }),
    stream: flag,
    service_tier: fc.constantFrom('auto', 'standard_only'),
    metadata: fc.record({ user_id: fc.oneof(text, fc.constant(null)) }),
    output_config: value.some({
      effort: fc.constantFrom('low', 'medium', 'high', 'max', null),
      format: fc.record({ type: fc.constant('json_schema'), schema: value.schema }),
    }),
  }),
)
