import { LRUCache } from 'lru-cache'
import type { ModelCatalogue, ModelFilter, Provider, ResolvedModel } from '../ports/models/models.ts'
import { speaksOf } from './build-text.ts'
import { buildModel, buildProvider, originOf, underAlias, type BuiltModel } from './build.ts'
import { checkEntries, doubtsOf, checkRepeats } from './check.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'
import { select, selectable, type Selectable } from './select.ts'
import { readSource, type CatalogueProblem, type Placed, type Source } from './sources.ts'
import { unpricedOf, type UnpricedEndpoint } from './terms.ts'

/** Filters of model lists whose results a front caches. Decision. */
export const MODEL_SELECTIONS_CACHED_MAX = 1_000
/** Models in all cached results of filters together (8 bytes each). Decision. */
export const MODELS_SELECTED_CACHED_MAX = 500_000

export interface CatalogueFiles {
  /** The catalogue that ships with the product. */
  readonly shippedFile: string
  /** The operator's own file (`SLUICE_CATALOG`): replaces entries with the same id or slug and adds the others. */
  readonly extraFile: string | null
  /** Wall clock in milliseconds, for filters on age. */
  readonly now?: () => number
}

export type CatalogueResult =
  LoadedCatalogue | { readonly ok: false; readonly problems: readonly CatalogueProblem[] }

export interface LoadedCatalogue {
  readonly ok: true
  readonly providers: readonly Provider[]
  /** Possible typing errors, or values newer than this version. */
  readonly warnings: readonly CatalogueProblem[]
  /** Endpoints without a price. */
  readonly unpriced: readonly UnpricedEndpoint[]
  /** The index is built at the first use: for 100,000 models it takes a second and 340 MB, which a check alone does not need. */
  readonly catalogue: ModelCatalogue
}

/** Reads and checks the catalogue. Reports all errors of both files at once, by file and JSON pointer. */
export function loadCatalogue({ shippedFile, extraFile, now = Date.now }: CatalogueFiles): CatalogueResult {
  const sources = [shippedFile, ...(extraFile === null ? [] : [extraFile])].map(readSource)
  const { providers, models } = merge(sources)
  const faulty = sources.flatMap((source) => source.faultyProviders)
  const problems = [
    ...sources.flatMap((source) => [
      ...source.problems,
      ...checkRepeats(source.providers, 'slug', (entry) => entry.slug),
      ...checkRepeats(source.models, 'id', (entry) => entry.id),
    ]),
    ...checkEntries({ providers, faulty }, [...models.values()]),
  ]
  if (problems.length > 0) return { ok: false, problems: inOrder(problems, sources) }
  const shipped = new Set((sources[0]?.providers ?? []).flatMap(({ entry }) => originOf(entry) ?? []))
  const bySlug = new Map(
    [...providers.values()].map(({ entry }) => [entry.slug, buildProvider(entry, shipped)]),
  )
  const isSpeaking = (endpoint: EndpointEntry): boolean =>
    speaksOf(endpoint, bySlug.get(endpoint.provider)).length > 0
  let catalogue: ModelCatalogue | null = null
  return {
    ok: true,
    providers: [...bySlug.values()],
    warnings: doubtsOf([...models.values()]),
    unpriced: [...models.values()].flatMap(({ entry }) => unpricedOf(entry, isSpeaking)),
    get catalogue() {
      return (catalogue ??= index(bySlug, [...models.values()], now))
    },
  }
}

/** Sorts problems by file and by the order of the entries in it. */
function inOrder(
  problems: readonly CatalogueProblem[],
  sources: readonly Source[],
): readonly CatalogueProblem[] {
  const files = sources.map(({ file }) => file)
  const placed = problems.map((problem) => {
    const [, list = '', index = ''] = problem.path.split('/')
    return {
      problem,
      file: files.indexOf(problem.file),
      list: list === 'models' ? 1 : 0,
      index: Number(index) || 0,
    }
  })
  placed.sort((a, b) => a.file - b.file || a.list - b.list || a.index - b.index)
  return placed.map(({ problem }) => problem)
}

