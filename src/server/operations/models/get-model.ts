import { ModelAnswer, ModelParams } from '../../../schemas/models/models.ts'
import { defineOperation } from '../define.ts'
import { readModel } from './model-query.ts'

/** Reads one model by its id, a variant of it or an alias. Source: §4.11, §7, decision C21. */
export const getModel = defineOperation({
  id: 'models.get',
  method: 'get',
  path: '/model/{author}/{slug}',
  tag: 'models',
  summary: 'Get a model',
  input: { params: ModelParams },
  success: { status: 200, body: ModelAnswer },
  statuses: [403, 404, 500],
  failures: ['model_unknown', 'store_unavailable', 'busy'],
  example: { params: { author: 'openai', slug: 'text-embedding-3-small' } },
  run: readModel('answer'),
})
