/** Whole answers of other protocols, which a thread reads and writes. */
import { LoopBudget } from '../../src/server/structures/loop-budget.ts'
import t from 'tap'
import { DIALECTS } from '../../src/schemas/inference/text-request.ts'
import { INLINE_JSON_BYTES_MAX } from '../../src/schemas/limits/limits.ts'
import { withoutMarks } from '../../src/schemas/values/long-integers.ts'
import type { Endpoint } from '../../src/server/ports/models/models.ts'
import { answerOfJob, WHOLE_TEXTS } from '../../src/dialects/native-answer.ts'
import { LearnedText } from '../../src/server/upstream/inference/spoken.ts'
import { Framing } from '../../src/server/upstream/inference/framing.ts'
import { TranslatedWire } from '../../src/server/upstream/inference/translated-wire.ts'
import { threads } from '../support/front.ts'
import { at } from '../support/inference/bounded-endpoints.ts'
import { orNull, must, present } from '../support/must.ts'
import type { NativeHead } from '../../src/dialects/parts.ts'
import { wholeParts } from '../../src/dialects/translate.ts'
import type { TextProtocol } from '../../src/schemas/models/protocols.ts'
import { translatedAnswer } from '../../src/workers/tasks.ts'

const HEAD: NativeHead = { id: 'gen_1', createdS: 1_795_312_800, model: 'maker/one', provider: 'maker' }
const USAGE = { whole: '{"cost":1}', added: null }
const ARGUMENTS = '{"n":9007199254740993,"text":"é\\ud83d"}'

function answersOf(text: string): Readonly<Record<TextProtocol, string>> {
  const stated = JSON.stringify(text)
  const args = JSON.stringify(ARGUMENTS)
  return {
    chat:
      `{"id":"a","choices":[{"message":{"content":${stated},"tool_calls":[{"id":"c","type":"function",` +
      `"function":{"name":"f","arguments":${args}}}]},"finish_reason":"tool_calls"}]}`,
    responses:
      `{"id":"a","output":[{"type":"message","content":[{"type":"output_text","text":${stated}}]},` +
      `{"type":"function_call","call_id":"c","name":"f","arguments":${args}}],"status":"completed"}`,
    messages:
      `{"id":"a","type":"message","content":[{"type":"text","text":${stated}},` +
      `{"type":"tool_use","id":"c","name":"f","input":${ARGUMENTS}}],"stop_reason":"tool_use"}`,
    gemini:
      `{"responseId":"a","candidates":[{"content":{"parts":[{"text":${stated}},` +
      `{"functionCall":{"name":"f","args":${ARGUMENTS}}}]},"finishReason":"STOP"}]}`,
  }
}

/** The second in which an answer of responses was written. */
const timeless = (json: string): string => json.replace(/"completed_at":\d+/, '"completed_at":1')

t.test('a thread writes the bytes that the loop writes', (t) => {
  for (const [protocol, body] of Object.entries(answersOf('Hé')) as [TextProtocol, string][])
    for (const dialect of DIALECTS) {
      const read = { protocol, answer: Buffer.from(body), signatureFormat: 'x', tier: null, origins: [] }
      const parts = orNull(wholeParts(read))
      const text = WHOLE_TEXTS[dialect](HEAD, {})
      text.begin(HEAD)
      for (const part of parts?.parts ?? []) text.add(part)
      const expected = withoutMarks(JSON.stringify(text.answer(USAGE)))
      const made = must(
        answerOfJob(translatedAnswer({ ...read, dialect, head: HEAD, isEncryptedAsked: false })),
      )
      const written = Buffer.concat(made.withUsage(USAGE)).toString()
      t.equal(timeless(written), timeless(expected), `${protocol} for ${dialect}`)
      t.match(written, /9007199254740993/)
      t.equal(made.outputBytes, parts?.outputBytes)
    }
  t.end()
})

t.test('refuses a body that is not an answer', (t) => {
  const read = {
    protocol: 'chat',
    answer: Buffer.from('{}'),
    signatureFormat: 'x',
    tier: null,
    origins: [],
  } as const
  t.same(translatedAnswer({ ...read, dialect: 'messages', head: HEAD, isEncryptedAsked: false }), {
    ok: false,
    failure: { name: 'upstream_invalid' },
  })
  t.end()
})

t.test('a thread returns a large answer serialized, and its parts are not serialized again', async (t) => {
  const provider = { slug: 'google', protocol: 'google' } as Endpoint['provider']
  const { endpoint } = at({ speaks: ['gemini'] }, { provider })
  const text = present(endpoint.text)
  const how = { jobs: threads(), loop: new LoopBudget() }
  const wire = new TranslatedWire('messages', 'gemini', {
    endpoint,
    learned: new LearnedText(text),
    framing: new Framing('gemini', how),
    ...how,
  })
  const words = 'x'.repeat(INLINE_JSON_BYTES_MAX)
  const body = Buffer.from(answersOf(words).gemini)
  const caller = { organizationId: 'o', workspaceId: 'w', key: 'k' }
  const read = must(
    await wire.whole({ body, head: HEAD, caller, tier: null, endsAt: Infinity, isEncryptedAsked: false }),
  )
  if (!('withUsage' in read)) throw new Error('it comes in parts')
  t.match(JSON.parse(Buffer.concat(read.withUsage(USAGE)).toString()), {
    ...{ id: 'msg_1', model: 'maker/one' },
    content: [{ text: words }, { type: 'tool_use', name: 'f' }],
    usage: { cost: 1 },
  })
})
