/** Metrics of calls to text models. D36. */
import t from 'tap'
import type {
  AnsweredInput,
  AnswerLabels,
  AnswerMeter,
  FirstOutput,
  StreamEnd,
  StreamMeters,
} from '../../../../src/server/ports/observe.ts'
import type { Inference } from '../../../../src/server/ports/inference/inference.ts'
import { openEgress } from '../../../../src/server/egress/egress.ts'
import { inferenceWith, openChat } from '../../../support/inference/chat-front.ts'
import { openChatProvider } from '../../../support/inference/chat-provider-front.ts'
import { answersChat, refusesChat } from '../../../support/inference/fake-chat.ts'
import { Steps } from '../../../support/inference/fake-stream.ts'
import { keptLog } from '../../../support/log.ts'
import { until } from '../../../support/wait.ts'

const hello = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello there' }], stream: true }
const by = (provider: string, model = 'acme/chat'): AnswerLabels => ({
  operation: 'chat.create',
  provider,
  model,
})

class KeptMeters implements StreamMeters {
  readonly committedBy: (readonly [AnswerLabels, FirstOutput])[] = []
  readonly endedBy: (readonly [AnswerLabels, StreamEnd])[] = []
  readonly answeredBy: (readonly [AnswerLabels, AnsweredInput])[] = []
  readonly calledBy: (readonly [AnswerLabels, string | null, boolean])[] = []
  tokens = 0

  of(by: AnswerLabels): AnswerMeter {
    return {
      committed: (first) => void this.committedBy.push([by, first]),
      wrote: (tokens) => void (this.tokens += tokens),
      ended: (end) => void this.endedBy.push([by, end]),
      answered: (input) => void this.answeredBy.push([by, input]),
      called: (...facts) => void this.calledBy.push([by, ...facts]),
    }
  }

  /** Counts since the last look. */
  take(): {
    readonly begun: unknown
    readonly ended: unknown
    readonly called: unknown
    readonly tokens: number
  } {
    const { tokens } = this
    this.tokens = 0
    const seen = { begun: this.committedBy.splice(0), ended: this.endedBy.splice(0) }
    return { ...seen, called: this.calledBy.splice(0), tokens }
  }
}

t.test('each stream is committed once and ends once, by operation, provider and model', async (t) => {
  const streams = new KeptMeters()
  const { post, first, second, rest } = await openChatProvider(t, { streams })
  const after = async (body: object, signal?: AbortSignal): Promise<ReturnType<KeptMeters['take']>> => {
    await post(body, {}, signal)
      .then((response) => response.text())
      .catch(() => undefined)
    await rest()
    return streams.take()
  }
  t.match(await after(hello), {
    begun: [[by('first'), { ms: Number, ownMs: Number, failed: 0 }]],
    ended: [[by('first'), { cause: null, tokens: 4, ms: Number, pausedMs: 0, isDrained: false }]],
    called: [[by('first'), null, false]],
    tokens: 4,
  })
  first.script(refusesChat(500))
  t.match(await after(hello), {
    begun: [[by('second'), { failed: 1 }]],
    ended: [[by('second'), { cause: null }]],
    called: [[by('second'), null, false]],
  })
  first.script(answersChat({ usage: 'missing' }))
  t.match(await after(hello), {
    ended: [[by('first'), { cause: null }]],
    called: [[by('first'), null, true]],
  })
  first.script(answersChat({}, { cutAt: 700, ending: 'rst' }))
  t.match(await after(hello), {
    ended: [[by('first'), { cause: 'upstream_failed' }]],
    called: [[by('first'), 'upstream_failed', true]],
  })
  const silent = new Steps()
  silent.allow(2)
  for (const provider of [first, second]) provider.usually(answersChat({}, { steps: silent }))
  const leaving = new AbortController()
  const left = after(hello, leaving.signal)
  await until(() => streams.committedBy.length === 1)
  leaving.abort()
  t.match(await left, {
    ended: [[Object, { cause: 'client_gone' }]],
    called: [[Object, 'client_gone', true]],
  })
  const refused = await after({ ...hello, model: 'acme/none' })
  t.same(
    refused,
    { begun: [], ended: [], called: [], tokens: 0 },
    'a call that is refused is none of a model',
  )
})

