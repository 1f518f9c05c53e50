import type { Config } from '../config.ts'
import type { Texts } from '../config/texts.ts'
import type { FirstKeys } from '../ports/keys/keys.ts'
import type { RootKeyUse } from '../ports/vault/rotation.ts'
import type { Advice } from '../observe/load-advice.ts'
import type { HeldLog } from './held-log.ts'
import type { ChildPart } from './fleet/ipc.ts'

/** One reading of everything that a node is configured by. */
export interface NodeGeneration {
  readonly config: Config
  readonly settings: Texts
  /** Names in the environment that look like settings and are none. */
  readonly unknown: readonly string[]
  /**
   * Texts of the files that settings name, by setting: children read these, so that a file which is being
   * edited cannot keep a front from coming back.
   */
  readonly frozen: Texts
  /** By environment name; those that the catalogue lists and that are set. */
  readonly providerKeys: Texts
  /** What its files say that hurts nobody now, and will. */
  readonly advice: readonly Advice[]
}

export interface PreparedFiles {
  /** Where objects are kept, for people. */
  readonly place: string
  /** The file of a root key that was made now; null when there was one. */
  readonly madeRootKey: string | null
}

export interface ConnectionsGiven {
  readonly fits: boolean
  readonly available: number
  readonly elsewhere: number
}

/** Away with what the network or a Postgres that comes up says. */
export type Migrated = { readonly isAway: false } | { readonly isAway: true; readonly cause: unknown }

/** What the supervisor needs of the store, over a connection of its own. */
export interface NodeStore {
  /**
   * Throws `SchemaRefused` when this version must not run on it, and what Postgres says that waiting does not
   * mend.
   */
  migrate(): Promise<Migrated>
  /** Whether Postgres gives `wanted` connections beside those that other nodes hold. */
  connections(wanted: number): Promise<ConnectionsGiven>
  /** See `firstKeys`. */
  makeFirstKeys(keep: (keys: FirstKeys) => Promise<void>): Promise<FirstKeys | null>
  /** Which root keys the rows of the installation are wrapped by. */
  rootKeyUses(): Promise<readonly RootKeyUse[]>
  isUp(): Promise<boolean>
  /** Takes the row of a front away that died without doing so: nobody needs to wait for it. */
  removeFront(id: string): Promise<void>
  close(): Promise<void>
}

/** What the supervisor needs of Redis. */
export interface NodeRedis {
  /** @param waitMsMax how long a Redis that is away may take to appear; none when absent */
  isUp(waitMsMax?: number): Promise<boolean>
  close(): Promise<void>
}

export interface JournalsPlace {
  readonly databaseUrl: string
  readonly config: Pick<Config, 'dataDir' | 'objects'>
  /** A front has died, and nothing that it wrote is its own any more: what it left can be swept. */
  readonly onCleared: () => void
}

/** Brings the journals of dead fronts into the books, in the background; never rejects. */
export interface NodeJournals {
  /** Begins with those that earlier starts left: call it before any front runs. */
  start(): void
  /** @param id of the front, which is its journal's */
  frontEnded(id: string): void
  /** Resolves when nothing is left to do, or after so long. */
  settled(msMax: number): Promise<void>
  /** What is left waits for the next start. */
  close(): Promise<void>
}

/** Metrics of one child in prom-client's JSON form; null when it did not answer in time. */
export interface ChildMetrics {
  readonly id: string
  readonly metrics: unknown
}

/** How many serve, and how many should. */
export interface Served {
  readonly ready: number
  readonly wanted: number
}

/** Those whose number `sluice scale` changes. */
export interface Scaled extends Served {
  /** What the settings say; a front without a thread gets one all the same. */
  readonly configured: number
}

/** Facts of the node itself among its metrics. */
export interface NodeGauges {
  readonly fronts: Scaled
  /** Threads for long sessions of all fronts. */
  readonly workers: Scaled
  readonly runners: Served
  /** Children that died after they were ready, since the start. */
  readonly restarts: number
  /** Fronts that were killed since they hung, since the start. */
  readonly hangs: number
  readonly isPostgresUp: boolean
  readonly isRedisUp: boolean
  /** The disks that the node writes to have room. */
  readonly isStorageUp: boolean
}

/** What main.ts hands to the supervisor, which knows no driver. */
export interface NodeSetup {
  /** Held until the node is ready. */
  readonly log: HeldLog
  /** Throws `ConfigInvalid`. */
  readGeneration(): NodeGeneration
  /** The same while the node runs: its loop goes on. Rejects with `ConfigInvalid`. */
  rereadGeneration(): Promise<NodeGeneration>
  /** Every child runs on this generation now: what the supervisor itself takes of it follows. */
  adopt(generation: NodeGeneration): void
  /** @param node this node's name in the store */
  openStore(url: string, node: string): NodeStore
  /** Makes the folders of files, where they are on this machine. Throws `StartRefused`. */
  prepareStorage(config: Config): Promise<void>
  /** Makes a root key where none is given or needed. Rejects with `StartRefused`. */
  prepareFiles(config: Config, store: Pick<NodeStore, 'rootKeyUses'>): Promise<PreparedFiles>
  /** What hurts nobody now, and will, by the rules of `doctor`. */
  advice(generation: NodeGeneration): readonly Advice[]
  openRedis(address: ChildPart['redis']): NodeRedis
  openJournals(place: JournalsPlace): NodeJournals
  /** Prometheus text over what all children that run answered, ever, and the node's own facts. */
  metrics(answers: readonly ChildMetrics[], gauges: NodeGauges): Promise<string>
}
