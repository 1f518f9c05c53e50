import { LRUCache } from 'lru-cache'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { WORKSPACE_MODELS_CACHED_MAX } from '../../../schemas/limits.ts'
import type { Change, EpochFeed, KeyRecord } from '../../ports/keys.ts'
import type { ModelCatalogue } from '../../ports/models.ts'
import type { PrivateEndpoint, PrivateEndpoints, PrivateModels, WorkspaceModels } from '../../ports/private-endpoints.ts'
import type { SecretBinding, SecretBindings } from '../../ports/secret-rows.ts'
import type { SecretReleases, VaultScope } from '../../ports/vault.ts'
import { KeyedProviders } from './keyed-providers.ts'
import { OwnProviders } from './own-providers.ts'
import { ReleasedCredentials } from './released-credentials.ts'
import { workspaceModels } from './workspace-models.ts'

export interface PrivateModelsMeans {
  readonly rows: Pick<PrivateEndpoints, 'active'>
  readonly bindings: SecretBindings
  readonly releases: SecretReleases
  readonly catalogue: Pick<ModelCatalogue, 'resolve' | 'providers'>
  readonly feed: EpochFeed
  /** Milliseconds after the last good poll during which what is known is served. Design §3. */
  readonly graceMs: number
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
}

/** Tries of one load whose answer was overtaken by an invalidation each time. */
const LOAD_TRIES = 4

/** What a front knows of one workspace with endpoints of its own, or with keys of its own for providers. */
interface Known {
  readonly models: WorkspaceModels
  readonly credentials: ReleasedCredentials
}

/** Most workspaces have neither: one object stands for all of them. */
const NONE: unique symbol = Symbol('none')

interface Found {
  readonly endpoints: readonly PrivateEndpoint[]
  readonly secrets: readonly SecretBinding[]
}

interface Load {
  /** Null until it is sent. */
  done: Promise<Outcome<WorkspaceModels | null>> | null
  /** A change of the workspace came since its rows were read. */
  isOvertaken: boolean
}

/** Follows the private endpoints and provider keys of the workspaces that call: read at their first call, and after every change. */
export function createPrivateModels(means: PrivateModelsMeans): PrivateModels & { close(): void } {
  return new LiveModels(means)
}

class LiveModels implements PrivateModels {
  readonly #means: PrivateModelsMeans
  readonly #providers: OwnProviders
  readonly #keyed: KeyedProviders
  readonly #known = new LRUCache<string, Known | typeof NONE>({
    max: WORKSPACE_MODELS_CACHED_MAX,
    dispose: (known) => {
      if (known !== NONE) known.credentials.end()
    },
  })
  readonly #loads = new Map<string, Load>()
  readonly #leave: () => void

  constructor(means: PrivateModelsMeans) {
    this.#means = means
    this.#providers = new OwnProviders(means.catalogue.providers)
    this.#keyed = new KeyedProviders(means.catalogue.providers)
    this.#leave = means.feed.subscribe((change) => this.#forget(change))
  }

  of(key: KeyRecord): WorkspaceModels | null | Promise<Outcome<WorkspaceModels | null>> {
    const workspaceId = key.workspaceId ?? key.defaultWorkspaceId
    const known = this.#known.get(workspaceId)
    const { feed, graceMs, now } = this.#means
    // Beyond the grace an endpoint may long be disabled, and a call be charged to the operator that has a key: only the store can tell.
    if (known !== undefined && now() - feed.lastGoodPollAtMs <= graceMs) return known === NONE ? null : known.models
    return this.#load(workspaceId, key.organizationId)
  }

  close(): void {
    this.#leave()
  }

  #load(workspaceId: string, organizationId: string): Promise<Outcome<WorkspaceModels | null>> {
    const joined = this.#loads.get(workspaceId)?.done
    if (joined !== undefined && joined !== null) return joined
    const load: Load = { done: null, isOvertaken: false }
    // Before the rows are asked for: no change may be missed.
    this.#loads.set(workspaceId, load)
    load.done = this.#read(workspaceId, organizationId, load).finally(() => this.#loads.delete(workspaceId))
    return load.done
  }

  async #read(workspaceId: string, organizationId: string, load: Load): Promise<Outcome<WorkspaceModels | null>> {
    for (let tried = 0; tried < LOAD_TRIES; tried++) {
      load.isOvertaken = false
      const { rows, bindings } = this.#means
      const [endpoints, secrets] = await Promise.all([rows.active(workspaceId), bindings.among(workspaceId, this.#keyed.names)])
      if (!endpoints.ok) return endpoints
      if (!secrets.ok) return secrets
      if (load.isOvertaken) continue
      const known = this.#build({ endpoints: endpoints.value, secrets: secrets.value }, { organizationId, workspaceId })
      this.#known.set(workspaceId, known)
      return ok(known === NONE ? null : known.models)
    }
    return fail('busy', { retryAfterS: 1 })
  }

  #build({ endpoints, secrets }: Found, of: Pick<VaultScope, 'organizationId' | 'workspaceId'>): Known | typeof NONE {
    const { catalogue, releases, now } = this.#means
    const credentials = new ReleasedCredentials({ scope: { ...of, internId: null }, releases, now })
    const keys = this.#keyed.keysOf(secrets, credentials)
    if (endpoints.length === 0 && keys.size === 0) return NONE
    return { credentials, models: workspaceModels(endpoints, { catalogue, providers: this.#providers, credentials, keys }) }
  }

  #forget(change: Change): void {
    switch (change.kind) {
      case 'everything':
        this.#known.clear()
        for (const load of this.#loads.values()) load.isOvertaken = true
        return
      case 'private_endpoint':
      case 'vault':
        this.#drop(change.id)
        return
      case 'key':
      case 'workspace':
      case 'organization':
      case 'catalogue':
      case 'preset':
        return
      default:
        change satisfies never
    }
  }

  #drop(workspaceId: string): void {
    this.#known.delete(workspaceId)
    const load = this.#loads.get(workspaceId)
    if (load !== undefined) load.isOvertaken = true
  }
}
