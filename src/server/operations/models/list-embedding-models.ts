import { ModelListAnswer, PageQuery } from '../../../schemas/models/models.ts'
import { defineOperation } from '../define.ts'
import { pageOf } from './model-query.ts'
import { selectModels } from './shown-models.ts'

/** Lists the models that create embeddings. Source: B2.3. */
export const listEmbeddingModels = defineOperation({
  id: 'embeddings.list_models',
  method: 'get',
  path: '/embeddings/models',
  tag: 'models',
  summary: 'List embedding models',
  input: { query: PageQuery },
  success: { status: 200, body: ModelListAnswer, isList: true },
  statuses: [400, 500],
  failures: [],
  example: { query: { limit: 10, offset: 0 } },
  run(call, ports) {
    const filter = { outputModalities: ['embeddings'] }
    return selectModels({ key: call.key, filter }, ports, (found) =>
      pageOf(found, { path: '/embeddings/models', query: call.query }),
    )
  },
})
