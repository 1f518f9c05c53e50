import { createIntake, type IntakePart } from '../../workers/sessions/intake.ts'
import type { SessionPool } from '../../workers/sessions/session-pool.ts'
import { createUnsealing } from '../../workers/sessions/unsealing.ts'
import type { Config } from '../config.ts'
import type { KeyRing } from '../ports/vault/key-ring.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { ModelCatalogue } from '../ports/models/models.ts'
import type { Ports } from '../ports/ports.ts'
import type { Storage } from '../ports/files/storage.ts'
import type { SecretReleases } from '../ports/vault/vault.ts'
import { openContainerSizes } from '../store/containers/container-sizes.ts'
import { openContainerUses } from '../store/containers/container-uses.ts'
import { openDataKeys } from '../store/vault/data-keys.ts'
import { openFiles } from '../store/files/files.ts'
import { openIdempotency } from '../store/base/idempotency.ts'
import { openStore, type Store } from '../store/base/open.ts'
import { openWriteLane } from '../store/base/write-lane.ts'
import { FILE_POOL_MAX } from '../supervisor/fleet/shares.ts'
import { keepUploads } from '../files/kept-uploads.ts'
import { createTransfers } from '../files/transfers.ts'
import { createProviderFiles } from '../upstream/files/provider-files.ts'
import { openKeyRing } from '../vault/key-ring.ts'
import { openRootKeys, type RootKeys } from '../vault/root-keys.ts'
import { openStorage } from './storage.ts'

export interface FileServices {
  readonly ports: Pick<
    Ports,
    'files' | 'transfers' | 'providerFiles' | 'containers' | 'containerUses' | 'idempotency'
  >
  readonly storage: Storage
  readonly intake: IntakePart
  readonly keyRing: KeyRing
  /** Opens the connections that uploads use. */
  warm(): Promise<void>
  close(): Promise<void>
}

export interface FileDeps {
  readonly frontId: string
  readonly store: Store
  readonly sessions: SessionPool
  readonly egress: Egress
  readonly catalogue: Pick<ModelCatalogue, 'providers'>
  readonly rootKeys: RootKeys
  readonly releases: SecretReleases
}

/** Builds all parts that serve files and containers. Throws the errors of the file system for its folders. */
export async function openFilePorts(config: Config, deps: FileDeps): Promise<FileServices> {
  const { store, sessions, egress, catalogue, rootKeys, releases } = deps
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(store) })
  const storage = await openStorage(config, deps.frontId)
  const backoff = { now: () => performance.now(), random: Math.random }
  const connections = openStore({
    ...store.options,
    poolMax: FILE_POOL_MAX,
    applicationName: `${store.options.applicationName}-files`,
  })
  const lane = openWriteLane(store, connections)
  const files = openFiles({ store, lane, ...backoff, frontId: deps.frontId })
  const idempotency = openIdempotency({ store, ...backoff })
  const uses = openContainerUses(store)
  const intake = createIntake({ sessions, failureOf: storage.failureOf })
  const unsealing = createUnsealing({ sessions, failureOf: storage.failureOf })
  const transfers = createTransfers({
    files,
    sizes: openContainerSizes(store, lane),
    storage,
    keyRing,
    intake,
    unsealing,
  })
  const providers = createProviderFiles({ egress, releases, intake, providers: catalogue.providers })
  const providerFiles = keepUploads(providers, { idempotency, intake })
  return {
    ports: {
      files,
      transfers,
      providerFiles,
      containers: storage.containers,
      containerUses: uses,
      idempotency,
    },
    storage,
    intake,
    keyRing,
    warm: () => connections.warm(),
    async close() {
      files.close()
      idempotency.close()
      await Promise.all([storage.close(), connections.close()])
    },
  }
}

/** Throws RootKeyInvalid. */
export function rootKeysOf({ rootKey, rootKeyFile, dataDir }: Config): RootKeys {
  return openRootKeys({ setting: rootKey, file: rootKeyFile, dataDir })
}
