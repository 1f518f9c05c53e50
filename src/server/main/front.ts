import { BROADCAST_POST_MS_MAX, REPLACED_CALLS_MS, REPLACED_FRONT_MS } from '../../schemas/limits/limits.ts'
import { EPOCH_OVERDUE_MS, KEY_LOCK_WAIT_MS_MAX, KEYS_HANDED_MS_MAX } from '../../schemas/keys/key-limits.ts'
import { UPSTREAM_ERROR_BYTES_MAX } from '../../schemas/models/provider-limits.ts'
import { openPools } from '../../workers/pool.ts'
import { scanMemory } from '../../workers/scan-memory.ts'
import type { Pools } from '../../workers/thread-pools.ts'
import type { Config } from '../config.ts'
import { Timers } from '../http/timers.ts'
import { compile, startHttp, type HttpFront, type HttpOptions } from '../http/front.ts'
import { BUILT_OPENAPI } from '../http/reference/site.ts'
import { createAdmission, type Admission } from '../limits/admission.ts'
import { createModelCalls, type FrontModelCalls } from '../limits/model-calls.ts'
import { openBroadcast, type Broadcast } from '../observe/broadcast.ts'
import { frontLoads, type FrontReading } from '../observe/front-metrics.ts'
import { createMetrics, type Metrics } from '../observe/metrics.ts'
import { createObserver, type RequestRecorder } from '../observe/observer.ts'
import { watchMetrics } from '../observe/read-metrics.ts'
import { BREAKERS, FRONT_LOAD, SESSIONS } from '../observe/read-table.ts'
import { openTracing, type CallTracer } from '../observe/tracing.ts'
import { OPERATIONS } from '../operations/index.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { EpochFeed } from '../ports/keys/keys.ts'
import type { BreakerReading, Log, Observer } from '../ports/observe.ts'
import type { FrontCount } from '../ports/rates.ts'
import { openHints } from '../redis/hints.ts'
import { openState, type State } from '../redis/open.ts'
import { openCallAuthority } from '../redis/model-calls.ts'
import { openRateAuthority } from '../redis/rates.ts'
import { openScripts } from '../redis/scripts.ts'
import { openKeyStore } from '../store/keys/api-keys.ts'
import { openEpochFeed } from '../store/base/epoch-feed.ts'
import { watchAdminPorts } from '../store/nodes/admin-ports.ts'
import { enrol, startHeartbeat, type Heartbeat } from '../store/nodes/fronts.ts'
import { openStore, type Store } from '../store/base/open.ts'
import { LoopBudget } from '../structures/loop-budget.ts'
import type { Channel } from '../supervisor/fleet/channel.ts'
import type { StartedPart } from '../supervisor/fleet/ipc.ts'
import { VERSION } from '../supervisor/version.ts'
import { createAccess, type Access, type AccessOptions } from '../access/access.ts'
import { FRONT_POOL_MAX, KEY_POOL_MAX } from '../supervisor/fleet/shares.ts'
import { childLog, configOfPart, stateAddress, catalogueOf } from './child.ts'
import { openGate } from './egress.ts'
import { openFrontPorts } from './front-ports.ts'
import { rootKeysOf, type FileServices } from './files.ts'
import { openRequestRecorder } from './requests.ts'

/** Short-job threads of each lane of a front. Design §2. */
const SHORT_THREADS = 1
/** Short jobs of a front that may wait for a thread. Design §2. */
const SHORT_JOBS_WAITING_MAX = 256
/** Jobs of one organization that may wait; `busy` beyond. Decision. */
const SHORT_JOBS_WAITING_ORGANIZATION_MAX = 128
/** Milliseconds that a new front waits for Redis before it serves without Redis. */
const STATE_WAIT_MS = 500
/** Milliseconds that a drained process may take to close its parts. */
const CLOSE_MS_MAX = 3_000

/** Compiled at import: no setting changes the result, so a front that is loaded ahead compiles before it is started. */
const compiled = compile(OPERATIONS, BUILT_OPENAPI)

