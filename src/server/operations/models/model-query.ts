import { setImmediate } from 'node:timers/promises'
import { API_PREFIX } from '../../../schemas/api-prefix.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Issue } from '../../../schemas/failure-metadata.ts'
import { MODELS_PAGE_DEFAULT, MODELS_PAGE_MAX } from '../../../schemas/models/model-limits.ts'
import type { BareModelParams, ListModelsQuery, ModelParams } from '../../../schemas/models/models.ts'
import type { ModelBodies, ModelFilter, ResolvedModel } from '../../ports/models/models.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { Ports } from '../../ports/ports.ts'
import type { Success } from '../define.ts'
import { findModel } from './shown-models.ts'

/** Output modalities of lists by default: text models. B2.3. */
const OUTPUT_MODALITIES_DEFAULT = ['text']
/** Value of a list parameter that selects all names. */
const EVERY = 'all'

type Query = Partial<ListModelsQuery>
type ListMember =
  | 'category'
  | 'arch'
  | 'region'
  | 'input_modalities'
  | 'output_modalities'
  | 'supported_parameters'
  | 'model_authors'
  | 'providers'

/** The filter of a validated query of a model list; `query_invalid` names lists with an empty entry. */
export function filterOf(query: Query): Outcome<ModelFilter> {
  const issues: Issue[] = []
  const list = (member: ListMember): readonly string[] | undefined => {
    const names = query[member]?.split(',').map((name) => name.trim())
    if (names?.includes('') === true) {
      issues.push({ path: `/${member}`, message: 'has an empty entry', expected: 'a comma-separated list' })
    }
    return unique(names)
  }
  const folded = (member: ListMember) => unique(list(member)?.map((name) => name.toLowerCase()))
  const modalities = (member: 'input_modalities' | 'output_modalities', unset?: readonly string[]) => {
    const names = list(member) ?? unset
    return names?.includes(EVERY) === true ? undefined : names
  }
  const filter: ModelFilter = {
    words: unique(query.q?.toLowerCase().split(/\s+/)),
    categories: list('category'),
    architectures: folded('arch'),
    regions: list('region'),
    inputModalities: modalities('input_modalities'),
    outputModalities: modalities('output_modalities', OUTPUT_MODALITIES_DEFAULT),
    supportedParameters: list('supported_parameters'),
    authors: folded('model_authors'),
    providers: list('providers'),
    contextMin: query.context,
    isDistillable: query.distillable,
    isZdr: query.zdr,
    promptPriceMin: query.min_price,
    promptPriceMax: query.max_price,
    completionPriceMin: query.min_output_price,
    completionPriceMax: query.max_output_price,
    ageDaysMin: query.min_age_days,
    ageDaysMax: query.max_age_days,
    intelligenceMin: query.min_intelligence_index,
    codingMin: query.min_coding_index,
    agenticMin: query.min_agentic_index,
    toolSuccessMin: query.min_tool_success_rate,
    sort: query.sort,
  }
  return issues.length > 0 ? fail('query_invalid', { metadata: { issues } }) : ok(filter)
}

/** Removes repeated names: the filter searches each name in every model. */
function unique(names: readonly string[] | undefined): readonly string[] | undefined {
  return names && [...new Set(names)]
}

interface Listing {
  /** Path of the operation below `/api/v1`, as declared. */
  readonly path: string
  readonly query: Query
}

/**
 * One page of a model list, joined from serialized bodies; the whole list when neither `limit` nor `offset`
 * was given. B2.3. `links` and `total_count` are always present: clients refuse a list without them (B3.1).
 */
export function pageOf(
  found: readonly ResolvedModel[],
  { path, query }: Listing,
): Outcome<Success> | Promise<Outcome<Success>> {
  const isWhole = query.limit === undefined && query.offset === undefined
  const offset = query.offset ?? 0
  const limit = isWhole ? found.length : (query.limit ?? MODELS_PAGE_DEFAULT)
  const next = offset + limit < found.length ? nextLink(path, query, { offset: offset + limit, limit }) : null
  // Only the whole list can be longer than the largest page.
  if (isWhole && found.length > MODELS_PAGE_MAX)
    return everyOf(found).then((parts) => ok({ ...json(parts), isShared: true }))
  return ok(
    json([Buffer.concat([OPEN, ...separated(found.slice(offset, offset + limit)), endOf(found, next)])]),
  )
}

/**
 * The parts of long lists, created once and kept while the selection is cached. The parts are the bodies of
 * the models themselves: a joined copy for each order and filter would take as much memory as all models.
 */
const EVERY_OF = new WeakMap<readonly ResolvedModel[], Promise<readonly Uint8Array[]>>()

function everyOf(found: readonly ResolvedModel[]): Promise<readonly Uint8Array[]> {
  const known = EVERY_OF.get(found)
  if (known !== undefined) return known
  const parts = itemsInTurns(found, ({ item }) => item).then((items) => [...items, endOf(found, null)])
  EVERY_OF.set(found, parts)
  return parts
}

/** Models whose bodies are serialized in one turn of the event loop: this takes 2 ms, all 100,000 would take two seconds. */
const RENDERED_AT_ONCE = 100

/** A JSON list with one body for each model, without its closing part. @param bodyOf null: the model is not in the list */
export async function itemsInTurns(
  found: readonly ResolvedModel[],
  bodyOf: (bodies: ModelBodies) => Uint8Array | null,
): Promise<readonly Uint8Array[]> {
  const parts: Uint8Array[] = [OPEN]
  for (const [at, { bodies }] of found.entries()) {
    if (at > 0 && at % RENDERED_AT_ONCE === 0) await setImmediate()
    const body = bodyOf(bodies)
    if (body !== null) parts.push(...(parts.length === 1 ? [] : [COMMA]), body)
  }
  return parts
}

function endOf({ length }: readonly ResolvedModel[], next: string | null): Uint8Array {
  return Buffer.from(`],"links":{"next":${JSON.stringify(next)}},"total_count":${length}}`)
}

function separated(models: readonly ResolvedModel[]): readonly Uint8Array[] {
  return models.flatMap(({ bodies }, at) => (at === 0 ? [bodies.item] : [COMMA, bodies.item]))
}

/** The `run` of operations that read one model by the id in their path, which may also be a variant or an alias. */
export function readModel(body: 'answer' | 'endpoints' | 'bare') {
  const answer = (found: Outcome<ResolvedModel>): Outcome<Success> =>
    found.ok ? ok(json([found.value.bodies[body]])) : found
  return (
    { params, key }: { readonly params: ModelParams | BareModelParams; readonly key: KeyRecord },
    ports: Ports,
  ): Outcome<Success> | Promise<Outcome<Success>> => {
    const id = 'model' in params ? params.model : `${params.author}/${params.slug}`
    const found = findModel(key, id, ports)
    return found instanceof Promise ? found.then(answer) : answer(found)
  }
}

/** A success whose body is already JSON. */
function json(parts: readonly Uint8Array[]): Success {
  return { kind: 'bytes', parts, contentType: 'application/json' }
}

const OPEN = Buffer.from('{"data":[')
const COMMA = Buffer.from(',')
/** The end of a list without members after its items. */
export const CLOSE_LIST = Buffer.from(']}')

function nextLink(
  path: string,
  query: Query,
  page: Required<Pick<ListModelsQuery, 'limit' | 'offset'>>,
): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, ...page })) {
    if (value !== undefined) search.set(name, String(value))
  }
  return `${API_PREFIX}${path}?${search.toString()}`
}
