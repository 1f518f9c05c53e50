/** Metrics whose owners update the values. For the metrics of `read-table.ts` the values are read at each scrape. */
import type { Registry } from 'prom-client'
import { CALL_BUCKETS, Durations, FIRST_OUTPUT_BUCKETS, Tally } from './durations.ts'

const ANSWER = ['operation', 'provider', 'model'] as const

const TALLIES = {
  sluice_requests_total: {
    help: 'Finished HTTP calls, by operation, HTTP status and failure, which is empty for successful calls.',
    labels: ['operation', 'status', 'failure'],
  },
  sluice_upstream_calls_total: {
    help: 'Attempts to call a provider, by provider and outcome: ok or an error type.',
    labels: ['provider', 'outcome'],
  },
  sluice_key_lookups_total: {
    help: 'API key lookups, by source of the answer: cache, unknown_cache (keys known not to exist) or store (Postgres).',
    labels: ['source'],
  },
  sluice_rate_decisions_total: {
    help: 'Rate limit decisions, by decision and source: purse (requests set aside for a front), authority (Redis) or fallback (a front without Redis).',
    labels: ['decision', 'source'],
  },
  sluice_unpriced_calls_total: {
    help: 'Calls not fully charged because the endpoint or a tool of its provider has no price, by operation and provider.',
    labels: ['operation', 'provider'],
  },
  sluice_broadcast_traces_total: {
    help: 'Traces of calls for the trace collector, by outcome: sent, dropped or failed.',
    labels: ['outcome'],
  },
  sluice_model_calls_total: {
    help: 'Calls to text models, by operation, provider, model and failure; provider is empty if none answered, and failure is empty if the call succeeded.',
    labels: [...ANSWER, 'failure'],
  },
  sluice_stream_commits_total: {
    help: 'Streamed answers that sent their first output, by operation, provider and model.',
    labels: ANSWER,
  },
  sluice_stream_fallbacks_total: {
    help: 'Endpoints that failed before the first output of a stream, by operation, model and the provider that answered instead.',
    labels: ANSWER,
  },
  sluice_streams_cut_total: {
    help: 'Streams cut off before the answer was complete, by operation, provider, model and cause.',
    labels: [...ANSWER, 'cause'],
  },
  sluice_stream_drains_total: {
    help: 'Streams read to the end after the client disconnected, by operation, provider and model.',
    labels: ANSWER,
  },
  sluice_stream_paused_seconds_total: {
    help: 'Time that streams were paused because the client did not read, in seconds, by operation, provider and model.',
    labels: ANSWER,
  },
  sluice_estimated_usage_total: {
    help: 'Answers charged by estimated token counts because they were cut off or the provider reported no credible counts, by operation, provider and model.',
    labels: ANSWER,
  },
  sluice_output_tokens_total: {
    help: 'Output tokens of text models, counted as they are generated, by operation, provider and model.',
    labels: ANSWER,
  },
  sluice_input_tokens_total: {
    help: "Input tokens of answered calls, by operation, provider, model and use of the provider's cache: read, write or none.",
    labels: [...ANSWER, 'cache'],
  },
  sluice_dropped_fields_total: {
    help: 'Answered calls with a request field that was not sent to the provider, by operation, provider, model and field.',
    labels: [...ANSWER, 'field'],
  },
  sluice_unpriced_tier_calls_total: {
    help:
      'Answers charged at the base price because their tier has no price in the catalogue, by operation, provider, ' +
      'model, tier and member (the field that contains the tier).',
    labels: [...ANSWER, 'member', 'tier'],
  },
  sluice_generation_records_total: {
    help: 'Records of calls to text models, by outcome: written to Postgres or lost.',
    labels: ['outcome'],
  },
  sluice_request_log_calls_total: {
    help: 'Finished calls for the request log, by outcome; the ledger keeps paid calls that the request log loses.',
    labels: ['outcome'],
  },
  sluice_video_claims_total: {
    help: 'Video jobs taken by runners (processes for video jobs), by provider.',
    labels: ['provider'],
  },
  sluice_video_submissions_total: {
    help: 'Video jobs submitted to providers, by provider and result.',
    labels: ['provider', 'result'],
  },
  sluice_video_lookups_total: {
    help: 'Lookups of video jobs whose submission was uncertain, by provider and result.',
    labels: ['provider', 'result'],
  },
  sluice_video_polls_total: {
    help: 'Polls of video jobs at providers, by provider and result.',
    labels: ['provider', 'result'],
  },
  sluice_video_stores_total: {
    help: 'Finished videos fetched from providers, by provider and result.',
    labels: ['provider', 'result'],
  },
  sluice_video_ends_total: {
    help: 'Number of video jobs that ended, by provider and final status.',
    labels: ['provider', 'status'],
  },
  sluice_video_leases_lost_total: {
    help: 'Video jobs whose runner (process for video jobs) lost the lease of the job while working on it.',
    labels: [],
  },
  sluice_webhook_attempts_total: {
    help: 'Attempts to deliver webhooks, by outcome.',
    labels: ['outcome'],
  },
  sluice_pruned_rows_total: {
    help: 'Rows deleted from Postgres because their retention time had passed, by kind of row.',
    labels: ['kind'],
  },
} as const

