import { LRUCache } from 'lru-cache'
import { MODEL_SELECTIONS_CACHED_MAX, MODELS_SELECTED_CACHED_MAX } from '../../schemas/models/model-limits.ts'
import type { ModelFilter, ResolvedModel } from '../ports/models/models.ts'
import { select, type Selectable } from './select.ts'

/**
 * Caches what filters found, so that the pages of one list walk over the catalogue once: 100,000 models take
 * 10 ms. A catalogue never changes but ages do: filters on age are not cached.
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
