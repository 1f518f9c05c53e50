import { ok, type Outcome } from '../../../schemas/failures.ts'
import { WORKSPACE_MODELS_CACHED_MAX } from '../../../schemas/endpoints/endpoint-limits.ts'
import { LiveCache } from '../../caches/live-cache.ts'
import { EVERYTHING } from '../../caches/recent-changes.ts'
import type { Change, EpochFeed, KeyRecord } from '../../ports/keys/keys.ts'
import type { ModelCatalogue } from '../../ports/models/models.ts'
import type { OwnListing, OwnModel } from '../../ports/models/own-models.ts'
import type {
  PrivateEndpoint,
  PrivateEndpoints,
  PrivateModels,
  WorkspaceModels,
} from '../../ports/endpoints/private-endpoints.ts'
import type { SecretBinding, SecretBindings } from '../../ports/vault/secret-rows.ts'
import type { SecretReleases, VaultScope } from '../../ports/vault/vault.ts'
import { KeyedProviders } from './keyed-providers.ts'
import { OwnProviders } from './own-providers.ts'
import { ReleasedCredentials } from './released-credentials.ts'
import { workspaceModels } from './workspace-models.ts'

export interface PrivateModelsDeps {
  readonly rows: Pick<PrivateEndpoints, 'active'>
  readonly bindings: SecretBindings
  readonly releases: SecretReleases
  readonly catalogue: Pick<ModelCatalogue, 'resolve' | 'providers'>
  readonly listOwn: (models: readonly OwnModel[]) => OwnListing
  readonly feed: EpochFeed
  /** Milliseconds after the last good poll during which cached entries are served. Design §3. */
  readonly graceMs: number
  /** Milliseconds of the wall clock, as `Date.now`. */
  readonly now: () => number
  /** Workspaces that are cached at most; WORKSPACE_MODELS_CACHED_MAX when left out. */
  readonly cachedMax?: number
}

/** Cached facts of one workspace that has endpoints of its own, or keys of its own for providers. */
interface Known {
  readonly models: WorkspaceModels
  readonly credentials: ReleasedCredentials
}

/** Entry of a workspace without either, which most are: one object serves all of them. */
const NONE: unique symbol = Symbol('none')

type Owner = Pick<VaultScope, 'organizationId' | 'workspaceId'>

interface Found {
  readonly endpoints: readonly PrivateEndpoint[]
  readonly secrets: readonly SecretBinding[]
}

/**
 * Caches the private endpoints and provider keys of the workspaces that call: loaded at their first call, and
 * again after every change.
 */
export function createPrivateModels(deps: PrivateModelsDeps): PrivateModels & { close(): void } {
  return new LiveModels(deps)
}

class LiveModels implements PrivateModels {
  readonly #deps: PrivateModelsDeps
  readonly #providers: OwnProviders
  readonly #keyed: KeyedProviders
  readonly #known: LiveCache<Known | typeof NONE, Known | typeof NONE>

  constructor(deps: PrivateModelsDeps) {
    this.#deps = deps
    this.#providers = new OwnProviders(deps.catalogue.providers)
    this.#keyed = new KeyedProviders(deps.catalogue.providers)
    const { feed, graceMs, now, cachedMax: max = WORKSPACE_MODELS_CACHED_MAX } = deps
    this.#known = new LiveCache({
      feed,
      graceMs,
      now,
      nameOf,
      entries: {
        max,
        of: (known) => known,
        // An entry that is not cached receives no changes: its credentials are released anew for each call.
        dropped: (known) => {
          if (known !== NONE) known.credentials.end()
        },
      },
    })
  }

  of(key: KeyRecord): WorkspaceModels | null | Promise<Outcome<WorkspaceModels | null>> {
    const workspaceId = key.workspaceId ?? key.defaultWorkspaceId
    // The cache finds nothing beyond the grace: an endpoint may be long disabled by then, and the operator
    // may be charged for a call whose workspace has a key.
    const known = this.#known.find(workspaceId)
    if (known !== undefined) return known === NONE ? null : known.models
    return this.#load(workspaceId, key.organizationId)
  }

  close(): void {
    this.#known.close()
  }

  async #load(workspaceId: string, organizationId: string): Promise<Outcome<WorkspaceModels | null>> {
    const loaded = await this.#known.load({
      id: workspaceId,
      read: (sending) => this.#read({ workspaceId, organizationId }, sending),
    })
    if (!loaded.ok) return loaded
    return ok(loaded.value === NONE ? null : loaded.value.models)
  }

  async #read(of: Owner, sending: () => void): Promise<Outcome<Known | typeof NONE>> {
    const { rows, bindings } = this.#deps
    const { workspaceId } = of
    sending()
    const [endpoints, secrets] = await Promise.all([
      rows.active(workspaceId),
      bindings.among(workspaceId, this.#keyed.names),
    ])
    if (!endpoints.ok) return endpoints
    if (!secrets.ok) return secrets
    return ok(this.#build({ endpoints: endpoints.value, secrets: secrets.value }, of))
  }

  #build({ endpoints, secrets }: Found, of: Owner): Known | typeof NONE {
    const { catalogue, listOwn, releases, now } = this.#deps
    const credentials = new ReleasedCredentials({ scope: { ...of, internId: null }, releases, now })
    const keys = this.#keyed.keysOf(secrets, credentials)
    if (endpoints.length === 0 && keys.size === 0) return NONE
    return {
      credentials,
      models: workspaceModels(endpoints, {
        ...{ catalogue, listOwn, credentials, keys },
        providers: this.#providers,
      }),
    }
  }
}

function nameOf(change: Change): string | null {
  switch (change.kind) {
    case 'private_endpoint':
    case 'vault':
      return change.id
    case 'everything':
      return EVERYTHING
    case 'key':
    case 'workspace':
    case 'organization':
    case 'catalogue':
    case 'preset':
      return null
    default:
      return change satisfies never
  }
}
