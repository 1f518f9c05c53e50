import t from 'tap'
import { listEmbeddingModels } from '../../../../src/server/operations/models/list-embedding-models.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, idsOf, read } from '../../../support/keys/model-reads.ts'

t.test('embeddings.list_models 200: returns all embedding models if no page is requested', async (t) => {
  const answer = await read(listEmbeddingModels, catalogueOf(t, FOUR_MODELS))
  t.same(idsOf(answer), ['acme/embed', 'other/embed'])
  t.match(answer, { status: 200, body: { links: { next: null }, total_count: 2 } })
})

t.test('embeddings.list_models 200: returns the list in pages', async (t) => {
  const catalogue = catalogueOf(t, FOUR_MODELS)
  const first = await read(listEmbeddingModels, catalogue, { query: { limit: 1 } })
  t.match(first, {
    body: { data: [{ id: 'acme/embed' }], links: { next: '/api/v1/embeddings/models?limit=1&offset=1' } },
  })
  t.match(await read(listEmbeddingModels, catalogue, { query: { limit: 1, offset: 1 } }), {
    body: { data: [{ id: 'other/embed' }], links: { next: null }, total_count: 2 },
  })
})
