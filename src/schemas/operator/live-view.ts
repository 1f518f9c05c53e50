import Type, { type Static } from 'typebox'

/** The number of ready processes, and the wanted number. */
const Served = { ready: Type.Integer(), wanted: Type.Integer() }
/** Processes whose number `sluice scale` changes; `configured` is the number in the settings. */
const Scaled = Type.Object({ ...Served, configured: Type.Integer() })

const Dependency = Type.Object({
  state: Type.Enum(['up', 'down'] as const),
  mode: Type.String(),
  since: Type.String({ format: 'date-time', description: 'Time of the last change of `state`.' }),
  effect: Type.Optional(
    Type.String({
      description: 'How the node works without this dependency; present only while the dependency is down.',
    }),
  ),
})

/** Body of `/readyz` of a running node. Design §11. */
export const ReadinessView = Type.Object({
  status: Type.Enum(['ready', 'degraded', 'unavailable'] as const, {
    description: '`degraded` still serves known keys and answers 200; `unavailable` accepts no new traffic.',
  }),
  reasons: Type.Array(Type.String(), {
    description: 'Reasons why the node is not `ready`, as stable codes.',
  }),
  degraded: Type.Array(Type.Enum(['postgres', 'redis', 'storage'] as const), {
    description: 'Dependencies that are down.',
  }),
  dependencies: Type.Object({
    postgres: Dependency,
    redis: Dependency,
    storage: Type.Object(Dependency.properties, {
      description: 'Disks that the node writes to; the state is `down` while a disk is full.',
    }),
  }),
  fronts: Scaled,
  workers: Type.Object(Scaled.properties, {
    description: 'Total number of file transfer threads of all fronts.',
  }),
  runners: Type.Object(Served),
})
export type ReadinessView = Static<typeof ReadinessView>

/** Null: no measurement in this period. */
const measuredMs = (description: string) => Type.Union([Type.Number(), Type.Null()], { description })

const OperationView = Type.Object({
  operation: Type.String(),
  per_second: Type.Number({ description: 'Finished calls.' }),
  refused_per_second: Type.Number({ description: 'Finished calls answered with 4xx.' }),
  failed_per_second: Type.Number({ description: 'Finished calls answered with 5xx.' }),
  p50_ms: measuredMs('Median call duration over `quantile_seconds`, interpolated within a histogram bucket.'),
  p99_ms: measuredMs('99th percentile of the call duration, capped at the bound of the last bucket.'),
})
export type OperationView = Static<typeof OperationView>

const PoolView = Type.Object({
  pool: Type.Enum(['short_jobs', 'sessions'] as const, {
    description: '`short_jobs` handles large bodies and secrets, `sessions` file transfers.',
  }),
  threads: Type.Integer(),
  wait_ms: Type.Number({
    description: 'Mean time for which work that began in the period waited for a thread.',
  }),
  utilization: Type.Number({ description: 'Share of the period in which the threads were busy, 0 to 1.' }),
})
export type PoolView = Static<typeof PoolView>

const FrontView = Type.Object({
  front: Type.Integer({ description: 'Slot number of the front process, from 0.' }),
  pid: Type.Integer(),
  loop_p50_ms: Type.Number({ description: 'Median delay of the event loop in the period.' }),
  loop_p99_ms: Type.Number(),
  loop_max_ms: Type.Number(),
  utilization: Type.Number({ description: 'Share of the period in which the event loop had work, 0 to 1.' }),
  pools: Type.Array(PoolView),
})
export type FrontView = Static<typeof FrontView>

/**
 * The recent state of a provider. `open`: the circuit breaker of one of its endpoints is open, so that calls
 * skip that endpoint; `failing`: at least half of its last attempts failed; `idle`: it got no calls.
 */
export const PROVIDER_STATES = ['ok', 'failing', 'open', 'idle'] as const

const BreakerView = Type.Object({
  endpoints: Type.Array(Type.String(), {
    description: 'Tags of the endpoints whose breaker is open in at least one front.',
  }),
  since: Type.String({
    format: 'date-time',
    description: 'Time when the first of the open breakers opened, to the second.',
  }),
  next_probe_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description:
      'Time of the next probe, to the second; Sluice skips the endpoints until this time. Null if the next call is the probe.',
  }),
})
export type BreakerView = Static<typeof BreakerView>
const ProviderView = Type.Object({
  provider: Type.String({ description: 'Slug of the provider in the catalogue.' }),
  per_second: Type.Number({ description: 'Attempts, including video submissions and polls.' }),
  failed_per_second: Type.Number({ description: 'Attempts that failed because of the provider.' }),
  state: Type.Enum(PROVIDER_STATES, {
    description: 'State over `quantile_seconds`; `open` if a breaker is open now.',
  }),
  breaker: Type.Union([BreakerView, Type.Null()], {
    description: 'Open circuit breakers; null if all are closed.',
  }),
})
export type ProviderView = Static<typeof ProviderView>

