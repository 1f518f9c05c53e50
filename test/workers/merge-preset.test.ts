/** Requests with what they lack of a preset, whichever form saved it. D10, B2.2. */
import assert from 'node:assert/strict'
import t from 'tap'
import { keptFormOf } from '../../src/schemas/bodies.ts'
import { TOOLS_MAX } from '../../src/schemas/inference/inference-limits.ts'
import type { PresetSource } from '../../src/dialects/presets/text-preset.ts'
import { DIALECTS, type TextInput } from '../../src/schemas/inference/text-request.ts'
import type { Members } from '../../src/schemas/values/members.ts'
import type { BodyVerdict } from '../../src/server/ports/short-jobs.ts'
import { randomOf } from '../support/inference/chat-texts.ts'
import { SAVED_FIELDS } from '../support/inference/saved-fields.ts'
import { mergePreset } from '../../src/workers/tasks.ts'

const CASES = 60
const MODEL = 'acme/one'
const PAIRS = DIALECTS.flatMap((from) => DIALECTS.map((to) => [from, to] as const))

const SAYS = [{ role: 'user', content: 'Hello' }]
/** The least that a call has. */
const LEAST: Readonly<Record<PresetSource, Members>> = {
  chat: { messages: SAYS },
  responses: { input: 'Hello' },
  messages: { messages: SAYS, max_tokens: 4_000 },
}
/** Optional members of a call, besides those above. */
const OWN: Readonly<Record<PresetSource, Members>> = {
  chat: { ...callable(SAVED_FIELDS.chat), temperature: 0 },
  responses: { ...callable(SAVED_FIELDS.responses), temperature: 0, instructions: 'Own.' },
  messages: { ...callable(SAVED_FIELDS.messages), temperature: 0, system: 'Own.' },
}
/** Values that an older or newer Sluice may have kept. */
const HOSTILE: readonly unknown[] = [
  null,
  'x',
  '',
  -1,
  1e300,
  true,
  {},
  [],
  [{}],
  [null],
  { type: 'x' },
  [['x']],
]

/** Without what every call refuses. */
function callable({ plugins: _, stop_server_tools_when: __, ...fields }: Members): Members {
  return fields
}

interface Saved {
  readonly source: PresetSource
  readonly config: Members
  readonly systemPrompt?: string
}

function mergeInto(to: PresetSource, body: Members, { config, systemPrompt, ...saved }: Saved): BodyVerdict {
  const bytes = Uint8Array.from(Buffer.from(JSON.stringify({ model: '@preset/p', ...body })))
  const preset = { ...saved, systemPrompt: systemPrompt ?? null, config: JSON.stringify(config) }
  return mergePreset({ body: to, bytes, preset, model: MODEL })
}

interface Merged {
  readonly body: Members
  readonly dropped: readonly string[]
}

function merged(...[to, body, saved]: Parameters<typeof mergeInto>): Merged {
  const verdict = mergeInto(to, body, saved)
  assert.ok(verdict.ok, `${JSON.stringify([saved, body])} is refused: ${JSON.stringify(verdict)}`)
  assert.ok(verdict.source !== undefined)
  const { dropped } = verdict.value as unknown as TextInput
  return { body: JSON.parse(Buffer.from(verdict.source.bytes).toString()) as Members, dropped }
}

/** Some of the fields. @param hostility share of those with a broken value, which no caller would save */
function some(fields: Members, random: () => number, hostility = 0): Members {
  const value = (one: unknown): unknown =>
    random() < hostility ? HOSTILE[Math.floor(random() * HOSTILE.length)] : one
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, one]) => (random() < 0.4 ? [[name, value(one)]] : [])),
  )
}

const BRIEF = 'Be "brief".'
const block = (text: string): object => ({ type: 'text', text })
const SYSTEMS: Readonly<Record<PresetSource, readonly (readonly [Members, Members])[]>> = {
  chat: [
    [{}, { messages: [{ role: 'system', content: BRIEF }, ...SAYS] }],
    [
      { messages: [{ role: 'developer', content: 'Own.' }, ...SAYS] },
      { messages: [{ role: 'system', content: BRIEF }, { role: 'developer', content: 'Own.' }, ...SAYS] },
    ],
  ],
  responses: [
    [{}, { instructions: BRIEF }],
    [{ instructions: 'Own.' }, { instructions: `${BRIEF}\n\nOwn.` }],
  ],
  messages: [
    [{}, { system: BRIEF }],
    [{ system: '' }, { system: BRIEF }],
    [{ system: 'Own.' }, { system: [block(BRIEF), block('Own.')] }],
    [{ system: [block('Own.')] }, { system: [block(BRIEF), block('Own.')] }],
  ],
}

