/** A call of `@openrouter/sdk` for each of its operations that a node answers. */
import { randomUUID } from 'node:crypto'
import type { Place } from '../../prove/keys/isolation/owners.ts'
import { until } from '../wait.ts'
import type { AnyOpenRouterClient } from './foreign-clients.ts'

export interface ClientWorld {
  readonly inference: AnyOpenRouterClient
  readonly management: AnyOpenRouterClient
  readonly place: Place
}

type Made = Readonly<Record<string, unknown>>
type Call = (world: ClientWorld) => Promise<unknown>

/** Sends one call; of pages and streams it takes the first. */
export async function sent(
  client: AnyOpenRouterClient,
  name: string,
  ...asked: readonly unknown[]
): Promise<unknown> {
  const [group = '', method = ''] = name.split('.')
  const send = client[group]?.[method]
  if (send === undefined) throw new Error(`the client has no ${name}`)
  const answer = await send.apply(client[group], [...asked])
  const isStream = typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer
  if (!isStream) return answer
  for await (const first of answer as AsyncIterable<unknown>) return first
  return null
}

const byInference =
  (name: string, asked: (place: Place) => readonly unknown[] = () => []): Call =>
  ({ inference, place }) =>
    sent(inference, name, ...asked(place))
const byManagement =
  (name: string, asked: (place: Place) => readonly unknown[] = () => []): Call =>
  ({ management, place }) =>
    sent(management, name, ...asked(place))

async function idOf(making: Promise<unknown>, member = 'id'): Promise<string> {
  const made = (await making) as Made
  return String(((made['data'] as Made | undefined) ?? made)[member])
}

const unique = (): string => randomUUID().slice(0, 8)
const secretName = (): string => `made_${unique()}`
const SECRET = { hosts: ['api.example.com'], value: 'a value' }
const CHAT = { model: 'sluice/echo-1', messages: [{ role: 'user', content: 'Hello there' }] }
const MESSAGES = { model: 'sluice/echo-1', maxTokens: 9, messages: [{ role: 'user', content: 'Hello' }] }
const FILE = { requestBody: { file: { fileName: 'a.txt', content: new TextEncoder().encode('some words') } } }
const VIDEO = { videoGenerationRequest: { model: 'sluice/clip-1', prompt: 'a boat', duration: 1 } }
const ECHO = { author: 'sluice', slug: 'echo-1' }

const boxed = ({ containerId, containerFileId: fileId }: Place): readonly unknown[] => [
  { containerId, fileId },
]
const interned = ({ internId }: Place): readonly unknown[] => [{ internId }]
const preset = ({ presetSlug: slug }: Place): readonly unknown[] => [{ slug }]
const placed = ({ workspaceId: id }: Place): readonly unknown[] => [{ id }]
const video = ({ videoId: jobId }: Place): readonly unknown[] => [{ jobId }]

const newKey = ({ management }: ClientWorld): Promise<string> =>
  idOf(sent(management, 'apiKeys.create', { requestBody: { name: 'made' } }), 'hash')
const newFile = ({ inference }: ClientWorld): Promise<string> => idOf(sent(inference, 'files.upload', FILE))
const newIntern = ({ management }: ClientWorld): Promise<string> =>
  idOf(sent(management, 'interns.createIntern', { createInternRequest: { name: 'Ada' } }))
