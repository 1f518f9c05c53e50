import { normalHost } from '../egress/hosts.ts'
import { SECRET_NAME_CHARS_MAX } from '../vault/vault-limits.ts'

/** Providers that store files for a workspace under its own key. §4.7. */
export const FILE_PROVIDERS = ['openai', 'anthropic'] as const
export type FileProvider = (typeof FILE_PROVIDERS)[number]

const SUFFIX = '_api_key'

/**
 * Name of the vault secret that holds a workspace's own key for a provider: `openai_api_key`,
 * `google_ai_studio_api_key`. What a name of a secret cannot have becomes one underscore; before a digit
 * stands `provider_`. Decision: the document names none. Slugs that meet in one name are kept apart by the
 * host that the secret is bound to.
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

/** Names of the variables that a provider of the catalogue needs: of its key, and of its headers' values. */
export function variablesOf({ apiKeyEnv, headers = [] }: Configured): readonly string[] {
  return [apiKeyEnv, ...headers.map(({ env }) => env)].filter((name) => name !== null)
}

/** Whether a secret of that name may be some provider's key. */
export function mayBeProviderKey(name: string): boolean {
  return name.endsWith(SUFFIX)
}

/**
 * The host that such a secret must be bound to. Null for a provider without an address, or with an IP address
 * for one: nothing can be bound to that (§4.4), so no workspace can have a key for it.
 * @param baseUrl of the provider in the catalogue; empty for our own models
 */
export function providerKeyHost(baseUrl: string): string | null {
  return URL.canParse(baseUrl) ? normalHost(new URL(baseUrl).hostname) : null
}

/** Visible ASCII: what a header carries as it stands. A line break in a key would be another header. */
const KEY = /^[\x21-\x7e]+$/

/** A secret may be any text; as a provider's key some are of no use. */
export function isProviderKey(text: string): boolean {
  return KEY.test(text)
}
