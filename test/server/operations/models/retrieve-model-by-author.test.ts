import t from 'tap'
import { retrieveModelByAuthor } from '../../../../src/server/operations/models/retrieve-model-by-author.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, read } from '../../../support/keys/model-reads.ts'

t.test('models.retrieve_by_author 200: returns the same model as the encoded id', async (t) => {
  const params = { author: 'acme', slug: 'chat' }
  const answer = await read(retrieveModelByAuthor, catalogueOf(t, FOUR_MODELS), { params })
  t.match(answer, { status: 200, body: { id: 'acme/chat', object: 'model', owned_by: 'acme' } })
})

t.test('models.retrieve_by_author 404: an unknown model', async (t) => {
  const params = { author: 'acme', slug: 'none' }
  const { status, failure } = await read(retrieveModelByAuthor, catalogueOf(t, FOUR_MODELS), { params })
  t.match({ status, failure }, { status: 404, failure: { name: 'model_unknown' } })
})
