import t from 'tap'
import { writeGemini } from '../../../src/dialects/gemini/write-request.ts'
import type { AskedReasoning, Prompt, PromptTool } from '../../../src/dialects/prompt/prompt.ts'
import { asked, EMPTY_PROMPT, statedText, TERMS, UNTUNED, userTurn } from '../../support/inference/prompts.ts'

const written = (more: Partial<Prompt>, terms: Partial<typeof TERMS> = {}) =>
  writeGemini({ ...EMPTY_PROMPT, turns: [userTurn('Hi')], ...more }, { ...TERMS, ...terms })
const configOf = (more: Partial<Prompt>, terms: Partial<typeof TERMS> = {}) =>
  written(more, terms).body['generationConfig']
const tool = (name: string, more: Partial<PromptTool> = {}): PromptTool => ({
  ...{ name, description: null, schema: null, isStrict: null, cache: null },
  ...more,
})

t.test('each tuning field is written to its member', async (t) => {
  const tuning = {
    ...UNTUNED,
    ...{ temperature: 0, topP: 0.5, topK: 40, seed: -7, presencePenalty: 1, frequencyPenalty: -1 },
  }
  const { body, dropped } = written({ tuning, stops: ['a', 'b'], tokensMax: 100 }, { tokensMax: 50 })
  t.same(body['generationConfig'], {
    ...{ temperature: 0, topP: 0.5, topK: 40, seed: -7, presencePenalty: 1, frequencyPenalty: -1 },
    ...{ maxOutputTokens: 100, stopSequences: ['a', 'b'] },
  })
  t.same(dropped, [])
  t.same(configOf({}, { tokensMax: 50 }), { maxOutputTokens: 50 }, 'the maximum of the terms')
  t.equal(configOf({}), undefined)
})

t.test('a tier has the name that Google uses, and is left out of bodies for Vertex', async (t) => {
  const tier = (serviceTier: string, terms: Partial<typeof TERMS & { isWithoutTier: true }> = {}) => {
    const { body, dropped } = written({ tuning: { ...UNTUNED, serviceTier } }, terms)
    return [body['service_tier'], dropped]
  }
  t.same(tier('default'), ['standard', []])
  t.same(tier('flex'), ['flex', []])
  t.same(tier('fast'), ['priority', []])
  t.same(tier('auto'), [undefined, []])
  t.same(tier('flex', { isWithoutTier: true }), [undefined, ['service_tier']])
  t.same(tier('default', { isWithoutTier: true }), [undefined, []])
})

t.test('reports fields that Gemini lacks as dropped, unless they have the default', async (t) => {
  const lost = {
    ...{ minP: 0.1, topA: 0.2, repetitionPenalty: 1.1, logitBias: { 1: 2 }, verbosity: 'low' },
    ...{ serviceTier: 'scale', cacheKey: 'k', user: 'u', metadata: { a: 1 }, seed: 2 ** 31, topK: 1.5 },
  }
  const others = [{ name: 'enable_thinking', path: '/enable_thinking' }]
  const { body, dropped } = written({ tuning: { ...UNTUNED, ...lost }, others })
  t.equal(body['generationConfig'], undefined)
  t.same(dropped, [
    ...['min_p', 'top_a', 'repetition_penalty', 'logit_bias', 'verbosity', 'prompt_cache_key', 'user'],
    ...['metadata', 'top_k', 'seed', 'service_tier', 'enable_thinking'],
  ])
  const usual = {
    ...{ minP: 0, topA: 0, repetitionPenalty: 1, logitBias: {}, verbosity: 'medium', serviceTier: 'auto' },
    ...{ metadata: {}, topK: -1 },
  }
  t.same(written({ tuning: { ...UNTUNED, ...usual }, isParallel: false }).dropped, [])
})

t.test('reports each option of parts and tools that Gemini lacks once', async (t) => {
  const cache = { ttl: null }
  const media = { kind: 'base64', mimeType: 'application/pdf', data: 'JVBE' } as const
  const turn = userTurn(
    { ...statedText('a'), cache },
    { ...statedText('b'), cache },
    { kind: 'file', media, filename: 'a.pdf', cache: null },
    { kind: 'image', media, detail: 'low', cache: null },
  )
  const tools = [tool('f', { isStrict: true, cache })]
  const { dropped } = written({ turns: [turn], tools, isParallel: false, cache })
  t.same(dropped, ['parallel_tool_calls', 'strict', 'cache_control', 'detail', 'filename'])
  const [first] = written({ dialect: 'messages', tools: [tool('f')], isParallel: false }).dropped
  t.equal(first, 'tool_choice.disable_parallel_tool_use')
})

t.test('refuses more stop sequences than Gemini accepts, with the path in the body', async (t) => {
  const stops = ['a', 'b', 'c', 'd', 'e']
  t.same(written({ stops }).refused, [])
  for (const [dialect, path] of [
    ['chat', '/stop'],
    ['messages', '/stop_sequences'],
  ] as const)
    t.match(written({ dialect, stops: [...stops, 'f'] }).refused, [{ path }])
})

