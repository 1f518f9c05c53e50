import { variablesOf } from '../../schemas/workspaces/provider-keys.ts'
import type { Provider } from '../ports/models/models.ts'
import type { Credential } from './credential.ts'

/** Headers of the catalogue for a provider, ready to be sent. */
export interface ExtraHeaders {
  /** Flat name, value list. */
  readonly sent: readonly string[]
  /** The values that come from variables: no caller may read them. */
  readonly secrets: readonly string[]
}

export const NO_EXTRA: ExtraHeaders = { sent: [], secrets: [] }

/** How a provider is called with what the operator has set. */
export interface OperatorAccess {
  /** Null when the provider needs none. */
  readonly key: string | null
  readonly extra: ExtraHeaders
}

/** Null when a variable that the provider's key or headers name is not set. */
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

/** Headers in which providers take keys. */
const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-goog-api-key', 'api-key', 'x-api-key'])

/**
 * Under a workspace's own key: without what comes from a variable or carries a key, for that is the
 * operator's credential.
 */
export function plainHeaders({ headers = [] }: Provider): ExtraHeaders {
  const sent = headers.flatMap(({ name, value, env }) =>
    env !== null || KEY_HEADERS.has(name) ? [] : [name, value],
  )
  return { sent, secrets: [] }
}