/** Builds every part of a front, warms the front up, and serves until the supervisor ends it. */
export async function runFront(part: StartedPart, channel: Channel): Promise<void> {
  const config = configOfPart(part)
  const log = childLog(part, channel)
  const catalogue = catalogueOf(config)
  const metrics = createMetrics(part.slot)
  const { store, keyLane } = openStores(config, part)
  const state = openState({ ...stateAddress(part.redis), log })
  const hints = openHints(state)
  const feed = openEpochFeed({ store, hints, log })
  const [rootKeys, adminPorts] = [rootKeysOf(config), watchAdminPorts(keyLane, config.adminPort)]
  const heartbeat = startHeartbeat({
    frontId: part.id,
    store: keyLane,
    feed,
    node: part.node,
    adminPort: config.adminPort,
    connections: part.connections,
    rootKeyId: () => rootKeys.currentId,
    log,
  })
  const pools = openFrontPools(part, log)
  const egress = openGate(config, adminPorts, scanMemory())
  const { observer, outlets } = await observation(config, { egress, log, metrics })
  const { admission, modelCalls } = openLimits(config, { state, fronts: heartbeat, meters: metrics })
  const loop = new LoopBudget()
  const opened = { part, channel, store, state, hints, feed, rootKeys, pools, egress, catalogue }
  const { ports, breakers, files, money, writers } = await openFrontPorts(config, {
    ...opened,
    ...{ modelCalls, loop },
    fronts: heartbeat,
    observer,
    metrics,
    log,
    fenced: () => void drain(false, 0),
  })
  // Before a front accepts a call it knows the epoch and the day of its money and has its row in Postgres, or
  // knows that the store is unavailable.
  await Promise.all([enrol(feed, heartbeat), money.dayAsked, state.whenReachable(STATE_WAIT_MS)])
  const access = await openAccess(
    { keys: openKeyStore(keyLane), feed, graceMs: config.keyGraceMs, now: Date.now, meters: metrics },
    { channel, log },
  )
  const timers = new Timers()
  metrics.loop.follow(timers)
  const isReady = (): boolean => feed.lastGoodPollAtMs > 0
  const called = { access, admission, jobs: pools.jobs, ports, observer, timers, budget: loop }
  const http = await listen(config, { ...called, isReady })
  const watched = { http, loop, pools, log, feed, state, intake: files.intake, breakers }
  watchFront(metrics, { slot: part.slot, ...watched })
  answerSupervisor(channel, metrics, heartbeat)
  const drain = (isReplaced: boolean, idleMs: number): Promise<void> =>
    drainFront(http, isReplaced, { drainMs: config.drainMs, idleMs })
      .then(() => channel.lastPulse())
      // The front's row must be removed before its connections are closed: `keys revoke --wait` would
      // otherwise wait for this front. The audit events of the front must be written before that too.
      .then(() => closeAll([heartbeat, adminPorts, ...writers]))
      .then(() =>
        closeAll([modelCalls, feed, hints, state, files, pools, egress, ...outlets, store, keyLane]),
      )
      .finally(() => process.exit(0))
  let isDraining = false
  channel.onDrain((isReplaced, idleMs) => {
    // A replaced front whose node ends, or which is replaced again, gets less time.
    if (isDraining) void http.drain(config.drainMs, idleMs)
    else void drain(isReplaced, idleMs)
    isDraining = true
  })
  begin(channel, { timers, metrics, feed }, [store, keyLane, files])
}

/** The parts that decide about the rates of keys, and about their calls to models. */
function openLimits(
  { rateLimitBurst: burst }: Config,
  { state, fronts, meters }: { readonly state: State; readonly fronts: FrontCount; readonly meters: Metrics },
): { readonly admission: Admission; readonly modelCalls: FrontModelCalls } {
  const now = (): number => performance.now()
  const scripts = openScripts(state)
  return {
    admission: createAdmission({ authority: openRateAuthority(state, scripts), fronts, now, meters, burst }),
    modelCalls: createModelCalls({ authority: openCallAuthority(state, scripts), fronts, now }),
  }
}

function listen(
  { host, port, tls, corsOrigins, regionalHosts, streams, publicUrl, proxies }: Config,
  deps: Pick<
    HttpOptions,
    'access' | 'admission' | 'jobs' | 'ports' | 'observer' | 'timers' | 'budget' | 'isReady'
  >,
): Promise<HttpFront> {
  const settings = { host, port, tls, corsOrigins, regionalHosts, streams, publicUrl, proxies }
  return startHttp({ ...settings, compiled, ...deps })
}

