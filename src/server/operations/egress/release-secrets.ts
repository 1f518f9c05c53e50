import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { EGRESS_SECRETS_MAX } from '../../../schemas/egress/egress-limits.ts'
import { ownWorkspaceOf, type Call } from '../define.ts'
import type { BundleRequest, SecretBundles } from '../../ports/vault/vault.ts'

interface Asking {
  readonly host: string
  readonly call: Pick<Call, 'key' | 'requestId'>
  readonly releases: SecretBundles
  readonly fits: BundleRequest['fits']
}

/**
 * Releases the values of secrets for one host, all or none, and each name once. No secret is opened for a
 * request that the values would make too large. Failures: header_invalid (more than EGRESS_SECRETS_MAX),
 * those of a release, and those of `fits`; the first refusal ends the release.
 */
export async function releaseSecrets(
  named: readonly string[],
  { host, call, releases, fits }: Asking,
): Promise<Outcome<ReadonlyMap<string, string>>> {
  const names = [...new Set(named)]
  if (names.length > EGRESS_SECRETS_MAX)
    return fail('header_invalid', { detail: `A request can use at most ${EGRESS_SECRETS_MAX} secrets.` })
  if (names.length === 0) return ok(new Map())
  const { key, requestId } = call
  const scope = {
    organizationId: key.organizationId,
    workspaceId: ownWorkspaceOf(key),
    internId: key.internId,
  }
  const by = { actor: { kind: 'key', id: key.hash }, requestId } as const
  const released = await releases.releaseAll({ scope, names, host, operation: 'egress.forward', by, fits })
  return released.ok
    ? ok(new Map([...released.value].map(([name, secret]) => [name, secret.reveal()])))
    : released
}
