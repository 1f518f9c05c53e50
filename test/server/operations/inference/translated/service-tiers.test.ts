/** Tiers between callers and providers of other forms: asked for, reported, shown and paid. F6, F8. */
import t from 'tap'
import { INLINE_JSON_BYTES_MAX } from '../../../../../src/schemas/limits/limits.ts'
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import type { Endpoint } from '../../../../../src/server/ports/models/models.ts'
import { isVertex } from '../../../../../src/server/upstream/inference/spoken.ts'
import { eventsIn, type Members } from '../../../../support/inference/accumulated.ts'
import { openChatProvider } from '../../../../support/inference/chat-provider-front.ts'
import { answersChat, bodyOf, PROMPT_TOKENS, wholeJson } from '../../../../support/inference/fake-chat.ts'
import { answersMessages } from '../../../../support/inference/fake-messages.ts'
import type { FakeAnswer } from '../../../../support/inference/fake-provider.ts'
import { responseEvents, saysResponse, tellsResponse } from '../../../../support/inference/fake-responses.ts'
import { DIALECT_PATHS, TRANSLATED_PAIRS } from '../../../../support/inference/forms-facts.ts'
import { answersGemini, geminiBody } from '../../../../support/inference/gemini/fake-gemini.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'
import { AUTHORIZATION } from '../../../../support/front.ts'
import { keptSpend } from '../../../../support/money/free-spend.ts'
import type { TextProtocol } from '../../../../../src/schemas/models/protocols.ts'

const ASKED: readonly (readonly [Dialect, TextProtocol, string, unknown, string | null])[] = [
  ['chat', 'gemini', 'flex', 'flex', null],
  ['chat', 'gemini', 'priority', 'priority', null],
  ['chat', 'gemini', 'default', 'standard', null],
  ['chat', 'gemini', 'auto', undefined, null],
  ['chat', 'gemini', 'scale', undefined, 'service_tier'],
  ['responses', 'gemini', 'fast', 'priority', null],
  ['messages', 'gemini', 'standard_only', 'standard', null],
  ['messages', 'gemini', 'auto', undefined, null],
  ['chat', 'messages', 'default', 'standard_only', null],
  ['chat', 'messages', 'standard', 'standard_only', null],
  ['responses', 'messages', 'auto', undefined, null],
  ['responses', 'messages', 'flex', undefined, 'service_tier'],
  ['messages', 'chat', 'standard_only', 'default', null],
  ['messages', 'responses', 'standard_only', 'default', null],
  ['chat', 'responses', 'flex', 'flex', null],
  ['responses', 'chat', 'priority', 'priority', null],
]

t.test('a tier is requested by the name that the provider uses for it', async (t) => {
  for (const protocol of ['gemini', 'messages', 'chat', 'responses'] as const) {
    const { send, first } = await rigged(t, protocol)
    for (const [dialect, , asked, sent, dropped] of ASKED.filter(([, to]) => to === protocol)) {
      const response = await send(dialect, { service_tier: asked })
      const name = `${dialect} at ${protocol}: ${asked}`
      t.equal(response.status, 200, `${name} ${await response.text()}`)
      const call = first.calls.at(-1)
      t.equal(call === undefined ? null : bodyOf(call)['service_tier'], sent, name)
      t.equal(response.headers.get('x-sluice-dropped'), dropped, name)
    }
  }
})

/** An answer that reports a tier as the protocol does. */
function reports(protocol: TextProtocol, tier: string): FakeAnswer {
  const headers = { 'x-gemini-service-tier': tier }
  switch (protocol) {
    case 'chat':
      return answersChat({ more: { service_tier: tier } })
    case 'messages':
      return answersMessages({
        usage: { input_tokens: PROMPT_TOKENS, output_tokens: 4, service_tier: tier },
      })
    case 'gemini':
      return (call, reply) =>
        call.path.includes('stream')
          ? answersGemini({}, { headers })(call, reply)
          : wholeJson(200, JSON.stringify(geminiBody()), headers)(call, reply)
    case 'responses': {
      const events = responseEvents().map((event) => ({
        ...event,
        data: event.data.replaceAll('"service_tier":"auto"', `"service_tier":"${tier}"`),
      }))
      const { response } = JSON.parse(events.at(-1)?.data ?? '') as { response: object }
      return (call, reply) =>
        bodyOf(call)['stream'] === true
          ? tellsResponse(events)(call, reply)
          : saysResponse(response)(call, reply)
    }
  }
}

