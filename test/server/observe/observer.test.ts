import t from 'tap'
import { createObserver } from '../../../src/server/observe/observer.ts'
import type { CallSettled, Observer } from '../../../src/server/ports/observe.ts'
import { keptLog } from '../../support/log.ts'
import { settledCall } from '../../support/requests/settled-call.ts'

t.test('an ordinary call is logged only when it is sampled', async (t) => {
  const { observer, log, draw } = open()
  observer.settled(call({}))
  t.equal(log.events.length, 0)
  draw(0)
  observer.settled(call({}))
  t.match(log.events, [
    {
      event: 'call',
      fields: { operation: 'embeddings.create', requestId: 'r-1', status: 200, durationMs: 12.35 },
    },
  ])
})

t.test('an internal failure is logged at its level, with its cause', async (t) => {
  const { observer, log } = open()
  const cause = new Error('reset')
  observer.settled(call({ status: 502, failure: 'upstream_failed', cause }))
  t.match(log.events, [{ event: 'call_failed', fields: { failure: 'upstream_failed', cause } }])
})

t.test('a call that another provider answered is logged with the attempts that failed', async (t) => {
  const { observer, log } = open()
  const failedAttempts = [{ provider: 'acme', status: 404, code: 'model_not_found' }]
  observer.settled(call({ notes: { failedAttempts } }))
  t.match(log.events, [{ event: 'call_fell_back', fields: { failedAttempts } }])
})

for (const [failure, whose] of [
  ['rate_limited', 'its own'],
  ['busy', 'ours'],
] as const) {
  t.test(`a caller cannot flood the log with failures of ${whose}: the excess is counted`, async (t) => {
    const { observer, log, advance } = open()
    for (let i = 0; i < 5_000; i += 1) observer.settled(call({ status: 500, failure }))
    t.equal(log.events.length, 50)
    advance(1_000)
    observer.settled(call({ status: 401, failure: 'key_unknown' }))
    t.match(log.events.slice(50), [
      { event: 'calls_failed_unlisted', fields: { failure, count: 4_950 } },
      { event: 'call_failed', fields: { failure: 'key_unknown' } },
    ])
  })
}

t.test('a clock that is set back does not silence failures', async (t) => {
  const { observer, log, advance } = open()
  for (let i = 0; i < 60; i += 1) observer.settled(call({ failure: 'rate_limited' }))
  advance(-3_600_000)
  observer.settled(call({ failure: 'rate_limited' }))
  t.equal(log.events.at(-1)?.event, 'call_failed')
})

t.test('a slow call is always logged, whether slow in total or by the gateway itself', async (t) => {
  const { observer, log } = open()
  observer.settled(call({ durationMs: 6_000, notes: { upstreamMs: 5_990 } }))
  observer.settled(call({ durationMs: 900, notes: { upstreamMs: 100 } }))
  observer.settled(call({ durationMs: 900, notes: { upstreamMs: 890 } }))
  t.same(
    log.events.map(({ event }) => event),
    ['call_slow', 'call_slow'],
  )
})

t.test('neither the session id nor the trace object is logged', async (t) => {
  const { observer, log } = open()
  observer.trace(
    { trace_name: 'canary-trace' },
    { requestId: 'r-1', operation: 'o', model: 'm', sessionId: 'canary-session', notes: {} },
  )
  observer.settled(call({ failure: 'internal', notes: { sessionId: 'canary-session' } }))
  t.notMatch(JSON.stringify(log.events), /canary/)
})

t.test('metrics get the overhead: the duration minus the time of the provider', async (t) => {
  const { observer, counted } = open()
  observer.settled(call({ durationMs: 100, notes: { upstreamMs: 97 } }))
  observer.settled(call({ durationMs: 1, notes: { upstreamMs: 2 } }))
  t.match(counted, [
    ['embeddings.create', { overheadMs: 3 }],
    ['embeddings.create', { overheadMs: 0 }],
  ])
})

t.test('calls to an unpriced endpoint are counted apart, by operation and provider', async (t) => {
  const { observer, counted } = open()
  observer.settled(call({ notes: { provider: 'acme', isUnpriced: true } }))
  observer.settled(call({ notes: { provider: 'acme' } }))
  t.same(
    counted.filter((one) => Array.isArray(one) && one[0] === 'unpriced'),
    [['unpriced', 'embeddings.create', 'acme']],
  )
})

function open(): {
  observer: Observer
  log: ReturnType<typeof keptLog>
  counted: unknown[]
  draw(next: number): void
  advance(ms: number): void
} {
  const log = keptLog()
  const counted: unknown[] = []
  let drawn = 0.5
  let now = 1_000_000
  const observer = createObserver({
    log,
    random: () => drawn,
    now: () => now,
    metrics: {
      call: (...args) => void counted.push(args),
      unpriced: (...args) => void counted.push(['unpriced', ...args]),
      settled: { add: () => undefined },
    },
  })
  return { observer, log, counted, draw: (next) => void (drawn = next), advance: (ms) => void (now += ms) }
}

function call(more: Partial<CallSettled>): CallSettled {
  return settledCall({ workspaceId: 'w', keyHash: 'h', ...more })
}
