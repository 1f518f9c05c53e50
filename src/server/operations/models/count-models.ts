import { ok } from '../../../schemas/failures.ts'
import { CountModelsQuery, ModelCountAnswer } from '../../../schemas/models/models.ts'
import { defineOperation } from '../define.ts'
import { filterOf } from './model-query.ts'
import { selectModels } from './shown-models.ts'

/** Counts the models of the given output modalities. Source: B2.3. */
export const countModels = defineOperation({
  id: 'models.count',
  method: 'get',
  path: '/models/count',
  tag: 'models',
  summary: 'Count models',
  input: { query: CountModelsQuery },
  success: { status: 200, body: ModelCountAnswer },
  statuses: [400, 403, 500],
  failures: ['query_invalid'],
  example: { query: { output_modalities: 'all' } },
  run(call, ports) {
    const filter = filterOf(call.query)
    if (!filter.ok) return filter
    return selectModels({ key: call.key, filter: filter.value }, ports, ({ length: count }) =>
      ok({ kind: 'json' as const, value: { data: { count } } }),
    )
  },
})
