import { API_PREFIX } from '../../../schemas/api-prefix.ts'
import { ok } from '../../../schemas/failures.ts'
import { ACTIVITY_DAYS_MAX } from '../../../schemas/money/money-limits.ts'
import { StartAnswer, type StartProvider } from '../../../schemas/operator/start.ts'
import { providerKeyHost, providerKeyName, variablesOf } from '../../../schemas/workspaces/provider-keys.ts'
import type { Provider, ResolvedModel } from '../../ports/models/models.ts'
import type { Ports } from '../../ports/ports.ts'
import { defineOperation } from '../define.ts'

const DAY_MS = 86_400_000

/** Reads what is needed for a first call, and whether one has been made. Source: an extension of Sluice; C4. */
export const getAdminStart = defineOperation({
  id: 'admin.get_start',
  method: 'get',
  path: '/admin/start',
  tag: 'admin',
  summary: 'Get the requirements for a first call',
  description:
    'Lists the providers with the variables and secrets for their keys, and whether a model has ever been called. For ' +
    "management keys of the operator's organization only.",
  input: {},
  success: { status: 200, body: StartAnswer },
  statuses: [403, 500],
  failures: ['operator_only', 'store_unavailable'],
  example: {},
  async run({ key: { organizationId } }, ports) {
    const { admin, activity, models, publicOrigin } = ports
    const session = await admin.session(organizationId)
    if (!session.ok) return session
    const called = await activity.list({ organizationId, from: aYearAgo(), limit: 1, offset: 0 })
    if (!called.ok) return called
    const trials = trialsOf(models.models)
    const providers = models.providers.map((provider) => startOf(provider, trials, ports))
    const data = {
      api_url: publicOrigin + API_PREFIX,
      has_called: called.value.count > 0,
      providers,
    }
    return ok({ kind: 'json', value: { data } })
  },
})

/** The earliest first day of a list of activity that ends today. */
function aYearAgo(): string {
  return new Date(Date.now() - (ACTIVITY_DAYS_MAX - 1) * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length)
}

function startOf(
  provider: Provider,
  trials: Trials,
  { operatorKeys, misplacedKeys }: Pick<Ports, 'operatorKeys' | 'misplacedKeys'>,
): StartProvider {
  const { slug, name, baseUrl } = provider
  const variables = variablesOf(provider)
  const host = providerKeyHost(baseUrl)
  return {
    slug,
    name,
    variables: [...variables],
    is_set: variables.every((variable) => operatorKeys.has(variable)),
    misplaced: variables.filter((variable) => misplacedKeys.has(variable)),
    secret: host === null ? null : { name: providerKeyName(slug), host },
    model: trials.get(slug) ?? null,
  }
}

/** By slug of the provider. */
type Trials = ReadonlyMap<string, NonNullable<StartProvider['model']>>

/** For each provider its first text model, or else its first embedding model; the catalogue may have 100,000 models. */
function trialsOf(models: readonly ResolvedModel[]): Trials {
  const trials = new Map<string, NonNullable<StartProvider['model']>>()
  for (const { id, endpoints, isWriter, isEmbedding } of models) {
    if (!isWriter && !isEmbedding) continue
    for (const { provider } of endpoints) {
      const known = trials.get(provider.slug)
      if (known === undefined || (isWriter && known.kind === 'embeddings'))
        trials.set(provider.slug, { id, kind: isWriter ? 'chat' : 'embeddings' })
    }
  }
  return trials
}
