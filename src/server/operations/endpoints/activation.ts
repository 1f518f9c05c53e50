import { ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import type { EndpointActor, EndpointRef, PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'
import type { Ports } from '../../ports/ports.ts'
import { failureOfChecks, underClaim } from './validation.ts'

export const ACTIVATION_FAILURES = [
  'endpoint_unknown',
  'not_validated',
  'validation_stale',
  'endpoint_active',
  'probe_running',
  'endpoint_changed',
  'workspace_endpoints_full',
  'workspace_unknown',
  'credential_unavailable',
  'validation_failed',
  'probe_slow',
  'probe_failed',
  'store_unavailable',
  'busy',
  'client_gone',
  'draining',
] as const satisfies readonly FailureName[]

export interface ActivationInput {
  readonly ref: EndpointRef
  readonly by: EndpointActor
  readonly call: { readonly signal: AbortSignal }
}

/** Makes a validated endpoint routable, if a probe with the currently stored credential succeeds now. C28. */
export async function activate(
  { ref, by, call }: ActivationInput,
  ports: Ports,
): Promise<Outcome<PrivateEndpoint>> {
  const claimed = await ports.privateEndpoints.claimActivation(ref)
  if (!claimed.ok) return claimed
  return underClaim(claimed.value, ports, async (claim) => {
    const { endpoint } = claim
    const workspaceId = endpoint.workspaceId ?? ''
    const { speaks: forms } = endpoint
    const probed = await ports.endpointProber.probe({ endpoint, workspaceId, forms, by, call })
    if (!probed.ok) return probed
    if (probed.value.checks.some(({ passed }) => !passed))
      return { ok: false, failure: failureOfChecks(probed.value) }
    const activated = await ports.privateEndpoints.activated(claim, by)
    return activated.ok ? ok(activated.value) : activated
  })
}
