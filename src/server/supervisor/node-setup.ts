import type { Config } from '../config.ts'
import type { Texts } from '../config/texts.ts'
import type { Installation, PlaceMark, SharedPlaces } from '../ports/installation.ts'
import type { FirstKeys } from '../ports/keys/keys.ts'
import type { Advice } from '../observe/load-advice.ts'
import type { DataDirectory } from './data-directory/data-directory.ts'
import type { HeldLog } from './held-log.ts'
import type { ChildPart } from './fleet/ipc.ts'
import type { RootKeyUse } from '../ports/vault/key-ring.ts'

/** One reading of all inputs that configure a node. */
export interface NodeGeneration {
  readonly config: Config
  readonly settings: Texts
  /** Names in the environment that look like settings but are unknown. */
  readonly unknown: readonly string[]
  /**
   * Texts of the files that settings name, by setting: children read these, so that a half-edited file cannot keep a
   * front from restarting.
   */
  readonly frozen: Texts
  /** Provider keys by environment name: the names that the catalogue lists and that have a value. */
  readonly providerKeys: Texts
  /** Problem with the provider keys that count as not set; null without one. */
  readonly misplaced: Advice | null
  /** Expected problems that the files of the generation show. */
  readonly advice: readonly Advice[]
}

export interface PreparedFiles {
  /** Location of the objects, for people. */
  readonly place: string
  /** File of a root key that was created now; null when a root key existed. */
  readonly madeRootKey: string | null
}

export interface ObjectsPlace {
  readonly kind: 'bucket' | 'folder'
  /** For people. */
  readonly place: string
  /** Location of the mark, for people. */
  readonly markAt: string
  readonly mark: PlaceMark
}

export interface ConnectionsGiven {
  readonly fits: boolean
  readonly available: number
  /** What sets that bound. */
  readonly by: 'max_connections' | 'role' | 'database'
  readonly elsewhere: number
}

/** The network failed, or Postgres is still coming up. */
export interface Away {
  readonly isAway: true
  readonly cause: unknown
}

export type Migrated = { readonly isAway: false } | Away

/** What Postgres reports for the metrics. */
export interface StoreFigures {
  /** Connections that count against the limit now, including those of other programs, and the limit. */
  readonly connections: { readonly used: number; readonly allowed: number }
  /** Open journals that no process is booking. */
  readonly abandonedJournals: number
  /** Steps of this node's money that are missing in Postgres; above 0, paid calls are refused. */
  readonly moneyStepsBehind: number
  /** End of the last backup; null: none was made. */
  readonly backedUpAt: Date | null
  /** Milliseconds by which the clock of Postgres is certainly ahead; negative when it is behind. */
  readonly clockSkewMs: number
}

export interface DiskFigures {
  readonly place: string
  readonly freeBytes: number
  readonly sizeBytes: number
}

export interface NodeFigures {
  readonly disks: readonly DiskFigures[]
  /** Null: Postgres did not answer. */
  readonly store: StoreFigures | null
  /** Null: fronts serve no TLS. */
  readonly certificateEndsAt: Date | null
}

/** The supervisor's access to the store, over a connection of its own. */
export interface NodeStore {
  /** Throws `SchemaRefused` when this version must not run on the store, and errors of Postgres that waiting does not solve. */
  migrate(): Promise<Migrated>
  /** Checks whether Postgres gives `wanted` connections in addition to those that other nodes hold. */
  connections(wanted: number): Promise<ConnectionsGiven>
  /** Creates the first keys; see `firstKeys`. */
  makeFirstKeys(keep: (keys: FirstKeys) => Promise<void>): Promise<FirstKeys | null>
  /** The root keys that wrap rows of the installation. */
  rootKeyUses(): Promise<readonly RootKeyUse[]>
  /** Rejects with the reason when Postgres accepts no writes. */
  isUp(): Promise<boolean>
  /** Rejects when Postgres does not answer in time. */
  figures(): Promise<StoreFigures>
  installation(): Promise<Installation>
  /** @returns false when another node joined since `seen` */
  join(seen: Installation['joins'], places: SharedPlaces): Promise<boolean>
  /** Reports that this node ends; never rejects. */
  leave(): Promise<void>
  /** Removes the row of a front that died without removing it: other processes need not wait for that front. */
  removeFront(id: string): Promise<void>
  close(): Promise<void>
}

