import type { AnyOperation } from './define.ts'
import { getAdminHistory } from './operator/get-history.ts'
import { getAdminJob } from './operator/get-job.ts'
import { getAdminJobContent } from './operator/get-job-content.ts'
import { getAdminSession } from './operator/get-session.ts'
import { getAdminStart } from './operator/get-start.ts'
import { previewMapping } from './operator/preview-mapping.ts'
import { getAdminStorage } from './operator/get-storage.ts'
import { listAdminJobs } from './operator/list-jobs.ts'
import { listAdminWebhooks } from './operator/list-webhooks.ts'
import { listWebhookEvents } from './operator/list-webhook-events.ts'
import { testWebhook } from './operator/test-webhook.ts'
import { replayDeadWebhooks } from './operator/replay-dead-webhooks.ts'
import { replayWebhook } from './operator/replay-webhook.ts'
import { getContainerFileContent } from './containers/get-container-file-content.ts'
import { getContainerFile } from './containers/get-container-file.ts'
import { listContainerFiles } from './containers/list-container-files.ts'
import { promoteContainerFile } from './containers/promote-container-file.ts'
import { writeContainerFile } from './containers/write-container-file.ts'
import { listActivity } from './money/list-activity.ts'
import { listAudit } from './audit/list-audit.ts'
import { listRequests } from './requests/list-requests.ts'
import { deleteBudget } from './money/delete-budget.ts'
import { getBudget } from './money/get-budget.ts'
import { listBudgets } from './money/list-budgets.ts'
import { putBudget } from './money/put-budget.ts'
import { getCaps } from './operator/get-caps.ts'
import { updateCaps } from './operator/update-caps.ts'
import { addCredit } from './money/add-credit.ts'
import { getCredits } from './money/get-credits.ts'
import { createChat } from './inference/create-chat.ts'
import { createResponse } from './inference/create-response.ts'
import { countTokens } from './inference/count-tokens.ts'
import { createMessage } from './inference/create-message.ts'
import { getGeneration } from './inference/get-generation.ts'
import { getGenerationContent } from './inference/get-generation-content.ts'
import { createEmbeddings } from './embeddings/create-embeddings.ts'
import { forwardRequest } from './egress/forward-request.ts'
import { deleteFile } from './files/delete-file.ts'
import { getFileContent } from './files/get-file-content.ts'
import { getFile } from './files/get-file.ts'
import { listFiles } from './files/list-files.ts'
import { uploadFile } from './files/upload-file.ts'
import { createIntern } from './workspaces/create-intern.ts'
import { deleteIntern } from './workspaces/delete-intern.ts'
import { getIntern } from './workspaces/get-intern.ts'
import { listInterns } from './workspaces/list-interns.ts'
import { provisionIntern } from './workspaces/provision-intern.ts'
import { suspendIntern } from './workspaces/suspend-intern.ts'
import { updateIntern } from './workspaces/update-intern.ts'
import { createKey } from './keys/create-key.ts'
import { deleteKey } from './keys/delete-key.ts'
import { getCurrentKey } from './keys/get-current-key.ts'
import { getKey } from './keys/get-key.ts'
import { listKeys } from './keys/list-keys.ts'
import { rotateKey } from './keys/rotate-key.ts'
import { updateKey } from './keys/update-key.ts'
import { countModels } from './models/count-models.ts'
import { getModel } from './models/get-model.ts'
import { listEmbeddingModels } from './models/list-embedding-models.ts'
import { listModelEndpoints } from './models/list-model-endpoints.ts'
import { listModels } from './models/list-models.ts'
import { listProviders } from './models/list-providers.ts'
import { listUserModels } from './models/list-user-models.ts'
import { listZdrEndpoints } from './models/list-zdr-endpoints.ts'
import { retrieveModel } from './models/retrieve-model.ts'
import { retrieveModelByAuthor } from './models/retrieve-model-by-author.ts'
import { SCIM_DISCOVERY } from './scim/discovery.ts'
import { GROUPS } from './scim/groups.ts'
import { resourceOperations } from './scim/resource-operations.ts'
import { USERS } from './scim/users.ts'
import { createMapping } from './scim/mappings/create-mapping.ts'
import { deleteMapping } from './scim/mappings/delete-mapping.ts'
import { getMapping } from './scim/mappings/get-mapping.ts'
import { getSync } from './scim/mappings/get-sync.ts'
import { listGroups } from './scim/mappings/list-groups.ts'
import { listMappings } from './scim/mappings/list-mappings.ts'
import { startSync } from './scim/mappings/start-sync.ts'
import { updateMapping } from './scim/mappings/update-mapping.ts'
import { copySecrets } from './vault/copy-secrets.ts'
import { createProviderKey } from './vault/create-provider-key.ts'
import { deleteProviderKey } from './vault/delete-provider-key.ts'
import { deleteInternSecret, deleteSecret } from './vault/delete-secret.ts'
import { getProviderKey } from './vault/get-provider-key.ts'
import { listProviderKeys } from './vault/list-provider-keys.ts'
import {
  listEffectiveSecrets,
  listInternSecrets,
  listSecrets,
  listWorkspaceSecrets,
} from './vault/list-secrets.ts'
import { putInternSecret, putSecret } from './vault/put-secret.ts'
import { updateProviderKey } from './vault/update-provider-key.ts'
import { archivePreset } from './presets/archive-preset.ts'
import { designatePreset } from './presets/designate-preset.ts'
import { diffPreset } from './presets/diff-preset.ts'
import { getPreset } from './presets/get-preset.ts'
import { getPresetVersion } from './presets/get-preset-version.ts'
import { listPresetVersions } from './presets/list-preset-versions.ts'
import { listPresets } from './presets/list-presets.ts'
import { SAVING } from './presets/save-preset.ts'
import { listPrivateEndpoints } from './endpoints/list-private-endpoints.ts'
import { createPrivateEndpoint } from './endpoints/create-private-endpoint.ts'
import { getPrivateEndpoint } from './endpoints/get-private-endpoint.ts'
import { updatePrivateEndpoint } from './endpoints/update-private-endpoint.ts'
import { deletePrivateEndpoint } from './endpoints/delete-private-endpoint.ts'
import { validatePrivateEndpoint } from './endpoints/validate-private-endpoint.ts'
import { activatePrivateEndpoint } from './endpoints/activate-private-endpoint.ts'
import { disablePrivateEndpoint } from './endpoints/disable-private-endpoint.ts'
import { enablePrivateEndpoint } from './endpoints/enable-private-endpoint.ts'
import { setPrivateEndpointPricing } from './endpoints/set-private-endpoint-pricing.ts'
import { cancelVideo } from './videos/cancel-video.ts'
import { createVideo } from './videos/create-video.ts'
import { getVideo } from './videos/get-video.ts'
import { getVideoContent } from './videos/get-video-content.ts'
import { listVideoModels } from './videos/list-video-models.ts'
import { listVideos } from './videos/list-videos.ts'
import { addMembers } from './workspaces/add-members.ts'
import { createWorkspace } from './workspaces/create-workspace.ts'
import { deleteWorkspace } from './workspaces/delete-workspace.ts'
import { getWorkspace } from './workspaces/get-workspace.ts'
import { listMembers } from './workspaces/list-members.ts'
import { listOrganizationMembers } from './workspaces/list-organization-members.ts'
import { listWorkspaces } from './workspaces/list-workspaces.ts'
import { removeMembers } from './workspaces/remove-members.ts'
import { updateWorkspace } from './workspaces/update-workspace.ts'

