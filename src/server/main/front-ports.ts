import type { Pools } from '../../workers/thread-pools.ts'
import { fail, ok } from '../../schemas/failures.ts'
import { HISTORY_HOUR_S } from '../../schemas/operator/history-range.ts'
import type { LoadedCatalogue } from '../catalogue/load.ts'
import type { Config } from '../config.ts'
import { countsOf } from '../observe/metric-table.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { ModelCalls } from '../ports/model-calls.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { EpochFeed, Hints } from '../ports/keys/keys.ts'
import type { BreakerReading, Log, Observer } from '../ports/observe.ts'
import type { Ports } from '../ports/ports.ts'
import type { FrontCount } from '../ports/rates.ts'
import type { State } from '../redis/open.ts'
import { openApiKeys } from '../store/keys/api-key-management.ts'
import { openGenerations } from '../store/inference/generations.ts'
import { openStore, type Store, type StoreOptions } from '../store/base/open.ts'
import { openWorkspaces } from '../store/lifecycle/open-workspaces.ts'
import type { Channel } from '../supervisor/fleet/channel.ts'
import type { StartedPart } from '../supervisor/fleet/ipc.ts'
import { createEmbedder } from '../inference/embedder.ts'
import type { LoopBudget } from '../structures/loop-budget.ts'
import { createInference } from '../inference/inference.ts'
import { joinedBreakers } from '../upstream/routing/breakers.ts'
import type { RootKeys } from '../vault/root-keys.ts'
import { openActivity } from '../store/money/activity.ts'
import { openAuditLog } from '../store/audit/audit-search.ts'
import { openBudgets } from '../store/money/budgets.ts'
import { openCredits } from '../store/money/credits.ts'
import { openRequestLog } from '../store/requests/request-search.ts'
import { createPresetConfigs } from '../store/presets/preset-configs.ts'
import { openPresetRows, openPresets } from '../store/presets/presets.ts'
import { hourColumns, withHours } from '../observe/history/hours.ts'
import type { History } from '../ports/operator/history.ts'
import { reach } from '../store/base/translate.ts'
import { readHistoryHours } from '../store/operator/history-hours.ts'
import { listOwn } from '../catalogue/own-models.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import type { SecretReleases } from '../ports/vault/vault.ts'
import { openPrivateEndpoints } from '../store/endpoints/private-endpoints.ts'
import { createPrivateModels } from '../upstream/endpoints/private-models.ts'
import { createProber } from '../upstream/endpoints/prober.ts'
import { bootId } from '../journal/boot-id.ts'
import { openJournal } from '../journal/journal.ts'
import { openKeptCount } from '../journal/kept-count.ts'
import { journalsFolder } from '../journal/segments.ts'
import { createSpend, type FrontSpend } from '../money/spend.ts'
import { watchMetrics } from '../observe/read-metrics.ts'
import { MONEY } from '../observe/read-table.ts'
import { openLender } from '../store/money/lender.ts'
import { identityOf } from '../supervisor/fleet/process-state.ts'
import { MONEY_POOL_MAX } from '../supervisor/fleet/shares.ts'
import { REAL_TIMERS } from '../money/reservation.ts'
import { operatorKeysOf } from './child.ts'
import { openFilePorts, type FileServices } from './files.ts'
import { openDirectoryPorts } from './scim.ts'
import { openVaultPorts } from './vault.ts'
import { openVideoPorts } from './videos.ts'
import { openWebhookPorts } from './webhooks.ts'
import { HISTORY_LINES_MAX } from '../../schemas/operator/admin-port-limits.ts'
import { openSecretBindings } from '../store/vault/secrets.ts'

export interface FrontPortDeps {
  readonly part: StartedPart
  readonly channel: Pick<Channel, 'history'>
  readonly store: Store
  readonly state: State
  readonly hints: Hints
  readonly feed: EpochFeed
  readonly fronts: FrontCount
  readonly modelCalls: ModelCalls
  readonly loop: LoopBudget
  readonly rootKeys: RootKeys
  readonly pools: Pools
  readonly egress: Egress
  readonly catalogue: LoadedCatalogue['catalogue']
  readonly observer: Observer
  readonly metrics: Metrics
  readonly log: Log
  /** Called when this front must be replaced. */
  readonly fenced: () => void
}

