import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import { hasEmbeddings } from '../../../schemas/models/protocols.ts'
import {
  parseProviderKeyId,
  providerKeyId,
  providerKeyLabel,
  type ProviderKeyShape,
  type UpdateProviderKeyBody,
} from '../../../schemas/workspaces/byok.ts'
import {
  FILE_PROVIDERS,
  providerKeyHost,
  providerKeyName,
} from '../../../schemas/workspaces/provider-keys.ts'
import type { ModelCatalogue } from '../../ports/models/models.ts'
import type { Ports } from '../../ports/ports.ts'
import type { SecretMetadata, VaultScope } from '../../ports/vault/vault.ts'
import type { Workspace } from '../../ports/workspaces/workspaces.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'

export const PROVIDER_KEY_FAILURES = [
  'provider_key_unknown',
  'store_unavailable',
] as const satisfies readonly FailureName[]

export const PROVIDER_KEY_WRITE_FAILURES = [
  'programme_closed',
  'vault_writes_disabled',
  'busy',
] as const satisfies readonly FailureName[]

export const EXAMPLE_KEY_ID = providerKeyId({
  workspaceId: '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
  provider: 'openai',
})

/** A provider for which a workspace may store its own key. */
export interface KeyTaker {
  readonly slug: string
  /** The secret with the key must be bound to this host. */
  readonly host: string
  readonly secretName: string
  /** True: once the workspace has a key, its calls no longer use the operator's key. False: the key is used only for files. */
  readonly isOnlyOwn: boolean
}

export function keyTakers({ providers }: Pick<ModelCatalogue, 'providers'>): readonly KeyTaker[] {
  const takers = providers.flatMap(({ slug, protocol, baseUrl }) => {
    const host = providerKeyHost(baseUrl)
    const isOnlyOwn = hasEmbeddings(protocol)
    const isTaking = isOnlyOwn || FILE_PROVIDERS.some((name) => name === slug)
    return host === null || !isTaking ? [] : [{ slug, host, secretName: providerKeyName(slug), isOnlyOwn }]
  })
  return takers.sort((one, other) => (one.slug < other.slug ? -1 : 1))
}

export function vaultOf({ id: workspaceId, organizationId }: Workspace): VaultScope {
  return { organizationId, workspaceId, internId: null }
}

/** Where a workspace's key for a provider belongs, whether or not it exists. */
export interface KeyPlace {
  readonly workspace: Workspace
  readonly taker: KeyTaker
}

/** Failure: provider_key_unknown, also for a workspace of another organization. */
export async function placeOf(
  { key, params }: { readonly key: KeyRecord; readonly params: { readonly id: string } },
  { workspaces, models }: Pick<Ports, 'workspaces' | 'models'>,
): Promise<Outcome<KeyPlace>> {
  const ref = parseProviderKeyId(params.id)
  const taker = keyTakers(models).find(({ slug }) => slug === ref?.provider)
  if (ref === null || taker === undefined) return fail('provider_key_unknown')
  const { organizationId } = key
  const workspace = await workspaces.get({ organizationId, reference: ref.workspaceId })
  if (!workspace.ok)
    return workspace.failure.name === 'workspace_unknown' ? fail('provider_key_unknown') : workspace
  // A slug also identifies the workspace, but a key must have only one id.
  return workspace.value.id === ref.workspaceId
    ? ok({ workspace: workspace.value, taker })
    : fail('provider_key_unknown')
}

/** The secrets that are keys of these providers, in the order of the providers. */
export async function keysAmong(
  workspace: Workspace,
  takers: readonly KeyTaker[],
  { vaults }: Pick<Ports, 'vaults'>,
): Promise<Outcome<readonly (readonly [KeyTaker, SecretMetadata])[]>> {
  const names = new Set(takers.map(({ secretName }) => secretName))
  const secrets = await vaults.among(vaultOf(workspace), [...names])
  if (!secrets.ok) return secrets
  const byName = new Map(secrets.value.map((secret) => [secret.name, secret]))
  return ok(
    takers.flatMap((taker) => {
      const secret = byName.get(taker.secretName)
      return secret?.hosts?.includes(taker.host) === true ? [[taker, secret] as const] : []
    }),
  )
}

/** Failure: provider_key_unknown. */
export async function keyAt(
  { workspace, taker }: KeyPlace,
  ports: Pick<Ports, 'vaults'>,
): Promise<Outcome<SecretMetadata>> {
  const found = await keysAmong(workspace, [taker], ports)
  if (!found.ok) return found
  const secret = found.value[0]?.[1]
  return secret === undefined ? fail('provider_key_unknown') : ok(secret)
}

/**
 * The provider to which a secret with the taker's name belongs, or may later belong: two slugs may share a
 * secret name, and the host distinguishes their keys.
 */
export function holderOf(
  { hosts }: Pick<SecretMetadata, 'hosts'>,
  taker: KeyTaker,
  takers: readonly KeyTaker[],
): KeyTaker['slug'] {
  const isKeyOf = ({ host, secretName }: KeyTaker): boolean =>
    secretName === taker.secretName && hosts?.includes(host) === true
  return (isKeyOf(taker) ? taker : (takers.find(isKeyOf) ?? taker)).slug
}

/**
 * The secret that a new key replaces, even if it is not a provider's key: otherwise a holder of `vault:write`
 * could block the name for management keys. Failure: provider_key_unknown.
 */
export async function replaceableAt(
  { workspace, taker }: KeyPlace,
  { vaults, models }: Pick<Ports, 'vaults' | 'models'>,
): Promise<Outcome<SecretMetadata>> {
  const found = await vaults.among(vaultOf(workspace), [taker.secretName])
  if (!found.ok) return found
  const [secret] = found.value
  return secret !== undefined && holderOf(secret, taker, keyTakers(models)) === taker.slug
    ? ok(secret)
    : fail('provider_key_unknown')
}

/** The switches of the workspace that disable writes to its vault apply here too. §4.4, C5, C32. */
export function mayWrite({ isInProgramme, mayWriteVault }: Workspace): Outcome<null> {
  if (!isInProgramme) return fail('programme_closed')
  return mayWriteVault ? ok(null) : fail('vault_writes_disabled')
}

/** Refuses members that a key for this provider does not support: an unsupported member is never ignored. */
export function rulesOf(body: UpdateProviderKeyBody, { isOnlyOwn }: KeyTaker): Outcome<null> {
  const wrong = (['is_required', 'is_byok_only'] as const).filter(
    (name) => body[name] !== undefined && body[name] !== isOnlyOwn,
  )
  const message = isOnlyOwn
    ? "is always true: a workspace's key is used instead of the operator's"
    : 'is always false: the key is used for files at this provider'
  const issues: readonly Issue[] = wrong.map((name) => ({
    path: `/${name}`,
    message,
    expected: String(isOnlyOwn),
  }))
  return issues.length === 0 ? ok(null) : fail('body_invalid', { metadata: { issues } })
}

export function providerKeyAnswer(
  workspaceId: string,
  { slug, isOnlyOwn }: KeyTaker,
  { name, fingerprint, createdAt }: SecretMetadata,
): ProviderKeyShape {
  return {
    id: providerKeyId({ workspaceId, provider: slug }),
    workspace_id: workspaceId,
    provider: slug,
    name,
    label: providerKeyLabel(fingerprint),
    created_at: createdAt.toISOString(),
    disabled: false,
    is_required: isOnlyOwn,
    is_byok_only: isOnlyOwn,
    is_fallback: false,
    sort_order: 0,
    allowed_models: null,
    allowed_api_key_hashes: null,
    allowed_user_ids: null,
    declared_zdr: null,
  }
}
