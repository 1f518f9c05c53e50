import t from 'tap'
import { listProviders } from '../../../../src/server/operations/models/list-providers.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, read } from '../../../support/keys/model-reads.ts'
import { frontOf } from '../../../support/models/model-front.ts'
import { anyOpenRouterClient } from '../../../support/wire/foreign-clients.ts'

t.test(
  'providers.list 200: the providers of the catalogue in its order, and null for missing facts',
  async (t) => {
    const { body } = await read(listProviders, catalogueOf(t, FOUR_MODELS))
    const unreported = {
      privacy_policy_url: null,
      terms_of_service_url: null,
      status_page_url: null,
      headquarters: null,
      datacenters: null,
    }
    t.same(body, {
      data: [
        { slug: 'near', name: 'Near', ...unreported },
        { slug: 'here', name: 'here', ...unreported },
      ],
    })
  },
)

t.test(
  "OpenRouter's client accepts the providers, and their addresses and variables are not returned",
  async (t) => {
    const providers = [
      {
        slug: 'near',
        protocol: 'openai',
        base_url: 'https://near.example/v1',
        api_key_env: 'NEAR_SECRET_KEY',
      },
    ]
    const front = await frontOf(t, catalogueOf(t, { providers, models: [] }))
    const { providers: group } = await anyOpenRouterClient(front)
    t.match(await group?.['list']?.(), { data: [{ slug: 'near', name: 'near', privacyPolicyUrl: null }] })
    t.notMatch(JSON.stringify((await front.get('/providers')).body), /near\.example|NEAR_SECRET_KEY/)
  },
)