interface Closing {
  close(): Promise<void>
}

export interface FrontPorts {
  readonly ports: Ports
  /** Breakers of the endpoints of all kinds of calls. */
  breakers(): readonly BreakerReading[]
  readonly files: Pick<FileServices, 'intake' | 'warm' | 'close'>
  readonly money: Pick<MoneyServices['spend'], 'dayAsked'>
  /** Writers to close when no call is under way, while the store is still open. */
  readonly writers: readonly Closing[]
}

export async function openFrontPorts(config: Config, deps: FrontPortDeps): Promise<FrontPorts> {
  const { part, store, state, hints, feed, fronts, rootKeys, pools, egress, metrics, log } = deps
  const { catalogue, observer, fenced, modelCalls, loop } = deps
  const { jobs, sessions } = pools
  const { usable: credentials, misplaced } = operatorKeysOf(part, catalogue)
  const calling = {
    egress,
    jobs,
    loop,
    credentials,
    log,
    meters: metrics,
    now: () => performance.now(),
    random: Math.random,
  }
  const embedder = createEmbedder(calling)
  const inference = createInference({ ...calling, streamHoldMs: config.streamHoldMs })
  const generations = openGenerations({
    store,
    log,
    count: countsOf(metrics.registry, 'sluice_generation_records_total'),
  })
  const vault = openVaultPorts({ store, rootKeys, jobs, log, publish: hints.publish })
  const { releases } = vault.ports
  const shared = { store, egress, catalogue, releases }
  const files = await openFilePorts(config, { ...shared, frontId: part.id, sessions, rootKeys })
  const money = openMoneyPorts(config, { part, store, feed, fronts, metrics, log, fenced })
  const videos = openVideoPorts(config, { store, state, log, credentials })
  const ports: Ports = {
    models: catalogue,
    embedder,
    inference,
    generations,
    egress,
    observer,
    apiKeys: openApiKeys({ store, publish: hints.publish, rateLimitRpm: config.rateLimitRpm }),
    misplacedKeys: new Set(misplaced.map(({ variable }) => variable)),
    spend: money.spend,
    modelCalls,
    ...files.ports,
    ...vault.ports,
    ...openPrivateEndpointPorts(config, { ...shared, hints, feed, jobs }),
    ...openBudgetPorts({ store, hints }),
    workspaces: openWorkspaces(store, hints.publish),
    ...openDirectoryPorts(store),
    ...videos.ports,
    history: openHistory({ channel: deps.channel, store }),
    ...openPresetPorts(config, { store, hints, feed }),
    ...openWebhookPorts(config, { store, egress, keyRing: files.keyRing }),
  }
  const breakers = (): readonly BreakerReading[] =>
    joinedBreakers([...embedder.breakers(), ...inference.breakers()])
  return { ports, breakers, files, money: money.spend, writers: [vault, money, videos, generations] }
}

/** Ports for management keys: budgets, credits, activity, the audit log of their changes, and the request log. */
export function openBudgetPorts(deps: {
  readonly store: Store
  readonly hints: Pick<Hints, 'publish'>
}): Pick<Ports, 'budgets' | 'credits' | 'activity' | 'auditLog' | 'requestLog'> {
  const { store } = deps
  return {
    budgets: openBudgets(deps),
    credits: openCredits(deps),
    activity: openActivity(store),
    auditLog: openAuditLog(store),
    requestLog: openRequestLog(store),
  }
}

interface PresetDeps extends Pick<FrontPortDeps, 'store' | 'feed'> {
  readonly hints: Pick<Hints, 'publish'>
}

