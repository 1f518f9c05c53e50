import { Registry } from 'prom-client'
import t from 'tap'
import type { AnswerLabels, StreamEnd } from '../../../src/server/ports/observe.ts'
import {
  METRIC_DROPPED_MAX,
  METRIC_MODELS_MAX,
  createStreamMeters,
} from '../../../src/server/observe/stream-metrics.ts'
import { unpricedTiersIn } from '../../../src/server/observe/unpriced-tiers.ts'

const acme: AnswerLabels = { operation: 'chat.create', provider: 'acme', model: 'acme/one' }
const other: AnswerLabels = { operation: 'messages.create', provider: 'other', model: 'private' }
const ACME = 'operation="chat.create",provider="acme",model="acme/one"'
const OTHER = 'operation="messages.create",provider="other",model="private"'
const first = (ms: number, failed = 0) => ({ ms, ownMs: 2, failed })
const end = (more: Partial<StreamEnd> = {}): StreamEnd => ({
  ...{ cause: null, tokens: 100, ms: 2_000, pausedMs: 0, isDrained: false },
  ...more,
})

t.test('counts answers and open streams by operation, provider and model', async (t) => {
  const registry = new Registry()
  const meters = createStreamMeters(registry)
  meters.of(acme).committed(first(30))
  meters.of(acme).committed(first(700, 2))
  meters.of(other).committed(first(1))
  meters.of(acme).wrote(40)
  meters.of(acme).wrote(60)
  meters.of(acme).ended(end({ cause: 'upstream_failed', pausedMs: 1_500, isDrained: true }))
  meters.of(acme).called('upstream_failed', true)
  meters.of(other).called(null, false)
  meters.of({ ...acme, provider: '' }).called('busy', false)
  t.same(meters.read().open, 2)
  t.same(meters.read().tokens, 100)
  t.same(meters.read().cuts, { upstream_failed: 1 })
  t.same(meters.read().firstCounts.slice(0, 7), [1, 0, 1, 0, 0, 0, 1])
  await registry.metrics()
  const text = await registry.metrics()
  for (const line of [
    `sluice_stream_commits_total{${ACME}} 2`,
    `sluice_stream_commits_total{${OTHER}} 1`,
    `sluice_stream_fallbacks_total{${ACME}} 2`,
    `sluice_streams_cut_total{${ACME},cause="upstream_failed"} 1`,
    `sluice_stream_drains_total{${ACME}} 1`,
    `sluice_stream_paused_seconds_total{${ACME}} 1.5`,
    `sluice_estimated_usage_total{${ACME}} 1`,
    `sluice_output_tokens_total{${ACME}} 100`,
    `sluice_model_calls_total{${ACME},failure="upstream_failed"} 1`,
    `sluice_model_calls_total{${OTHER},failure=""} 1`,
    'sluice_model_calls_total{operation="chat.create",provider="",model="acme/one",failure="busy"} 1',
    `sluice_streams_open{${ACME}} 1`,
    `sluice_streams_open{${OTHER}} 1`,
    `sluice_ttft_seconds_count{${ACME}} 2`,
    `sluice_ttft_seconds_sum{${ACME}} 0.73`,
    `sluice_gateway_ttft_seconds_sum{${OTHER}} 0.002`,
    `sluice_output_tokens_per_second_sum{${ACME}} 200`,
  ])
    t.ok(text.includes(line), line)
  meters.of(acme).ended(end({ ms: 10 }))
  const later = await registry.metrics()
  t.match(later, `sluice_streams_open{${ACME}} 0`)
  t.match(later, `sluice_output_tokens_per_second_count{${ACME}} 1`, 'ten milliseconds are no rate')
  t.notMatch(later, 'cause=""')
})

