import { fail, type Outcome } from '../failures.ts'
import { variablesOf } from '../workspaces/provider-keys.ts'

interface Unserved {
  readonly id: string
  readonly endpoints: readonly {
    readonly provider: Parameters<typeof variablesOf>[0] & { readonly slug: string }
  }[]
}

/**
 * `endpoint_unconfigured`: gives the caller the providers that would serve the model, and logs the variables
 * to set.
 */
export function endpointUnconfigured({ id, endpoints }: Unserved): Outcome<never> {
  const providers = [...new Map(endpoints.map(({ provider }) => [provider.slug, provider])).values()]
  if (providers.length === 0)
    return fail('endpoint_unconfigured', { detail: `The catalogue lists \`${id}\` without an endpoint.` })
  const needed = providers.map(
    (provider) => `${provider.slug} needs ${variablesOf(provider).join(' and ') || 'another protocol'}`,
  )
  return fail('endpoint_unconfigured', {
    detail:
      `\`${id}\` is served by ${providers.map(({ slug }) => `\`${slug}\``).join(', ')}. The operator of this installation must ` +
      "set the provider's API key; `sluice models list` shows the variable.",
    cause: new Error(`set the variables of one provider: ${needed.join('; ')}`),
  })
}
