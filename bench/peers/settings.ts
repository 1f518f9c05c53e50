/** Settings of a governing proxy. */
import type { KeyKind } from '../../src/schemas/keys/api-keys.ts'

export type ProxyKind = 'fastify' | 'node'

export interface ProxySettings {
  readonly kind: ProxyKind
  readonly port: number
  /** Origin and path of the provider: `http://127.0.0.1:1/v1`. */
  readonly provider: string
  readonly providerKey: string
  readonly models: readonly ProxyModel[]
  readonly keys: readonly ProxyKey[]
  /** Folder with the installed fastify. */
  readonly packages: string
}

export interface ProxyModel {
  readonly id: string
  readonly upstreamModel: string
  readonly promptNanoPerMillion: number
}

export interface ProxyKey {
  readonly key: string
  readonly kind: KeyKind
  /** Null: no rate limit. */
  readonly limitRpm: number | null
  /** Null: no budget. */
  readonly limitNano: number | null
}
