import { ModelListAnswer, UserModelsQuery } from '../../../schemas/models/models.ts'
import { defineOperation } from '../define.ts'
import { filterOf, pageOf } from './model-query.ts'
import { selectModels } from './shown-models.ts'
import { isModelAllowed } from '../../../schemas/keys/permissions.ts'

/**
 * Lists the models that the caller's key may use: the models of the catalogue and of the workspace that are in
 * the key's list. Source: B2.3.
 */
export const listUserModels = defineOperation({
  id: 'models.list_for_user',
  method: 'get',
  path: '/models/user',
  tag: 'models',
  summary: 'List the models that the caller may use',
  input: { query: UserModelsQuery },
  success: { status: 200, body: ModelListAnswer, isList: true },
  statuses: [403, 404, 500],
  failures: ['query_invalid'],
  example: { query: { output_modalities: 'all' } },
  run(call, ports) {
    const filter = filterOf(call.query)
    if (!filter.ok) return filter
    const { allowedModels } = call.key
    return selectModels({ key: call.key, filter: filter.value }, ports, (models) => {
      const found =
        allowedModels === null ? models : models.filter(({ id }) => isModelAllowed(allowedModels, id))
      return pageOf(found, { path: '/models/user', query: call.query })
    })
  },
})
