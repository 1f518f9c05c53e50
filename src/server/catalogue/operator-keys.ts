import { OWN_KEYS_BEGIN } from '../../schemas/keys/api-keys.ts'
import type { Secret } from '../../schemas/vault/secret.ts'
import { variablesOf } from '../../schemas/workspaces/provider-keys.ts'
import type { Provider } from '../ports/models/models.ts'

/** A variable for a provider's key that contains a Sluice key. */
export interface MisplacedKey {
  readonly variable: string
  /** Slugs of the providers that use the variable and have an address of the shipped catalogue. */
  readonly providers: readonly string[]
}

/** The operator's keys for providers, by the names of their variables. */
export interface OperatorKeys {
  readonly usable: ReadonlyMap<string, Secret>
  readonly misplaced: readonly MisplacedKey[]
}

/**
 * Separates usable keys from misplaced ones. Programs that call Sluice also read `OPENAI_API_KEY`, so the
 * environment of a node may contain a Sluice key. A provider of the shipped catalogue would refuse the key
 * and must not receive it, so the variable counts as not set. A provider at another address may be Sluice
 * itself.
 */
export function operatorKeys(
  providers: readonly Provider[],
  keys: ReadonlyMap<string, Secret>,
): OperatorKeys {
  const shipped = providers.filter(({ hasShippedAddress }) => hasShippedAddress === true)
  const misplaced = [...keys]
    .filter(([, key]) => key.reveal().trimStart().startsWith(OWN_KEYS_BEGIN))
    .map(([variable]) => ({
      variable,
      providers: shipped
        .filter((provider) => variablesOf(provider).includes(variable))
        .map(({ slug }) => slug),
    }))
    .filter((found) => found.providers.length > 0)
  const usable = new Map(keys)
  for (const { variable } of misplaced) usable.delete(variable)
  return { usable, misplaced }
}

/** Text about misplaced keys and the remedy; null without misplaced keys. */
export function misplacedAdvice(
  misplaced: readonly MisplacedKey[],
): { readonly detail: string; readonly fix: string } | null {
  if (misplaced.length === 0) return null
  const named = misplaced.map(
    ({ variable, providers }) =>
      `${variable} contains a Sluice key (${OWN_KEYS_BEGIN}…), not a key for ${providers.join(' or ')}`,
  )
  return {
    detail: `${named.join('; ')}: the variable is ignored`,
    fix: "set the variable to the provider's own key and restart; to call another Sluice, add a provider with its own base_url and variable",
  }
}
