import { ok } from '../../../schemas/failures.ts'
import { ProviderListAnswer, type ProviderShape } from '../../../schemas/models/providers.ts'
import type { Provider } from '../../ports/models/models.ts'
import { defineOperation } from '../define.ts'

/** Lists the providers of the catalogue. Source: B2.3. */
export const listProviders = defineOperation({
  id: 'providers.list',
  method: 'get',
  path: '/providers',
  tag: 'models',
  summary: 'List providers',
  description: 'Providers in catalogue order, including those without a key on this node.',
  input: {},
  success: { status: 200, body: ProviderListAnswer, isList: true },
  statuses: [500],
  failures: [],
  example: {},
  run: (_, { models }) => ok({ kind: 'json', value: { data: models.providers.map(providerAnswer) } }),
})

/** Clients refuse a provider without `privacy_policy_url`: the catalogue does not have this fact, so it is null. B3.1. */
function providerAnswer({ slug, name }: Provider): ProviderShape {
  return {
    slug,
    name,
    privacy_policy_url: null,
    terms_of_service_url: null,
    status_page_url: null,
    headquarters: null,
    datacenters: null,
  }
}
