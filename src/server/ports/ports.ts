import type { Activity } from './money/activity.ts'
import type { AdminRecords, OrganizationCaps, Operators } from './operator/admin.ts'
import type { ApiKeys } from './keys/api-keys.ts'
import type { AuditLog } from './audit/audit.ts'
import type { Budgets } from './money/budgets.ts'
import type { Credits } from './money/credits.ts'
import type { History } from './operator/history.ts'
import type { GroupMappings } from './scim/directory.ts'
import type { Egress } from './egress/egress.ts'
import type { Embedder } from './embeddings/embeddings.ts'
import type { Generations } from './inference/generations.ts'
import type { Inference } from './inference/inference.ts'
import type { ModelCalls } from './model-calls.ts'
import type { ModelCatalogue } from './models/models.ts'
import type { Spend } from './money/money.ts'
import type { ProviderFiles } from './files/file-hosts.ts'
import type { ContainerUses } from './containers/container-rows.ts'
import type { Files } from './files/files.ts'
import type { Idempotency } from './idempotency.ts'
import type { Interns } from './workspaces/interns.ts'
import type { Observer } from './observe.ts'
import type { RequestLog } from './requests/request-log.ts'
import type { PresetConfigs, Presets } from './presets/presets.ts'
import type { EndpointProber, PrivateEndpoints, PrivateModels } from './endpoints/private-endpoints.ts'
import type { ContainerFolders } from './files/storage.ts'
import type { Transfers } from './files/transfer.ts'
import type { SecretBundles, SecretReleases, Vaults } from './vault/vault.ts'
import type { VideoJobs } from './videos/videos.ts'
import type { ScimAnswers, ScimGroups, ScimUsers } from './scim/scim.ts'
import type { OperatorWebhooks } from './webhooks/operator-webhooks.ts'
import type { Workspaces } from './workspaces/workspaces.ts'

/** Everything that an operation may use; `main/front-ports.ts` builds one for each front. */
export interface Ports {
  readonly models: ModelCatalogue
  readonly embedder: Embedder
  readonly inference: Inference
  readonly generations: Generations
  readonly egress: Pick<Egress, 'vetted'>
  readonly observer: Observer
  readonly spend: Spend
  readonly modelCalls: ModelCalls
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
  readonly requestLog: RequestLog
  readonly admin: AdminRecords
  readonly history: History
  readonly operatorWebhooks: OperatorWebhooks
  readonly workspaces: Workspaces
  readonly scimUsers: ScimUsers
  readonly scimGroups: ScimGroups
  readonly scimAnswers: ScimAnswers
  readonly presets: Presets
  readonly presetConfigs: PresetConfigs
  readonly groupMappings: GroupMappings
  readonly videos: VideoJobs
  /** Origin of the URLs by which callers reach the installation: without a path and without a trailing slash. */
  readonly publicOrigin: string
  /** Environment variables with providers' keys that are set on this node. */
  readonly operatorKeys: { has(name: string): boolean }
  /** Names of such variables that count as not set because they contain a key of Sluice itself. */
  readonly misplacedKeys: ReadonlySet<string>
}