/** Where an answer of the dialect, or the last event that has it, shows its tier. */
const SHOWN: Readonly<Record<Dialect, (answer: Members) => unknown>> = {
  chat: ({ service_tier: tier }) => tier,
  responses: ({ service_tier: tier }) => tier,
  messages: ({ usage }) => (usage as Members)['service_tier'],
}
const LAST: Readonly<Record<Dialect, (events: readonly Members[]) => Members>> = {
  chat: (events) => events.findLast(({ usage }) => usage !== undefined) ?? {},
  responses: (events) => events.at(-1)?.['response'] as Members,
  messages: (events) => events.findLast(({ type }) => type === 'message_delta') ?? {},
}
const USUAL: Readonly<Record<Dialect, string>> = {
  chat: 'default',
  responses: 'default',
  messages: 'standard',
}

t.test('a reported tier is shown by the name that the dialect of the caller uses for it', async (t) => {
  for (const [dialect, protocol] of TRANSLATED_PAIRS) {
    const { send, first } = await rigged(t, protocol)
    for (const [reported, shown] of [
      ['priority', 'priority'],
      ['flex', 'flex'],
      [protocol === 'chat' || protocol === 'responses' ? 'default' : 'STANDARD', USUAL[dialect]],
    ] as const) {
      first.usually(reports(protocol, reported))
      const whole = (await (await send(dialect)).json()) as Members
      t.equal(SHOWN[dialect](whole), shown, `${dialect} at ${protocol}, whole: ${reported}`)
      const response = await send(dialect, { stream: true })
      const events = eventsIn(Buffer.from(await response.arrayBuffer()))
      t.equal(
        SHOWN[dialect](LAST[dialect](events)),
        shown,
        `${dialect} at ${protocol}, streamed: ${reported}`,
      )
    }
  }
})

t.test('a large answer that a worker thread writes shows the tier too', async (t) => {
  const { send, first } = await rigged(t, 'gemini')
  const body = geminiBody({ words: ['x'.repeat(INLINE_JSON_BYTES_MAX)] })
  first.usually(wholeJson(200, JSON.stringify(body), { 'x-gemini-service-tier': 'flex' }))
  for (const dialect of ['chat', 'responses', 'messages'] as const)
    t.equal(SHOWN[dialect]((await (await send(dialect)).json()) as Members), 'flex', dialect)
})

t.test('an answer without a tier shows none, and a native answer gets no tier added', async (t) => {
  const { send, first } = await rigged(t, 'gemini')
  first.usually(answersGemini())
  t.notOk('service_tier' in ((await (await send('chat')).json()) as Members))
  t.equal(SHOWN.responses((await (await send('responses')).json()) as Members), 'default')
  const native = await rigged(t, 'chat')
  native.first.usually(reports('chat', 'fast'))
  const events = eventsIn(Buffer.from(await (await native.send('chat', { stream: true })).arrayBuffer()))
  t.equal(SHOWN.chat(LAST.chat(events)), undefined)
})

t.test("Gemini's header decides the price, and is in the record", async (t) => {
  const spend = keptSpend()
  const front = await openChatProvider(t, {
    spend,
    firstProvider: { protocol: 'google' },
    firstFacts: {
      speaks: ['gemini'],
      modifiers: [{ when: { service_tier: 'flex' }, multiplier: '0.5' }],
    },
  })
  front.first.usually(reports('gemini', 'flex'))
  const cost = (PROMPT_TOKENS * 1_000 + 4 * 2_000) / 2
  for (const stream of [false, true]) {
    const response = await fetch(`${front.url}/api/v1${DIALECT_PATHS.chat}`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }], stream }),
    })
    await response.text()
    t.match(spend.holds.at(-1)?.end, { costNano: cost, isEstimated: false })
  }
})

t.test('Google Cloud is recognized by its address', (t) => {
  const at = (baseUrl: string): boolean => isVertex({ provider: { baseUrl } as Endpoint['provider'] })
  for (const host of ['aiplatform.googleapis.com', 'us-east5-aiplatform.googleapis.com'])
    t.ok(at(`https://${host}/v1/projects/p/locations/global/publishers/google`))
  t.ok(at('https://aiplatform.eu.rep.googleapis.com/v1'))
  t.notOk(at('https://generativelanguage.googleapis.com/v1beta'))
  t.notOk(at('https://aiplatform.googleapis.com.example.org/v1'))
  t.end()
})
