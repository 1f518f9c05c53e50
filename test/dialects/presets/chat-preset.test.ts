import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { mergedBody } from '../../../src/dialects/presets/text-preset.ts'
import { textPresetOf, CHAT_PRESET } from '../../../src/dialects/presets/used-preset.ts'
import { BODIES } from '../../../src/schemas/bodies.ts'
import {
  ChatTexts,
  randomOf,
  writtenMembers,
  type WrittenMember,
} from '../../support/inference/chat-texts.ts'
import { keptChat } from '../../support/inference/kept-chat.ts'

const CASES = 500
const MODEL = 'p/"m'
const KNOWN: readonly string[] = BODIES.chat.keeps.names

type Members = Readonly<Record<string, unknown>>
const named = (name: string): Members => ({ type: 'function', function: { name, parameters: { a: name } } })

/** Fields that a chat saves, and that bodies of `ChatTexts` have too, or have not. */
const FIELDS: Members = {
  temperature: 0.5,
  stop: ['é', '"'],
  max_tokens: 7,
  max_completion_tokens: 8,
  reasoning: { effort: 'high' },
  reasoning_effort: 'low',
  logit_bias: { a: 1 },
  models: ['p/q'],
  tool_choice: 'auto',
  service_tier: 'priority',
  top_k: 3,
  tools: [named('f'), named('g'), { type: 'web_search' }, { type: 'custom', custom: { name: 'f' } }],
}

function presetOf(seed: number): { readonly config: Members; readonly systemPrompt: string | null } {
  const random = randomOf(seed + 1e6)
  const config = Object.fromEntries(Object.entries(FIELDS).filter(() => random() < 0.4))
  return { config, systemPrompt: random() < 0.5 ? null : 'Say "é\u2028😀\\".' }
}

const TOGETHER = [
  ['max_tokens', 'max_completion_tokens'],
  ['reasoning', 'reasoning_effort', 'include_reasoning'],
]

/** True for a field that the request leaves to the preset. */
function isLeft(body: Members, name: string): boolean {
  const names = TOGETHER.find((some) => some.includes(name)) ?? [name]
  return names.every((one) => (body[one] ?? null) === null)
}

function othersOf(own: readonly Members[], tools: readonly Members[]): readonly Members[] {
  const nameOf = (tool: Members): string => {
    const { name } = (tool[String(tool['type'])] ?? {}) as { readonly name?: string }
    return `${String(tool['type'])} ${name ?? ''}`
  }
  return tools.filter((tool) => !own.some((one) => nameOf(one) === nameOf(tool)))
}

function oracle(body: Members, { config, systemPrompt }: ReturnType<typeof presetOf>): Members {
  const { preset: _, ...merged } = { ...body, model: MODEL } as Record<string, unknown>
  const { tools, ...fields } = config as { readonly tools?: readonly Members[] }
  for (const [name, value] of Object.entries(fields)) if (isLeft(body, name)) merged[name] = value
  const own = (body['tools'] ?? []) as readonly Members[]
  if (tools !== undefined) merged['tools'] = [...own, ...othersOf(own, tools)]
  const before = systemPrompt === null ? [] : [{ role: 'system', content: systemPrompt }]
  return { ...merged, messages: [...before, ...(body['messages'] as readonly unknown[])] }
}

const REQUEST = { model: MODEL, tokensMax: null, hasTools: true, own: {} }
const merged = (text: string, saved: Parameters<typeof textPresetOf>[1]): string => {
  const preset = textPresetOf(CHAT_PRESET, saved, REQUEST)
  return Buffer.from(mergedBody(CHAT_PRESET, keptChat(text).body, { preset, model: MODEL })).toString()
}

t.test('the result is the JSON merge of the request and the preset', async (t) => {
  for (let seed = 0; seed < CASES; seed++) {
    const { text } = new ChatTexts(seed).body()
    const preset = presetOf(seed)
    const got = JSON.parse(merged(text, { ...preset, source: 'chat' })) as Members
    const expected = oracle(JSON.parse(text) as Members, preset)
    if (isDeepStrictEqual(got, expected)) continue
    t.same(got, expected, `seed ${seed}`)
    break
  }
})

/** The members that the preset does not touch, as they were written, in their order. */
function untouched(members: readonly WrittenMember[], touched: ReadonlySet<string>) {
  return members
    .filter(
      ({ name }, at) => !KNOWN.includes(name) || members.findLastIndex((one) => one.name === name) === at,
    )
    .filter(({ name }) => !touched.has(name))
    .map(({ key, value }) => ({ key, value }))
}

t.test('all other members keep their bytes and their order', async (t) => {
  for (let seed = 0; seed < CASES; seed++) {
    const { text, members } = new ChatTexts(seed).body()
    const { config, systemPrompt } = presetOf(seed)
    const touched = new Set(['model', 'preset', ...Object.keys(config)])
    const out = merged(text, { config, systemPrompt, source: 'chat' })
    const messages = members.findLast(({ name }) => name === 'messages')
    const prompt = { role: 'system', content: systemPrompt }
    const before = systemPrompt === null ? '[' : `[${JSON.stringify(prompt)},`
    const expected = untouched(members, touched).map((member) =>
      member.key === messages?.key ? { ...member, value: before + member.value.slice(1) } : member,
    )
    const keys = new Set(members.filter(({ name }) => touched.has(name)).map(({ key }) => key))
    const isOther = (key: string): boolean => !keys.has(key) && !touched.has(String(JSON.parse(key)))
    const got = writtenMembers(out).filter(({ key }) => isOther(key))
    if (isDeepStrictEqual(got, expected)) continue
    t.same(got, expected, `seed ${seed}`)
    break
  }
})

t.test('tools of the request keep their bytes, and come before the tools of the preset', async (t) => {
  const preset = { config: { tools: [named('f'), named('g')] }, systemPrompt: null, source: 'chat' } as const
  const chat = '"messages":[{"role":"user","content":"x"}]'
  const g = JSON.stringify(named('g'))
  const own = '{ "type":"function","function":{"name":"\\u0066"} }'
  for (const [tools, expected] of [
    [`[ ${own} ]`, `[ ${own} ,${g}]`],
    ['[ ]', `[ ${JSON.stringify(named('f'))},${g}]`],
    [`[${g},${own}]`, `[${g},${own}]`],
  ] as const)
    t.ok(merged(`{${chat},"tools":${tools}}`, preset).includes(`"tools":${expected}`), tools)
})

t.test('two tools are the same if their type and name are the same. B2.2', async (t) => {
  const searches = [{ type: 'mcp', name: 'a' }, { type: 'mcp', name: 'b' }, { type: 'web_search' }]
  const preset = { config: { tools: searches }, systemPrompt: null, source: 'chat' } as const
  const own = [searches[1], { type: 'web_search', filters: {} }, named('web_search')]
  const request = { messages: [{ role: 'user', content: 'x' }], tools: own }
  const got: unknown = JSON.parse(merged(JSON.stringify(request), preset))
  t.same(got, { ...request, model: MODEL, tools: [...own, searches[0]] })
})
