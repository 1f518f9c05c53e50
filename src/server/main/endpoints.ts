import { listOwn } from '../catalogue/own-models.ts'
import type { Config } from '../config.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { EpochFeed, Hints } from '../ports/keys/keys.ts'
import type { ModelCatalogue } from '../ports/models/models.ts'
import type { Ports } from '../ports/ports.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import type { SecretReleases } from '../ports/vault/vault.ts'
import type { Store } from '../store/base/open.ts'
import { openPrivateEndpoints } from '../store/endpoints/private-endpoints.ts'
import { openSecretBindings } from '../store/vault/secret-bindings.ts'
import { createPrivateModels } from '../upstream/endpoints/private-models.ts'
import { createProber } from '../upstream/endpoints/prober.ts'

export interface PrivateEndpointDeps {
  readonly store: Store
  readonly hints: Hints
  readonly feed: EpochFeed
  readonly egress: Egress
  readonly jobs: ShortJobs
  readonly releases: SecretReleases
  readonly catalogue: ModelCatalogue
}

/** Private endpoints, and the cache of the active ones. */
export function openPrivateEndpointPorts(
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
