import type { AnyOperation } from './define.ts'
import { createEmbeddings } from './embeddings/create-embeddings.ts'
import { countModels } from './models/count-models.ts'
import { getModel } from './models/get-model.ts'
import { listEmbeddingModels } from './models/list-embedding-models.ts'
import { listModelEndpoints } from './models/list-model-endpoints.ts'
import { listModels } from './models/list-models.ts'
import { listUserModels } from './models/list-user-models.ts'
import { retrieveModel } from './models/retrieve-model.ts'
import { retrieveModelByAuthor } from './models/retrieve-model-by-author.ts'

/** Every operation of the API, in the order of the reference page. */
export const OPERATIONS: readonly AnyOperation[] = [
  createEmbeddings,
  getModel,
  listModels,
  countModels,
  listUserModels,
  listModelEndpoints,
  retrieveModel,
  retrieveModelByAuthor,
  listEmbeddingModels,
]
