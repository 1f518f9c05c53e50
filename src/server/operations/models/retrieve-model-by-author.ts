import { BareModel, ModelParams } from '../../../schemas/models/models.ts'
import { defineOperation } from '../define.ts'
import { readModel } from './model-query.ts'

/**
 * Reads one model as `models.retrieve` does, for clients and users that do not escape the slash of an id.
 * Source: an extension of Sluice (B3.2); statuses as §7 model read.
 */
export const retrieveModelByAuthor = defineOperation({
  id: 'models.retrieve_by_author',
  method: 'get',
  path: '/models/{author}/{slug}',
  tag: 'models',
  summary: "Get a model in OpenAI's format, with a plain slash in its id",
  input: { params: ModelParams },
  success: { status: 200, body: BareModel },
  statuses: [403, 404, 500],
  failures: ['model_unknown', 'store_unavailable', 'busy'],
  example: { params: { author: 'openai', slug: 'text-embedding-3-small' } },
  run: readModel('bare'),
})
