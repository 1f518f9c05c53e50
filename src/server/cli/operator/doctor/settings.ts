import { nearest } from '../../../../schemas/nearest.ts'
import { Settings } from '../../../../schemas/operator/settings.ts'
import { loadCatalogue } from '../../../catalogue/load.ts'
import { misplacedAdvice } from '../../../catalogue/operator-keys.ts'
import { SHIPPED_CATALOGUE } from '../../../catalogue/shipped.ts'
import type { Generation } from '../../../config.ts'
import { unpricedEndpoints } from '../../../main/safekeeping.ts'
import type { ModelCatalogue } from '../../../ports/models/models.ts'
import { catalogueChoice, catalogueName } from '../../parts/load-models.ts'
import { unsetKeys } from '../../models/models.ts'
import { bad, doubtful, good, type Finding } from './finding.ts'

/** Warns about unknown settings; doctor has already failed on wrong values. */
export function settings({ unknown }: Generation): readonly Finding[] {
  return unknown.map((name) => {
    const near = nearest(name, Object.keys(Settings.properties))
    const fix = near.length === 0 ? '' : `did you mean ${near.join(' or ')}? `
    const all = '`sluice config print` lists all names'
    return doubtful('settings', `${name} is not a setting of this version`, `${fix}${all}`)
  })
}

export function catalogue({ config, providerKeys }: Generation): readonly Finding[] {
  const { file, difference } = catalogueChoice(config)
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: file })
  if (loaded.ok) {
    const unpriced = unpricedEndpoints(loaded.unpriced)
    const prices =
      unpriced === null
        ? good('prices', 'all endpoints have a price or are free')
        : doubtful('prices', unpriced.detail, unpriced.fix)
    return [
      difference === null
        ? good('catalogue', `${loaded.catalogue.models.length} models from ${catalogueName(file)}`)
        : doubtful('catalogue', difference.detail, difference.fix),
      prices,
      ...keysOf(loaded.catalogue, providerKeys),
    ]
  }
  return [
    bad(
      'catalogue',
      `${loaded.problems.length} mistakes`,
      'run `sluice catalog check` on the SLUICE_CATALOG file',
    ),
  ]
}

/** Lists provider keys that are not set: Sluice skips their providers, which is no mistake, since few operators have all keys. */
function keysOf(loaded: ModelCatalogue, providerKeys: Generation['providerKeys']): readonly Finding[] {
  const { unset, misplaced } = unsetKeys(loaded, providerKeys)
  const advice = misplacedAdvice(misplaced)
  return [
    good(
      'provider_keys',
      unset.length === 0
        ? 'all provider keys are set'
        : `provider keys that are not set: ${unset.join(', ')}`,
    ),
    ...(advice === null ? [] : [doubtful('provider_keys', advice.detail, advice.fix)]),
  ]
}
