import type { LiveView } from '../../../src/schemas/operator/live-view.ts'

/** The live view of a healthy node, except for the members that a test is about. */
export function liveView(more: Partial<LiveView>): LiveView {
  return {
    at: '2026-11-21T10:11:12.345Z',
    version: '1.2.3',
    readiness: readiness(),
    seconds: 1,
    quantile_seconds: 10,
    requests_per_second: 1_002.5,
    refused_per_second: 0.1,
    failed_per_second: 0,
    operations: operations(),
    fronts: [front()],
    cpu_share: 1.25,
    memory_bytes: 512 * 2 ** 20,
    inflight: 4,
    providers: [{ provider: 'openai', per_second: 12, failed_per_second: 0, state: 'ok', breaker: null }],
    videos: { held: { accepted: 0, running: 3 } },
    webhooks: { waiting: 2, dead: 0 },
    streams: {
      open: 12,
      ttft_p50_ms: 320,
      ttft_p99_ms: 1_250,
      tokens_per_second: 480,
      cut: [{ cause: 'client_gone', streams: 3 }],
      models: [
        {
          model: 'acme/one',
          input_tokens: 9_000,
          cached_share: 0.4,
          dropped: [{ field: 'seed', calls: 2 }],
        },
      ],
    },
    money: {
      calls_open: 1,
      calls_waiting: 0,
      refused_per_second: 0,
      spent_usd_per_minute: 0.0123,
      held_usd: 0.5,
      journal_lag_ms: 12,
      is_journal_broken: false,
    },
    findings: [],
    ...more,
  }
}

function readiness(): LiveView['readiness'] {
  const since = '2026-11-21T10:00:00.000Z'
  const scaled = (count: number) => ({ ready: count, wanted: count, configured: count })
  return {
    status: 'ready',
    reasons: [],
    dependencies: {
      postgres: { state: 'up', mode: 'embedded', since },
      redis: { state: 'up', mode: 'child', since },
      storage: { state: 'up', mode: 'disk', since },
    },
    degraded: [],
    fronts: scaled(2),
    workers: scaled(4),
    runners: { ready: 1, wanted: 1 },
  }
}

/** A busy operation, and a quiet operation without quantiles. */
function operations(): LiveView['operations'] {
  return [
    {
      operation: 'embeddings.create',
      per_second: 1_000,
      refused_per_second: 0.1,
      failed_per_second: 0,
      p50_ms: 1.2,
      p99_ms: 34.5,
    },
    {
      operation: 'model.list',
      per_second: 2.5,
      refused_per_second: 0,
      failed_per_second: 0.01,
      p50_ms: null,
      p99_ms: null,
    },
  ]
}

function front(): LiveView['fronts'][number] {
  return {
    front: 0,
    pid: 1_234,
    loop_p50_ms: 0.1,
    loop_p99_ms: 1.5,
    loop_max_ms: 12,
    utilization: 0.42,
    pools: [
      { pool: 'short_jobs', threads: 1, wait_ms: 0.5, utilization: 0.1 },
      { pool: 'sessions', threads: 2, wait_ms: 0, utilization: 0.05 },
    ],
  }
}
