import { fail, type Outcome } from '../../schemas/failures.ts'
import { hintOf, NAMES_COMPARED_MAX, nearest, shown } from '../../schemas/nearest.ts'
import type { KeyRecord } from '../ports/keys/keys.ts'
import type { CallableModel, ModelCatalogue } from '../ports/models/models.ts'
import { isModelAllowed } from '../../schemas/keys/permissions.ts'

type Models = Pick<ModelCatalogue, 'models' | 'aliases'>

const LIST = 'List all models with `GET /api/v1/models?output_modalities=all`.'

/**
 * `model_unknown` with the requested name and similar names of the catalogue. C39.
 * @param allowed models that the key may call: the message names no other model
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

/** Variants of other routers that stand for an order of the endpoints, and the matching value of `sort`. */
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

/** `model_not_allowed` with the model, by its id even when the call used another name. C39. */
export function modelNotAllowed({ id }: Pick<CallableModel, 'id'>): Outcome<never> {
  return fail('model_not_allowed', {
    detail: `\`${id}\` is not in the key's list of models.`,
    param: 'model',
    askedModel: id,
  })
}

/** Most aliases that an unknown name is compared with. Decision. */
const ALIASES_COMPARED_MAX = 200

/** Aliases and ids of the first models, as many as are compared with a name. */
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

/** Most characters that the request log keeps of the name of a model that does not exist. Decision. */
export const ASKED_MODEL_CHARS_MAX = 64

/** Syntax of the id of a model, an alias or a variant. */
const MODEL_NAME = /^[~@]?[a-z0-9][\w.-]*(?:\/[\w.-]+){0,2}(?::[\w.-]+)?$/i
/** A run of letters and digits that occurs in keys and tokens, but in no model's name. */
const KEY_RUN = /[a-z0-9]{24}/i
/**
 * Prefixes of keys and tokens, wherever they follow a separator. Keys of Google, AWS and GitLab, and JSON web
 * tokens, may contain no run that is long enough for KEY_RUN.
 */
const KEY_BEGIN =
  /(?:^|[^a-z0-9])(?:(?:sk|pk|key|glpat|gocspx)[-_]|aiza[\w-]|(?:akia|asia)[a-z0-9]{16}|eyj[a-z0-9])/i

/**
 * True for a misspelled name that the request log may keep: a name similar to one of the catalogue, or with
 * one of its authors. Any other text sent as a model's name, such as a key or a part of a prompt, is not kept.
 * @param near similar names of the catalogue
 * @param known ids of the catalogue
 */
export function isKeptModelName(name: string, near: readonly string[], known: readonly string[]): boolean {
  if (name.length > ASKED_MODEL_CHARS_MAX || !MODEL_NAME.test(name)) return false
  if (KEY_RUN.test(name) || KEY_BEGIN.test(name)) return false
  return near.length > 0 || hasAuthor(name.toLowerCase(), known)
}

function hasAuthor(name: string, known: readonly string[]): boolean {
  const author = name.slice(0, name.indexOf('/') + 1)
  return author !== '' && known.some((id) => id.toLowerCase().startsWith(author))
}
