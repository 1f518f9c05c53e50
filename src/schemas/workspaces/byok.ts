import Type, { type Static, type TSchema } from 'typebox'
import { HasMore } from '../lists/pages.ts'
import { SECRET_VALUE_CHARS_MAX } from '../vault/vault-limits.ts'
import {
  NAME_CHARS_MAX,
  WORKSPACES_OFFSET_MAX,
  WORKSPACES_PAGE_DEFAULT,
  WORKSPACES_PAGE_MAX,
} from './workspace-limits.ts'

/** Characters of the id of a provider key; a longer text matches no key. Decision. */
export const PROVIDER_KEY_ID_CHARS_MAX = 512

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const optional = <T extends TSchema>(shape: T) => Type.Optional(shape)

const ID_PREFIX = 'byok_'

export interface ProviderKeyRef {
  readonly workspaceId: string
  /** Slug in the catalogue. */
  readonly provider: string
}

/** `byok_`, and workspace and provider in base64url without padding: each key has one id. Decision. */
export function providerKeyId({ workspaceId, provider }: ProviderKeyRef): string {
  return ID_PREFIX + Buffer.from(`${workspaceId}/${provider}`).toString('base64url')
}

/** Null for a text that is not an id of a key. */
export function parseProviderKeyId(id: string): ProviderKeyRef | null {
  const text = Buffer.from(id.slice(ID_PREFIX.length), 'base64url').toString()
  const at = text.indexOf('/')
  const ref = { workspaceId: text.slice(0, Math.max(0, at)), provider: text.slice(at + 1) }
  return at > 0 && providerKeyId(ref) === id ? ref : null
}

/** The part of a fingerprint that distinguishes a workspace's keys; it reveals nothing about them. Decision. */
const LABEL_CHARS = 'sha256:'.length + 12

export function providerKeyLabel(fingerprint: string | null): string {
  return (fingerprint ?? '').slice(0, LABEL_CHARS)
}

const WorkspaceReference = Type.String({
  minLength: 1,
  description: 'UUID or slug of the workspace; defaults to the default workspace.',
})
const ProviderSlug = Type.String({
  minLength: 1,
  maxLength: NAME_CHARS_MAX,
  description: 'Slug of a provider in the catalogue.',
})
const Key = Type.String({
  minLength: 1,
  maxLength: SECRET_VALUE_CHARS_MAX,
  pattern: '^[\\x21-\\x7e]+$',
  title: 'a string of visible ASCII characters',
  writeOnly: true,
  description: "The provider's API key, which is write-only.",
})

/** Members with a single possible value: a request may contain this value; any other is refused. */
const RULES = {
  name: optional(
    nullable(
      Type.String({ description: 'Ignored: the provider key has the name of its secret in the vault.' }),
    ),
  ),
  disabled: optional(Type.Literal(false, { description: 'Must be false: delete a key to stop its use.' })),
  is_fallback: optional(
    Type.Literal(false, { description: 'Must be false: a workspace has one key per provider.' }),
  ),
  is_required: optional(Type.Boolean({ description: 'Must equal the `is_required` that Sluice returns.' })),
  is_byok_only: optional(Type.Boolean({ description: 'Must equal the `is_byok_only` that Sluice returns.' })),
  allowed_models: optional(
    Type.Null({ description: 'Must be null: `allowed_models` of the calling key applies.' }),
  ),
  allowed_api_key_hashes: optional(
    Type.Null({ description: 'Must be null: all API keys of the workspace may use the provider key.' }),
  ),
  allowed_user_ids: optional(Type.Null({ description: 'Must be null: all users may use the provider key.' })),
  declared_zdr: optional(
    Type.Null({ description: 'Must be null: the catalogue declares whether the provider retains data.' }),
  ),
}

/** Other members are ignored. */
export const CreateProviderKeyBody = Type.Object({
  provider: ProviderSlug,
  key: Key,
  workspace_id: optional(WorkspaceReference),
  ...RULES,
})
export type CreateProviderKeyBody = Static<typeof CreateProviderKeyBody>

/** Omitted members keep their value; other members are ignored. */
export const UpdateProviderKeyBody = Type.Object({ key: optional(Key), ...RULES })
export type UpdateProviderKeyBody = Static<typeof UpdateProviderKeyBody>

export const ProviderKeyParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: PROVIDER_KEY_ID_CHARS_MAX }),
})

export const ListProviderKeysQuery = Type.Object({
  workspace_id: optional(WorkspaceReference),
  provider: optional(ProviderSlug),
  limit: optional(
    Type.Integer({ minimum: 1, maximum: WORKSPACES_PAGE_MAX, default: WORKSPACES_PAGE_DEFAULT }),
  ),
  offset: optional(Type.Integer({ minimum: 0, maximum: WORKSPACES_OFFSET_MAX, default: 0 })),
})

/** A workspace's own key for a provider, without the key. */
export const ProviderKeyShape = Type.Object({
  id: Type.String({ description: 'Id of the provider key: workspace and provider in one string.' }),
  workspace_id: nullable(Type.String({ description: 'Id of the workspace that owns the key.' })),
  provider: Type.String({ description: 'Slug of the provider in the catalogue.' }),
  name: Type.String({ description: 'Name of the secret that holds the key.' }),
  label: Type.String({ description: "First characters of the key's fingerprint, to distinguish keys." }),
  created_at: Type.String({
    format: 'date-time',
    description: 'When the key was first stored; replacing the key keeps this time.',
  }),
  disabled: Type.Boolean({ description: 'Always false: delete a key to stop its use.' }),
  is_required: Type.Boolean({
    description: "True when calls of the workspace to this provider use only this key, never the operator's.",
  }),
  is_byok_only: Type.Boolean({
    description: 'Same value as `is_required`; applies to every model of the provider.',
  }),
  is_fallback: Type.Boolean({ description: 'Always false: a workspace has one key per provider.' }),
  sort_order: Type.Integer({ description: 'Always 0: a workspace has one key per provider.' }),
  allowed_models: Type.Null({ description: 'Always null: `allowed_models` of the calling key applies.' }),
  allowed_api_key_hashes: Type.Null({
    description: 'Always null: all API keys of the workspace may use the provider key.',
  }),
  allowed_user_ids: Type.Null({ description: 'Always null: all users may use the provider key.' }),
  declared_zdr: Type.Null({
    description: 'Always null: the catalogue declares whether the provider retains data.',
  }),
})
export type ProviderKeyShape = Static<typeof ProviderKeyShape>

export const ProviderKeyAnswer = Type.Object({ data: ProviderKeyShape })
export const ProviderKeyListAnswer = Type.Object({
  data: Type.Array(ProviderKeyShape),
  total_count: Type.Integer({ minimum: 0 }),
  has_more: HasMore,
})
export const DeletedProviderKeyAnswer = Type.Object({ deleted: Type.Literal(true) })
