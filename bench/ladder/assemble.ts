/** Builds a front of the product's own modules, with some of its parts exchanged for free ones. */
import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { STREAM_HOLD_MS_DEFAULT } from '../../src/schemas/inference/stream-limits.ts'
import { REQUESTS_LOOK_MS } from '../../src/schemas/requests/request-limits.ts'
import { Secret } from '../../src/schemas/vault/secret.ts'
import { createAccess } from '../../src/server/access/access.ts'
import { loadCatalogue } from '../../src/server/catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../src/server/catalogue/shipped.ts'
import { openEgress } from '../../src/server/egress/egress.ts'
import { compile, startHttp, type HttpFront } from '../../src/server/http/front.ts'
import { BUILT_OPENAPI } from '../../src/server/http/reference/site.ts'
import { Timers } from '../../src/server/http/timers.ts'
import { bootId } from '../../src/server/journal/boot-id.ts'
import { openJournal } from '../../src/server/journal/journal.ts'
import { createAdmission } from '../../src/server/limits/admission.ts'
import { stateAddress } from '../../src/server/main/child.ts'
import { createSpend } from '../../src/server/money/spend.ts'
import { createLog } from '../../src/server/observe/log.ts'
import { createMetrics, type Metrics } from '../../src/server/observe/metrics.ts'
import { createObserver, RequestRecorder } from '../../src/server/observe/observer.ts'
import { openSpill, openSpillWriter } from '../../src/server/observe/requests/spill-folder.ts'
import { openTracing } from '../../src/server/observe/tracing.ts'
import type { AnyOperation } from '../../src/server/operations/define.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import type { KeyRecord } from '../../src/server/ports/keys/keys.ts'
import type { ModelCatalogue } from '../../src/server/ports/models/models.ts'
import type { Spend } from '../../src/server/ports/money/money.ts'
import type { Log, Meters, Observer } from '../../src/server/ports/observe.ts'
import type { Ports } from '../../src/server/ports/ports.ts'
import { openState } from '../../src/server/redis/open.ts'
import { openRateAuthority } from '../../src/server/redis/rates.ts'
import { openStore, type Store } from '../../src/server/store/base/open.ts'
import { openGenerations } from '../../src/server/store/inference/generations.ts'
import { openKeyStore } from '../../src/server/store/keys/api-keys.ts'
import { openLender } from '../../src/server/store/money/lender.ts'
import { FRONT_POOL_MAX, KEY_POOL_MAX, MONEY_POOL_MAX } from '../../src/server/supervisor/fleet/shares.ts'
import type { ChildPart } from '../../src/server/supervisor/fleet/ipc.ts'
import { VERSION } from '../../src/server/supervisor/version.ts'
import { createEmbedder } from '../../src/server/inference/embedder.ts'
import { createInference } from '../../src/server/inference/inference.ts'
import { openPools } from '../../src/workers/pool.ts'
import { SILENT } from '../../test/support/log.ts'
import { FREE_PAYMENT, FREE_SPEND } from '../../test/support/money/free-spend.ts'
import { Provider } from '../peers/provider.ts'
import {
  deafLender,
  FREE_ADMISSION,
  FREE_GENERATIONS,
  FREE_METERS,
  FREE_OBSERVER,
  freeAccess,
  freeEgress,
  freeJobs,
  freeJournal,
  NoTimers,
  STILL_FEED,
} from './free.ts'
import { chatPassedOn, chatRouted } from './free-chat.ts'
import { passedOn, routed } from './free-operations.ts'
import type { LadderCall } from './rungs.ts'
import { REAL_TIMERS } from '../../src/server/money/reservation.ts'

export interface FrontSettings {
  /** 0 takes any free port. */
  readonly port: number
  readonly call: LadderCall
  /** Names of the parts that are the product's own. */
  readonly parts: readonly string[]
  readonly catalogFile: string
  /** Origin of the one provider, without a path. */
  readonly provider: string
  /** Name of the environment variable that the catalogue's provider lists. */
  readonly providerKey: string
  /** Stores of a running node. */
  readonly databaseUrl: string
  readonly redis: ChildPart['redis']
  /** The caller. */
  readonly apiKey: string
  /** Folder of the journal, and of the spill of the request log. */
  readonly folder: string
  /** Base of the receiver of spans. */
  readonly spansTo: string
}

