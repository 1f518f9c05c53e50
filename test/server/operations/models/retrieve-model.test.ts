import t from 'tap'
import { retrieveModel } from '../../../../src/server/operations/models/retrieve-model.ts'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { FOUR_MODELS, read } from '../../../support/keys/model-reads.ts'

t.test('models.retrieve 200: the model without an envelope, with object and owned_by', async (t) => {
  const answer = await read(retrieveModel, catalogueOf(t, FOUR_MODELS), { params: { model: 'acme/chat' } })
  t.match(answer, {
    status: 200,
    body: { id: 'acme/chat', object: 'model', owned_by: 'acme', created: 1_704_067_200 },
  })
})

t.test('models.retrieve 200: accepts an alias without an author, and a variant of the alias', async (t) => {
  const catalogue = catalogueOf(t, FOUR_MODELS)
  t.match(await read(retrieveModel, catalogue, { params: { model: 'embed' } }), {
    body: { id: 'acme/embed' },
  })
  t.match(await read(retrieveModel, catalogue, { params: { model: 'embed:floor' } }), {
    body: { id: 'acme/embed:floor' },
  })
})

t.test('models.retrieve 404: an unknown model', async (t) => {
  const { status, failure } = await read(retrieveModel, catalogueOf(t, FOUR_MODELS), {
    params: { model: 'none' },
  })
  t.match({ status, failure }, { status: 404, failure: { name: 'model_unknown' } })
})