const newWorkspace = ({ management }: ClientWorld): Promise<string> => {
  const slug = `made-${unique()}`
  return idOf(sent(management, 'workspaces.create', { createWorkspaceRequest: { name: slug, slug } }))
}
const newProviderKey = async (world: ClientWorld): Promise<string> => {
  const asked = { provider: 'openai', key: 'sk-made', workspaceId: await newWorkspace(world) }
  return idOf(sent(world.management, 'byok.create', { createBYOKKeyRequest: asked }))
}
const newMapping = async (world: ClientWorld): Promise<string> => {
  const asked = { role: 'member', scimGroupId: world.place.groupId, workspaceId: await newWorkspace(world) }
  return idOf(sent(world.management, 'scim.create', { createScimGroupMappingRequest: asked }))
}
const newSecret = async ({ inference }: ClientWorld, internId?: string): Promise<string> => {
  const name = secretName()
  const call = internId === undefined ? 'vault.storeVaultSecret' : 'vault.storeInternVaultSecret'
  await sent(inference, call, {
    ...(internId !== undefined && { internId }),
    name,
    vaultSecretWriteRequest: SECRET,
  })
  return name
}

const MODELS: Readonly<Record<string, Call>> = {
  'chat.send': byInference('chat.send', () => [{ chatRequest: CHAT }]),
  'responses.send': byInference('responses.send', () => [
    { responsesRequest: { model: 'sluice/echo-1', input: 'Hello there' } },
  ]),
  'embeddings.generate': byInference('embeddings.generate', () => [
    { requestBody: { model: 'sluice/lexical-1', input: 'words' } },
  ]),
  'embeddings.listModels': byInference('embeddings.listModels'),
  'endpoints.list': byInference('endpoints.list', () => [ECHO]),
  'endpoints.listZdrEndpoints': byInference('endpoints.listZdrEndpoints'),
  'models.get': byInference('models.get', () => [ECHO]),
  'models.list': byInference('models.list'),
  'models.count': byInference('models.count'),
  'models.listForUser': byInference('models.listForUser', ({ inference }) => [{ bearer: inference.key }]),
  'providers.list': byInference('providers.list'),
  'generations.getGeneration': async ({ inference }) => {
    const id = await idOf(sent(inference, 'chat.send', { chatRequest: CHAT }))
    let read: unknown = null
    // Records are written apart from the calls.
    await until(async () => {
      read = await sent(inference, 'generations.getGeneration', { id }).catch(() => null)
      return read !== null
    })
    return read
  },
  'videoGeneration.generate': byInference('videoGeneration.generate', () => [VIDEO]),
  'videoGeneration.getGeneration': byInference('videoGeneration.getGeneration', video),
  'videoGeneration.getVideoContent': byInference('videoGeneration.getVideoContent', video),
  'videoGeneration.listVideosModels': byInference('videoGeneration.listVideosModels'),
}

const CONTENT: Readonly<Record<string, Call>> = {
  'files.list': byInference('files.list'),
  'files.upload': byInference('files.upload', () => [FILE]),
  'files.retrieve': byInference('files.retrieve', ({ fileId }) => [{ fileId }]),
  'files.delete': async (world) => sent(world.inference, 'files.delete', { fileId: await newFile(world) }),
  'files.download': async ({ inference, place }) => {
    const fileId = await idOf(sent(inference, 'containers.promoteContainerFile', ...boxed(place)))
    return sent(inference, 'files.download', { fileId })
  },
  'containers.listContainerFiles': byInference('containers.listContainerFiles', ({ containerId }) => [
    { containerId },
  ]),
  'containers.getContainerFile': byInference('containers.getContainerFile', boxed),
  'containers.downloadContainerFileContent': byInference('containers.downloadContainerFileContent', boxed),
  'containers.promoteContainerFile': byInference('containers.promoteContainerFile', boxed),
  'vault.listVaultSecrets': byInference('vault.listVaultSecrets'),
  'vault.storeVaultSecret': byInference('vault.storeVaultSecret', () => [
    { name: secretName(), vaultSecretWriteRequest: SECRET },
  ]),
  'vault.deleteVaultSecret': async (world) =>
    sent(world.inference, 'vault.deleteVaultSecret', { name: await newSecret(world) }),
  'vault.listInternVaultSecrets': byInference('vault.listInternVaultSecrets', interned),
  'vault.storeInternVaultSecret': byInference('vault.storeInternVaultSecret', ({ internId }) => [
    { internId, name: secretName(), vaultSecretWriteRequest: SECRET },
  ]),
  'vault.deleteInternVaultSecret': async (world) => {
    const { internId } = world.place
    const name = await newSecret(world, internId)
    return sent(world.inference, 'vault.deleteInternVaultSecret', { internId, name })
  },
  'vault.copyVaultSecretsToIntern': byInference('vault.copyVaultSecretsToIntern', ({ internId, secret }) => [
    { internId, vaultSecretCopyRequest: { names: [secret] } },
  ]),
  'presets.list': byInference('presets.list'),
  'presets.get': byInference('presets.get', preset),
  'presets.listVersions': byInference('presets.listVersions', preset),
  'presets.getVersion': byInference('presets.getVersion', ({ presetSlug: slug }) => [{ slug, version: '1' }]),
  'presets.createPresetsChatCompletions': byManagement('presets.createPresetsChatCompletions', () => [
    { slug: `made-${unique()}`, chatRequest: CHAT },
  ]),
  'presets.createPresetsMessages': byManagement('presets.createPresetsMessages', () => [
    { slug: `made-${unique()}`, messagesRequest: MESSAGES },
  ]),
  'presets.createPresetsResponses': byManagement('presets.createPresetsResponses', () => [
    { slug: `made-${unique()}`, responsesRequest: { model: 'sluice/echo-1', input: 'x' } },
  ]),
}

