import t from 'tap'
import { countModels } from '../../../../src/server/operations/models/count-models.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, read } from '../../../support/keys/model-reads.ts'

t.test(
  'models.count 200: counts the models of the given output modalities, or by default those that write text',
  async (t) => {
    const catalogue = catalogueOf(t, FOUR_MODELS)
    t.match(await read(countModels, catalogue), { status: 200, body: { data: { count: 2 } } })
    t.match(await read(countModels, catalogue, { query: { output_modalities: 'all' } }), {
      body: { data: { count: 4 } },
    })
    t.match(await read(countModels, catalogue, { query: { output_modalities: 'speech' } }), {
      body: { data: { count: 0 } },
    })
  },
)

t.test('models.count 400: a list with an empty entry', async (t) => {
  const { status, failure } = await read(countModels, catalogueOf(t, FOUR_MODELS), {
    query: { output_modalities: ',text' },
  })
  t.match(
    { status, failure },
    { status: 400, failure: { metadata: { issues: [{ path: '/output_modalities' }] } } },
  )
})
