import { withoutModel } from '../../../schemas/keys/allowed-models.ts'
import { loadCatalogue } from '../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../catalogue/shipped.ts'
import { loadGeneration } from '../parts/verb.ts'

/** Entries that a warning names. Decision. */
const WARNED_MODELS_MAX = 10

/**
 * Warns of models that a key was given and the catalogue lacks. The key is made by then: a catalogue with
 * mistakes is no failure of the verb.
 */
export function warnOfModels(allowed: readonly string[] | null | undefined): void {
  if (allowed === null || allowed === undefined) return
  const extraFile = loadGeneration().config.catalogFile
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile })
  if (!loaded.ok) return
  const unmatched = withoutModel(
    allowed,
    loaded.catalogue.models.map(({ id }) => id),
  )
  if (unmatched.length === 0) return
  const names = unmatched.slice(0, WARNED_MODELS_MAX).join(', ')
  process.stderr.write(
    `warning: no model of the catalogue, which lacks those of private endpoints, matches ${names}\n`,
  )
}
