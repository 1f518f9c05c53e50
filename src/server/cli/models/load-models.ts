import { loadCatalogue } from '../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../catalogue/shipped.ts'
import { lineOf, type CatalogueProblem } from '../../catalogue/sources.ts'
import type { ModelCatalogue } from '../../ports/models/models.ts'
import { CliFailure } from '../parts/verb.ts'

/** The catalogue of an installation. Throws `CliFailure` with every mistake. */
export function loadModels(extraFile: string | null): ModelCatalogue {
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile })
  if (loaded.ok) return loaded.catalogue
  throw new CliFailure(`the catalogue has mistakes:\n${linesOf(loaded.problems)}`)
}

export function linesOf(problems: readonly CatalogueProblem[]): string {
  return problems.map(lineOf).join('\n')
}
