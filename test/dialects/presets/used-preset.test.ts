/** What one form saved, as another form uses it: mapped, or dropped and named. D6, D10. */
import t from 'tap'
import { PRESET_FORMS, type PresetRequest, textPresetOf } from '../../../src/dialects/presets/used-preset.ts'
import type { PresetSource } from '../../../src/dialects/presets/text-preset.ts'
import type { Members } from '../../../src/schemas/values/members.ts'
import { SAVED_FIELDS } from '../../support/inference/saved-fields.ts'

const FORMS = Object.keys(PRESET_FORMS) as PresetSource[]
const PAIRS = FORMS.flatMap((from) =>
  FORMS.filter((to) => to !== from).map((to): readonly [PresetSource, PresetSource] => [from, to]),
)
const REQUEST: PresetRequest = { model: 'acme/one', tokensMax: null, hasTools: false, own: {} }

interface Used {
  readonly fields: Members
  readonly dropped: readonly string[]
}

function used(from: PresetSource, to: PresetSource, config: Members, request = REQUEST): Used {
  const preset = textPresetOf(PRESET_FORMS[to], { config, systemPrompt: null, source: from }, request)
  const fields = Object.fromEntries(
    preset.fields.map(([name, json]) => [name, JSON.parse(json) as unknown] as const),
  )
  const tools = preset.tools.map(({ json }) => JSON.parse(json) as unknown)
  return { fields: tools.length === 0 ? fields : { ...fields, tools }, dropped: preset.dropped }
}

/** What the form has anyway, or says by saying nothing. */
const NEEDS_NO_WORDS: Readonly<Record<string, readonly string[]>> = {
  // The others always return everything that the next call has to send back.
  'responses include': ['chat', 'messages'],
  // Nothing asks for reasoning that could be shown.
  'chat include_reasoning': ['messages'],
}

/** An older name is reported by the one that replaced it. */
const TOLD_ASOnce: Readonly<Record<string, string>> = { 'chat include_reasoning': 'reasoning.exclude' }

for (const [from, to] of PAIRS)
  t.test(`each field of ${from} is translated to ${to}, or reported as dropped`, async (t) => {
    for (const [name, value] of Object.entries(SAVED_FIELDS[from])) {
      const { fields, dropped } = used(from, to, { [name]: value }, { ...REQUEST, hasTools: true })
      const isStated = Object.keys(fields).length > 0
      const reportedAs = TOLD_ASOnce[`${from} ${name}`] ?? name
      const isLess = dropped.some((one) => one === reportedAs || one.split('.')[0] === name)
      const isNeedless = NEEDS_NO_WORDS[`${from} ${name}`]?.includes(to) === true
      t.ok(isStated || isLess || isNeedless, `${name}: ${JSON.stringify(fields)}, dropped ${dropped.join()}`)
    }
  })

t.test('in chat, the maximum of tokens has the name that the vendor of the model accepts', async (t) => {
  for (const [from, config] of [
    ['messages', { max_tokens: 9 }],
    ['responses', { max_output_tokens: 9 }],
  ] as const)
    for (const [model, fields] of [
      ['openai/gpt-5-mini', { max_completion_tokens: 9 }],
      ['acme/one', { max_tokens: 9 }],
    ] as const)
      t.same(used(from, 'chat', config, { ...REQUEST, model }), { fields, dropped: [] })
  const request = { ...REQUEST, model: 'openai/gpt-5-mini', tokensMax: 7 }
  t.same(used('responses', 'chat', {}, request).fields, {}, 'the request has its own')
})

