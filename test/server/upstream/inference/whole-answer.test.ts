/** Where a whole answer is read: on the loop, or in a short job. */
import t from 'tap'
import { ok, type Outcome } from '../../../../src/schemas/failures.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import type { ShortJobMore, ShortJobs } from '../../../../src/server/ports/short-jobs.ts'
import { joinedAnswer } from '../../../../src/dialects/native-answer.ts'
import { lendingBuffer } from '../../../../src/schemas/values/lent-bytes.ts'
import type { Endpoint } from '../../../../src/server/ports/models/models.ts'
import { LoopBudget } from '../../../../src/server/structures/loop-budget.ts'
import { Framing } from '../../../../src/server/upstream/inference/framing.ts'
import { LearnedText } from '../../../../src/server/upstream/inference/spoken.ts'
import { TranslatedWire } from '../../../../src/server/upstream/inference/translated-wire.ts'
import { threads } from '../../../support/front.ts'
import { HEAD } from '../../../support/inference/provider-chunks.ts'
import { callerBy } from '../../../support/keys/callers.ts'
import { must } from '../../../support/must.ts'
import { readAnswer } from '../../../../src/server/upstream/inference/native-wire.ts'

type Run = { readonly name: string; readonly more: ShortJobMore }

/** Jobs that run at once, or fail. */
function jobsOf(runs: Run[], failure: Outcome<never> | null = null): ShortJobs {
  const run = (name: string, input: Parameters<typeof joinedAnswer>[0], more: ShortJobMore): unknown => {
    runs.push({ name, more })
    return Promise.resolve(failure ?? ok(joinedAnswer(input)))
  }
  return { run } as unknown as ShortJobs
}

/** An answer of so many bytes, in memory of its own. */
function answerOf(bytes: number): Uint8Array {
  const [begin, end] = ['{"choices":[{"message":{"content":"', '"},"finish_reason":"stop"}]}']
  const answer = Buffer.allocUnsafeSlow(bytes)
  answer.write(begin + 'x'.repeat(bytes - begin.length - end.length) + end)
  return answer
}

const caller = callerBy('o')
const loop = new LoopBudget()
const textBytes = (answer: Outcome<{ readonly outputBytes: number }>): number => must(answer).outputBytes

t.test('an answer above INLINE_JSON_BYTES_MAX is moved to a thread, a smaller one is not', async (t) => {
  const runs: Run[] = []
  const more = { jobs: jobsOf(runs), loop, caller, endsAt: 7 }
  const small = await readAnswer({ dialect: 'chat', body: answerOf(INLINE_JSON_BYTES_MAX), head: HEAD }, more)
  t.equal(runs.length, 0)
  const body = answerOf(INLINE_JSON_BYTES_MAX + 1)
  t.equal(textBytes(await readAnswer({ dialect: 'chat', body, head: HEAD }, more)), textBytes(small) + 1)
  t.match(runs, [{ name: 'native_answer', more: { caller, endsAt: 7, transfer: [body.buffer] } }])
})

t.test('a real thread returns the answer, and an invalid answer fails with upstream_invalid', async (t) => {
  const more = { jobs: threads(), loop, caller }
  const body = answerOf(4 * INLINE_JSON_BYTES_MAX)
  const read = must(await readAnswer({ dialect: 'chat', body, head: HEAD }, more))
  t.equal(body.length, 0, 'the bytes were moved')
  const answer = JSON.parse(
    Buffer.concat(read.withUsage({ whole: '{"a":1}', added: null })).toString(),
  ) as object
  t.match(answer, { id: HEAD.id, provider: HEAD.provider, usage: { a: 1 } })
  t.match(
    await readAnswer({ dialect: 'chat', body: Buffer.alloc(INLINE_JSON_BYTES_MAX + 1), head: HEAD }, more),
    {
      failure: { name: 'upstream_invalid' },
    },
  )
})

t.test('a pool without room fails the attempt', async (t) => {
  const busy = jobsOf([], { ok: false, failure: { name: 'busy' } })
  const body = answerOf(INLINE_JSON_BYTES_MAX + 1)
  t.match(await readAnswer({ dialect: 'chat', body, head: HEAD }, { jobs: busy, loop, caller }), {
    failure: { name: 'busy' },
  })
})

t.test('bytes sent to a thread are not in a lent buffer', async (t) => {
  const given: Uint8Array[] = []
  const run = (_: string, input: { readonly answer?: Uint8Array; readonly bytes?: Uint8Array }): unknown => {
    given.push(input.answer ?? input.bytes ?? Buffer.alloc(0))
    return Promise.resolve({ ok: false, failure: { name: 'busy' } })
  }
  const how = { jobs: { run } as unknown as ShortJobs, loop }
  const body = lendingBuffer(answerOf(INLINE_JSON_BYTES_MAX + 1))
  const framing = new Framing('chat', how)
  const endpoint = { provider: { slug: 'acme' } } as Endpoint
  const learned = new LearnedText({} as LearnedText['text'])
  const wire = new TranslatedWire('messages', 'chat', { endpoint, learned, framing, ...how })
  await readAnswer({ dialect: 'chat', body, head: HEAD }, { ...how, caller })
  await framing.answer(body, { caller, endsAt: Infinity })
  await wire.whole({ body, head: HEAD, caller, tier: null, endsAt: Infinity, isEncryptedAsked: false })
  t.equal(given.length, 3)
  for (const bytes of given) {
    t.not(bytes.buffer, body.buffer)
    t.ok(body.equals(bytes))
  }
})
