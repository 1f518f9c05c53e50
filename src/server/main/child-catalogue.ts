import { loadCatalogue, type LoadedCatalogue } from '../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../catalogue/shipped.ts'
import type { Config } from '../config.ts'

/** The catalogue of a forked process; the supervisor has checked the same files, so that mistakes are thrown. */
export function catalogueOf({ catalogFile }: Pick<Config, 'catalogFile'>): LoadedCatalogue['catalogue'] {
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: catalogFile })
  if (!loaded.ok) throw new Error(`the catalogue has ${loaded.problems.length} errors`)
  return loaded.catalogue
}
