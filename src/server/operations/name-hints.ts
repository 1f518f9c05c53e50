import { fail, type Outcome } from '../../schemas/failures.ts'
import { hintOf, NAMES_COMPARED_MAX, nearest, shown } from '../../schemas/nearest.ts'
import { isKeptModelName } from '../../schemas/requests/asked-model.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'
import type { CallableModel, ModelCatalogue } from '../ports/models/models.ts'
import { isModelAllowed } from '../../schemas/keys/permissions.ts'

type Models = Pick<ModelCatalogue, 'models' | 'aliases'>

const LIST = 'List all models with `GET /api/v1/models?output_modalities=all`.'

/**
 * `model_unknown` with the requested name and the names of the catalogue that it may stand for. C39.
 * @param allowed models of the key: the message names no other
 */
export function modelUnknown(
  name: string,
  catalogue: Models,
  allowed: KeyRecord['allowedModels'] = null,
): Outcome<never> {
  const known = comparedNames(catalogue, (id) => isModelAllowed(allowed, id))
  const near = nearest(name, known)
  const hint = variantHint(name, known) ?? hintOf(near)
  const isKept = isKeptModelName(name, near, known)
  return fail('model_unknown', {
    detail: `The catalogue has no ${shown(name)}.${hint === '' ? ` ${LIST}` : hint}`,
    param: 'model',
    ...(isKept && { askedModel: name }),
    ...(isKept && near.length > 0 && { fields: { nearest: near.join(', ') } }),
  })
}

/** What the variants of a router that sort by themselves stand for. */
const SORTS: Readonly<Record<string, string>> = { floor: 'price', nitro: 'throughput' }

/** The end of a message for a variant that a known model lacks; null for any other name. */
function variantHint(name: string, known: readonly string[]): string | null {
  const at = name.lastIndexOf(':')
  const base = known.find((id) => id === name.slice(0, at))
  if (at < 0 || base === undefined) return null
  const sort = SORTS[name.slice(at + 1)]
  const cure = sort === undefined ? '' : ` with \`"provider": {"sort": "${sort}"}\``
  return ` \`${base}\` has no such variant: call it as \`${base}\`${cure}.`
}

/** `model_not_allowed` with the model, by its own id where the call named it by another. C39. */
export function modelNotAllowed({ id }: Pick<CallableModel, 'id'>): Outcome<never> {
  return fail('model_not_allowed', {
    detail: `\`${id}\` is not in the key's list of models.`,
    param: 'model',
    askedModel: id,
  })
}

/** Aliases among the names that a name is compared with. Decision. */
const ALIASES_COMPARED_MAX = 200

/** Aliases and ids of the first models, as many as a name is compared with. */
export function comparedNames(
  { models, aliases }: Models,
  isShown: (id: string) => boolean = () => true,
): readonly string[] {
  const names: string[] = []
  for (const [alias, id] of aliases) {
    if (names.length === ALIASES_COMPARED_MAX) break
    if (isShown(id)) names.push(alias)
  }
  for (const { id } of models) {
    if (names.length === NAMES_COMPARED_MAX) break
    if (isShown(id)) names.push(id)
  }
  return names
}

const EXAMPLES_MAX = 3

const MAKES = {
  embeddings: { verb: 'Embeddings are', list: '/api/v1/embeddings/models' },
  videos: { verb: 'Videos are', list: '/api/v1/videos/models' },
  texts: { verb: 'Texts are', list: '/api/v1/models' },
} as const

/** `model_unfit` with the kind of the model, and models that serve the operation. C39. */
export function modelUnfit(
  model: CallableModel,
  makes: keyof typeof MAKES,
  { models }: Pick<Models, 'models'>,
): Outcome<never> {
  const fit: string[] = []
  for (const other of models) {
    if (made(other).includes(makes)) fit.push(`\`${other.id}\``)
    if (fit.length === EXAMPLES_MAX) break
  }
  const [what = 'no text, embeddings or videos'] = made(model)
  const { verb, list } = MAKES[makes]
  const others = fit.length === 0 ? '' : ` ${verb} made by ${fit.join(', ')}: see \`GET ${list}\`.`
  return fail('model_unfit', {
    detail: `\`${model.id}\` makes ${what}.${others}`,
    param: 'model',
    askedModel: model.id,
  })
}

function made({ isEmbedding, isWriter, video }: CallableModel): readonly (keyof typeof MAKES)[] {
  return [
    ...(isEmbedding ? (['embeddings'] as const) : []),
    ...(video === null ? [] : (['videos'] as const)),
    ...(isWriter ? (['texts'] as const) : []),
  ]
}