function openFrontPools({ sessionThreads }: StartedPart, log: Log): Pools {
  return openPools({
    shortThreads: SHORT_THREADS,
    sessionThreads,
    isLazy: true,
    log,
    queueMax: SHORT_JOBS_WAITING_MAX,
    organizationQueueMax: SHORT_JOBS_WAITING_ORGANIZATION_MAX,
  })
}

function answerSupervisor(channel: Channel, metrics: Metrics, heartbeat: Heartbeat): void {
  channel.onSnapshot(() => metrics.snapshot())
  channel.onLook(() => metrics.live.read())
  channel.onScaled((connections) => void heartbeat.scaled(connections))
}

/** Runs when the front listens: does work that would have delayed listening. */
function begin(
  channel: Channel,
  {
    timers,
    metrics,
    feed,
  }: {
    readonly timers: Timers
    readonly metrics: Pick<Metrics, 'figures'>
    readonly feed: Pick<EpochFeed, 'lastGoodPollAtMs'>
  },
  stores: readonly Pick<Store, 'warm'>[],
): void {
  channel.tell({ kind: 'ready', hasStore: feed.lastGoodPollAtMs > 0 })
  channel.pulse({
    hasCalls: () => timers.wereUsed(),
    hasStore: () => !isOverdue(feed),
    figures: () => metrics.figures.read(),
  })
  // The front does not wait for the stores: if a store is unavailable, the front serves without it.
  for (const store of stores) void store.warm()
}

/** True when the store has not answered for as long as a poll of the epoch may take. */
function isOverdue(feed: Pick<EpochFeed, 'lastGoodPollAtMs'>): boolean {
  return Date.now() - feed.lastGoodPollAtMs > EPOCH_OVERDUE_MS
}

interface Watched {
  readonly slot: number
  readonly http: HttpFront
  readonly pools: Pools
  readonly log: { readonly dropped: number }
  readonly feed: EpochFeed
  readonly state: Pick<State, 'isReachable' | 'refusals'>
  readonly intake: FileServices['intake']
  readonly breakers: () => readonly BreakerReading[]
  readonly loop: LoopBudget
}

/** Registers the values that are read at each request for metrics. */
function watchFront(
  metrics: Metrics,
  { slot, http, loop, pools, log, feed, state, intake, breakers }: Watched,
): void {
  metrics.watch({
    inFlight: () => http.load.calls,
    connections: () => http.connections,
    shortJobsWaiting: () => pools.shortJobsWaiting,
    unreadBytes: () => http.unreadBytes,
    held: () => loop.held,
    logLinesDropped: () => log.dropped,
    redisRefusals: () => state.refusals,
    degraded: () => ({
      postgres: isOverdue(feed),
      redis: !state.isReachable,
    }),
  })
  watchMetrics(metrics.registry, SESSIONS, () => ({
    ...pools.sessions.load,
    waitingBytes: intake.waitingBytes,
  }))
  const load = (): FrontReading => ({
    loop: performance.eventLoopUtilization(),
    shortJobs: pools.shortJobsLoad,
    sessions: pools.sessions.load,
    nowMs: performance.now(),
  })
  watchMetrics(metrics.registry, FRONT_LOAD, frontLoads(slot, load))
  watchMetrics(metrics.registry, BREAKERS, breakers)
  metrics.live.add({ front: { slot, load }, breakers })
}

/**
 * Drains the front. A replaced front waits until idle keep-alive connections have sent one more request or
 * ended, and then until its streams and the connections that they leave open have ended.
 */
async function drainFront(
  http: HttpFront,
  isReplaced: boolean,
  { drainMs, idleMs }: { readonly drainMs: number; readonly idleMs: number },
): Promise<void> {
  http.stopAccepting()
  if (isReplaced) await new Promise((resolve) => setTimeout(resolve, REPLACED_FRONT_MS))
  await (isReplaced ? http.drain(REPLACED_CALLS_MS, REPLACED_FRONT_MS) : http.drain(drainMs, idleMs))
}

/** Closes the parts; a part that hangs ends with the process. */
async function closeAll(parts: readonly ({ close(): Promise<void> } | undefined)[]): Promise<void> {
  const closed = Promise.allSettled(parts.map((part) => part?.close()))
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, CLOSE_MS_MAX))])
}