/** Seconds that the gateway itself takes for a call. */
const OVERHEAD_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5]
/** Seconds that the gateway itself adds to the time to a first output. */
const OWN_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]
/** Tokens a second: from a large model on a busy machine to hardware built for models. */
const RATE_BUCKETS = [2.5, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1_000, 2_000]
/** Seconds by which a poll may be late. */
const LAG_BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300]

const HISTOGRAMS = {
  sluice_request_seconds: {
    help: 'Duration of calls in seconds, from the request to the end of the answer, by operation.',
    labels: ['operation'],
    buckets: CALL_BUCKETS,
  },
  sluice_overhead_seconds: {
    help: 'Duration of calls in seconds, excluding the time spent waiting for providers, by operation.',
    labels: ['operation'],
    buckets: OVERHEAD_BUCKETS,
  },
  sluice_upstream_seconds: {
    help: 'Duration in seconds of attempts to call a provider, by provider.',
    labels: ['provider'],
    buckets: CALL_BUCKETS,
  },
  sluice_ttft_seconds: {
    help: 'Time in seconds from the request to the first output of a stream, by operation, provider and model.',
    labels: ANSWER,
    buckets: FIRST_OUTPUT_BUCKETS,
  },
  sluice_gateway_ttft_seconds: {
    help: "Time in seconds from a stream's request to its first provider attempt, by operation, provider and model.",
    labels: ANSWER,
    buckets: OWN_BUCKETS,
  },
  sluice_output_tokens_per_second: {
    help: 'Output tokens per second of a stream after its first output, excluding pauses, by operation, provider and model.',
    labels: ANSWER,
    buckets: RATE_BUCKETS,
  },
  sluice_video_poll_lag_seconds: {
    help: 'Seconds by which polls of video jobs were late, by provider.',
    labels: ['provider'],
    buckets: LAG_BUCKETS,
  },
} as const

export function tallyOf(registry: Registry, name: keyof typeof TALLIES): Tally {
  const { help, labels } = TALLIES[name]
  return new Tally(registry, name, help, labels)
}

/** A counter with one label, as a function that adds to it. */
export function countsOf(
  registry: Registry,
  name: keyof typeof TALLIES,
): (label: string, count: number) => void {
  const tally = tallyOf(registry, name)
  return (label, count) => tally.add(count, label)
}

export function durationsOf(registry: Registry, name: keyof typeof HISTOGRAMS): Durations {
  const { help, labels, buckets } = HISTOGRAMS[name]
  return new Durations(registry, { name, help, labels, bounds: buckets })
}