for (const [from, to] of PAIRS) {
  t.test(`members of a ${to} request take precedence over a ${from} preset, each as a whole`, async () => {
    for (let seed = 0; seed < CASES; seed++) {
      const random = randomOf(seed)
      const own = { ...LEAST[to], ...some(OWN[to], random) }
      const config = some(callable(SAVED_FIELDS[from]), random)
      const { body } = merged(to, own, { source: from, config })
      const { tools, ...reported } = own as Members & { readonly tools?: readonly unknown[] }
      for (const [name, value] of Object.entries(reported))
        assert.deepEqual(body[name], value, `${seed}: ${name}`)
      const joined = (body['tools'] ?? []) as readonly unknown[]
      if (tools !== undefined) assert.deepEqual(joined.slice(0, tools.length), tools, `${seed}: tools`)
      assert.equal(body['model'], MODEL)
    }
  })

  t.test(`a ${from} preset changes nothing in a ${to} request that already has its fields`, async () => {
    for (let seed = 0; seed < CASES; seed++) {
      const random = randomOf(seed)
      const saved = { source: from, config: some(callable(SAVED_FIELDS[from]), random) }
      const once = merged(to, { ...LEAST[to], ...some(OWN[to], random) }, saved)
      assert.deepEqual(merged(to, once.body, saved).body, once.body, String(seed))
    }
  })

  t.test(
    `the prompt of a ${from} preset precedes everything else in the system prompt of a ${to} request`,
    async (t) => {
      for (const [own, shown] of SYSTEMS[to]) {
        const { body } = merged(
          to,
          { ...LEAST[to], ...own },
          { source: from, config: {}, systemPrompt: BRIEF },
        )
        t.match(body, shown)
      }
    },
  )
}

for (const [from, to] of PAIRS.filter(([from, to]) => from !== to))
  t.test(`no saved ${from} preset makes a ${to} request invalid, whatever fields it contains`, async () => {
    for (let seed = 0; seed < CASES; seed++) {
      const random = randomOf(seed)
      const config = some(SAVED_FIELDS[from], random, 0.5)
      merged(to, LEAST[to], { source: from, config: { ...config, unseen_of: seed } })
    }
  })

t.test('merges tools by identity whichever format saved them, with those of the request first', async (t) => {
  const chat = (name: string): object => ({ type: 'function', function: { name } })
  const { body } = merged(
    'messages',
    {
      ...LEAST.messages,
      tools: [
        { name: 'g', input_schema: { own: true } },
        { name: 'h', input_schema: {} },
      ],
    },
    { source: 'chat', config: { tools: [chat('f'), chat('g')], tool_choice: 'required' } },
  )
  t.match(body['tools'], [{ name: 'g', input_schema: { own: true } }, { name: 'h' }, { name: 'f' }])
  t.equal((body['tools'] as readonly unknown[]).length, 3)
  t.same(body['tool_choice'], { type: 'any' })
})

t.test('400: tools of the request and of the preset beyond the limit of a call', async (t) => {
  const tools = (count: number, from = 0): readonly object[] =>
    Array.from({ length: count }, (_, nth) => ({ type: 'function', function: { name: `f${from + nth}` } }))
  const own = { input: 'x', tools: tools(TOOLS_MAX).map((_, nth) => ({ type: 'function', name: `f${nth}` })) }
  const same = { source: 'chat', config: { tools: tools(2) } } as const
  t.equal((merged('responses', own, same).body['tools'] as readonly unknown[]).length, TOOLS_MAX)
  t.match(mergeInto('responses', own, { source: 'chat', config: { tools: tools(1, TOOLS_MAX) } }), {
    ok: false,
    failure: { name: 'body_invalid', metadata: { issues: [{ path: '/tools' }] } },
  })
})

t.test('400: validates preset fields in the format of the request like request fields', async (t) => {
  for (const [config, path] of [
    [{ temperature: 'hot' }, '/temperature'],
    [{ stop_sequences: [''] }, '/stop_sequences/0'],
  ] as const)
    t.match(mergeInto('messages', LEAST.messages, { source: 'messages', config }), {
      ok: false,
      failure: { name: 'body_invalid', metadata: { issues: [{ path }] } },
    })
})

t.test(
  'an output format that the request sets by its older name replaces the output format of the preset',
  async (t) => {
    const own = { type: 'json_schema', schema: { own: true } }
    const { body } = merged(
      'messages',
      { ...LEAST.messages, output_format: own },
      { source: 'chat', config: SAVED_FIELDS.chat },
    )
    t.same(body['output_format'], own)
    t.notOk('output_config' in body)
  },
)

t.test('a token count includes tools and prompt of presets in every API format', async (t) => {
  for (const source of DIALECTS) {
    const bytes = Uint8Array.from(Buffer.from(JSON.stringify({ preset: 'p', messages: SAYS })))
    const preset = {
      source,
      systemPrompt: 'Be brief.',
      config: JSON.stringify(callable(SAVED_FIELDS[source])),
    }
    const verdict = mergePreset({ body: 'count_tokens', bytes, preset, model: MODEL })
    assert.ok(verdict.ok && verdict.source !== undefined)
    const body = JSON.parse(Buffer.from(verdict.source.bytes).toString()) as Members
    t.match(body, { system: 'Be brief.', tools: [{ name: 'find' }] }, source)
    t.notOk('temperature' in body || 'max_tokens' in body)
  }
})

t.test('every preset field belongs to a member whose place the API format records', async (t) => {
  for (const to of DIALECTS)
    for (const name of Object.keys(SAVED_FIELDS[to]))
      t.ok(keptFormOf(to).names.includes(name), `${to} ${name}`)
})