interface Observation {
  readonly observer: Observer
  /** Receivers of finished calls; to be closed after the last call. */
  readonly outlets: readonly (Broadcast | CallTracer | RequestRecorder | undefined)[]
}

/**
 * Metrics and the log are always on, the request log unless it is set to be off; the broadcast and traces are
 * on when they have an address.
 */
async function observation(
  config: Config,
  { egress, log, metrics }: { egress: Egress; log: Log; metrics: Metrics },
): Promise<Observation> {
  const { broadcastUrl, otlpEndpoint } = config
  const broadcast =
    broadcastUrl === null
      ? undefined
      : openBroadcast({
          url: broadcastUrl.reveal(),
          post: broadcastPost(egress),
          log,
          count: metrics.broadcast,
        })
  const tracer =
    otlpEndpoint === null
      ? undefined
      : await openTracing({ endpoint: otlpEndpoint.reveal(), version: VERSION })
  const requests = openRequestRecorder(config, { metrics, log })
  const observer = createObserver({
    log,
    metrics,
    ...(requests === undefined ? {} : { requests }),
    ...(broadcast === undefined ? {} : { broadcast }),
    ...(tracer === undefined ? {} : { tracer }),
  })
  return { observer, outlets: [broadcast, tracer, requests] }
}

/** Posts to the operator's broadcast address through the gate. */
function broadcastPost(egress: Egress): (url: string, json: Uint8Array) => Promise<boolean> {
  return async (text, json) => {
    const url = new URL(text)
    const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    const basic = Buffer.from(user).toString('base64')
    const credential = url.username === '' ? [] : ['authorization', `Basic ${basic}`]
    const answer = await egress.trusted(url.origin).call({
      method: 'POST',
      path: url.pathname + url.search,
      headers: ['content-type', 'application/json', ...credential],
      body: json,
      attemptEndsAt: performance.now() + BROADCAST_POST_MS_MAX,
      call: { signal: AbortSignal.timeout(BROADCAST_POST_MS_MAX) },
      mayCutSent: true,
      mayRepeat: false,
      answerBytesMax: UPSTREAM_ERROR_BYTES_MAX,
    })
    if (!answer.ok) return false
    answer.value.release()
    return answer.value.status < 300
  }
}

interface FrontKeys {
  readonly channel: Pick<Channel, 'keys' | 'onKnownKeys'>
  readonly log: Log
}

/**
 * Access of a front that begins with the keys that another front of its node knew, and passes its own keys on,
 * so that a reload has no cold start. To be called when the feed follows the epoch. Waits KEYS_HANDED_MS_MAX
 * at most, whatever the store does.
 */
export async function openAccess(options: AccessOptions, { channel, log }: FrontKeys): Promise<Access> {
  const access = createAccess(options)
  const endsAt = performance.now() + KEYS_HANDED_MS_MAX
  const load = async (): Promise<void> => {
    const hashes = (await channel.keys).split(',').filter((hash) => hash !== '')
    const loaded = await access.beginWith(hashes, () => performance.now() < endsAt)
    if (hashes.length > 0) log.info('keys_handed_over', { handed: hashes.length, loaded })
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, KEYS_HANDED_MS_MAX)
  })
  await Promise.race([load(), late])
  clearTimeout(timer)
  channel.onKnownKeys(() => access.knownKeys().join(','))
  return access
}

export interface FrontStores {
  readonly store: Store
  /** Also used for the front's heartbeat and for reading admin ports; the connections of `store` may then be closed. */
  readonly keyLane: Store
}

/**
 * Opens a front's connections for calls, and a separate connection for loading keys: a flood of unknown keys
 * leaves the others free. A heartbeat that waits for a lock gives up before a load of keys that is queued
 * after it.
 */
export function openStores(
  { caps }: Pick<Config, 'caps'>,
  { databaseUrl: url, slot }: Pick<StartedPart, 'databaseUrl' | 'slot'>,
): FrontStores {
  const applicationName = `sluice-front-${slot}`
  return {
    store: openStore({ url, poolMax: FRONT_POOL_MAX, applicationName, caps }),
    keyLane: openStore({
      url,
      poolMax: KEY_POOL_MAX,
      applicationName: `${applicationName}-keys`,
      lockMsMax: KEY_LOCK_WAIT_MS_MAX,
    }),
  }
}
