import { BareModel, BareModelParams } from '../../../schemas/models/models.ts'
import { defineOperation } from '../define.ts'
import { readModel } from './model-query.ts'

/**
 * Reads one model as OpenAI's clients do: the id is one path segment, and the reply is not wrapped in `data`.
 * Source: our extension, since those clients have no other way to read one (B3.2); statuses as §7 model read.
 */
export const retrieveModel = defineOperation({
  id: 'models.retrieve',
  method: 'get',
  path: '/models/{model}',
  tag: 'models',
  summary: "Get a model in OpenAI's format",
  input: { params: BareModelParams },
  success: { status: 200, body: BareModel },
  statuses: [403, 404, 500],
  failures: ['model_unknown', 'store_unavailable', 'busy'],
  example: { params: { model: 'openai/text-embedding-3-small' } },
  run: readModel('bare'),
})