interface Merged {
  readonly providers: Map<string, Placed<ProviderEntry>>
  readonly models: Map<string, Placed<ModelEntry>>
}

/**
 * Merges the sources. A later source's entry replaces the earlier entry of the same name at the same
 * position, so that lists keep their order.
 */
function merge(sources: readonly Source[]): Merged {
  const from = Math.max(
    0,
    sources.findLastIndex((source) => source.isReplacing),
  )
  const merged: Merged = { providers: new Map(), models: new Map() }
  for (const source of sources.slice(from)) {
    for (const placed of source.providers) put(merged.providers, placed.entry.slug, placed)
    for (const placed of source.models) put(merged.models, placed.entry.id.toLowerCase(), placed)
  }
  return merged
}

/** Adds an entry. A name that occurs twice in one file is an error, which must not hide the errors of the first entry. */
function put<T>(entries: Map<string, Placed<T>>, name: string, placed: Placed<T>): void {
  const isRepeat = entries.get(name)?.file === placed.file
  entries.set(isRepeat ? `${name} ${placed.path}` : name, placed)
}

function index(
  providers: ReadonlyMap<string, Provider>,
  modelEntries: readonly Placed<ModelEntry>[],
  now: () => number,
): ModelCatalogue {
  const built = modelEntries.map(({ entry }) => buildModel(entry, providers))
  return new Catalogue(built, [...providers.values()], now)
}

/** Indexes the models once and never changes: a new file is loaded as a new catalogue in a new front. */
class Catalogue implements ModelCatalogue {
  readonly models: readonly ResolvedModel[]
  readonly aliases: ReadonlyMap<string, string>
  readonly providers: readonly Provider[]
  readonly #byName = new Map<string, ResolvedModel>()
  readonly #selections: Selections

  constructor(built: readonly BuiltModel[], providers: readonly Provider[], now: () => number) {
    this.models = built.map(({ model }) => model)
    this.aliases = new Map(
      built.flatMap(({ entry }) => (entry.aliases ?? []).map((alias) => [alias, entry.id] as const)),
    )
    this.providers = providers
    this.#selections = new Selections(selectable(built), now)
    for (const one of built) this.#name(one)
  }

  /**
   * Finds a model by a name. A spelling that occurs in the catalogue needs one lookup without garbage; other
   * spellings are converted to lower case first.
   */
  resolve(id: string): ResolvedModel | null {
    return this.#byName.get(id) ?? this.#byName.get(id.toLowerCase()) ?? null
  }

  select(filter: ModelFilter): readonly ResolvedModel[] {
    return this.#selections.of(filter)
  }

  #name({ entry, model, bySuffix }: BuiltModel): void {
    for (const [suffix, variant] of bySuffix) {
      const aliased = underAlias(variant)
      for (const name of [entry.id, model.canonicalSlug]) this.#add(name + suffix, variant)
      for (const alias of entry.aliases ?? []) this.#add(alias + suffix, aliased)
    }
  }

  #add(name: string, model: ResolvedModel): void {
    this.#byName.set(name, model)
    this.#byName.set(name.toLowerCase(), model)
  }
}

/**
 * Caches the results of filters, so that the pages of one list search the catalogue only once: 100,000 models
 * take 10 ms. Filters on age are not cached, since ages change although the catalogue does not.
 */
export class Selections {
  readonly #models: Selectable
  readonly #now: () => number
  readonly #found = new LRUCache<string, readonly ResolvedModel[]>({
    max: MODEL_SELECTIONS_CACHED_MAX,
    maxSize: MODELS_SELECTED_CACHED_MAX,
    sizeCalculation: (models) => models.length + 1,
  })

  constructor(models: Selectable, now: () => number) {
    this.#models = models
    this.#now = now
  }

  of(filter: ModelFilter): readonly ResolvedModel[] {
    if (filter.ageDaysMin !== undefined || filter.ageDaysMax !== undefined)
      return select(this.#models, filter, this.#now())
    const key = JSON.stringify(filter)
    const known = this.#found.get(key)
    if (known !== undefined) return known
    const found = select(this.#models, filter, this.#now())
    this.#found.set(key, found)
    return found
  }
}
