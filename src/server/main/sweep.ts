import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { Config } from '../config.ts'
import type { Storage } from '../ports/files/storage.ts'
import type { SweepDeps } from '../runner/sweep.ts'
import type { Store } from '../store/base/open.ts'
import { openContainerSizes } from '../store/containers/container-sizes.ts'
import { openContainerUses } from '../store/containers/container-uses.ts'
import { openFileSweep } from '../store/files/file-sweep.ts'
import { readMark } from '../store/nodes/installation.ts'
import { placeOfAnother } from '../supervisor/joining.ts'
import { objectsPlace } from './storage.ts'

/** The parts of a sweep, which the runner runs regularly, and an operator by a verb. */
export function sweepDeps(
  config: Pick<Config, 'objects'>,
  { store, storage }: { readonly store: Store; readonly storage: Storage },
): SweepDeps {
  return {
    rows: openFileSweep(store),
    uses: openContainerUses(store),
    sizes: openContainerSizes(store),
    storage,
    checkPlace: () => checkPlace(config, store),
    now: Date.now,
  }
}

/**
 * Checks that the place of the objects has the mark of this installation, or none. A node checks it at its
 * start too, but the place may be unavailable then, and a verb starts no node. Fails with
 * `storage_unavailable`.
 */
async function checkPlace(config: Pick<Config, 'objects'>, { sql }: Store): Promise<Outcome<null>> {
  const place = await objectsPlace(config)
  try {
    const [seen, own] = await Promise.all([place.mark.read(), readMark(sql)])
    if (seen === null || seen === own) return ok(null)
    const { detail, fix } = placeOfAnother(place)
    return fail('storage_unavailable', { detail: `${detail}: ${fix}.` })
  } catch (cause) {
    return fail('storage_unavailable', { cause })
  }
}
