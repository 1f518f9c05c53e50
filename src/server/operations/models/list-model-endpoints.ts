import { ModelEndpointsAnswer, ModelParams } from '../../../schemas/models/models.ts'
import { defineOperation } from '../define.ts'
import { readModel } from './model-query.ts'

/** Lists the endpoints of a model, a variant or an alias. Source: B2.3. */
export const listModelEndpoints = defineOperation({
  id: 'models.endpoints',
  method: 'get',
  path: '/models/{author}/{slug}/endpoints',
  tag: 'models',
  summary: 'List the endpoints of a model',
  input: { params: ModelParams },
  success: { status: 200, body: ModelEndpointsAnswer, isList: true },
  statuses: [403, 404, 500],
  failures: ['model_unknown', 'store_unavailable', 'busy'],
  example: { params: { author: 'openai', slug: 'text-embedding-3-small' } },
  run: readModel('endpoints'),
})
