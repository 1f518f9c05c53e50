/** Endpoints that would refuse a field of a call are left out before any is tried. D6, D25. */
import t, { type Test } from 'tap'
import { INLINE_JSON_BYTES_MAX } from '../../../../../src/schemas/limits/limits.ts'
import {
  openChatProvider,
  type ChatProviderFront,
} from '../../../../support/inference/chat-provider-front.ts'
import { answersChat, strictChat } from '../../../../support/inference/fake-chat.ts'
import { answersMessages, strictMessages } from '../../../../support/inference/fake-messages.ts'
import { keptSpend } from '../../../../support/money/free-spend.ts'

const MODEL = 'acme/chat'
const TURN = [{ role: 'user', content: 'Hello there' }]
const ASKED = { model: MODEL, messages: TURN }
/** Refused by providers that speak messages. */
const JSON_OBJECT = { response_format: { type: 'json_object' } }
/** A body that is read in a thread. */
const LONG = [{ role: 'user', content: 'x'.repeat(INLINE_JSON_BYTES_MAX) }]
const DEAR = { prompt: '0.001', completion: '0.002' }
const ALL = ['frequency_penalty', 'response_format', 'seed', 'temperature', 'top_k']

interface Rig extends ChatProviderFront {
  readonly spend: ReturnType<typeof keptSpend>
}

/** The first provider speaks messages and is dear, the second speaks chat. */
async function rigged(
  t: Test,
  second: object = {},
  providers: Readonly<Record<string, unknown>> = {},
): Promise<Rig> {
  const spend = keptSpend()
  const front = await openChatProvider(t, {
    spend,
    providers,
    firstProvider: { protocol: 'anthropic' },
    firstFacts: { speaks: ['messages'], pricing: DEAR, supported_parameters: ALL },
    secondFacts: { speaks: ['chat'], supported_parameters: ALL, ...second },
  })
  front.first.usually(strictMessages(answersMessages()))
  front.second.usually(strictChat(answersChat()))
  return { ...front, spend }
}

const ATTEMPTS = 'x-sluice-attempts'
const PROVIDER = 'x-sluice-provider'

for (const [size, messages] of [
  ['short', TURN],
  ['long', LONG],
] as const)
  t.test(
    `a ${size} call is sent directly to the endpoint that supports all its fields, and only that one counts for its maximum cost`,
    async (t) => {
      const { post, first, second, spend, rest } = await rigged(t)
      const plain = await post({ model: MODEL, messages, max_tokens: 10 })
      t.equal(plain.headers.get(PROVIDER), 'first', await plain.text())
      const response = await post({ model: MODEL, messages, max_tokens: 10, ...JSON_OBJECT })
      t.equal(response.status, 200, await response.text())
      t.equal(response.headers.get(PROVIDER), 'second')
      t.equal(response.headers.get(ATTEMPTS), '1')
      t.equal(first.calls.length, 1)
      t.equal(second.calls.length, 1)
      const [both, alone] = spend.holds.map(({ ask }) => ask.bound.paidNano ?? 0)
      t.ok((both ?? 0) > 500 * (alone ?? 0), `${both} and ${alone}`)
      t.equal(await rest(), 0)
    },
  )

t.test(
  'a call that no endpoint supports gets 400 with the paths and the supporting protocols, and nothing is reserved',
  async (t) => {
    const { post, first, second, spend } = await rigged(t, { speaks: ['responses'] })
    for (const messages of [TURN, LONG]) {
      const response = await post({ model: MODEL, messages, n: 2, stop: 'x', ...JSON_OBJECT })
      const reported = await response.json()
      t.equal(response.status, 400)
      t.match(reported, { error: { metadata: { error_type: 'field_unsupported' } } })
      const { issues } = (
        reported as { error: { metadata: { issues: { path: string; expected: string }[] } } }
      ).error.metadata
      t.same(
        issues.map(({ path, expected }) => [path, expected]),
        [
          ['/n', '1, or an endpoint that supports chat'],
          [
            '/response_format',
            'the type `json_schema`, or an endpoint that supports chat or responses or gemini',
          ],
          ['/stop', 'an endpoint that supports chat or messages or gemini'],
        ],
      )
    }
    t.equal(first.calls.length + second.calls.length, 0)
    t.equal(spend.holds.length, 0)
  },
)

t.test('a call that prefers only refusing endpoints gets their refusal', async (t) => {
  const { post } = await rigged(t)
  const response = await post({ ...ASKED, ...JSON_OBJECT, provider: { only: ['first'] } })
  t.equal(response.status, 400)
  t.match(await response.json(), { error: { metadata: { error_type: 'field_unsupported' } } })
})

t.test('with `require_parameters`, an endpoint that would drop a field is skipped', async (t) => {
  const { post, first, second } = await rigged(t)
  const provider = { require_parameters: true }
  for (const messages of [TURN, LONG]) {
    const asked = { model: MODEL, messages, seed: 7 }
    const dropping = await post(asked)
    t.equal(dropping.headers.get('x-sluice-dropped'), 'seed', await dropping.text())
    const strict = await post({ ...asked, provider })
    t.equal(strict.status, 200, await strict.text())
    t.equal(strict.headers.get(PROVIDER), 'second')
    t.equal(strict.headers.get(ATTEMPTS), '1')
    const refused = await post({ ...asked, provider: { ...provider, only: ['first'] } })
    t.equal(refused.status, 400)
    t.match(await refused.json(), {
      error: {
        metadata: {
          error_type: 'field_unsupported',
          issues: [
            {
              path: '/seed',
              message: 'would be dropped',
              expected: 'an endpoint that supports chat or gemini, or no `require_parameters: true`',
            },
          ],
        },
      },
    })
  }
  t.equal(first.calls.length, 2)
  t.equal(second.calls.length, 2)
})

t.test('with `require_parameters`, skips a strict provider that does not know a field', async (t) => {
  const { post, second } = await rigged(t, {}, { strict: true })
  const only = { only: ['second'] }
  const dropping = await post({ ...ASKED, top_k: 5, provider: only })
  t.equal(dropping.headers.get('x-sluice-dropped'), 'top_k', await dropping.text())
  const response = await post({ ...ASKED, top_k: 5, provider: { ...only, require_parameters: true } })
  t.equal(response.status, 400)
  t.match(await response.json(), { error: { metadata: { issues: [{ path: '/top_k' }] } } })
  t.equal(second.calls.length, 1)
})

t.test('another model answers when the first one does not support a field', async (t) => {
  const { post, second } = await rigged(t)
  const response = await post({ ...ASKED, model: 'acme/one', models: ['acme/other'], ...JSON_OBJECT })
  t.match(await response.json(), { model: 'acme/other' })
  t.equal(response.headers.get(ATTEMPTS), '1')
  t.equal(second.calls.length, 1)
})
