import { ok, type Outcome } from '../../../schemas/failures.ts'
import { RELEASED_CREDENTIAL_MS } from '../../../schemas/limits.ts'
import type { Secret } from '../../../schemas/secret.ts'
import type { Destination } from '../../ports/egress.ts'
import type { OwnWay } from '../../ports/models.ts'
import type { SecretReleases, VaultScope } from '../../ports/vault.ts'

/** What the audit log says a credential was released for. */
const OPERATION = 'embeddings.create'

interface Means {
  readonly scope: VaultScope
  readonly releases: SecretReleases
  /** Milliseconds of any clock. */
  readonly now: () => number
}

/**
 * Credentials of one workspace's endpoints: each is released, and audited, once for many calls. They end with whatever
 * their front hears of the workspace, and are never used after that.
 */
export class ReleasedCredentials {
  readonly #means: Means
  readonly #ways = new Map<string, CredentialWay>()
  #isEnded = false

  constructor(means: Means) {
    this.#means = means
  }

  /** Endpoints with the same secret at the same host share it. */
  wayTo(destination: Destination, secretName: string): OwnWay {
    const id = `${secretName} ${destination.host}:${destination.port ?? ''}`
    const known = this.#ways.get(id)
    if (known !== undefined) return known
    const { workspaceId } = this.#means.scope
    const way = new CredentialWay({ ...destination, workspaceId }, secretName, this.#means, () => this.#isEnded)
    this.#ways.set(id, way)
    return way
  }

  end(): void {
    this.#isEnded = true
  }
}

class CredentialWay implements OwnWay {
  readonly destination: Destination
  readonly #name: string
  readonly #means: Means
  readonly #isEnded: () => boolean
  #secret: Secret | null = null
  #untilMs = 0
  #releasing: Promise<Outcome<Secret>> | null = null

  constructor(destination: Destination, name: string, means: Means, isEnded: () => boolean) {
    this.destination = destination
    this.#name = name
    this.#means = means
    this.#isEnded = isEnded
  }

  get released(): Secret | null {
    return this.#secret !== null && !this.#isEnded() && this.#means.now() < this.#untilMs ? this.#secret : null
  }

  /** One release for all who wait; those who come after the end have one of their own. */
  release(caller: string, requestId: string | null): Promise<Outcome<Secret>> {
    if (this.#isEnded()) return this.#ask(caller, requestId)
    this.#releasing ??= this.#ask(caller, requestId).then((released) => {
      this.#releasing = null
      return released.ok ? ok(this.#keep(released.value)) : released
    })
    return this.#releasing
  }

  /** The same value stays the same object, so that whoever made something of it need not make it anew. */
  #keep(secret: Secret): Secret {
    const kept = this.#secret?.reveal() === secret.reveal() ? this.#secret : secret
    this.#secret = kept
    this.#untilMs = this.#means.now() + RELEASED_CREDENTIAL_MS
    return kept
  }

  #ask(caller: string, requestId: string | null): Promise<Outcome<Secret>> {
    const { scope, releases } = this.#means
    const by = { actor: { kind: 'key', id: caller }, requestId } as const
    return releases.release({ scope, name: this.#name, host: this.destination.host, operation: OPERATION, by })
  }
}
