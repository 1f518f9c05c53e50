import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { EGRESS_SECRETS_MAX } from '../../../schemas/limits.ts'
import { ownWorkspaceOf, type Call } from '../define.ts'
import type { SecretReleases } from '../../ports/vault.ts'

/**
 * The values of secrets for one host, each asked for once however often it is named, all or none.
 * Failures: header_invalid (more than EGRESS_SECRETS_MAX), and those of a release; the first refusal ends it.
 */
export async function releaseSecrets(
  names: readonly string[],
  { host, call, releases }: { readonly host: string; readonly call: Pick<Call, 'key' | 'requestId'>; readonly releases: SecretReleases },
): Promise<Outcome<ReadonlyMap<string, string>>> {
  const values = new Map<string, string>()
  const wanted = new Set(names)
  if (wanted.size > EGRESS_SECRETS_MAX) return fail('header_invalid', { detail: `A request names at most ${EGRESS_SECRETS_MAX} secrets.` })
  const { key, requestId } = call
  const scope = { organizationId: key.organizationId, workspaceId: ownWorkspaceOf(key), internId: key.internId }
  const by = { actor: { kind: 'key', id: key.hash }, requestId } as const
  for (const name of wanted) {
    const released = await releases.release({ scope, name, host, operation: 'egress.forward', by })
    if (!released.ok) return released
    values.set(name, released.value.reveal())
  }
  return ok(values)
}