t.test('translates a saved chat preset to responses and to messages', async (t) => {
  const saved = {
    ...{ max_completion_tokens: 5_000, temperature: 0.5, verbosity: 'low', reasoning_effort: 'high' },
    response_format: { type: 'json_schema', json_schema: { name: 'city', schema: {}, strict: true } },
    tools: [{ type: 'function', function: { name: 'f', parameters: { a: 1 } } }],
    ...{ tool_choice: 'required', parallel_tool_calls: false, service_tier: 'default' },
  }
  t.same(used('chat', 'responses', saved), {
    fields: {
      ...{ max_output_tokens: 5_000, temperature: 0.5, reasoning: { effort: 'high' } },
      text: { format: { type: 'json_schema', name: 'city', schema: {}, strict: true }, verbosity: 'low' },
      tools: [{ type: 'function', name: 'f', parameters: { a: 1 }, strict: false }],
      ...{ tool_choice: 'required', parallel_tool_calls: false, service_tier: 'default' },
    },
    dropped: [],
  })
  // Anthropic refuses reasoning together with a choice that forces a tool.
  t.same(used('chat', 'messages', saved), {
    fields: {
      ...{ max_tokens: 5_000, temperature: 0.5, service_tier: 'standard_only' },
      output_config: { format: { type: 'json_schema', schema: {} } },
      tools: [{ name: 'f', input_schema: { type: 'object', a: 1 } }],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
    },
    dropped: ['verbosity', 'reasoning'],
  })
})

t.test('translates a saved messages preset to chat and to responses', async (t) => {
  const saved = {
    max_tokens: 5_000,
    stop_sequences: ['a', 'b'],
    thinking: { type: 'enabled', budget_tokens: 2_048 },
    output_config: { format: { type: 'json_schema', schema: { a: 1 } } },
    tools: [{ name: 'f', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  }
  const format = { name: 'output', schema: { a: 1 } }
  const isSingle = { tool_choice: 'auto', parallel_tool_calls: false }
  t.same(used('messages', 'chat', saved), {
    fields: {
      ...{ max_tokens: 5_000, stop: ['a', 'b'], reasoning: { max_tokens: 2_048 }, ...isSingle },
      response_format: { type: 'json_schema', json_schema: format },
      tools: [
        {
          type: 'function',
          function: { name: 'f', parameters: { type: 'object' } },
          cache_control: { type: 'ephemeral' },
        },
      ],
    },
    dropped: [],
  })
  t.same(used('messages', 'responses', saved), {
    fields: {
      ...{ max_output_tokens: 5_000, reasoning: { effort: 'medium' }, ...isSingle },
      text: { format: { type: 'json_schema', ...format } },
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: false }],
    },
    dropped: ['stop_sequences', 'thinking.budget_tokens', 'cache_control'],
  })
})

t.test('an effort becomes a level that the model knows, within the maximum of the request', async (t) => {
  const effort = { reasoning_effort: 'high', max_tokens: 20_000 }
  const as = (model: string, tokensMax: number | null = null): Used =>
    used('chat', 'messages', effort, { ...REQUEST, model, tokensMax })
  for (const model of ['anthropic/claude-opus-4.6', 'openai/gpt-5']) {
    t.match(as(model).fields, { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } }, model)
    t.notOk('display' in (as(model).fields['thinking'] as object), 'the caller decides what is shown')
  }
  const old = 'anthropic/claude-sonnet-4.5'
  t.same(as(old).fields['thinking'], { type: 'enabled', budget_tokens: 16_000 })
  t.same(as(old, 4_000).fields['thinking'], { type: 'enabled', budget_tokens: 3_200 })
  t.same(as(old, 100), { fields: { max_tokens: 100 }, dropped: ['reasoning'] })
})

