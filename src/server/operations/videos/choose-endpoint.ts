import { isCounted, type LimitFlags } from '../../../schemas/money/costs.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { variablesOf } from '../../../schemas/workspaces/provider-keys.ts'
import { endpointUnconfigured } from '../../../schemas/models/unconfigured.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'
import type { Ports } from '../../ports/ports.ts'
import type { PreviousVideo } from '../../ports/videos/videos.ts'

interface Choice {
  readonly operatorKeys: Ports['operatorKeys']
  /**
   * Limits of the key: under a limit that counts an endpoint, an unpriced one is skipped while another one is
   * left. C40.
   */
  readonly limits: LimitFlags
  readonly previous: PreviousVideo | null
}

/**
 * The first endpoint of the model that can be called here: its provider needs no key, or the workspace or the
 * operator has one. A job that continues another one uses the same endpoint and credential. Failures:
 * endpoint_unconfigured, also where the catalogue lists the model without an endpoint; video_previous_unfit.
 */
export function chooseEndpoint(
  model: CallableModel,
  { operatorKeys, limits, previous }: Choice,
): Outcome<Endpoint> {
  const able = model.endpoints.filter(({ video, provider }) => video !== null && provider.video !== null)
  const ready = able.filter(
    ({ provider, ownWay }) =>
      ownWay !== undefined || variablesOf(provider).every((name) => operatorKeys.has(name)),
  )
  const [first] = ready
  if (first === undefined) return endpointUnconfigured(model)
  // The store refuses unpriced endpoints, unless a limit was removed meanwhile.
  if (previous === null)
    return ok(
      ready.find((endpoint) => !endpoint.isUnpriced || !isCounted(limits, endpoint.ownWay !== undefined)) ??
        first,
    )
  const same = ready.find(
    (endpoint) =>
      endpoint.provider.slug === previous.provider && ownSecretOf(endpoint) === previous.ownSecret,
  )
  return same === undefined ? fail('video_previous_unfit') : ok(same)
}

/** Name of the workspace's secret for calls of the endpoint; null: the operator's credential, or none. */
export function ownSecretOf({ ownWay }: Endpoint): string | null {
  return ownWay?.secretName ?? null
}
