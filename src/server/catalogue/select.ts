import type { Model, ModelSort } from '../../schemas/models/models.ts'
import { nanoPerMillion } from '../../schemas/money/prices.ts'
import type { ModelFilter, ResolvedModel } from '../ports/models/models.ts'
import type { BuiltModel } from './build.ts'

const DAY_MS = 86_400_000
const NANO = 1_000_000_000

/** A model with the values that lists filter on, computed once. */
export interface Listed {
  readonly model: ResolvedModel
  readonly author: string
  readonly architecture: string | null
  readonly categories: readonly string[]
  readonly regions: readonly string[]
  readonly providers: readonly string[]
  /** Nano-USD per million prompt tokens. */
  readonly promptNano: number
  /** Nano-USD per million completion tokens. */
  readonly completionNano: number
  /** Milliseconds as `Date.now()`; null when the catalogue has no date. */
  readonly createdMs: number | null
}

/** What sorts compare. */
type Ranked = Pick<Listed, 'model' | 'promptNano' | 'completionNano' | 'createdMs'>

function listed({ entry, model }: BuiltModel): Listed {
  const { wire } = model
  return {
    ...ranked(model),
    author: wire.id.slice(0, wire.id.indexOf('/')).toLowerCase(),
    architecture: wire.architecture.tokenizer?.toLowerCase() ?? null,
    categories: entry.categories ?? [],
    regions: [...new Set((entry.endpoints ?? []).flatMap((endpoint) => endpoint.regions ?? []))],
    providers: model.endpoints.map((endpoint) => endpoint.provider.slug),
  }
}

function ranked(model: ResolvedModel): Ranked {
  const { wire } = model
  return {
    model,
    promptNano: nanoPerMillion(wire.pricing.prompt) ?? 0,
    completionNano: nanoPerMillion(wire.pricing.completion) ?? 0,
    createdMs: wire.created === 0 ? null : wire.created * 1000,
  }
}

/** All models, and the index of their texts for searches. */
export interface Selectable {
  readonly all: readonly Listed[]
  readonly words: WordSearch
}

/**
 * The models that match every member of the filter, sorted. A filter on data that the catalogue lacks matches
 * nothing; a sort by such data puts these models last, in the order of the catalogue.
 */
export function select(
  { all, words }: Selectable,
  filter: ModelFilter,
  nowMs: number,
): readonly ResolvedModel[] {
  const tests = testsOf(filter, nowMs)
  const candidates =
    filter.words === undefined ? all : words.find(filter.words).flatMap((at) => all[at] ?? [])
  const found = candidates.filter((one) => tests.every((test) => test(one)))
  const rank = filter.sort === undefined ? null : RANKS[filter.sort]
  if (rank !== null) found.sort((a, b) => compare(rank(a), rank(b)))
  return found.map((one) => one.model)
}

/**
 * Merges two selections with the same sort; without a sort, the first selection comes first.
 * @param few its models are placed by binary search, since a catalogue may have 100,000 models
 */
export function merged(
  few: readonly ResolvedModel[],
  many: readonly ResolvedModel[],
  sort: ModelSort | undefined,
): readonly ResolvedModel[] {
  const rank = sort === undefined ? null : RANKS[sort]
  if (rank === null) return [...few, ...many]
  const all: ResolvedModel[] = []
  let from = 0
  for (const one of few) {
    const place = placeOf(rank(ranked(one)), { many, from, rank })
    all.push(...many.slice(from, place), one)
    from = place
  }
  return [...all, ...many.slice(from)]
}

interface Sorted {
  readonly many: readonly ResolvedModel[]
  readonly from: number
  readonly rank: Rank
}

/** The first index from `from` whose model does not sort before a model of this rank. */
function placeOf(wanted: readonly number[], { many, from, rank }: Sorted): number {
  let [low, high] = [from, many.length]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const there = many[middle]
    if (there !== undefined && compare(rank(ranked(there)), wanted) < 0) low = middle + 1
    else high = middle
  }
  return low
}

export function selectable(built: readonly BuiltModel[]): Selectable {
  return { all: built.map(listed), words: new WordSearch(built.map(({ model: { wire } }) => textOf(wire))) }
}

function textOf({ id, name, description = '' }: Model): string {
  return `${id}\n${name}\n${description}`.toLowerCase()
}

type Test = (one: Listed) => boolean

