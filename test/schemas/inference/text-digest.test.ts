/** What is read of the bodies of all dialects alike. */
import t from 'tap'
import { providerBody } from '../../../src/schemas/inference/provider-body.ts'
import { DIALECTS, type Dialect, type TextInput } from '../../../src/schemas/inference/text-request.ts'
import { keptChat } from '../../support/inference/kept-chat.ts'

const LEAST: Readonly<Record<Dialect, object>> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x' },
  messages: { messages: [{ role: 'user', content: 'x' }], max_tokens: 5 },
}
const provider = { require_parameters: true }

function digestOf(dialect: Dialect, more: object): TextInput {
  const body = { model: 'm', provider, ...LEAST[dialect], ...more }
  return keptChat(JSON.stringify(body), { dialect }).digest
}

const parametersOf = (dialect: Dialect, more: object): readonly string[] => digestOf(dialect, more).parameters

const schema = { type: 'json_schema', name: 'n', schema: {} }
const PARAMETERS: readonly (readonly [Dialect, object, readonly string[]])[] = [
  ['chat', {}, []],
  ['chat', { max_tokens: 5, max_completion_tokens: 5, seed: 1, stop: ['x'] }, ['max_tokens', 'seed', 'stop']],
  ['chat', { seed: null, tools: [], constructor: 1, toString: 1, unknown: 1 }, []],
  ['chat', { response_format: { type: 'text' } }, []],
  ['chat', { response_format: { type: 'json_object' } }, ['response_format']],
  ['chat', { response_format: { type: 'constructor' } }, []],
  ['chat', { response_format: { type: 'json_schema', json_schema: {} } }, ['structured_outputs']],
  ['chat', { reasoning_effort: 'low', reasoning: { effort: 'low' } }, ['reasoning']],
  ['responses', { max_output_tokens: 5, top_p: 1 }, ['max_tokens', 'top_p']],
  ['responses', { text: { format: { type: 'text' }, verbosity: 'low' } }, []],
  ['responses', { text: { format: schema } }, ['structured_outputs']],
  ['messages', { stop_sequences: ['x'], top_k: 3 }, ['max_tokens', 'stop', 'top_k']],
  ['messages', { stop_sequences: [], thinking: { type: 'disabled' } }, ['max_tokens']],
  ['messages', { thinking: { type: 'adaptive' } }, ['max_tokens', 'reasoning']],
  ['messages', { output_config: { effort: 'low' } }, ['max_tokens', 'reasoning']],
  ['messages', { output_config: { format: schema } }, ['max_tokens', 'structured_outputs']],
  [
    'messages',
    { output_format: schema, tools: [{ name: 'f', input_schema: {} }] },
    ['max_tokens', 'structured_outputs', 'tools'],
  ],
]

t.test('require_parameters wants what a body asks for, in the words of the catalogue', async (t) => {
  for (const [dialect, more, names] of PARAMETERS)
    t.same([...parametersOf(dialect, more)].sort(), names, `${dialect} ${JSON.stringify(more)}`)
  t.same(parametersOf('chat', { seed: 1, provider: { require_parameters: false } }), [])
  t.same(parametersOf('chat', { seed: 1, provider: null }), [])
})

const DEAR: readonly (readonly [object, string | null])[] = [
  [{}, null],
  ...['auto', 'default', 'flex', 'standard', 'standard_only', null].map(
    (service_tier) => [{ service_tier }, null] as const,
  ),
  ...['priority', 'fast', 'ultrafast', 'scale', 'Default', '', 7, {}, true].map(
    (service_tier) => [{ service_tier }, 'service_tier'] as const,
  ),
  [{ speed: 'standard', inference_geo: 'global', fallbacks: [] }, null],
  [{ speed: 'fast' }, 'speed'],
  [{ inference_geo: 'us' }, 'inference_geo'],
  [{ fallbacks: [{ model: 'dear' }] }, 'fallbacks'],
  [{ fallbacks: 'default' }, 'fallbacks'],
]

t.test(
  'members by which a call may cost more than the catalogue says are named, in all dialects',
  async (t) => {
    for (const dialect of DIALECTS)
      for (const [more, name] of DEAR)
        t.equal(digestOf(dialect, more).dearMember, name, `${dialect} ${JSON.stringify(more)}`)
  },
)

t.test('of such a member that comes twice the last goes out alone, which was read', async (t) => {
  const twice =
    '{"model":"m","input":"x","speed":"fast","service_tier":"priority","service_tier":"flex","speed":null}'
  const { digest, body } = keptChat(twice, { dialect: 'responses' })
  t.equal(digest.dearMember, null)
  t.equal(
    Buffer.concat(providerBody(body, [])).toString(),
    '{"model":"m","input":"x","service_tier":"flex","speed":null}',
  )
})