/** Presets, and the cache of the presets that calls use. */
export function openPresetPorts(
  { keyGraceMs: graceMs }: Pick<Config, 'keyGraceMs'>,
  { store, hints, feed }: PresetDeps,
): Pick<Ports, 'presets' | 'presetConfigs'> {
  return {
    presets: openPresets(store, hints.publish),
    presetConfigs: createPresetConfigs({ rows: openPresetRows(store), feed, graceMs, now: Date.now }),
  }
}

interface HistoryDeps extends Pick<FrontPortDeps, 'channel'> {
  readonly store: Pick<Store, 'sql'>
}

/** The history of this node, which its supervisor keeps; and the hours of all nodes, which Postgres keeps. */
export function openHistory({ channel, store }: HistoryDeps): History {
  return {
    read: (input) =>
      reach(async () => {
        const data = await channel.history(input)
        if (data === null) return fail('busy', { detail: 'The supervisor does not answer.' })
        if (input.grainS < HISTORY_HOUR_S) return ok(data)
        const { dimension, columns } = hourColumns(input)
        const { sinceS, untilS, name } = input
        const read = await readHistoryHours(store.sql, {
          dimension,
          ...(name !== undefined && { name }),
          sinceS,
          untilS,
          places: [columns[0] + 1, columns[1]],
          namesMax: HISTORY_LINES_MAX,
        })
        return ok(withHours(data, input, read))
      }),
  }
}

interface PrivateEndpointDeps extends Pick<
  FrontPortDeps,
  'store' | 'hints' | 'feed' | 'egress' | 'catalogue'
> {
  readonly jobs: ShortJobs
  readonly releases: SecretReleases
}

/** Private endpoints, and the cache of the active ones. */
function openPrivateEndpointPorts(
  { keyGraceMs: graceMs }: Pick<Config, 'keyGraceMs'>,
  deps: PrivateEndpointDeps,
): Pick<Ports, 'privateEndpoints' | 'endpointProber' | 'privateModels'> {
  const { egress, jobs, releases, catalogue, feed } = deps
  const privateEndpoints = openPrivateEndpoints(deps)
  return {
    privateEndpoints,
    endpointProber: createProber({
      egress,
      jobs,
      releases,
      providers: catalogue.providers,
      now: () => performance.now(),
    }),
    privateModels: createPrivateModels({
      rows: privateEndpoints,
      bindings: openSecretBindings(deps.store),
      releases,
      catalogue,
      listOwn: (models) => listOwn(models, Date.now),
      feed,
      graceMs,
      now: Date.now,
    }),
  }
}

interface MoneyDeps extends Pick<FrontPortDeps, 'part' | 'feed' | 'fronts' | 'log' | 'fenced'> {
  readonly store: { readonly options: StoreOptions }
  readonly metrics: Pick<Metrics, 'registry' | 'live'>
}

interface MoneyServices {
  readonly spend: FrontSpend
  /** To be called when no call is under way any more. */
  close(): Promise<void>
}

/** The money of a front's calls, on separate connections: a flood of unknown keys must not block it. */
function openMoneyPorts({ dataDir }: Pick<Config, 'dataDir'>, deps: MoneyDeps): MoneyServices {
  const {
    part: { id, node },
    feed,
    fronts,
    metrics,
    log,
    fenced,
  } = deps
  const { options } = deps.store
  const lane = openStore({
    ...options,
    poolMax: MONEY_POOL_MAX,
    applicationName: `${options.applicationName}-money`,
  })
  const owner = { id, node, bootId: bootId() }
  const holder = identityOf(process.pid) ?? { pid: process.pid, startedAt: '' }
  const journal = openJournal({ folder: journalsFolder(dataDir), ...owner, holder, log })
  const spend = createSpend({
    lender: openLender(lane, { log, count: openKeptCount(dataDir, node, log) }),
    journal,
    owner,
    fronts,
    feed,
    timers: REAL_TIMERS,
    log,
    fenced,
  })
  watchMetrics(metrics.registry, MONEY, () => spend.reading)
  metrics.live.add({ money: () => spend.reading })
  return {
    spend,
    async close() {
      await spend.close()
      await lane.close()
    },
  }
}
