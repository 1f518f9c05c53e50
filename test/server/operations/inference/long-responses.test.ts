/** Long responses of models of another form: how much is kept of them, and the cost of writing them. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { RESPONSE_KEPT_BYTES_MAX } from '../../../../src/schemas/inference/stream-limits.ts'
import { BYTES_PER_TOKEN } from '../../../../src/schemas/inference/token-limits.ts'
import { MIB } from '../../../../src/schemas/limits/limits.ts'
import { MessagesParts } from '../../../../src/dialects/messages/parts.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { eventsIn } from '../../../support/inference/accumulated.ts'
import { openChatProvider, type ChatProviderFront } from '../../../support/inference/chat-provider-front.ts'
import { readBroken } from '../../../support/inference/dialect-rows.ts'
import { answersMessages } from '../../../support/inference/fake-messages.ts'
import { block, delta, messageStreamOf, started } from '../../../support/inference/message-events.ts'
import { FAILURE_OF } from '../../../support/inference/provider-chunks.ts'
import { streamOfParts, wholeOfParts } from '../../../support/inference/written-answers.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import type { WrittenPart } from '../../../../src/dialects/parts.ts'
import { RESPONSE_ITEM_BYTES, KeptParts } from '../../../../src/dialects/passed-parts.ts'
import { JsonWriter, PreparedJson } from '../../../../src/dialects/responses/answer-items.ts'

/** 64 KiB in UTF-8, with characters that JSON escapes. */
const WORD = 'say "é"\n'.padEnd(63, '-').repeat(1_024)
const WORDS_OF_MIB = MIB / Buffer.byteLength(WORD)

interface Rig extends ChatProviderFront {
  readonly spend: ReturnType<typeof keptSpend>
  ask(mib: number): Promise<Response>
}

async function rigged(t: Test): Promise<Rig> {
  const spend = keptSpend()
  const front = await openChatProvider(t, {
    spend,
    firstProvider: { protocol: 'anthropic' },
    firstFacts: { speaks: ['messages'] },
  })
  return {
    ...front,
    spend,
    ask(mib) {
      front.first.script(answersMessages({ words: Array.from({ length: mib * WORDS_OF_MIB }, () => WORD) }))
      return fetch(`${front.url}/api/v1/responses`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'acme/one', input: 'Hello there', stream: true }),
      })
    },
  }
}

type Event = Readonly<Record<string, unknown>>

const textIn = (events: readonly Event[]): string =>
  events.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [String(delta)] : [])).join('')

t.test('5 MiB of text: the failure is the last event, and the delivered text is charged', async (t) => {
  const { ask, spend, rest } = await rigged(t)
  const events = eventsIn(Buffer.from(await readBroken(await ask(5)))) as readonly Event[]
  t.match(events.at(-1), { type: 'error', code: 'upstream_too_large', message: /4 MiB/ })
  const delivered = Buffer.byteLength(textIn(events))
  t.ok(delivered <= RESPONSE_KEPT_BYTES_MAX && delivered > RESPONSE_KEPT_BYTES_MAX - 2 * WORD.length)
  const output = Math.ceil(delivered / BYTES_PER_TOKEN)
  t.match(spend.holds[0]?.end, { isEstimated: true, text: { outputTokens: output } })
  t.equal(await rest(), 0)
})

t.test('3 MiB of text are complete in each of the final events', async (t) => {
  const { ask, rest } = await rigged(t)
  const events = eventsIn(Buffer.from(await (await ask(3)).text())) as readonly Event[]
  const text = WORD.repeat(3 * WORDS_OF_MIB)
  t.ok(textIn(events) === text)
  const [stated, part, item, last] = events.slice(-4)
  t.equal(last?.['type'], 'response.completed')
  const content = { content: [{ type: 'output_text', text, annotations: [], logprobs: [] }] }
  t.ok(stated?.['text'] === text)
  t.same(part?.['part'], content.content[0])
  t.match(item?.['item'], content)
  t.match(last?.['response'], { output: [content] })
  t.equal(await rest(), 0)
})

