/** An answer that its provider reports as failed: the same error, whole or streamed. D14, D22. */
import t from 'tap'
import { DIALECTS, type Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { answersChat } from '../../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../../support/inference/fake-provider.ts'
import { saysResponse, tellsResponse } from '../../../../support/inference/fake-responses.ts'
import { streams } from '../../../../support/inference/fake-stream.ts'
import { answersGemini } from '../../../../support/inference/gemini/fake-gemini.ts'
import { named, RESPONSE } from '../../../../support/inference/responses-streams.ts'
import { rigged, SENT_TEXT, type TextRig } from '../../../../support/inference/text-rig.ts'
import type { TextProtocol } from '../../../../../src/schemas/models/protocols.ts'

/** Bytes of an answer that a thread reads, natively and translated. */
const LARGE = 300_000

type Pair = readonly [whole: FakeAnswer, streamed: FakeAnswer]

interface Answer {
  readonly status: number
  readonly error: { readonly metadata: Readonly<Record<string, unknown>> }
}

async function reportedBy({ send }: TextRig, dialect: Dialect, body: object): Promise<Answer> {
  const response = await send(dialect, body)
  const { error } = (await response.json()) as Answer
  const { request_id: _, ...metadata } = error.metadata
  return { status: response.status, error: { ...error, metadata } }
}

/** The answer that callers of a dialect get, which has to be the same streamed. */
async function failureOf(rig: TextRig, dialect: Dialect, answers: Pair): Promise<Answer | undefined> {
  const reported: Answer[] = []
  for (const [nth, answer] of answers.entries()) {
    rig.first.script(answer)
    reported.push(await reportedBy(rig, dialect, { stream: nth === 1 }))
  }
  t.same(reported[0], reported[1], 'whole as streamed')
  return reported[0]
}

const WORDS = [
  ...['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS', 'MALFORMED_RESPONSE'],
  ...['MISSING_THOUGHT_SIGNATURE', 'OTHER', 'NO_IMAGE', 'IMAGE_OTHER'],
]

t.test('the error of a failed Gemini answer names its finish reason, whole and streamed', async (t) => {
  const rig = await rigged(t, 'gemini')
  for (const dialect of DIALECTS)
    for (const word of WORDS) {
      const answer = answersGemini({ more: { candidates: [{ finishReason: word, index: 0 }] } })
      t.match(
        await failureOf(rig, dialect, [answer, answer]),
        {
          status: 502,
          error: {
            message: new RegExp(`The answer ended with ${word}\\.`),
            metadata: { error_type: 'upstream_failed' },
          },
        },
        `${dialect} ${word}`,
      )
    }
  for (const { end } of rig.spend.holds) t.equal(end, 'released', 'nothing is charged')
})

const failed = (error: object, more: object = {}): Pair => {
  const response = { ...RESPONSE, ...more, status: 'failed', error }
  return [saysResponse(response), tellsResponse(named([{ type: 'response.failed', response }]))]
}

t.test('a failed response reports its code and message, whole and streamed', async (t) => {
  const rig = await rigged(t, 'responses')
  for (const dialect of DIALECTS)
    for (const [more, size] of [
      [{}, 'small'],
      [{ instructions: 'x'.repeat(LARGE) }, 'large'],
    ] as const)
      t.match(
        await failureOf(rig, dialect, failed({ code: 'server_error', message: 'boom' }, more)),
        {
          status: 502,
          error: {
            message: /The answer broke off: boom/,
            metadata: { error_type: 'upstream_failed', provider_code: 'server_error' },
          },
        },
        `${dialect}, ${size}`,
      )
  for (const { end } of rig.spend.holds) t.equal(end, 'released', 'nothing is charged')
})

t.test("a failed response's message repeats neither the request nor facts about the operator", async (t) => {
  const text = `${SENT_TEXT}, said at some length`
  const rig = await rigged(t, 'responses')
  for (const dialect of DIALECTS) {
    rig.first.script(failed({ code: 'server_error', message: `Cannot answer ${text}` })[0])
    const body = dialect === 'responses' ? { input: text } : { messages: [{ role: 'user', content: text }] }
    const reported = JSON.stringify(await reportedBy(rig, dialect, body))
    t.match(reported, /Cannot answer/)
    t.notMatch(reported, /some length/)
    const limited = { code: 'rate_limit_exceeded', message: 'Limit of the account: 7.' }
    const limit = await failureOf(rig, dialect, failed(limited))
    t.match(limit, { status: 529, error: { metadata: { provider_code: 'rate_limit_exceeded' } } })
    t.notMatch(JSON.stringify(limit), /account/)
  }
})

t.test('a chat that ends with an error reports it, whole and streamed', async (t) => {
  const rig = await rigged(t, 'chat')
  const more = { error: { code: 502, message: 'The model broke.' } }
  const choices = [{ index: 0, delta: { content: '' }, finish_reason: 'error' }]
  const streamed = streams([{ data: JSON.stringify({ id: 'a', choices, ...more }) }])
  const answers = [answersChat({ finish: 'error', more }), streamed] as const
  for (const dialect of ['responses', 'messages'] as const)
    t.match(
      await failureOf(rig, dialect, answers),
      { status: 502, error: { message: /The model broke/, metadata: { error_type: 'upstream_failed' } } },
      dialect,
    )
})

t.test('an error instead of a whole answer remains an invalid answer. D14', async (t) => {
  const body = saysResponse({ error: { code: 'server_error', message: 'boom' } })
  for (const [protocol, dialect] of [
    ['gemini', 'chat'],
    ['chat', 'messages'],
    ['messages', 'chat'],
    ['responses', 'chat'],
  ] as const satisfies readonly (readonly [TextProtocol, Dialect])[]) {
    const rig = await rigged(t, protocol)
    rig.first.script(body)
    t.match(await reportedBy(rig, dialect, {}), {
      status: 502,
      error: { metadata: { error_type: 'upstream_invalid' } },
    })
  }
})