export interface AssembledFront {
  readonly port: number
  close(): Promise<void>
}

type Closing = () => unknown

/** Of the provider, below its base address. */
const PATHS: Readonly<Record<LadderCall, string>> = {
  embeddings: '/embeddings',
  whole: '/chat/completions',
  event: '/chat/completions',
}

/** Threads and waiting jobs of the pools; the calls of the ladder use the loop alone. */
const POOLS = { shortThreads: 1, sessionThreads: 1, isLazy: true, queueMax: 256 }

export async function assemble(settings: FrontSettings): Promise<AssembledFront> {
  const has = (part: string): boolean => settings.parts.includes(part)
  const closings: Closing[] = []
  const now = (): number => performance.now()
  const log = has('log') ? frontLog() : SILENT
  const metrics = metricsOf(has, closings)
  const keys = storeOf(settings, KEY_POOL_MAX, closings)
  const key = await keyOf(keys, settings.apiKey)
  const provider = new Provider(`${settings.provider}/v1`, 'stand', PATHS[settings.call])
  const egress = has('egress') ? openEgress() : freeEgress(provider)
  closings.push(() => egress.close())
  const pools = openPools({ ...POOLS, log })
  closings.push(() => pools.close())
  const jobs = freeJobs({
    jobs: pools.jobs,
    hasBody: has('body'),
    // Answers of chat have no vectors.
    hasScan: has('scan') || settings.call !== 'embeddings',
    keepsBytes: !has('routing'),
  })
  const credentials = new Map([[settings.providerKey, new Secret('stand')]])
  const calling = { egress, jobs, credentials, log, meters: metrics, now, random: Math.random }
  const observer = await observerOf(settings, has, { log, metrics, closings })
  // The ladder's operations use these ports alone.
  const ports = {
    models: modelsOf(settings.catalogFile),
    embedder: createEmbedder(calling),
    inference: createInference({ ...calling, streamHoldMs: STREAM_HOLD_MS_DEFAULT }),
    generations: has('record') ? generationsOf(settings, { log, closings }) : FREE_GENERATIONS,
    egress,
    observer,
    spend: has('money') ? spendOf(settings, has, { log, closings }) : FREE_SPEND,
    modelCalls: FREE_PAYMENT.modelCalls,
    privateModels: { of: () => null },
  } as unknown as Ports
  const http = await startHttp({
    host: '127.0.0.1',
    port: settings.port,
    tls: null,
    compiled: compile(operationsOf(has, provider, settings.call), BUILT_OPENAPI),
    corsOrigins: [],
    access: has('access')
      ? createAccess({
          keys: openKeyStore(keys),
          feed: STILL_FEED,
          graceMs: Infinity,
          now: Date.now,
          meters: metrics,
        })
      : freeAccess(key),
    admission: has('rate') ? admissionOf(settings, metrics, closings) : FREE_ADMISSION,
    jobs,
    ports,
    observer,
    timers: has('timers') ? new Timers() : new NoTimers(),
  })
  return assembled(http, closings)
}

type Has = (part: string) => boolean

function assembled(http: HttpFront, closings: readonly Closing[]): AssembledFront {
  return {
    port: http.port,
    async close() {
      http.close()
      for (const close of closings) await close()
    },
  }
}

/**
 * The real operations, so that the route table is; the called one passes on or routes alone until its rung.
 */
function operationsOf(has: Has, provider: Provider, call: LadderCall): readonly AnyOperation[] {
  if (has('splice')) return OPERATIONS
  if (call === 'embeddings') {
    const run = has('routing') ? routed : passedOn(provider)
    return OPERATIONS.map((one) => (one.id === 'embeddings.create' ? { ...one, run } : one))
  }
  const run = has('routing') ? chatRouted : chatPassedOn(provider, call === 'event')
  return OPERATIONS.map((one) => (one.id === 'chat.create' ? { ...one, run } : one))
}

function metricsOf(has: Has, closings: Closing[]): Metrics | typeof FREE_METERS {
  if (!has('metrics')) return FREE_METERS
  const metrics = createMetrics(0)
  closings.push(() => metrics.close())
  return metrics
}

