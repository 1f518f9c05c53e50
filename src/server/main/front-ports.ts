import type { Pools } from '../../workers/thread-pools.ts'
import type { LoadedCatalogue } from '../catalogue/load.ts'
import type { Config } from '../config.ts'
import { countGenerations } from '../observe/generation-metrics.ts'
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
import type { Store } from '../store/base/open.ts'
import { openWorkspaces } from '../store/lifecycle/open-workspaces.ts'
import type { Channel } from '../supervisor/fleet/channel.ts'
import type { StartedPart } from '../supervisor/fleet/ipc.ts'
import { createEmbedder } from '../inference/embedder.ts'
import type { LoopBudget } from '../structures/loop-budget.ts'
import { createInference } from '../inference/inference.ts'
import { joinedBreakers } from '../upstream/routing/breakers.ts'
import type { RootKeys } from '../vault/root-keys.ts'
import { openBudgetPorts } from './budgets.ts'
import { operatorKeysOf } from './child.ts'
import { openPrivateEndpointPorts } from './endpoints.ts'
import { openHistory } from './history.ts'
import { openFilePorts, type FileServices } from './files.ts'
import { openMoneyPorts, type MoneyServices } from './money.ts'
import { openPresetPorts } from './presets.ts'
import { openDirectoryPorts } from './scim.ts'
import { openVaultPorts } from './vault.ts'
import { openVideoPorts } from './videos.ts'
import { openWebhookPorts } from './webhooks.ts'

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
  /** To be closed when no call is under way, while the store is open. */
  readonly writers: readonly Closing[]
}

/** Everything that the operations of a front use. */
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
  const generations = openGenerations({ store, log, count: countGenerations(metrics.registry) })
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
