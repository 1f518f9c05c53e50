/** A prompt that Gemini's filter blocks: the next of `models` is tried, and without one it is the answer. D11. */
import t, { type Test } from 'tap'
import { DIALECTS, type Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { PROMPT_TOKENS } from '../../../../support/inference/fake-chat.ts'
import { bodyOf, streams } from '../../../../support/inference/fake-stream.ts'
import { answersGemini, geminiEvents } from '../../../../support/inference/gemini/fake-gemini.ts'
import { rigged, type TextRig } from '../../../../support/inference/text-rig.ts'

const USAGE = { promptTokenCount: PROMPT_TOKENS, totalTokenCount: PROMPT_TOKENS }
const BLOCK = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: USAGE }
const BLOCKED = answersGemini({ more: { candidates: undefined, ...BLOCK } })

/** The answer that a caller of each dialect gets when a filter ended it. */
const FILTERED: Readonly<Record<Dialect, readonly [whole: object, streamed: RegExp]>> = {
  chat: [{ choices: [{ finish_reason: 'content_filter' }] }, /"finish_reason":"content_filter"/],
  responses: [
    { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    /event: response\.incomplete\ndata: .*"reason":"content_filter"/,
  ],
  messages: [{ stop_reason: 'refusal' }, /"stop_reason":"refusal"/],
}

function each(title: string, scenario: (t: Test, rig: TextRig, asked: Asked) => Promise<void>): void {
  for (const dialect of DIALECTS)
    for (const stream of [false, true])
      t.test(`${dialect}, ${stream ? 'streamed' : 'whole'}: ${title}`, async (t) => {
        const rig = await rigged(t, 'gemini')
        await scenario(t, rig, { dialect, stream })
        t.equal(await rig.rest(), 0)
      })
}

interface Asked {
  readonly dialect: Dialect
  readonly stream: boolean
}

each(
  'a blocked prompt goes on to the next model, and is not charged',
  async (t, rig, { dialect, stream }) => {
    rig.first.script(BLOCKED)
    const response = await rig.send(dialect, { models: ['acme/other'], stream })
    const text = await response.text()
    t.equal(response.status, 200, text)
    t.equal(response.headers.get('x-sluice-provider'), 'second')
    t.equal(response.headers.get('x-sluice-attempts'), '2')
    t.match(text, /"acme\/other"/)
    t.notMatch(text, /acme\/one|content_filter|refusal":"/)
    t.match(rig.spend.holds, [{ end: { provider: 'second', model: 'acme/other' } }])
    t.equal(rig.spend.holds.length, 1)
  },
)

each('without another model a blocked prompt is an answer', async (t, rig, { dialect, stream }) => {
  for (const models of [{}, { models: ['acme/one'] }]) {
    rig.first.script(BLOCKED)
    const response = await rig.send(dialect, { ...models, stream })
    const text = await response.text()
    t.equal(response.status, 200, text)
    const [whole, streamed] = FILTERED[dialect]
    if (stream) t.match(text, streamed)
    else t.match(JSON.parse(text), whole)
    t.match(rig.spend.holds.at(-1)?.end, { provider: 'first', costNano: PROMPT_TOKENS * 1_000 })
  }
})

each('a block that reports no tokens is charged by an estimate', async (t, rig, { dialect, stream }) => {
  rig.first.script(
    answersGemini({
      usage: 'missing',
      more: { candidates: undefined, promptFeedback: BLOCK.promptFeedback },
    }),
  )
  const response = await rig.send(dialect, { stream })
  t.equal(response.status, 200)
  await response.text()
  const end = rig.spend.holds[0]?.end as { readonly costNano: number }
  t.match(end, { provider: 'first', isEstimated: true, text: { outputTokens: 0 } })
  t.ok(end.costNano > 0)
})

each(
  "the last model's failure names the block among those before it",
  async (t, rig, { dialect, stream }) => {
    rig.first.script(BLOCKED)
    rig.second.meets('rst')
    const response = await rig.send(dialect, { models: ['acme/other'], stream })
    t.equal(response.status, 502)
    const previous_errors = [{ provider: 'First', code: 'PROHIBITED_CONTENT', status: null }]
    t.match(await response.json(), { error: { metadata: { previous_errors } } })
    t.equal(rig.spend.holds[0]?.end, 'released')
  },
)

t.test('a content block by the provider after an output ends the answer with `content_filter`', async (t) => {
  const rig = await rigged(t, 'gemini')
  const events = [...geminiEvents().slice(0, 1), { data: JSON.stringify(BLOCK) }]
  t.match(bodyOf(events).toString(), /Hello/)
  rig.first.script(streams(events))
  const response = await rig.send('chat', { models: ['acme/other'], stream: true })
  const text = await response.text()
  t.equal(response.headers.get('x-sluice-provider'), 'first')
  t.match(text, /"Hello"[^]*"finish_reason":"content_filter"/)
  t.equal(rig.second.calls.length, 0)
})
