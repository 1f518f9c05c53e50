import { fail, type Outcome } from '../failures.ts'
import { variablesOf } from '../workspaces/provider-keys.ts'

interface Unserved {
  readonly id: string
  readonly endpoints: readonly {
    readonly provider: Parameters<typeof variablesOf>[0] & { readonly slug: string }
  }[]
}

/** `endpoint_unconfigured`: the caller gets the providers that would serve the model; the log also contains the variables to set. */
export function endpointUnconfigured({ id, endpoints }: Unserved): Outcome<never> {
  const providers = [...new Map(endpoints.map(({ provider }) => [provider.slug, provider])).values()]
  if (providers.length === 0)
    return fail('endpoint_unconfigured', { detail: `The catalogue lists \`${id}\` without an endpoint.` })
  const named = providers.map((provider) => ({
    slug: provider.slug,
    variables: variablesOf(provider).join(' and '),
  }))
  const needed = named.map(({ slug, variables }) => `${slug} needs ${variables || 'another protocol'}`)
  const toSet = named.flatMap(({ slug, variables }) => (variables === '' ? [] : `${variables} for ${slug}`))
  return fail('endpoint_unconfigured', {
    ...(toSet.length > 0 && { fields: { variables: toSet.join(', or ') } }),
    detail:
      `\`${id}\` is served by ${providers.map(({ slug }) => `\`${slug}\``).join(', ')}. The operator of this installation must ` +
      "set the provider's API key; `sluice models list` shows the variable.",
    cause: new Error(`set the variables of one provider: ${needed.join('; ')}`),
  })
}
