/**
 * Chats at a provider that speaks chat: the request that it gets, the answer of the caller, and the charge.
 */
import t from 'tap'
import { Compile } from 'typebox/compile'
import { ATTEMPTS_MAX } from '../../../../src/schemas/inference/inference-limits.ts'
import { ChatAnswer, ChatChunk } from '../../../../src/schemas/inference/chat.ts'
import { STREAM_HOLD_MS_DEFAULT } from '../../../../src/schemas/inference/stream-limits.ts'
import { NO_CALL_LIMITS } from '../../../../src/schemas/limits/model-calls.ts'
import { readFrom } from '../../../../src/server/config.ts'
import { eventsOf } from '../../../support/inference/chat-front.ts'
import { openChatProvider, PROVIDER_KEY } from '../../../support/inference/chat-provider-front.ts'
import {
  answersChat,
  bodyOf,
  chatError,
  chatEvents,
  PROMPT_TOKENS,
  refusesChat,
  silentChat,
  strictChat,
} from '../../../support/inference/fake-chat.ts'
import { readBroken } from '../../../support/inference/dialect-rows.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { Steps, streams } from '../../../support/inference/fake-stream.ts'
import { until } from '../../../support/wait.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import { present } from '../../../support/must.ts'
import { STREAM_HOLD_MS_MAX } from '../../../../src/schemas/operator/settings.ts'

const hello = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello there' }] }
const isAnswer = Compile(ChatAnswer)
const isChunk = Compile(ChatChunk)
const textOf = (text: string): string =>
  eventsOf(text)
    .chunks.map(({ choices }) => choices[0]?.delta.content ?? '')
    .join('')

t.test('a stream has our id, the model and the provider, and its usage and cost at the end', async (t) => {
  const spend = keptSpend()
  const { post, first, rest } = await openChatProvider(t, { spend })
  const response = await post({ ...hello, stream: true })
  t.equal(response.status, 200)
  const id = present(response.headers.get('x-generation-id'))
  t.equal(response.headers.get('x-sluice-provider'), 'first')
  t.equal(response.headers.get('x-sluice-attempts'), '1')
  const text = await response.text()
  t.equal(textOf(text), 'Hello there, you')
  const { chunks, isDone } = eventsOf(text)
  t.ok(isDone)
  for (const chunk of chunks) t.match(chunk, { id, model: 'acme/chat', provider: 'first' })
  t.ok(chunks.slice(1, -1).every((chunk) => isChunk.Check(chunk)))
  const cost = (PROMPT_TOKENS * 1_000 + 4 * 2_000) / 1e9
  t.match(chunks.at(-1), {
    usage: { prompt_tokens: PROMPT_TOKENS, completion_tokens: 4, total_tokens: PROMPT_TOKENS + 4, cost },
  })
  t.match(spend.holds[0]?.end, { costNano: cost * 1e9, isEstimated: false, provider: 'first' })
  const [call] = first.calls
  t.equal(call?.headers['authorization'], `Bearer ${PROVIDER_KEY}`)
  t.match(bodyOf(present(call)), {
    model: 'first-model',
    stream: true,
    stream_options: { include_usage: true },
  })
  t.equal(await rest(), 0)
})

t.test(
  'the usage event and the failure event of a broken stream repeat the timestamp of earlier events. D23',
  async (t) => {
    const { post, first, second } = await openChatProvider(t)
    const createdIn = (text: string): readonly number[] =>
      eventsOf(text).chunks.map((chunk) => (chunk as unknown as { created: number }).created)
    const whole = createdIn(await (await post({ ...hello, stream: true })).text())
    t.same([...new Set(whole)], [1_700_000_000])
    for (const provider of [first, second])
      provider.usually(streams((call) => [...chatEvents(call).slice(0, 3), chatError()]))
    const text = await readBroken(await post({ ...hello, stream: true }))
    t.match(text, '"finish_reason":"error"')
    t.same([...new Set(createdIn(text))], [1_700_000_000])
  },
)