export interface NodeRedis {
  /** @param waitMsMax milliseconds to wait for a Redis that cannot be reached; none when absent */
  isUp(waitMsMax?: number): Promise<boolean>
  /** Adds a listener for every change of `isUp`. @returns a function that removes the listener */
  onChange(listener: () => void): () => void
  /** True when the server is a node of a cluster; false also while it cannot be reached. */
  isCluster(): Promise<boolean>
  /** Sets how often the server wakes by itself. @returns whether the server accepted the setting */
  setHz(hz: number): Promise<boolean>
  readonly mark: PlaceMark
  close(): Promise<void>
}

export interface JournalsPlace {
  readonly databaseUrl: string
  readonly config: Pick<Config, 'dataDir' | 'objects'>
  /** Reports that the journal of a dead front is cleared: the remains of the front can be removed. */
  readonly onCleared: () => void
}

/** Books the journals of dead fronts in the background; never rejects. */
export interface NodeJournals {
  /** Begins with the journals of earlier starts: to be called before any front runs. */
  start(): void
  /** @param id id of the front, which its journal has too */
  frontEnded(id: string): void
  /** Resolves when no journal is left, or after `msMax`. */
  settled(msMax: number): Promise<void>
  /** Stops; the remaining journals wait for the next start. */
  close(): Promise<void>
}

/** Metrics of one child in prom-client's JSON form; null when the child did not answer in time. */
export interface ChildMetrics {
  readonly id: string
  readonly metrics: unknown
}

/** The number of serving children, and the number that should serve. */
export interface Served {
  readonly ready: number
  readonly wanted: number
}

/** Counts that `sluice scale` changes. */
export interface Scaled extends Served {
  /** The number of the settings; a front without a thread gets one nevertheless. */
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
  /** Fronts that were killed because they hung, since the start. */
  readonly hangs: number
  readonly isPostgresUp: boolean
  readonly isRedisUp: boolean
  /** True when the disks of the node have room. */
  readonly isStorageUp: boolean
  /** Null until the stores are opened. */
  readonly figures: NodeFigures | null
}

export interface NodeSetup {
  /** A log that holds its events until the node is ready. */
  readonly log: HeldLog
  /** Reads the first generation. Throws `ConfigInvalid`. */
  readGeneration(): NodeGeneration
  /** Reads a generation while the node runs, without blocking its loop. Rejects with `ConfigInvalid`. */
  rereadGeneration(): Promise<NodeGeneration>
  /** Reports that every child runs on this generation: the supervisor's own parts follow. */
  adopt(generation: NodeGeneration): void
  /**
   * Finds out how this node reaches Postgres.
   * @returns the URL for every connection. Rejects with `StartRefused`, and with errors that waiting does not solve.
   */
  reachPostgres(url: string): Promise<{ readonly isAway: false; readonly url: string } | Away>
  /** @param place the node's name in the store, and its data directory */
  openStore(url: string, place: Pick<DataDirectory, 'node' | 'path'>): NodeStore
  /** Creates the folders of files when they are on this machine. Throws `StartRefused`. */
  prepareStorage(config: Config): Promise<void>
  objectsPlace(config: Config): Promise<ObjectsPlace>
  /** Creates a root key where one is needed and none is given. Rejects with `StartRefused`. */
  prepareFiles(config: Config, store: Pick<NodeStore, 'rootKeyUses'>): Promise<PreparedFiles>
  /** Expected problems, by the rules of `doctor`. */
  advice(generation: NodeGeneration): readonly Advice[]
  openRedis(address: ChildPart['redis']): NodeRedis
  openJournals(place: JournalsPlace): NodeJournals
  /** Prometheus text over all readings of running and ended children, and the node's own facts. */
  metrics(answers: readonly ChildMetrics[], gauges: NodeGauges): Promise<string>
}