t.test('the number of model labels is limited', async (t) => {
  const registry = new Registry()
  const meters = createStreamMeters(registry)
  for (let nth = 0; nth < METRIC_MODELS_MAX + 5; nth++)
    meters.of({ ...acme, model: `m${nth}` }).called(null, false)
  meters.of({ ...acme, model: 'm0' }).called(null, false)
  const text = await registry.metrics()
  t.match(text, 'model="m0",failure=""} 2')
  t.match(text, 'model="other",failure=""} 5')
  t.equal(text.match(/^sluice_model_calls_total\{/gm)?.length, METRIC_MODELS_MAX + 1)
})

t.test('input is counted by its use of the cache, and dropped members by their names', async (t) => {
  const registry = new Registry()
  const meters = createStreamMeters(registry)
  const dropped = [
    ...['seed', 'reasoning.max_tokens', 'reasoning.exclude', 'x_mine', 'other', 'messages.y'],
    ...['strict', 'annotations', 'processing', 'reasoning_details'],
  ]
  meters.of(acme).answered({ fresh: 100, cacheRead: 300, cacheWrite: 0, dropped, unpricedTier: null })
  meters
    .of({ ...acme, provider: 'second' })
    .answered({ fresh: 0, cacheRead: 0, cacheWrite: 50, dropped: ['seed'], unpricedTier: null })
  const text = await registry.metrics()
  for (const line of [
    `sluice_input_tokens_total{${ACME},cache="none"} 100`,
    `sluice_input_tokens_total{${ACME},cache="read"} 300`,
    'provider="second",model="acme/one",cache="write"} 50',
    `sluice_dropped_fields_total{${ACME},field="seed"} 1`,
    `sluice_dropped_fields_total{${ACME},field="reasoning"} 1`,
    `sluice_dropped_fields_total{${ACME},field="messages"} 1`,
    `sluice_dropped_fields_total{${ACME},field="other"} 1`,
    `sluice_dropped_fields_total{${ACME},field="strict"} 1`,
    `sluice_dropped_fields_total{${ACME},field="annotations"} 1`,
    `sluice_dropped_fields_total{${ACME},field="processing"} 1`,
    `sluice_dropped_fields_total{${ACME},field="reasoning_details"} 1`,
  ])
    t.ok(text.includes(line), line)
  t.notMatch(text, /cache="none"\} 0|x_mine|max_tokens/)
  t.same(meters.read().models, [
    {
      model: 'acme/one',
      inputTokens: 450,
      cachedTokens: 300,
      dropped: {
        ...{ seed: 2, reasoning: 1, other: 1, messages: 1 },
        ...{ strict: 1, annotations: 1, processing: 1, reasoning_details: 1 },
      },
    },
  ])
})

t.test('the number of series for dropped members is limited, whatever the names and models', async (t) => {
  const registry = new Registry()
  const meters = createStreamMeters(registry)
  const none = { fresh: 0, cacheRead: 0, cacheWrite: 0, unpricedTier: null }
  const fields = ['seed', 'top_k', 'min_p', 'top_a', 'user', 'metadata']
  for (let nth = 0; nth < METRIC_MODELS_MAX + 5; nth++) {
    const dropped = [...fields, ...Array.from({ length: 9 }, (_, at) => `own_${nth}_${at}`)]
    meters.of({ ...acme, model: `m${nth}` }).answered({ ...none, dropped })
  }
  const series = (await registry.metrics()).match(/^sluice_dropped_fields_total\{/gm)?.length ?? 0
  t.ok(series <= METRIC_DROPPED_MAX + METRIC_MODELS_MAX + 1, `${series} series`)
  t.ok(series > METRIC_DROPPED_MAX / 2, `${series} series`)
})

t.test('answers with an unpriced tier are counted by model, member and tier', async (t) => {
  const registry = new Registry()
  const meters = createStreamMeters(registry)
  const none = { fresh: 0, cacheRead: 0, cacheWrite: 0, dropped: [] }
  meters.of(acme).answered({ ...none, unpricedTier: null })
  for (const tier of ['priority', 'priority', 'other'])
    meters.of(acme).answered({ ...none, unpricedTier: { member: 'service_tier', tier } })
  const text = await registry.metrics()
  t.match(text, `sluice_unpriced_tier_calls_total{${ACME},member="service_tier",tier="priority"} 2`)
  t.match(text, `sluice_unpriced_tier_calls_total{${ACME},member="service_tier",tier="other"} 1`)
  t.same(meters.read().unpricedTiers, unpricedTiersIn(text), 'the text reads back')
  t.equal(unpricedTiersIn(text).length, 2)
})
