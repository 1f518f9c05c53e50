import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { isProviderKey, providerKeyHost } from '../../../schemas/workspaces/provider-keys.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { VideoOrder } from '../../ports/videos/video-providers.ts'
import type { SecretReleases } from '../../ports/vault/vault.ts'
import type { Credential } from '../credential.ts'
import { operatorAccess, plainHeaders, type ExtraHeaders } from '../provider-headers.ts'

/**
 * Milliseconds that a workspace's released provider key is used before its next release, which is audited
 * again: a revoked key is not used for longer. Decision.
 */
export const VIDEO_OWN_KEY_MS = 30_000
/** Workspaces' provider keys that one runner holds at once. Decision. */
export const VIDEO_OWN_KEYS_MAX = 1_000

/** Operation under which the audit log shows the release of a key. */
const OPERATION = 'video.create'

export interface KeyDeps {
  /** The operator's keys by the name of their setting. */
  readonly credentials: ReadonlyMap<string, Credential>
  readonly releases: SecretReleases
  /** Milliseconds of any clock. */
  readonly now: () => number
}

/** The key and headers for the calls of an order. */
export interface OrderKey {
  /** Null: the provider needs none. */
  readonly text: string | null
  readonly isOwn: boolean
  readonly extra: ExtraHeaders
}

interface Kept {
  readonly secret: Secret
  readonly untilMs: number
}

/** Keys of orders: the operator's, or the workspace's own, which is released only for the provider's host. */
export class VideoKeys {
  readonly #deps: KeyDeps
  /** Released keys by workspace, secret and host; the oldest first. */
  readonly #kept = new Map<string, Kept>()
  readonly #releasing = new Map<string, Promise<Outcome<Secret>>>()

  constructor(deps: KeyDeps) {
    this.#deps = deps
  }

  /**
   * Failures: credential_unavailable (the operator's key is not set here; a workspace's key is gone or
   * unusable), busy, store_unavailable.
   */
  async of(order: VideoOrder, provider: Provider): Promise<Outcome<OrderKey>> {
    const { ownSecret } = order.target
    if (ownSecret !== null) {
      const released = await this.#own(order, ownSecret, provider)
      if (!released.ok) return { ok: false, failure: unavailable(released.failure) }
      return ok({ text: released.value.reveal(), isOwn: true, extra: plainHeaders(provider) })
    }
    const access = operatorAccess(provider, this.#deps.credentials)
    return access === null
      ? fail('credential_unavailable')
      : ok({ text: access.key, isOwn: false, extra: access.extra })
  }

  /** One release serves all orders that wait for it. */
  async #own(order: VideoOrder, name: string, provider: Provider): Promise<Outcome<Secret>> {
    const host = providerKeyHost(provider.baseUrl)
    if (host === null) return fail('secret_not_released', { fields: { name } })
    const id = `${order.workspaceId} ${name} ${host}`
    const kept = this.#kept.get(id)
    if (kept !== undefined && this.#deps.now() < kept.untilMs) return ok(kept.secret)
    const releasing =
      this.#releasing.get(id) ??
      this.#release(order, { name, host }).finally(() => this.#releasing.delete(id))
    this.#releasing.set(id, releasing)
    const released = await releasing
    this.#kept.delete(id)
    if (released.ok) this.#keep(id, released.value)
    return released
  }

  async #release(
    order: VideoOrder,
    { name, host }: { readonly name: string; readonly host: string },
  ): Promise<Outcome<Secret>> {
    const { organizationId, workspaceId, keyHash, requestId } = order
    const released = await this.#deps.releases.release({
      scope: { organizationId, workspaceId, internId: null },
      name,
      host,
      operation: OPERATION,
      by: { actor: { kind: 'key', id: keyHash }, requestId },
    })
    return released.ok && !isProviderKey(released.value.reveal())
      ? fail('secret_not_released', { fields: { name } })
      : released
  }

  #keep(id: string, secret: Secret): void {
    this.#kept.set(id, { secret, untilMs: this.#deps.now() + VIDEO_OWN_KEY_MS })
    if (this.#kept.size > VIDEO_OWN_KEYS_MAX) this.#kept.delete([...this.#kept.keys()].at(0) ?? '')
  }
}

function unavailable(failure: Failure): Failure {
  return failure.name === 'secret_not_released' ? { name: 'credential_unavailable' } : failure
}