t.test('a stream of items without text is bounded too', (t) => {
  const kept = new KeptParts(new MessagesParts(FAILURE_OF))
  kept.read(messageStreamOf([started()]))
  const calls = messageStreamOf(
    Array.from({ length: 1_000 }, () => block({ type: 'tool_use', id: 'a', name: 'f', input: {} })),
  )
  let reads = 0
  while (kept.read(calls).failure === null) reads++
  // Each call has an id, a name and `{}` as its arguments.
  t.equal(reads, Math.floor(RESPONSE_KEPT_BYTES_MAX / (RESPONSE_ITEM_BYTES + 4) / 1_000))
  t.match(kept.read(calls), { parts: [], failure: { name: 'upstream_too_large' } })
  t.match(kept.end(), { name: 'upstream_too_large' })
  t.end()
})

t.test('when a read exceeds the limit, its excess text is neither sent nor counted', (t) => {
  const kept = new KeptParts(new MessagesParts(FAILURE_OF))
  kept.read(messageStreamOf([started(), block({ type: 'text', text: '' })]))
  const large = delta({ type: 'text_delta', text: 'x'.repeat(MIB - 256) })
  const small = delta({ type: 'text_delta', text: 'small' })
  t.equal(kept.read(messageStreamOf([large, large, large])).failure, null)
  const { parts, failure } = kept.read(messageStreamOf([large, large, small]))
  t.equal(parts.length, 1)
  t.match(failure, { name: 'upstream_too_large', fields: { limit: RESPONSE_KEPT_BYTES_MAX } })
  t.equal(kept.outputBytes, 4 * (MIB - 256))
  t.end()
})

t.test('JSON with prepared texts equals the output of JSON.stringify', (t) => {
  const check = fc.property(fc.jsonValue(), fc.string({ unit: 'binary' }), (value, text) => {
    const around = (inner: unknown): object => ({ value, absent: undefined, list: [inner, { inner }] })
    const written = new JsonWriter().value(around(new PreparedJson(text))).whole()
    return Buffer.compare(written, Buffer.from(JSON.stringify(around(text)))) === 0
  })
  t.doesNotThrow(() => fc.assert(check))
  t.end()
})

t.test('the text of an item is written as JSON once for all events that repeat it', (t) => {
  const words = Array.from({ length: 64 }, (): WrittenPart => ({
    kind: 'text',
    choice: 0,
    text: 'x'.repeat(1_024),
  }))
  const lengths: number[] = []
  const { stringify } = JSON
  t.capture(JSON, 'stringify', (value: unknown) => {
    const json = stringify(value)
    lengths.push(json.length)
    return json
  })
  const stream = streamOfParts('responses', [
    ...words,
    { kind: 'finish', choice: 0, reason: 'stop', native: 'x', stopSequence: null },
  ])
  t.equal(lengths.filter((length) => length >= 64 * 1_024).length, 1)
  t.equal(stream.toString().split('x'.repeat(64 * 1_024)).length - 1, 4)
  t.end()
})

t.test('a long text in a stream equals the text of the whole answer', (t) => {
  const stated = (kind: 'text' | 'reasoning' | 'arguments', text: string): WrittenPart => ({
    kind,
    choice: 0,
    text,
  })
  const parts: readonly WrittenPart[] = [
    stated('reasoning', WORD),
    { kind: 'tool', choice: 0, id: 'a', name: 'f' },
    stated('arguments', JSON.stringify({ WORD })),
    stated('text', 'short'),
    { kind: 'finish', choice: 0, reason: 'stop', native: 'x', stopSequence: null },
  ]
  const last = eventsIn(streamOfParts('responses', parts)).at(-1) as { readonly response: object }
  const { completed_at: _, ...whole } = wholeOfParts('responses', parts)
  t.match(last.response, whole)
  t.end()
})
