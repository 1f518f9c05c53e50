import fc from 'fast-check'
import * as value from './body-values.ts'
import type { Body } from './body-values.ts'

const { text, base64, cache, figure, flag, named } = value

const textPart = value.joined(fc.record({ type: fc.constant('text'), text }), cache)
const image = value.joined(
  fc.record({
    type: fc.constant('image_url'),
    image_url: fc.record({
      url: fc.oneof(
        value.url,
        base64.map((data) => `data:image/png;base64,${data}`),
      ),
      detail: fc.constantFrom(null, 'auto', 'low', 'high'),
    }),
  }),
  cache,
)
const audio = fc.record({
  type: fc.constant('input_audio'),
  input_audio: fc.record({ data: base64, format: fc.constantFrom('wav', 'mp3') }),
})
const video = fc.record({ type: fc.constant('video_url'), video_url: fc.record({ url: value.url }) })
const file = fc.record({
  type: fc.constant('file'),
  file: fc.record({
    filename: fc.constantFrom(null, 'a.pdf'),
    file_data: base64.map((data) => `data:application/pdf;base64,${data}`),
  }),
})

const texts = fc.oneof(text, fc.array(textPart, { maxLength: 3 }))
const given = fc.oneof(text, fc.array(fc.oneof(textPart, image, audio, video, file), { maxLength: 3 }))
const ofTool = fc.oneof(text, fc.array(fc.oneof(textPart, image, file), { maxLength: 3 }))

const detail = fc.oneof(
  fc.record({
    type: fc.constant('reasoning.text'),
    text,
    signature: fc.option(value.signature),
    format: value.format,
  }),
  fc.record({ type: fc.constant('reasoning.summary'), summary: text, id: fc.constantFrom('rs_1', null) }),
  fc.record({
    type: fc.constant('reasoning.encrypted'),
    data: value.signature,
    format: value.format,
    id: fc.constantFrom('rs_1', 'call_1', null),
  }),
)
const call = fc.record({
  id: fc.constantFrom('call_1', 'functions.f:0', 'ü'.repeat(50)),
  type: fc.constant('function'),
  function: fc.record({
    name: named,
    arguments: fc.oneof(
      fc.constantFrom('', '{}', '{"a":', '[1]'),
      value.input.map((one) => JSON.stringify(one)),
    ),
  }),
})
const freeformCall = fc.record({
  id: fc.constantFrom('call_1', 'call_2'),
  type: fc.constant('custom'),
  custom: fc.record({ name: named, input: text }),
})
const assistant = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.oneof(texts, fc.constant(null)),
    refusal: fc.oneof(text, fc.constant(null)),
    reasoning: text,
    reasoning_details: fc.array(detail, { maxLength: 4 }),
    tool_calls: fc.oneof(fc.array(fc.oneof(call, call, freeformCall), { maxLength: 3 }), fc.constant(null)),
  },
  { requiredKeys: ['role'] },
)
const message = fc.oneof(
  value.joined(fc.record({ role: fc.constantFrom('system', 'developer'), content: texts }), cache),
  value.joined(fc.record({ role: fc.constant('user'), content: given }), cache),
  value.joined(assistant, cache),
  value.joined(
    fc.record({ role: fc.constant('tool'), tool_call_id: fc.constantFrom('call_1', ''), content: ofTool }),
    cache,
  ),
)
const freeform = value.joined(
  fc.record({
    type: fc.constant('custom'),
    custom: fc.record(
      { name: named, description: text, format: value.grammar('grammar') },
      { requiredKeys: ['name'] },
    ),
  }),
  cache,
)
const tool = value.joined(
  fc.record({
    type: fc.constant('function'),
    function: fc.record(
      { name: named, description: text, parameters: value.schema, strict: flag },
      { requiredKeys: ['name'] },
    ),
  }),
  cache,
)

/** Bodies of chats, as the internal form carries them. */
export const chatBodies: fc.Arbitrary<Body> = value.joined(
  fc.record({ model: fc.constant('m'), messages: fc.array(message, { minLength: 1, maxLength: 6 }) }),
  cache,
  value
    .some({
      tools: fc.array(fc.oneof(tool, tool, freeform), { minLength: 1, maxLength: 3 }),
      tool_choice: fc.constantFrom('auto', 'none', 'required', { type: 'function', function: { name: 'f' } }),
      parallel_tool_calls: flag,
    })
    .map(({ tools, ...choice }): Body => (tools === undefined ? {} : { tools, ...choice })),
  value.some({
    max_tokens: fc.integer({ min: 1, max: 100_000 }),
    stop: fc.oneof(named, fc.array(named, { maxLength: 3 })),
    stream: flag,
    temperature: figure,
    top_p: figure,
    top_k: fc.nat(5),
    min_p: figure,
    top_a: figure,
    seed: fc.integer(),
    presence_penalty: figure,
    frequency_penalty: figure,
    repetition_penalty: figure,
    logit_bias: fc.constant({ 50256: -100 }),
    verbosity: fc.constantFrom('low', 'medium', null),
    service_tier: fc.constantFrom('auto', 'flex', null),
    prompt_cache_key: text,
    user: text,
    metadata: fc.constant({ a: 'b' }),
    reasoning: value.some({
      effort: fc.constantFrom('none', 'minimal', 'low', 'high', 'xhigh', null),
      max_tokens: fc.nat(50_000),
      enabled: flag,
      exclude: flag,
      summary: fc.constantFrom('auto', null),
    }),
    response_format: fc.oneof(
      fc.constantFrom<Body>({ type: 'text' }, { type: 'json_object' }),
      fc.record({
        type: fc.constant('json_schema'),
        json_schema: fc.record(
          { name: named, description: text, schema: value.schema, strict: flag },
          { requiredKeys: ['name', 'schema'] },
        ),
      }),
    ),
  }),
)