function testsOf(filter: ModelFilter, nowMs: number): readonly Test[] {
  const tests: Test[] = []
  const add = <T>(wanted: T | undefined, test: (wanted: T, one: Listed) => boolean): void => {
    if (wanted !== undefined) tests.push((one) => test(wanted, one))
  }
  add(filter.categories, (names, one) => hasAny(names, one.categories))
  add(filter.architectures, (names, one) => one.architecture !== null && names.includes(one.architecture))
  add(filter.regions, (names, one) => hasAny(names, one.regions))
  add(filter.inputModalities, (names, one) => hasAll(names, one.model.inputModalities))
  add(filter.outputModalities, (names, one) => hasAny(names, one.model.wire.architecture.output_modalities))
  add(filter.supportedParameters, (names, one) => hasAll(names, one.model.wire.supported_parameters))
  add(filter.authors, (names, one) => names.includes(one.author))
  add(filter.providers, (names, one) => hasAny(names, one.providers))
  add(filter.contextMin, (least, one) => one.model.contextLength !== null && one.model.contextLength >= least)
  add(filter.isDistillable, (wanted, { model }) =>
    model.endpoints.some((one) => one.isDistillable === wanted),
  )
  add(filter.isZdr, (wanted, { model }) => model.endpoints.some((one) => one.isZdr === wanted))
  // Callers send USD per million tokens as a float; rounding to the stored unit removes its error.
  add(filter.promptPriceMin, (usd, one) => one.promptNano >= Math.round(usd * NANO))
  add(filter.promptPriceMax, (usd, one) => one.promptNano <= Math.round(usd * NANO))
  add(filter.completionPriceMin, (usd, one) => one.completionNano >= Math.round(usd * NANO))
  add(filter.completionPriceMax, (usd, one) => one.completionNano <= Math.round(usd * NANO))
  add(filter.ageDaysMin, (days, one) => one.createdMs !== null && one.createdMs <= nowMs - days * DAY_MS)
  add(filter.ageDaysMax, (days, one) => one.createdMs !== null && one.createdMs >= nowMs - days * DAY_MS)
  add(filter.intelligenceMin, (least, one) => scoreOf(one, 'intelligence_index') >= least)
  add(filter.codingMin, (least, one) => scoreOf(one, 'coding_index') >= least)
  add(filter.agenticMin, (least, one) => scoreOf(one, 'agentic_index') >= least)
  add(filter.toolSuccessMin, (least, one) => scoreOf(one, 'tool_success_rate') >= least)
  return tests
}

/** The score of a model; NaN when the catalogue has none, so that every comparison is false. */
function scoreOf(one: Pick<Listed, 'model'>, name: keyof NonNullable<Model['benchmarks']>): number {
  return one.model.wire.benchmarks?.[name] ?? Number.NaN
}

function hasAny(wanted: readonly string[], has: readonly string[]): boolean {
  return wanted.some((name) => has.includes(name))
}

function hasAll(wanted: readonly string[], has: readonly string[]): boolean {
  return wanted.every((name) => has.includes(name))
}

type Rank = (one: Ranked) => readonly number[]

/** Values to sort by, lowest first; null if Sluice has no measurement, so that the order of the catalogue is kept. */
const RANKS: Readonly<Record<ModelSort, Rank | null>> = {
  'most-popular': null,
  'top-weekly': null,
  'throughput-high-to-low': null,
  'latency-low-to-high': null,
  newest: (one) => [-(one.createdMs ?? Number.NaN)],
  'pricing-low-to-high': (one) => [one.promptNano, one.completionNano],
  'pricing-high-to-low': (one) => [-one.promptNano, -one.completionNano],
  'context-high-to-low': (one) => [-(one.model.contextLength ?? Number.NaN)],
  'intelligence-high-to-low': (one) => [-scoreOf(one, 'intelligence_index')],
  'coding-high-to-low': (one) => [-scoreOf(one, 'coding_index')],
  'agentic-high-to-low': (one) => [-scoreOf(one, 'agentic_index')],
  'design-arena-elo-high-to-low': (one) => [-scoreOf(one, 'design_arena_elo')],
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index] ?? Number.NaN
    if (Number.isNaN(left) || Number.isNaN(right)) {
      if (Number.isNaN(left) !== Number.isNaN(right)) return Number.isNaN(left) ? 1 : -1
    } else if (left !== right) return left - right
  }
  return 0
}

/**
 * Finds texts by their words. All texts are joined into one, so that a search runs at the speed of memory.
 * Words contain no white space, so no match spans two texts.
 */
export class WordSearch {
  readonly #all: string
  /** End of each text in the joined text. */
  readonly #ends: Uint32Array

  constructor(texts: readonly string[]) {
    this.#all = texts.join('\n')
    this.#ends = new Uint32Array(texts.length)
    let end = -1
    for (const [at, text] of texts.entries()) this.#ends[at] = end += text.length + 1
  }

  /** @returns the indexes of the texts that contain every word, ascending */
  find(words: readonly string[]): readonly number[] {
    // The longest word usually occurs in the fewest texts.
    const [first = '', ...others] = [...words].sort((a, b) => b.length - a.length)
    const found: number[] = []
    for (let text = 0; text < this.#ends.length; text++) {
      const at = this.#all.indexOf(first, this.#startOf(text))
      if (at < 0) break
      text = this.#textAt(at, text)
      if (others.every((word) => this.#has(text, word))) found.push(text)
    }
    return found
  }

  #startOf(text: number): number {
    return text === 0 ? 0 : (this.#ends[text - 1] ?? 0) + 1
  }

  /** @param from index of a text that does not end before `at` */
  #textAt(at: number, from: number): number {
    let [low, high] = [from, this.#ends.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ends[middle] ?? 0) < at) low = middle + 1
      else high = middle
    }
    return low
  }

  #has(text: number, word: string): boolean {
    return this.#all.slice(this.#startOf(text), this.#ends[text]).includes(word)
  }
}