t.test('a whole answer has our id, its usage and its cost', async (t) => {
  const spend = keptSpend()
  const { post, rest } = await openChatProvider(t, { spend })
  const response = await post(hello)
  t.equal(response.status, 200)
  const answer = (await response.json()) as Record<string, unknown>
  t.match(answer, {
    id: response.headers.get('x-generation-id'),
    model: 'acme/chat',
    provider: 'first',
    choices: [{ message: { content: 'Hello there, you' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: PROMPT_TOKENS, completion_tokens: 4 },
  })
  t.ok(isAnswer.Check(answer), [...isAnswer.Errors(answer)].map((one) => JSON.stringify(one)).join())
  t.match(spend.holds[0]?.end, { costNano: PROMPT_TOKENS * 1_000 + 4 * 2_000 })
  t.equal(await rest(), 0)
})

t.test('a disconnect ends the call at its provider and charges the delivered output. D27', async (t) => {
  const spend = keptSpend()
  const { post, first, rest } = await openChatProvider(t, { spend })
  const steps = new Steps()
  first.script(answersChat({}, { steps }))
  const leaving = new AbortController()
  const pending = post({ ...hello, stream: true }, {}, leaving.signal)
  const call = await first.arrived(0)
  steps.allow(3)
  const reader = present((await pending).body).getReader()
  await reader.read()
  leaving.abort()
  await call.closed
  t.equal(await rest(), 0)
  await until(() => spend.holds[0]?.end !== 'open')
  t.match(spend.holds[0]?.end, { isEstimated: true, provider: 'first' })
})

t.test('a provider that sends no output in time is given up, and another one answers. D17', async (t) => {
  const { post, first } = await openChatProvider(t, { firstProvider: { first_output_ms: 1_000 } })
  first.script(silentChat)
  const response = await post({ ...hello, stream: true })
  t.equal(response.headers.get('x-sluice-provider'), 'second')
  t.match(await response.text(), /\[DONE\]/)
})

t.test('a strict provider gets none of the members that it would refuse. D4', async (t) => {
  const { post, first } = await openChatProvider(t, { firstProvider: { strict: true } })
  first.usually(strictChat())
  const extra = {
    ...{ top_k: 4, session_id: 's', provider: { order: ['first'] }, usage: { include: true } },
    ...{ reasoning: { effort: 'low' }, temperature: 1 },
  }
  const response = await post({ ...hello, ...extra, stream: true })
  t.equal(response.headers.get('x-sluice-provider'), 'first')
  t.equal(response.headers.get('x-sluice-dropped'), 'top_k')
  await response.text()
  t.match(bodyOf(present(first.calls[0])), { reasoning_effort: 'low', temperature: 1 })
})

t.test(
  'under a limit that applies to the call, a maximum is sent to the provider if the caller set none. D25',
  async (t) => {
    const money = { isCreditLimited: true, isWorkspaceLimited: false, isKeyLimited: false }
    const keys = { money: { ...money, workspaceCountsByok: false, keyCountsByok: false } }
    const { post, first } = await openChatProvider(t, { keys: keys as object })
    await (await post({ ...hello, model: 'acme/bounded', stream: true })).text()
    await (await post({ ...hello, model: 'acme/bounded', max_tokens: 5, stream: true })).text()
    t.same(
      first.calls.map((call) => bodyOf(call)['max_tokens']),
      [100, 5],
    )
    for (const [key, workspace, sent] of [
      [40, null, 40],
      [null, 60, 60],
      [40, 60, 40],
      [200, null, 100],
    ] as const) {
      const callLimits = {
        key: { ...NO_CALL_LIMITS, default_max_output_tokens: key },
        workspace: { ...NO_CALL_LIMITS, default_max_output_tokens: workspace },
      }
      const front = await openChatProvider(t, { keys: { ...keys, callLimits } as object })
      await (await front.post({ ...hello, model: 'acme/bounded', stream: true })).text()
      t.equal(bodyOf(present(front.first.calls[0]))['max_tokens'], sent)
    }
  },
)

t.test('chat 400: refuses `store` for the operator account, not for a workspace account. D8', async (t) => {
  const operator = await openChatProvider(t)
  const own = await openChatProvider(t, { ownKey: 'own-provider-key-1' })
  const refused = await operator.post({ ...hello, store: true })
  t.equal(refused.status, 400)
  t.match(await refused.json(), { error: { type: 'stateless', param: 'store' } })
  t.equal(operator.first.calls.length, 0)
  t.equal((await operator.post({ ...hello, store: false })).status, 200)
  t.equal((await own.post({ ...hello, store: true })).status, 200)
  t.match(bodyOf(present(own.first.calls[0])), { store: true })
})

t.test('a call tries ATTEMPTS_MAX endpoints at most. D18', async (t) => {
  const { post, first } = await openChatProvider(t)
  first.usually(refusesChat(500))
  const response = await post({ ...hello, model: 'acme/many', stream: true })
  t.equal(response.status, 502)
  t.equal(first.calls.length, ATTEMPTS_MAX)
})

t.test(
  'the head of a stream is sent after a while even without output; later failures become events. D15',
  async (t) => {
    const { post, first, second } = await openChatProvider(t, { streamHoldMs: 0 })
    const steps = new Steps()
    first.script(answersChat({}, { steps }))
    const begun = await post({ ...hello, stream: true })
    t.equal(begun.status, 200)
    t.equal(begun.headers.get('x-sluice-provider'), null)
    steps.allow(100)
    const text = await begun.text()
    t.match(text, /^: SLUICE PROCESSING\n\n/)
    t.match(text, /\[DONE\]/)
    for (const provider of [first, second]) provider.usually(refusesLater)
    const failed = await readBroken(await post({ ...hello, stream: true }))
    t.match(failed, /"error":\{"code":502/)
  },
)

t.test('the latency of an endpoint is the time to first output, not the whole duration. D26', async (t) => {
  let offsetMs = 0
  const { post, first, second } = await openChatProvider(t, { now: () => performance.now() + offsetMs })
  const ask = (provider: object): Promise<Response> => post({ ...hello, stream: true, provider })
  const early = new Steps()
  first.script(answersChat({}, { steps: early }))
  const long = ask({ order: ['first'] })
  early.allow(3)
  const answer = await long
  offsetMs += 100_000
  early.allow(100)
  await answer.text()
  const late = new Steps()
  second.script(answersChat({}, { steps: late }))
  const short = ask({ order: ['second'] })
  await second.arrived(0)
  offsetMs += 50_000
  late.allow(100)
  await (await short).text()
  t.equal((await ask({ sort: 'latency' })).headers.get('x-sluice-provider'), 'first')
  t.equal((await ask({ sort: 'throughput' })).headers.get('x-sluice-provider'), 'second')
})

t.test('SLUICE_STREAM_HOLD_MS sets how long the head is held back, from 0 to its maximum', async (t) => {
  const read = (text?: string) => readFrom(text === undefined ? {} : { SLUICE_STREAM_HOLD_MS: text })
  t.match(read(), { generation: { config: { streamHoldMs: STREAM_HOLD_MS_DEFAULT } } })
  t.match(read('0'), { generation: { config: { streamHoldMs: 0 } } })
  const most = String(STREAM_HOLD_MS_MAX + 1)
  t.match(read(most), { problems: [{ name: 'SLUICE_STREAM_HOLD_MS', got: most }] })
})

/** A refusal after the head of the caller's answer: the timer of the head fires first. */
const refusesLater: FakeAnswer = async (call, reply) => {
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  await refusesChat(500)(call, reply)
}
