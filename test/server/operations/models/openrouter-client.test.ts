import { readFileSync } from 'node:fs'
import t from 'tap'
import { SHIPPED_CATALOGUE } from '../../../../src/server/catalogue/shipped.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { openRouterClient } from '../../../support/wire/foreign-clients.ts'
import { frontOf } from '../../../support/models/model-front.ts'

/** With nothing that a model can do without. */
const BARE = {
  models: [
    { id: 'self/made', name: 'Self-made', endpoints: [{ provider: 'local', upstream_model: 'lexical-1' }] },
  ],
}

t.test(
  "OpenRouter's client accepts the endpoints of every shipped model, and of one that the operator added",
  async (t) => {
    const shipped: unknown = JSON.parse(readFileSync(SHIPPED_CATALOGUE, 'utf8'))
    const models = catalogueOf(t, shipped, { extra: BARE })
    const client = await openRouterClient(await frontOf(t, models))
    t.ok(models.models.length > 5)
    for (const { id } of models.models) {
      const [author = '', slug = ''] = id.split('/')
      const { data } = await client.endpoints.list({ author, slug })
      t.equal(data.id, id)
    }
    t.equal((await client.endpoints.list({ author: 'self', slug: 'made' })).data.architecture.tokenizer, null)
  },
)
