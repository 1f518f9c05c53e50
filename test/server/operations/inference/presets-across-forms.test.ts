/** Presets that one form saved and another uses, at providers that speak the same or yet another. D6, D10. */
import t from 'tap'
import type { PresetSource } from '../../../../src/dialects/presets/text-preset.ts'
import { DIALECTS } from '../../../../src/schemas/inference/text-request.ts'
import type { Members } from '../../../../src/schemas/values/members.ts'
import { bodyOf } from '../../../support/inference/fake-chat.ts'
import { rigged } from '../../../support/inference/text-rig.ts'
import { present } from '../../../support/must.ts'
import { memoryConfigs, MemoryVersion } from '../../../support/presets/presets.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../../src/schemas/models/protocols.ts'

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } }
const SHARED = { model: 'acme/one', temperature: 0.5 }
const SAVED: Readonly<Record<PresetSource, Members>> = {
  chat: {
    ...{ ...SHARED, max_tokens: 30, seed: 7, tool_choice: 'auto' },
    tools: [{ type: 'function', function: { name: 'find', parameters: SCHEMA } }],
  },
  responses: {
    ...{ ...SHARED, max_output_tokens: 30, truncation: 'auto', tool_choice: 'auto' },
    tools: [{ type: 'function', name: 'find', parameters: SCHEMA, strict: false }],
  },
  messages: {
    ...{ ...SHARED, max_tokens: 30, speed: 'fast', tool_choice: { type: 'auto' } },
    tools: [{ name: 'find', input_schema: SCHEMA }],
  },
}
/** The field of each that is only its own. */
const OWN: Readonly<Record<PresetSource, string>> = {
  chat: 'seed',
  responses: 'truncation',
  messages: 'speed',
}
const version = (source: PresetSource, config: Members = SAVED[source]): MemoryVersion =>
  new MemoryVersion(config, { source, systemPrompt: 'Be brief.' })
const presetConfigs = memoryConfigs(
  {
    ...Object.fromEntries(DIALECTS.map((source) => [source, [version(source)]])),
    // Each version is of another form.
    moved: DIALECTS.map((source) => version(source)),
    broken: [version('chat', { ...SHARED, max_tokens: 'x', stop: [''], from_the_future: 1 })],
    own: [version('messages', { ...SHARED, max_tokens: 30, stop_sequences: [''] })],
  },
  'w',
)

/** The request that a provider gets from each of them. */
const ARRIVED: Readonly<Record<TextProtocol, object>> = {
  chat: {
    ...{ temperature: 0.5, max_tokens: 30, tools: [{ function: { name: 'find' } }] },
    messages: [{ role: 'system' }, { role: 'user' }],
  },
  responses: {
    temperature: 0.5,
    max_output_tokens: 30,
    tools: [{ name: 'find' }],
    instructions: 'Be brief.',
  },
  messages: { temperature: 0.5, max_tokens: 30, tools: [{ name: 'find' }], messages: [{ role: 'user' }] },
  gemini: {
    generationConfig: { temperature: 0.5, maxOutputTokens: 30 },
    tools: [{ functionDeclarations: [{ name: 'find' }] }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
  },
}

/** Whether a provider takes the field that only one form has. */
function takesOwn(saved: PresetSource, used: PresetSource, protocol: TextProtocol): boolean {
  return used === saved && (protocol === saved || (saved === 'chat' && protocol === 'gemini'))
}

for (const protocol of TEXT_PROTOCOLS)
  t.test(`each dialect can use presets saved in any dialect, at a ${protocol} provider`, async (t) => {
    const { send, first, rest } = await rigged(t, protocol, { presetConfigs })
    for (const saved of DIALECTS)
      for (const used of DIALECTS)
        for (const stream of [false, true]) {
          const title = `${saved} used by ${used}, ${stream ? 'streamed' : 'whole'}`
          const response = await send(used, { model: `@preset/${saved}`, max_tokens: undefined, stream })
          const text = await response.text()
          t.equal(response.status, 200, `${title}: ${text}`)
          t.match(text, stream ? /"Hello"[^]*" you"/ : /"Hello there, you"/, title)
          const dropped = takesOwn(saved, used, protocol) ? null : OWN[saved]
          t.equal(response.headers.get('x-sluice-dropped'), dropped, title)
          const sent = present(first.calls.at(-1))
          t.match(bodyOf(sent), ARRIVED[protocol], title)
          t.ok(sent.body.includes('Be brief.'), title)
        }
    t.equal(await rest(), 0)
  })

t.test('versions of one preset can be in different dialects', async (t) => {
  const { send, first } = await rigged(t, 'responses', { presetConfigs })
  for (const [nth, saved] of DIALECTS.entries()) {
    const response = await send('chat', { model: `@preset/moved@${nth + 1}` })
    t.equal(response.status, 200, await response.text())
    t.equal(response.headers.get('x-sluice-dropped'), OWN[saved])
    t.match(bodyOf(present(first.calls.at(-1))), ARRIVED.responses)
  }
})

t.test('200: invalid fields of a preset in another dialect are dropped and reported', async (t) => {
  const { send, first } = await rigged(t, 'messages', { presetConfigs })
  const response = await send('messages', { model: '@preset/broken' })
  t.equal(response.status, 200, await response.text())
  t.equal(response.headers.get('x-sluice-dropped'), 'max_tokens,stop,from_the_future')
  t.match(bodyOf(present(first.calls[0])), { temperature: 0.5, max_tokens: 50 })
})

t.test('400: an invalid field of a preset in the same dialect is refused like a request field', async (t) => {
  const { send, first } = await rigged(t, 'messages', { presetConfigs })
  const response = await send('messages', { model: '@preset/own' })
  t.equal(response.status, 400)
  t.match(await response.json(), {
    error: { message: /preset/, metadata: { issues: [{ path: '/stop_sequences/0' }] } },
  })
  t.equal(first.calls.length, 0)
})
