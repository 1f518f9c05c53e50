import { providerKeyHost, providerKeyName } from '../../../schemas/workspaces/provider-keys.ts'
import type { OwnWay, Provider } from '../../ports/models/models.ts'
import type { SecretBinding } from '../../ports/vault/secret-rows.ts'
import { isRemote } from '../embeddings/remote.ts'
import type { ReleasedCredentials } from './released-credentials.ts'

interface Keyed {
  readonly slug: string
  readonly secretName: string
  readonly host: string
}

/** Access to providers of the catalogue under a workspace's own keys, by the provider's slug. */
export type OwnKeys = ReadonlyMap<string, OwnWay>

/** Providers of the catalogue that embed and accept a workspace's own key in place of the operator's. */
export class KeyedProviders {
  readonly #keyed: readonly Keyed[]
  /** Names of the secrets that hold such keys. */
  readonly names: readonly string[]

  constructor(providers: readonly Provider[]) {
    this.#keyed = providers.flatMap(({ slug, protocol, baseUrl }) => {
      const host = providerKeyHost(baseUrl)
      return host === null || !isRemote(protocol) ? [] : [{ slug, secretName: providerKeyName(slug), host }]
    })
    this.names = [...new Set(this.#keyed.map(({ secretName }) => secretName))]
  }

  /** The keys whose secret exists and is bound to exactly the provider's host. */
  keysOf(bindings: readonly SecretBinding[], credentials: ReleasedCredentials): OwnKeys {
    const hosts = new Map(bindings.map(({ name, hosts }) => [name, hosts]))
    return new Map(
      this.#keyed
        .filter(({ secretName, host }) => hosts.get(secretName)?.includes(host) === true)
        .map(({ slug, secretName, host }) => [slug, credentials.keyFor(host, secretName)]),
    )
  }
}
