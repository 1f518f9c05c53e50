import { normalHost } from '../egress/hosts.ts'
import { SECRET_NAME_CHARS_MAX } from '../vault/vault-limits.ts'

/** Providers that store files for a workspace with its own key. §4.7. */
export const FILE_PROVIDERS = ['openai', 'anthropic'] as const
export type FileProvider = (typeof FILE_PROVIDERS)[number]

const SUFFIX = '_api_key'

/**
 * Name of the vault secret with a workspace's own key for a provider: `openai_api_key`,
 * `google_ai_studio_api_key`. Runs of characters that are not allowed in a secret's name are replaced by one
 * underscore; a leading digit gets the prefix `provider_`. Decision: the interface document defines no names.
 * Slugs with the same resulting name are distinguished by the host to which the secret is bound.
 * @param slug of the provider in the catalogue
 */
export function providerKeyName(slug: string): string {
  const words = slug
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
  const fit = /^[a-z]/.test(words) ? words : `provider_${words}`.replace(/_$/, '')
  return fit.slice(0, SECRET_NAME_CHARS_MAX - SUFFIX.length).replace(/_$/, '') + SUFFIX
}

interface Configured {
  readonly apiKeyEnv: string | null
  readonly headers?: readonly { readonly env: string | null }[]
}

/** Names of the variables that a provider of the catalogue needs: for its key, and for its headers' values. */
export function variablesOf({ apiKeyEnv, headers = [] }: Configured): readonly string[] {
  return [apiKeyEnv, ...headers.map(({ env }) => env)].filter((name) => name !== null)
}

export function mayBeProviderKey(name: string): boolean {
  return name.endsWith(SUFFIX)
}

/**
 * The host to which such a secret must be bound. Null for a provider without an address or with an IP
 * address: a secret cannot be bound to these (§4.4), so no workspace can have a key for such a provider.
 * @param baseUrl of the provider in the catalogue; empty for Sluice's own models
 */
export function providerKeyHost(baseUrl: string): string | null {
  return URL.canParse(baseUrl) ? normalHost(new URL(baseUrl).hostname) : null
}

/** Visible ASCII, which a header transmits unchanged; a line break in a key would begin another header. */
const KEY = /^[\x21-\x7e]+$/

/** A secret may be any text; not every text can be a provider's key. */
export function isProviderKey(text: string): boolean {
  return KEY.test(text)
}
