import { ListModelsQuery, ModelListAnswer } from '../../../schemas/models/models.ts'
import { defineOperation } from '../define.ts'
import { filterOf, pageOf } from './model-query.ts'
import { selectModels } from './shown-models.ts'

/** Lists models, filtered and sorted, including those that only the key's workspace has. Source: B2.3, C21. */
export const listModels = defineOperation({
  id: 'models.list',
  method: 'get',
  path: '/models',
  tag: 'models',
  summary: 'List models',
  input: { query: ListModelsQuery },
  success: { status: 200, body: ModelListAnswer, isList: true },
  statuses: [400, 403, 500],
  failures: ['query_invalid'],
  example: { query: { output_modalities: 'embeddings', sort: 'pricing-low-to-high', limit: 10 } },
  run(call, ports) {
    const filter = filterOf(call.query)
    if (!filter.ok) return filter
    return selectModels({ key: call.key, filter: filter.value }, ports, (found) =>
      pageOf(found, { path: '/models', query: call.query }),
    )
  },
})