t.test(
  'measures the time to the first output from the request, and separately our own time before the first attempt',
  async (t) => {
    const streams = new KeptMeters()
    let offsetMs = 0
    const now = (): number => performance.now() + offsetMs
    const { post, first } = await openChatProvider(t, { streams, now })
    const steps = new Steps()
    first.script(answersChat({}, { steps }))
    const response = post(hello)
    await first.arrived(0)
    offsetMs = 5_000
    steps.allow(3)
    const answer = await response
    offsetMs = 7_000
    steps.allow(99)
    await answer.text()
    const [{ ms, ownMs } = { ms: 0, ownMs: 0 }] = streams.committedBy.map(([, facts]) => facts)
    t.ok(ownMs > 0 && ms >= ownMs + 5_000, `${ms} ms, ${ownMs} of them before the first attempt`)
    t.ok((streams.endedBy[0]?.[1].ms ?? 0) >= 2_000, 'the rest is the time of its rate')
  },
)

t.test('whole answers and failed calls are counted, but not as streams', async (t) => {
  const streams = new KeptMeters()
  const { post, first, second } = await openChatProvider(t, { streams })
  t.equal((await post({ ...hello, stream: false })).status, 200)
  t.equal((await post({ ...hello, model: 'sluice/echo-1', stream: false })).status, 200)
  for (const provider of [first, second]) provider.usually(refusesChat(500))
  t.equal((await post({ ...hello, stream: false })).status, 502)
  t.match(streams.take(), {
    ...{ begun: [], ended: [], tokens: 6 },
    called: [
      [by('first'), null, false],
      [by('local', 'sluice/echo-1'), null, false],
      [by(''), 'upstream_failed', false],
    ],
  })
  await (await post({ ...hello, model: 'sluice/echo-1' })).text()
  await until(() => streams.endedBy.length === 1)
})

t.test('the cached tokens and the dropped fields of each answer are counted', async (t) => {
  const streams = new KeptMeters()
  const { post, first, second } = await openChatProvider(t, { streams })
  const asked = { ...hello, transforms: ['middle-out'] }
  for (const stream of [true, false]) {
    await (await post({ ...asked, stream })).text()
    await until(() => streams.calledBy.length === 1)
    const dropped = ['transforms']
    t.match(streams.answeredBy.splice(0), [[by('first'), { fresh: Number, cacheRead: Number, dropped }]])
    streams.take()
  }
  for (const provider of [first, second]) provider.usually(refusesChat(500))
  t.equal((await post({ ...hello, stream: false })).status, 502)
  t.same(streams.answeredBy, [], 'no endpoint has answered')
})

/** Models whose answers cannot be taken, since the code that takes them has a bug. */
function withBug(inference: Inference): Inference {
  const take = (): never => {
    throw new Error('a bug')
  }
  return {
    withPreset: (...asked) => inference.withPreset(...asked),
    count: (job) => inference.count(job),
    answer: (job, form, ports) =>
      inference.answer(
        job,
        {
          ...form,
          events: (head, request) => {
            const events = form.events(head, request)
            events.eventsOf = take
            events.passed = take
            return events
          },
        },
        ports,
      ),
  }
}

t.test('a stream that an internal error breaks off is counted as ended', async (t) => {
  const streams = new KeptMeters()
  const egress = openEgress()
  t.teardown(() => egress.close())
  const log = keptLog()
  const inference = withBug(inferenceWith({ egress, credentials: new Map(), log, streams }))
  const { post } = await openChat(t, { inference, log })
  await post({ ...hello, model: 'sluice/echo-1' })
    .then((response) => response.text())
    .catch(() => undefined)
  await until(() => streams.committedBy.length === 1)
  const echo = by('local', 'sluice/echo-1')
  t.match(streams.take(), { ended: [[echo, { cause: 'internal' }]], called: [[echo, 'internal', false]] })
})

t.test('counts answers with an unpriced tier under its name, from a fixed set of names', async (t) => {
  const streams = new KeptMeters()
  const firstFacts = { modifiers: [{ when: { service_tier: 'priority' }, multiplier: '2' }] }
  const { post, first } = await openChatProvider(t, { streams, firstFacts })
  for (const [reported, tier] of [
    ['default', null],
    ['priority', null],
    ['flex', 'flex'],
    ['Quasar-9', 'other'],
  ] as const) {
    for (const stream of [true, false]) {
      first.script(answersChat({ more: { service_tier: reported } }))
      await (await post({ ...hello, stream })).text()
      await until(() => streams.calledBy.length === 1)
      const unpricedTier = tier === null ? null : { member: 'service_tier', tier }
      t.match(streams.answeredBy.splice(0), [[by('first'), { unpricedTier }]])
      streams.take()
    }
  }
})
