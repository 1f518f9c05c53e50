import { Registry } from 'prom-client'
import t from 'tap'
import { METRIC_MODELS_MAX } from '../../../src/schemas/inference/stream-limits.ts'
import type { AnswerLabels, StreamEnd } from '../../../src/server/ports/observe.ts'
import { createStreamMeters } from '../../../src/server/observe/stream-metrics.ts'

const acme: AnswerLabels = { operation: 'chat.create', provider: 'acme', model: 'acme/one' }
const other: AnswerLabels = { operation: 'messages.create', provider: 'other', model: 'private' }
const ACME = 'operation="chat.create",provider="acme",model="acme/one"'
const OTHER = 'operation="messages.create",provider="other",model="private"'
const first = (ms: number, failed = 0) => ({ ms, ownMs: 2, failed })
const end = (more: Partial<StreamEnd> = {}): StreamEnd => ({
  ...{ cause: null, tokens: 100, ms: 2_000, pausedMs: 0, isDrained: false },
  ...more,
})

t.test('answers are counted by operation, provider and model, and open streams', async (t) => {
  const registry = new Registry()
  const meters = createStreamMeters(registry)
  meters.committed(acme, first(30))
  meters.committed(acme, first(700, 2))
  meters.committed(other, first(1))
  meters.wrote(acme, 40)
  meters.wrote(acme, 60)
  meters.ended(acme, end({ cause: 'upstream_failed', pausedMs: 1_500, isDrained: true }))
  meters.called(acme, 'upstream_failed', true)
  meters.called(other, null, false)
  meters.called({ ...acme, provider: '' }, 'busy', false)
  t.same(meters.read().open, 2)
  t.same(meters.read().tokens, 100)
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
  meters.ended(acme, end({ ms: 10 }))
  const later = await registry.metrics()
  t.match(later, `sluice_streams_open{${ACME}} 0`)
  t.match(later, `sluice_output_tokens_per_second_count{${ACME}} 1`, 'ten milliseconds are no rate')
  t.notMatch(later, 'cause=""')
})

t.test('models have a bounded set of names', async (t) => {
  const registry = new Registry()
  const meters = createStreamMeters(registry)
  for (let nth = 0; nth < METRIC_MODELS_MAX + 5; nth++)
    meters.called({ ...acme, model: `m${nth}` }, null, false)
  meters.called({ ...acme, model: 'm0' }, null, false)
  const text = await registry.metrics()
  t.match(text, 'model="m0",failure=""} 2')
  t.match(text, 'model="other",failure=""} 5')
  t.equal(text.match(/^sluice_model_calls_total\{/gm)?.length, METRIC_MODELS_MAX + 1)
})
