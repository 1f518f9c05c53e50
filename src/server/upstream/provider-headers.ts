import { KEY_HEADERS } from '../../schemas/models/protocols.ts'
import { variablesOf } from '../../schemas/workspaces/provider-keys.ts'
import type { Provider } from '../ports/models/models.ts'
import { keyIn, type Credential, type CredentialHeader } from './credential.ts'

/** Headers of the catalogue for a provider, ready to send. */
export interface ExtraHeaders {
  /** Flat list of names and values. */
  readonly sent: readonly string[]
  /** The values that come from variables: they are redacted from every reply. */
  readonly secrets: readonly string[]
}

export const NO_EXTRA: ExtraHeaders = { sent: [], secrets: [] }

export interface OperatorAccess {
  /** Null when the provider needs none. */
  readonly key: string | null
  readonly extra: ExtraHeaders
}

/** Null when a variable is not set that the provider's key or headers name. */
export function operatorAccess(
  provider: Provider,
  credentials: ReadonlyMap<string, Credential>,
): OperatorAccess | null {
  if (variablesOf(provider).some((name) => !credentials.has(name))) return null
  const { headers = [], apiKeyEnv } = provider
  const valueOf = (env: string): string => credentials.get(env)?.reveal() ?? ''
  const sent = headers.flatMap(({ name, value, env }) => [name, env === null ? value : valueOf(env)])
  const secrets = headers.flatMap(({ env }) => (env === null ? [] : [valueOf(env)]))
  return { key: apiKeyEnv === null ? null : valueOf(apiKeyEnv), extra: { sent, secrets } }
}

/** Headers in which providers accept keys: those of the protocols, and Azure's. */
const HEADERS_OF_KEYS: ReadonlySet<string> = new Set([...Object.values(KEY_HEADERS), 'api-key'])

/**
 * The header for the key of a provider whose catalogue entry sets the key in one of its headers and names no
 * `api_key_env`; null when the protocol's header carries the key.
 */
export function keyHeaderOf({ apiKeyEnv, headers = [] }: Provider): CredentialHeader | null {
  if (apiKeyEnv !== null) return null
  const name = headers.find(({ name, env }) => env !== null && HEADERS_OF_KEYS.has(name))?.name
  return name === undefined ? null : keyIn(name)
}

/**
 * Headers for a call under a workspace's own key: without values from variables and without headers that
 * carry a key, since those are the operator's credentials.
 */
export function plainHeaders({ headers = [] }: Provider): ExtraHeaders {
  const sent = headers.flatMap(({ name, value, env }) =>
    env !== null || HEADERS_OF_KEYS.has(name) ? [] : [name, value],
  )
  return { sent, secrets: [] }
}
