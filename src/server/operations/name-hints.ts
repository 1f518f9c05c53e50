import { isModelAllowed } from '../../schemas/keys/allowed-models.ts'
import { fail, type Outcome } from '../../schemas/failures.ts'
import { hintOf, nearest, shown } from '../../schemas/nearest.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'
import type { CallableModel, ModelCatalogue } from '../ports/models/models.ts'

type Models = Pick<ModelCatalogue, 'models'>

const LIST = '`GET /api/v1/models?output_modalities=all` lists all.'

/**
 * `model_unknown` with the requested name and the names of the catalogue that it may stand for. C39.
 * @param allowed models of the key: the message names no other
 */
export function modelUnknown(
  name: string,
  { models }: Models,
  allowed: KeyRecord['allowedModels'] = null,
): Outcome<never> {
  const hint = hintOf(
    nearest(
      name,
      idsOf(models, (id) => isModelAllowed(allowed, id)),
    ),
  )
  return fail('model_unknown', {
    detail: `The catalogue has no ${shown(name)}.${hint === '' ? ` ${LIST}` : hint}`,
  })
}

function* idsOf(models: ModelCatalogue['models'], isShown: (id: string) => boolean): Iterable<string> {
  for (const { id } of models) if (isShown(id)) yield id
}

/** Models that a message names as examples. */
const EXAMPLES_MAX = 3

/** `model_unfit` with the kind of the model, and models that serve the operation. C39. */
export function modelUnfit(
  { id, video, isEmbedding }: CallableModel,
  makes: 'embeddings' | 'videos',
  { models }: Models,
): Outcome<never> {
  const fit: string[] = []
  for (const model of models) {
    if (makes === 'embeddings' ? model.isEmbedding : model.video !== null) fit.push(`\`${model.id}\``)
    if (fit.length === EXAMPLES_MAX) break
  }
  const what = isEmbedding
    ? 'makes embeddings'
    : video === null
      ? 'makes neither embeddings nor videos'
      : 'makes videos'
  const verb = makes === 'embeddings' ? 'Embeddings are' : 'Videos are'
  const others =
    fit.length === 0 ? '' : ` ${verb} made by ${fit.join(', ')}: see \`GET /api/v1/${makes}/models\`.`
  return fail('model_unfit', { detail: `\`${id}\` ${what}.${others}` })
}
