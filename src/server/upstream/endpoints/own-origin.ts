import { fail, type Outcome } from '../../../schemas/failures.ts'
import type { Egress, VettedOrigin } from '../../ports/egress/egress.ts'
import type { Endpoint, OwnWay } from '../../ports/models/models.ts'
import type { CredentialHeader } from '../credential.ts'
import type { LinkOrigin } from '../link.ts'
import { keyHeaderOf, NO_EXTRA, plainHeaders, type ExtraHeaders } from '../provider-headers.ts'

/** Access to an endpoint under a workspace's credential, without the credential itself. */
export interface OwnAccess {
  readonly origin: LinkOrigin
  readonly extra: ExtraHeaders
  readonly keyHeader: CredentialHeader | null
}

/**
 * Null when the gate refuses the host or port. The operator configured the catalogue's address, which is
 * trusted here as for all calls.
 */
export function ownAccess(
  { provider }: Endpoint,
  { destination }: OwnWay,
  egress: Pick<Egress, 'vetted' | 'trusted'>,
): OwnAccess | null {
  if (destination === null) {
    const origin = egress.trusted(new URL(provider.baseUrl).origin)
    return { origin, extra: plainHeaders(provider), keyHeader: keyHeaderOf(provider) }
  }
  const vetted = egress.vetted(destination)
  // The catalogue's headers for its own address do not belong to another address.
  return vetted.ok ? { origin: asProvider(vetted.value), extra: NO_EXTRA, keyHeader: null } : null
}

/** Wraps an origin. The caller of a model did not choose the destination, so a refused destination is the endpoint's failure. */
function asProvider(origin: VettedOrigin): LinkOrigin {
  return {
    call: (request) => origin.call(request).then(ofDestination),
    exchange: (request) => origin.exchange(request).then(ofDestination),
  }
}

function ofDestination<T>(outcome: Outcome<T>): Outcome<T> {
  return !outcome.ok && outcome.failure.name === 'destination_refused'
    ? fail('upstream_failed', {
        detail: 'The host resolves to an address that is not public.',
        cause: outcome.failure,
      })
    : outcome
}
