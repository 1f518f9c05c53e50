import { nearest } from '../../../schemas/nearest.ts'
import { failureWords, type FailureWords } from '../../../schemas/failure-words.ts'
import { ASKED_MODELS_COMPARED_MAX } from '../../../schemas/requests/request-limits.ts'
import type { RequestShape } from '../../../schemas/requests/requests.ts'
import type { ModelCatalogue } from '../../ports/models/models.ts'
import { comparedNames } from '../name-hints.ts'

export type Models = Pick<ModelCatalogue, 'models' | 'aliases'>

interface Words {
  readonly errors: Readonly<Record<string, FailureWords>>
  readonly nearest_models: Readonly<Record<string, readonly string[]>>
}

/** What the failures of these rows mean, said once for each name. */
export function wordsOf(rows: readonly RequestShape[], models: Models): Words {
  const names = new Set(rows.flatMap(({ error_type: error }) => error ?? []))
  const errors = Array.from(names, (name) => [name, failureWords(name)] as const)
  const misspelt = rows.flatMap(({ error_type: error, model }) =>
    error === 'model_unknown' && model !== null ? model : [],
  )
  const compared = [...new Set(misspelt)].slice(0, ASKED_MODELS_COMPARED_MAX)
  const known = compared.length === 0 ? [] : comparedNames(models)
  return {
    errors: Object.fromEntries(errors.filter((entry): entry is [string, FailureWords] => entry[1] !== null)),
    nearest_models: Object.fromEntries(compared.map((name) => [name, nearest(name, known)])),
  }
}
