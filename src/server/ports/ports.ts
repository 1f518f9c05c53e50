import type { Activity } from './activity.ts'
import type { AdminRecords } from './admin.ts'
import type { ApiKeys } from './api-keys.ts'
import type { AuditLog } from './audit.ts'
import type { Budgets } from './budgets.ts'
import type { OrganizationCaps } from './caps.ts'
import type { Credits } from './credits.ts'
import type { Operators } from './operators.ts'
import type { GroupMappings } from './directory.ts'
import type { Egress } from './egress.ts'
import type { Embedder } from './embeddings.ts'
import type { ModelCatalogue } from './models.ts'
import type { Spend } from './money.ts'
import type { ProviderFiles } from './file-hosts.ts'
import type { ContainerUses } from './container-rows.ts'
import type { Files } from './files.ts'
import type { Idempotency } from './idempotency.ts'
import type { Interns } from './interns.ts'
import type { Observer } from './observe.ts'
import type { PresetConfigs, Presets } from './presets.ts'
import type { EndpointProber, PrivateEndpoints, PrivateModels } from './private-endpoints.ts'
import type { ContainerFolders } from './storage.ts'
import type { Transfers } from './transfer.ts'
import type { SecretBundles, SecretReleases, Vaults } from './vault.ts'
import type { VideoJobs } from './videos.ts'
import type { ScimAnswers, ScimGroups, ScimUsers } from './scim.ts'
import type { Workspaces } from './workspaces.ts'

/** Everything that an operation may use; built by main.ts, one per front. */
export interface Ports {
  readonly models: ModelCatalogue
  readonly embedder: Embedder
  readonly egress: Pick<Egress, 'vetted'>
  readonly observer: Observer
  readonly spend: Spend
  readonly files: Files
  readonly transfers: Transfers
  readonly providerFiles: ProviderFiles
  readonly containers: ContainerFolders
  readonly containerUses: ContainerUses
  readonly vaults: Vaults
  readonly releases: SecretReleases & SecretBundles
  readonly idempotency: Idempotency
  readonly interns: Interns
  readonly apiKeys: ApiKeys
  readonly privateEndpoints: PrivateEndpoints
  readonly endpointProber: EndpointProber
  readonly privateModels: PrivateModels
  readonly budgets: Budgets
  readonly credits: Credits
  readonly caps: OrganizationCaps
  readonly operators: Operators
  readonly activity: Activity
  readonly auditLog: AuditLog
  readonly admin: AdminRecords
  readonly workspaces: Workspaces
  readonly scimUsers: ScimUsers
  readonly scimGroups: ScimGroups
  readonly scimAnswers: ScimAnswers
  readonly presets: Presets
  readonly presetConfigs: PresetConfigs
  readonly groupMappings: GroupMappings
  readonly videos: VideoJobs
  /** What URLs begin with by which callers reach us: without a path and a slash. */
  readonly publicOrigin: string
  /** Names of the environment variables of providers' keys, those that are set here. */
  readonly operatorKeys: { has(name: string): boolean }
}