const KEYS: Readonly<Record<string, Call>> = {
  'apiKeys.getCurrentKeyMetadata': byInference('apiKeys.getCurrentKeyMetadata'),
  'apiKeys.list': byManagement('apiKeys.list'),
  'apiKeys.create': byManagement('apiKeys.create', () => [{ requestBody: { name: 'made' } }]),
  'apiKeys.get': byManagement('apiKeys.get', ({ inference: { hash } }) => [{ hash }]),
  'apiKeys.update': async (world) =>
    sent(world.management, 'apiKeys.update', { hash: await newKey(world), requestBody: { name: 'renamed' } }),
  'apiKeys.delete': async (world) => sent(world.management, 'apiKeys.delete', { hash: await newKey(world) }),
  'credits.getCredits': byManagement('credits.getCredits'),
  'byok.list': byManagement('byok.list'),
  'byok.create': async (world) => {
    const asked = { provider: 'openai', key: 'sk-made', workspaceId: await newWorkspace(world) }
    return sent(world.management, 'byok.create', { createBYOKKeyRequest: asked })
  },
  'byok.get': async (world) => sent(world.management, 'byok.get', { id: await newProviderKey(world) }),
  'byok.update': async (world) => {
    const asked = { id: await newProviderKey(world), updateBYOKKeyRequest: { key: 'sk-other' } }
    return sent(world.management, 'byok.update', asked)
  },
  'byok.delete': async (world) => sent(world.management, 'byok.delete', { id: await newProviderKey(world) }),
  'interns.listInterns': byManagement('interns.listInterns'),
  'interns.createIntern': byManagement('interns.createIntern', () => [
    { createInternRequest: { name: 'Ada' } },
  ]),
  'interns.getIntern': byManagement('interns.getIntern', interned),
  'interns.updateIntern': byManagement('interns.updateIntern', ({ internId }) => [
    { internId, updateInternRequest: { name: 'Bea' } },
  ]),
  'interns.deleteIntern': async (world) =>
    sent(world.management, 'interns.deleteIntern', {
      internId: await newIntern(world),
      deleteInternRequest: {},
    }),
}

const budgeted = ({ workspaceId: workspaceRef }: Place): readonly unknown[] => [
  { workspaceRef, interval: 'monthly' },
]

