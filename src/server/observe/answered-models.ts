import type { Registry } from 'prom-client'
import { fieldName, OTHER_FIELD } from '../../dialects/table/field-names.ts'
import { METRIC_DROPPED_MAX } from '../../schemas/inference/stream-limits.ts'
import type { AnsweredInput } from '../ports/observe.ts'
import { UNPRICED_TIER_CALLS, unpricedTierOf, type UnpricedTier } from './unpriced-tiers.ts'
import { Tally, type Count } from './tally.ts'

/** The answered calls of one model since the start of the process. */
export interface ModelReading {
  readonly model: string
  readonly inputTokens: number
  /** Of these, those that a provider had in its cache. */
  readonly cachedTokens: number
  /** Calls by the member of the request that the provider did not get. */
  readonly dropped: Readonly<Record<string, number>>
}

/** The answered calls of one model. */
export interface AnsweredModel {
  add(input: AnsweredInput): void
}

/** Counts the input of answered calls, and what their providers did not get. D36. */
export class AnsweredModels {
  readonly #input: Tally
  readonly #dropped: Tally
  readonly #unpriced: Tally
  readonly #pairs = new Set<string>()

  /** @param labels names of the labels; the last one is `model` */
  constructor(registry: Registry, labels: readonly string[]) {
    this.#input = new Tally(
      registry,
      'sluice_input_tokens_total',
      "Input tokens of answered calls, by operation, provider, model and use of the provider's cache: read, write or none.",
      [...labels, 'cache'],
    )
    this.#dropped = new Tally(
      registry,
      'sluice_dropped_fields_total',
      'Answered calls with a request field that was not sent to the provider, by operation, provider, model and field.',
      [...labels, 'field'],
    )
    this.#unpriced = new Tally(
      registry,
      UNPRICED_TIER_CALLS,
      'Answers with a tier that has no price in the catalogue, charged at the base price, by operation, provider, model, tier and the member that names it.',
      [...labels, 'member', 'tier'],
    )
  }

  /** @param values of the labels */
  of(values: readonly string[]): AnsweredModel {
    const input = (cache: string): Count => this.#input.cell(...values, cache)
    const [none, read, write] = [input('none'), input('read'), input('write')]
    return {
      add: ({ fresh, cacheRead, cacheWrite, dropped, unpricedTier }) => {
        none.count += fresh
        read.count += cacheRead
        write.count += cacheWrite
        if (unpricedTier !== null) this.#unpriced.add(1, ...values, unpricedTier.member, unpricedTier.tier)
        if (dropped.length > 0) this.#addDropped(values, dropped)
      },
    }
  }

  #addDropped(values: readonly string[], dropped: readonly string[]): void {
    // Several members of one field are one.
    for (const field of new Set(dropped.map(fieldName)))
      this.#dropped.add(1, ...values, this.#bounded(values, field))
  }

  readUnpriced(): readonly UnpricedTier[] {
    return Array.from(this.#unpriced.counts, ({ labels, count }) => unpricedTierOf(labels, count))
  }

  read(): readonly ModelReading[] {
    const found = new Map<string, { inputTokens: number; cachedTokens: number; dropped: Counts }>()
    const of = (model = '') => {
      const known = found.get(model) ?? { inputTokens: 0, cachedTokens: 0, dropped: {} }
      found.set(model, known)
      return known
    }
    for (const { labels, count } of this.#input.counts) {
      const sums = of(labels['model'])
      sums.inputTokens += count
      if (labels['cache'] === 'read') sums.cachedTokens += count
    }
    for (const {
      labels: { model, field = '' },
      count,
    } of this.#dropped.counts) {
      const { dropped } = of(model)
      dropped[field] = (dropped[field] ?? 0) + count
    }
    return Array.from(found, ([model, sums]) => ({ model, ...sums }))
  }

  /** Callers choose members and models: the pairs of both are bounded, too. */
  #bounded(values: readonly string[], field: string): string {
    const pair = [...values, field].join('|')
    if (this.#pairs.size < METRIC_DROPPED_MAX) this.#pairs.add(pair)
    return this.#pairs.has(pair) ? field : OTHER_FIELD
  }
}

type Counts = Record<string, number>