/** The lines go to stdout, which the bench drops. */
function frontLog(): Log {
  return createLog({ level: 'info', base: { role: 'front', slot: 0, pid: process.pid } })
}

function storeOf({ databaseUrl: url }: FrontSettings, poolMax: number, closings: Closing[]): Store {
  const store = openStore({ url, poolMax, applicationName: 'sluice-ladder' })
  closings.push(() => store.close())
  return store
}

async function keyOf(store: Store, apiKey: string): Promise<KeyRecord> {
  const loaded = await openKeyStore(store).load([createHash('sha256').update(apiKey).digest('hex')])
  const key = loaded.ok ? loaded.value[0] : undefined
  if (key === undefined) throw new Error('the store does not have the key of the ladder')
  return key
}

function modelsOf(extraFile: string): ModelCatalogue {
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile })
  if (!loaded.ok) throw new Error('the catalogue of the bench has mistakes')
  return loaded.catalogue
}

function admissionOf(
  { redis }: FrontSettings,
  meters: Pick<Meters, 'rateDecision'>,
  closings: Closing[],
): ReturnType<typeof createAdmission> {
  const state = openState({ ...stateAddress(redis), log: SILENT })
  closings.push(() => state.close())
  return createAdmission({
    authority: openRateAuthority(state),
    fronts: ALONE,
    now: () => performance.now(),
    meters,
  })
}

const ALONE = { liveFronts: 1 }

interface MoneyDeps {
  readonly log: Log
  readonly closings: Closing[]
}

function spendOf(settings: FrontSettings, has: Has, { log, closings }: MoneyDeps): Spend {
  const owner = { id: randomUUID(), node: 'ladder', bootId: bootId() }
  const holder = { pid: process.pid, startedAt: 'ladder' }
  const journal = has('journal')
    ? openJournal({ folder: join(settings.folder, owner.id), ...owner, holder, log })
    : freeJournal(owner.id)
  // Closed before the connections: it gives back what it was lent.
  const lane = storeOf(settings, MONEY_POOL_MAX, [])
  const lender = openLender(lane, { log })
  const spend = createSpend({
    lender: has('ledger') ? lender : deafLender(lender),
    journal,
    owner,
    fronts: ALONE,
    feed: STILL_FEED,
    timers: REAL_TIMERS,
    log,
    fenced: () => process.exit(1),
  })
  closings.push(
    // The store never saw the entries of a journal that was not flushed.
    () => (has('ledger') ? spend.close() : undefined),
    () => lane.close(),
  )
  return spend
}

/** Records of calls, in connections of their own. */
function generationsOf(
  settings: FrontSettings,
  { log, closings }: MoneyDeps,
): ReturnType<typeof openGenerations> {
  const store = storeOf(settings, FRONT_POOL_MAX, [])
  const generations = openGenerations({ store, log, count: () => undefined })
  closings.push(
    () => generations.close(),
    () => store.close(),
  )
  return generations
}

interface Observing {
  readonly log: Log
  readonly metrics: Parameters<typeof createObserver>[0]['metrics']
  readonly closings: Closing[]
}

async function observerOf(
  settings: FrontSettings,
  has: Has,
  { log, metrics, closings }: Observing,
): Promise<Observer> {
  if (!has('log')) return FREE_OBSERVER
  const requests = has('requests') ? recorderOf(settings, { log, closings }) : undefined
  const parts = { log, metrics, ...(requests === undefined ? {} : { requests }) }
  if (!has('tracing')) return createObserver(parts)
  const tracer = await openTracing({ endpoint: settings.spansTo, version: VERSION })
  return createObserver({ ...parts, tracer })
}

/** Batches are taken away now and then, as a runner does: a spill that is full would cost less. */
function recorderOf(
  { folder }: FrontSettings,
  { log, closings }: Pick<Observing, 'log' | 'closings'>,
): RequestRecorder {
  const spill = openSpill(folder)
  const taking = setInterval(
    () => void spill.list().then((names) => Promise.all(names.map((name) => spill.remove(name)))),
    REQUESTS_LOOK_MS,
  )
  const recorder = new RequestRecorder({ spill: openSpillWriter(folder), log, count: () => undefined })
  closings.push(() => {
    clearInterval(taking)
    return recorder.close()
  })
  return recorder
}
