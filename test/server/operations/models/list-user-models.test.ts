import t from 'tap'
import { listUserModels } from '../../../../src/server/operations/models/list-user-models.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, idsOf, read } from '../../../support/keys/model-reads.ts'

t.test('models.list_for_user 200: returns the model list in pages, by output modality', async (t) => {
  const catalogue = catalogueOf(t, FOUR_MODELS)
  t.same(idsOf(await read(listUserModels, catalogue)), ['acme/chat', 'other/chat'])
  t.match(
    await read(listUserModels, catalogue, { query: { output_modalities: 'all', limit: 3, offset: 0 } }),
    {
      status: 200,
      body: { links: { next: '/api/v1/models/user?output_modalities=all&limit=3&offset=3' }, total_count: 4 },
    },
  )
})

t.test(
  'models.list_for_user 400: a list with an empty entry, although the contract lists no 400 for it (C2)',
  async (t) => {
    t.match(await read(listUserModels, catalogueOf(t, FOUR_MODELS), { query: { output_modalities: ',' } }), {
      status: 400,
    })
  },
)

t.test('a key with a list of models gets only those models, and its pages count only those', async (t) => {
  const catalogue = catalogueOf(t, FOUR_MODELS)
  const query = { output_modalities: 'all', limit: 1, offset: 0 }
  const logged = await read(listUserModels, catalogue, { query, allowedModels: ['other/*', 'acme/chat'] })
  t.match(logged, { body: { data: [{ id: 'acme/chat' }], total_count: 3 } })
  t.same(idsOf(await read(listUserModels, catalogue, { allowedModels: [] })), [])
})