t.test('settings for the choice of tools are kept if the request has tools', async (t) => {
  const choice = { tool_choice: 'required', parallel_tool_calls: false }
  const has = { ...REQUEST, hasTools: true }
  t.same(used('chat', 'responses', choice, has), { fields: choice, dropped: [] })
  t.same(used('chat', 'messages', choice, has), {
    fields: { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
    dropped: [],
  })
  t.same(used('chat', 'responses', choice), { fields: {}, dropped: [] }, 'providers refuse it without tools')
})

t.test('members of Sluice are the same in every form, except members that calls refuse', async (t) => {
  const ours = { provider: { sort: 'price' }, models: ['a/b'], route: 'fallback' }
  const refused = { plugins: [{ id: 'web' }], transforms: ['x'] }
  t.same(used('chat', 'messages', { ...ours, ...refused }), {
    fields: ours,
    dropped: ['plugins', 'transforms'],
  })
  t.same(used('chat', 'responses', { plugins: [], transforms: [] }), { fields: {}, dropped: [] })
})

t.test('keeps fields common to chat and responses, unless they would change the answer', async (t) => {
  const tuned = {
    image_config: { size: '1K' },
    max_tool_calls: 3,
    prompt_cache_options: { mode: 'explicit' },
  }
  t.same(used('chat', 'responses', { ...tuned, modalities: ['image'], top_logprobs: 2 }), {
    fields: tuned,
    dropped: ['modalities', 'top_logprobs'],
  })
})

t.test('a value beyond the limits of the form is reported under the name of its saved field', async (t) => {
  const stops = Array.from({ length: 17 }, (_, nth) => String(nth))
  t.same(used('messages', 'chat', { stop_sequences: stops }), { fields: {}, dropped: ['stop_sequences'] })
  const models = Array.from({ length: 9 }, (_, nth) => `a/${nth}`)
  t.same(used('responses', 'chat', { models }), { fields: {}, dropped: ['models'] })
})

t.test('reports and does not read members that the current schema refuses or does not know', async (t) => {
  const broken = {
    ...{
      temperature: 'hot',
      max_tokens: 0,
      stop: [''],
      tool_choice: 'sometimes',
      tools: [{}, 7],
      reasoning: 7,
    },
    ...{ messages: 'x', input: 'y', 'a\r\nb': 1, constructor: {}, response_format: null, metadata: { a: 1 } },
  }
  t.same(used('chat', 'messages', broken), {
    fields: {},
    dropped: [
      ...['temperature', 'max_tokens', 'stop', 'tool_choice', 'tools', 'reasoning'],
      ...['messages', 'input', 'a__b', 'constructor', 'metadata'],
    ],
  })
  const own = textPresetOf(
    PRESET_FORMS.chat,
    { config: { 'x\r\ny': 1, tools: {} }, systemPrompt: '', source: 'chat' },
    REQUEST,
  )
  t.same(own, { fields: [], tools: [], systemPrompt: null, dropped: ['x__y', 'tools'] })
})

t.test('a single invalid tool is left out, and the others are kept', async (t) => {
  const one = { type: 'function', function: { name: 'f' } }
  const { fields, dropped } = used('chat', 'responses', { tools: [one, { type: 'function' }, one] })
  t.equal((fields['tools'] as readonly unknown[]).length, 2)
  t.same(dropped, ['tools'])
})

t.test('drops and reports fields that Anthropic refuses next to a member of the request', async (t) => {
  const model = 'anthropic/claude-sonnet-4.5'
  const beside = (config: Members, own: Members): Used =>
    used('chat', 'messages', config, { ...REQUEST, model, hasTools: true, own })
  const effort = { reasoning: { effort: 'medium' } }
  for (const own of [
    { temperature: 0.3 },
    { top_k: 5 },
    { top_p: 0.5 },
    { tool_choice: { type: 'any' } },
    { tool_choice: { type: 'tool', name: 'f' } },
  ])
    t.same(beside(effort, own), { fields: {}, dropped: ['reasoning'] }, JSON.stringify(own))
  for (const own of [{ temperature: 1 }, { top_p: 0.99 }, { tool_choice: { type: 'auto' } }, {}])
    t.match(beside(effort, own), { fields: { thinking: { type: 'enabled' } }, dropped: [] })
  const thinking = { type: 'enabled', budget_tokens: 2_000 }
  t.same(beside({ temperature: 0.3, tool_choice: 'required' }, { thinking }), {
    fields: {},
    dropped: ['tool_choice', 'temperature'],
  })
  t.match(beside({ ...effort, temperature: 0.3 }, { thinking: { type: 'disabled' } }).fields, {
    thinking: { type: 'enabled' },
  })
  t.same(beside({ temperature: 0.3 }, { top_p: 0.9 }), { fields: {}, dropped: ['temperature'] })
  t.same(beside({ top_p: 0.9 }, { temperature: 0.3 }), { fields: {}, dropped: ['top_p'] })
})