const WORKSPACES: Readonly<Record<string, Call>> = {
  'organization.listMembers': byManagement('organization.listMembers'),
  'workspaces.list': byManagement('workspaces.list'),
  'workspaces.create': byManagement('workspaces.create', () => {
    const slug = `made-${unique()}`
    return [{ createWorkspaceRequest: { name: slug, slug } }]
  }),
  'workspaces.get': byManagement('workspaces.get', placed),
  'workspaces.update': byManagement('workspaces.update', ({ workspaceId: id }) => [
    { id, updateWorkspaceRequest: { description: 'renamed' } },
  ]),
  'workspaces.delete': async (world) =>
    sent(world.management, 'workspaces.delete', { id: await newWorkspace(world) }),
  'workspaces.listMembers': byManagement('workspaces.listMembers', placed),
  'workspaces.bulkAddMembers': byManagement('workspaces.bulkAddMembers', ({ workspaceId: id, userId }) => [
    { id, bulkAddWorkspaceMembersRequest: { userIds: [userId] } },
  ]),
  'workspaces.bulkRemoveMembers': async (world) => {
    const [id, userIds] = [await newWorkspace(world), [world.place.userId]]
    await sent(world.management, 'workspaces.bulkAddMembers', {
      id,
      bulkAddWorkspaceMembersRequest: { userIds },
    })
    const asked = { id, bulkRemoveWorkspaceMembersRequest: { userIds } }
    return sent(world.management, 'workspaces.bulkRemoveMembers', asked)
  },
  'workspaces.listBudgets': byManagement('workspaces.listBudgets', ({ workspaceId: workspaceRef }) => [
    { workspaceRef },
  ]),
  'workspaces.getBudget': byManagement('workspaces.getBudget', budgeted),
  'workspaces.setBudget': byManagement('workspaces.setBudget', ({ workspaceId: workspaceRef }) => [
    { workspaceRef, interval: 'monthly', upsertWorkspaceBudgetRequest: { limitUsd: 90 } },
  ]),
  'workspaces.deleteBudget': byManagement('workspaces.deleteBudget', ({ workspaceId: workspaceRef }) => [
    { workspaceRef, interval: 'lifetime' },
  ]),
  'scim.listMappings': byManagement('scim.listMappings'),
  'scim.create': async (world) => {
    const asked = { role: 'member', scimGroupId: world.place.groupId, workspaceId: await newWorkspace(world) }
    return sent(world.management, 'scim.create', { createScimGroupMappingRequest: asked })
  },
  'scim.read': byManagement('scim.read', ({ mappingId: id }) => [{ id }]),
  'scim.update': byManagement('scim.update', ({ mappingId: id }) => [
    { id, updateScimGroupMappingRequest: { role: 'admin' } },
  ]),
  'scim.delete': async (world) =>
    sent(world.management, 'scim.delete', { id: await newMapping(world), keepMembers: true }),
  'scim.listGroups': byManagement('scim.listGroups'),
  'scim.createSyncJob': byManagement('scim.createSyncJob'),
  'scim.getSyncJob': byManagement('scim.getSyncJob', ({ syncId: id }) => [{ id }]),
}

/** By the name of the call. Each makes what it needs, so that they may run in any order. */
export const CLIENT_CALLS: Readonly<Record<string, Call>> = { ...MODELS, ...CONTENT, ...KEYS, ...WORKSPACES }

/** Calls that find their operation and get nothing of it. */
export const REFUSED_CALLS: Readonly<Record<string, Call>> = {
  'analytics.getUserActivity': async (world) => {
    await sent(world.inference, 'chat.send', { chatRequest: CHAT })
    const read = () => sent(world.management, 'analytics.getUserActivity')
    // Without rows there is nothing to refuse, and rows are written apart from the calls.
    await until(() =>
      read().then(
        () => false,
        () => true,
      ),
    )
    return read()
  },
  'generations.listGenerationContent': byInference('generations.listGenerationContent', () => [
    { id: 'gen_x' },
  ]),
  'interns.provisionIntern': byManagement('interns.provisionIntern', interned),
  'interns.suspendIntern': byManagement('interns.suspendIntern', interned),
}