t.test('tools are declared with their complete schemas', async (t) => {
  const schema = { type: 'object', $defs: { a: {} }, additionalProperties: false }
  const { body } = written({ tools: [tool('f', { description: 'F', schema }), tool('g')] })
  t.same(body['tools'], [
    { functionDeclarations: [{ name: 'f', description: 'F', parametersJsonSchema: schema }, { name: 'g' }] },
  ])
  t.equal(body['toolConfig'], undefined)
})

t.test('each tool choice is translated to a mode', async (t) => {
  const modes = [
    [{ kind: 'auto' }, { mode: 'AUTO' }],
    [{ kind: 'none' }, { mode: 'NONE' }],
    [{ kind: 'required' }, { mode: 'ANY' }],
    [
      { kind: 'tool', name: 'f' },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
  ] as const
  for (const [toolChoice, functionCallingConfig] of modes) {
    const { body } = written({ toolChoice, tools: [tool('f')] })
    t.same(body['toolConfig'], { functionCallingConfig })
    t.equal(written({ toolChoice }).body['toolConfig'], undefined, 'without tools')
  }
})

t.test('a format of the answer becomes JSON with a schema', async (t) => {
  const json = { responseMimeType: 'application/json' }
  t.same(configOf({ format: { kind: 'json_object' } }), json)
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const format = { kind: 'json_schema', name: 'n', description: null, schema, isStrict: true } as const
  t.same(configOf({ format }), { ...json, responseJsonSchema: schema })
  t.same(configOf({ format: { ...format, description: 'D' } }), {
    ...json,
    responseJsonSchema: { description: 'D', ...schema },
  })
})

const SHOWN = { includeThoughts: true }
const THINKING: readonly (readonly [string, Partial<AskedReasoning>, object | undefined])[] = [
  ['gemini-2.5-flash', {}, SHOWN],
  ['gemini-2.5-flash', { effort: 'minimal' }, { thinkingBudget: 1_024, ...SHOWN }],
  ['gemini-2.5-flash', { effort: 'low' }, { thinkingBudget: 2_000, ...SHOWN }],
  ['gemini-2.5-flash', { effort: 'medium' }, { thinkingBudget: 5_000, ...SHOWN }],
  ['gemini-2.5-flash', { effort: 'high', isHidden: true }, { thinkingBudget: 8_000 }],
  ['gemini-2.5-flash', { effort: 'xhigh' }, { thinkingBudget: 9_500, ...SHOWN }],
  ['gemini-2.5-flash', { effort: 'low', budget: 300 }, { thinkingBudget: 300, ...SHOWN }],
  ['gemini-2.5-flash', { budget: 90_000 }, { thinkingBudget: 24_576, ...SHOWN }],
  ['gemini-2.5-flash', { effort: 'none' }, { thinkingBudget: 0 }],
  ['gemini-2.5-flash', { isOn: false, effort: 'high' }, { thinkingBudget: 0 }],
  ['gemini-2.5-pro', { budget: 0 }, { thinkingBudget: 128 }],
  ['gemini-2.5-pro', { budget: 90_000 }, { thinkingBudget: 32_768, ...SHOWN }],
  ['gemini-2.5-flash-lite', { budget: 100 }, { thinkingBudget: 512, ...SHOWN }],
  ['gemini-3-flash', { effort: 'none' }, { thinkingLevel: 'MINIMAL' }],
  ['gemini-3-flash', { effort: 'medium' }, { thinkingLevel: 'MEDIUM', ...SHOWN }],
  ['gemini-3-flash', { effort: 'max' }, { thinkingLevel: 'HIGH', ...SHOWN }],
  ['gemini-3-flash', { effort: 'low', budget: 2_000 }, { thinkingBudget: 2_000, ...SHOWN }],
  ['gemini-3.1-pro', { effort: 'minimal' }, { thinkingLevel: 'LOW', ...SHOWN }],
  ['gemini-2.0-flash', { effort: 'high' }, undefined],
  ['gemini-2.0-flash', { effort: 'none' }, undefined],
]

t.test('thinking is requested from each model family in its own form', async (t) => {
  for (const [upstreamModel, reasoning, expected] of THINKING) {
    const config = configOf({ reasoning: asked(reasoning), tokensMax: 10_000 }, { upstreamModel }) as object
    const reported = 'thinkingConfig' in config ? config.thinkingConfig : undefined
    t.same(reported, expected, `${upstreamModel} ${JSON.stringify(reasoning)}`)
  }
})

t.test('reasoning that a model does not support is reported as dropped', async (t) => {
  const upstreamModel = 'gemini-2.0-flash'
  t.same(written({ reasoning: asked({ effort: 'high' }) }, { upstreamModel }).dropped, ['reasoning'])
  t.same(written({ reasoning: asked({ isOn: false }) }, { upstreamModel }).dropped, [])
  const odd = asked({ effort: 'constructor', summary: 'detailed' })
  t.same(written({ reasoning: odd }).dropped, ['reasoning.summary', 'reasoning.effort'])
  t.same(written({ reasoning: asked({ summary: 'auto' }) }).dropped, [])
})