/** All operations of the API, in the order of the reference page. */
export const OPERATIONS: readonly AnyOperation[] = [
  createChat,
  createResponse,
  createMessage,
  countTokens,
  getGeneration,
  getGenerationContent,
  createEmbeddings,
  getModel,
  listModels,
  countModels,
  listUserModels,
  listModelEndpoints,
  retrieveModel,
  retrieveModelByAuthor,
  listEmbeddingModels,
  listProviders,
  listZdrEndpoints,
  createVideo,
  listVideos,
  getVideo,
  getVideoContent,
  cancelVideo,
  listVideoModels,
  listPresets,
  getPreset,
  listPresetVersions,
  getPresetVersion,
  diffPreset,
  designatePreset,
  archivePreset,
  uploadFile,
  listFiles,
  getFile,
  getFileContent,
  deleteFile,
  listContainerFiles,
  getContainerFile,
  getContainerFileContent,
  promoteContainerFile,
  writeContainerFile,
  getCurrentKey,
  listKeys,
  createKey,
  getKey,
  updateKey,
  deleteKey,
  rotateKey,
  createIntern,
  listInterns,
  getIntern,
  updateIntern,
  deleteIntern,
  provisionIntern,
  suspendIntern,
  listSecrets,
  putSecret,
  deleteSecret,
  listInternSecrets,
  putInternSecret,
  deleteInternSecret,
  copySecrets,
  listEffectiveSecrets,
  listProviderKeys,
  createProviderKey,
  getProviderKey,
  updateProviderKey,
  deleteProviderKey,
  forwardRequest,
  listPrivateEndpoints,
  createPrivateEndpoint,
  getPrivateEndpoint,
  updatePrivateEndpoint,
  deletePrivateEndpoint,
  validatePrivateEndpoint,
  activatePrivateEndpoint,
  disablePrivateEndpoint,
  enablePrivateEndpoint,
  setPrivateEndpointPricing,
  listBudgets,
  getBudget,
  putBudget,
  deleteBudget,
  getCredits,
  addCredit,
  getCaps,
  updateCaps,
  listActivity,
  listAudit,
  listRequests,
  listWorkspaces,
  createWorkspace,
  getWorkspace,
  updateWorkspace,
  deleteWorkspace,
  listMembers,
  addMembers,
  removeMembers,
  listOrganizationMembers,
  ...resourceOperations(USERS),
  ...resourceOperations(GROUPS),
  listMappings,
  createMapping,
  getMapping,
  updateMapping,
  deleteMapping,
  listGroups,
  startSync,
  getSync,
  ...SAVING,
  ...SCIM_DISCOVERY,
  getAdminSession,
  getAdminHistory,
  getAdminStart,
  previewMapping,
  listAdminJobs,
  getAdminJob,
  getAdminJobContent,
  listAdminWebhooks,
  replayWebhook,
  replayDeadWebhooks,
  testWebhook,
  listWebhookEvents,
  getAdminStorage,
  listWorkspaceSecrets,
]