/** A present or imminent problem. */
const FindingView = Type.Object({
  severity: Type.Enum(['warn', 'bad'] as const, {
    description: '`bad` if callers are affected, otherwise `warn`.',
  }),
  text: Type.String(),
  fix: Type.String({ description: 'Suggested fix.' }),
  page: Type.Optional(
    Type.String({
      description: 'Dashboard page with details, including its query, such as `webhooks?state=dead`.',
    }),
  ),
})
export type FindingView = Static<typeof FindingView>

const CutView = Type.Object({
  cause: Type.String({ description: 'Failure name; `client_gone` means that the client disconnected.' }),
  streams: Type.Integer(),
})

const ModelView = Type.Object({
  model: Type.String({
    description:
      'Canonical id, `private` for the models of workspaces, or `other` for models after the first 200.',
  }),
  input_tokens: Type.Integer({ description: 'Input tokens of answered calls.' }),
  cached_share: Type.Union([Type.Number(), Type.Null()], {
    description: "Share of input tokens from the provider's cache, 0 to 1; null without input tokens.",
  }),
  dropped: Type.Array(Type.Object({ field: Type.String(), calls: Type.Integer() }), {
    description: 'Fields not sent to the provider, the most frequent first.',
  }),
})
export type ModelView = Static<typeof ModelView>

const StreamsView = Type.Object({
  open: Type.Integer({ description: 'Streamed answers in progress that have sent output.' }),
  ttft_p50_ms: measuredMs('Median time from a request to the first output, over `quantile_seconds`.'),
  ttft_p99_ms: measuredMs('99th percentile of that time, capped at the bound of the last bucket.'),
  tokens_per_second: Type.Number({
    description: 'Output tokens of text models over `quantile_seconds`, including open streams.',
  }),
  cut: Type.Array(CutView, {
    description:
      'Streams cut off before the end of the answer, since the processes started, the most frequent cause first.',
  }),
  models: Type.Array(ModelView, {
    description: 'Models that answered since the processes started, most input tokens first; at most 20.',
  }),
})

const MoneyView = Type.Object({
  calls_open: Type.Integer({ description: 'Paid calls in progress.' }),
  calls_waiting: Type.Integer({ description: 'Calls waiting for a budget reservation.' }),
  refused_per_second: Type.Number({ description: 'Calls refused per second for lack of money.' }),
  spent_usd_per_minute: Type.Number({
    description: 'Charges for finished calls per minute, averaged over `quantile_seconds`.',
  }),
  held_usd: Type.Number({ description: 'USD allocated to front processes, but not reserved by calls.' }),
  journal_lag_ms: Type.Number({
    description: 'Delay between journal and ledger of the slowest front process.',
  }),
  is_journal_broken: Type.Boolean({
    description: 'True if a front process cannot write its journal and refuses paid calls.',
  }),
})

/** The state of a node: one event of `GET /api/v1/admin/live` of the admin port, and the answer with `?once`. */
export const LiveView = Type.Object({
  at: Type.String({ format: 'date-time' }),
  version: Type.String(),
  readiness: ReadinessView,
  seconds: Type.Number({ description: 'Length of the period that ends at `at` and that the figures cover.' }),
  quantile_seconds: Type.Number({
    description: 'Length of the longer period that the quantiles and provider states cover.',
  }),
  requests_per_second: Type.Number(),
  refused_per_second: Type.Number({ description: 'Finished calls answered with 4xx.' }),
  failed_per_second: Type.Number({ description: 'Finished calls answered with 5xx.' }),
  operations: Type.Array(OperationView, {
    description: 'Operations called within `quantile_seconds`, the most called first.',
  }),
  fronts: Type.Array(FrontView, {
    description:
      'Front processes that answered, by slot; during a replacement, both the old and the new process.',
  }),
  cpu_share: Type.Number({ description: "CPU use of the node's own processes; 1 means one core." }),
  memory_bytes: Type.Integer({ description: "Resident memory of the node's own processes." }),
  inflight: Type.Integer({ description: 'Calls in progress.' }),
  streams: StreamsView,
  providers: Type.Array(ProviderView, {
    description: 'Providers called since the processes started, by slug.',
  }),
  videos: Type.Object({
    held: Type.Record(Type.String(), Type.Integer(), {
      description: 'Open jobs claimed by runners, by state: accepted, submitting, running, storing.',
    }),
  }),
  webhooks: Type.Union([Type.Object({ waiting: Type.Integer(), dead: Type.Integer() }), Type.Null()], {
    description:
      'Webhook deliveries of the whole installation at the last count; null before the first count.',
  }),
  money: MoneyView,
  findings: Type.Array(FindingView, { description: 'Problems, worst first; may be empty.' }),
})
export type LiveView = Static<typeof LiveView>
