import { loadCatalogue } from '../../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../../catalogue/shipped.ts'
import { usableCores, wholeCores } from '../../../config/cores.ts'
import { countsOf } from '../../../supervisor/fleet/scaling.ts'
import { tooMany } from '../../../observe/load-advice.ts'
import { stillUnpriced, unpricedTiers, unpricedTiersIn } from '../../../observe/unpriced-tiers.ts'
import { catalogueChoice } from '../../parts/load-models.ts'
import { adviceOn, countsText, lookAtLoad } from '../doctor-load.ts'
import { doubtful, good, type Finding } from './finding.ts'
import type { Look } from './look.ts'

/**
 * Checks the load of a running node, whose numbers `sluice scale` may have changed; else the numbers of the
 * settings.
 */
export async function workers({ generation, runtime }: Look): Promise<readonly Finding[]> {
  const seen = runtime === null ? null : await lookAtLoad(runtime.adminUrl)
  if (seen !== null) return [...adviceOn(seen.load, seen.cores), ...tiers(generation, seen.metrics)]
  const counts = countsOf(generation)
  const said = good('workers', countsText(counts, generation.config.runners, generation.config))
  const advice = tooMany(counts.fronts, { all: wholeCores(usableCores()) })
  return advice === null ? [said] : [said, doubtful('load', advice.detail, advice.fix)]
}

/** Tiers that providers reported and the catalogue has no price of. F8. */
function tiers({ config }: Look['generation'], metrics: string): readonly Finding[] {
  const counts = unpricedTiersIn(metrics)
  if (counts.length === 0) return []
  const extraFile = catalogueChoice(config).file
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile })
  const advice = unpricedTiers(loaded.ok ? stillUnpriced(counts, loaded.catalogue) : counts)
  return advice === null ? [] : [doubtful('tiers', advice.detail, advice.fix)]
}
