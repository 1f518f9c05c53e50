import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { isProviderKey } from '../../../schemas/workspaces/provider-keys.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { Destination } from '../../ports/egress/egress.ts'
import type { OwnWay, ReleasedTo } from '../../ports/models/models.ts'
import type { SecretReleases, VaultScope } from '../../ports/vault/vault.ts'

/**
 * Milliseconds that a released credential is used before its next release, which is audited again. Decision.
 */
export const RELEASED_CREDENTIAL_MS = 60_000

interface Deps {
  readonly scope: VaultScope
  readonly releases: SecretReleases
  /** Milliseconds of any clock. */
  readonly now: () => number
}

/**
 * Credentials of one workspace's endpoints and its keys for providers: each release is audited and serves
 * many calls. The credentials end with every change of the workspace that the front receives, and are never
 * used after that.
 */
export class ReleasedCredentials {
  readonly #deps: Deps
  readonly #ways = new Map<string, CredentialWay>()
  #isEnded = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** The credential of an endpoint; endpoints with the same secret at the same host share one. */
  wayTo(destination: Destination, secretName: string): OwnWay {
    const { host, port } = destination
    const { workspaceId } = this.#deps.scope
    return this.#way(`${secretName} ${host}:${port ?? ''}`, {
      destination: { ...destination, workspaceId },
      secretName,
      host,
    })
  }

  keyFor(host: string, secretName: string): OwnWay {
    return this.#way(`${secretName} ${host}`, { destination: null, secretName, host })
  }

  #way(id: string, place: Place): OwnWay {
    const known = this.#ways.get(id)
    if (known !== undefined) return known
    const way = new CredentialWay(place, this.#deps, () => this.#isEnded)
    this.#ways.set(id, way)
    return way
  }

  end(): void {
    this.#isEnded = true
  }
}

interface Place extends Pick<OwnWay, 'destination' | 'secretName'> {
  readonly host: string
}

class CredentialWay implements OwnWay {
  readonly destination: Destination | null
  readonly secretName: string
  readonly #host: string
  readonly #deps: Deps
  readonly #isEnded: () => boolean
  #secret: Secret | null = null
  #untilMs = 0
  #releasing: Promise<Outcome<Secret>> | null = null

  constructor({ destination, secretName, host }: Place, deps: Deps, isEnded: () => boolean) {
    this.destination = destination
    this.secretName = secretName
    this.#host = host
    this.#deps = deps
    this.#isEnded = isEnded
  }

  get released(): Secret | null {
    return this.#secret !== null && !this.#isEnded() && this.#deps.now() < this.#untilMs ? this.#secret : null
  }

  /** One release serves all concurrent calls; a call after these credentials ended makes its own release. */
  release(to: ReleasedTo): Promise<Outcome<Secret>> {
    if (this.#isEnded()) return this.#ask(to)
    this.#releasing ??= this.#ask(to)
      .then((released) => (released.ok ? ok(this.#keep(released.value)) : released))
      // The promise is also cleared after an error, so that the next call makes a new release instead of
      // failing with this one.
      .finally(() => (this.#releasing = null))
    return this.#releasing
  }

  /** Keeps a released value. The same value keeps the same object, so that a link made from it stays valid. */
  #keep(secret: Secret): Secret {
    const kept = this.#secret?.reveal() === secret.reveal() ? this.#secret : secret
    this.#secret = kept
    this.#untilMs = this.#deps.now() + RELEASED_CREDENTIAL_MS
    return kept
  }

  async #ask({ key, requestId, operation }: ReleasedTo): Promise<Outcome<Secret>> {
    const { scope, releases } = this.#deps
    const by = { actor: { kind: 'key', id: key }, requestId } as const
    const released = await releases.release({
      scope,
      name: this.secretName,
      host: this.#host,
      operation,
      by,
    })
    return released.ok && !isProviderKey(released.value.reveal())
      ? fail('secret_not_released', { fields: { name: this.secretName } })
      : released
  }
}
