import { readFileSync } from 'node:fs'
import {
  FILE_PROVIDERS,
  isProviderKey,
  providerKeyHost,
  providerKeyName,
} from '../../../schemas/workspaces/provider-keys.ts'
import { Secret } from '../../../schemas/vault/secret.ts'
import { loadCatalogue } from '../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../catalogue/shipped.ts'
import type { VaultScope, Vaults } from '../../ports/vault/vault.ts'
import { filesAddress } from '../../upstream/files/provider-files.ts'
import { catalogueChoice } from '../parts/load-models.ts'
import { need, type DatabaseHandle } from '../parts/database.ts'
import { withVaults } from '../vault/own-vaults.ts'
import { CliFailure, loadGeneration } from '../parts/verb.ts'

/** Providers for which a workspace may have a key, each with the host that gets the key. */
export type KeyHosts = ReadonlyMap<string, string>

export interface ProviderKeyInput {
  readonly provider: string
  readonly host: string
  /** Null removes the existing key. */
  readonly key: Secret | null
}

export interface ProviderKeyChange {
  readonly provider: string
  readonly is: 'set' | 'removed' | 'absent'
}

const STANDARD_INPUT = 0

/** Providers of this installation's catalogue, and providers of files. Throws CliFailure. */
export function keyHosts(): KeyHosts {
  const { config } = loadGeneration()
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: catalogueChoice(config).file })
  if (!loaded.ok) throw new CliFailure('the catalogue has errors: run `sluice catalog check`')
  const { providers } = loaded
  const addresses = [
    ...FILE_PROVIDERS.map((slug) => [slug, filesAddress(slug, providers)] as const),
    ...providers.map(({ slug, baseUrl }) => [slug, baseUrl] as const),
  ]
  return new Map(
    addresses.flatMap(([slug, address]) => {
      const host = providerKeyHost(address)
      return host === null ? [] : [[slug, host] as const]
    }),
  )
}

/**
 * Parses `openai=KEY`. @returns the fault instead, without the text: commander's own message would show it
 */
export function parseProviderKey(text: string, hosts: KeyHosts): ProviderKeyInput | string {
  const at = text.indexOf('=')
  const provider = text.slice(0, Math.max(0, at))
  const host = hosts.get(provider)
  if (host === undefined)
    return `--provider-key must be PROVIDER=KEY; providers: ${[...hosts.keys()].join(', ')}`
  const given = text.slice(at + 1)
  if (given === '') return { provider, host, key: null }
  const key = given === '-' ? readFileSync(STANDARD_INPUT, 'utf8').trim() : given
  return isProviderKey(key)
    ? { provider, host, key: new Secret(key) }
    : 'a provider key may only contain visible ASCII characters'
}

/**
 * Stores each key in the workspace's vault, for the host of its provider only. The verb belongs to the
 * operator: it ignores whether the workspace is in the programme and may write its vault over HTTP. Throws
 * CliFailure.
 */
export async function setProviderKeys(
  database: DatabaseHandle,
  scope: VaultScope,
  inputs: readonly ProviderKeyInput[],
): Promise<readonly ProviderKeyChange[]> {
  if (inputs.length === 0) return []
  return withVaults(database, async (vaults) => {
    const changes: ProviderKeyChange[] = []
    for (const input of inputs)
      changes.push({ provider: input.provider, is: await set(vaults, { database, scope, input }) })
    return changes
  })
}

async function set(
  vaults: Vaults,
  {
    database: { by },
    scope,
    input,
  }: { readonly database: DatabaseHandle; readonly scope: VaultScope; readonly input: ProviderKeyInput },
): Promise<ProviderKeyChange['is']> {
  const name = providerKeyName(input.provider)
  if (input.key !== null) {
    need(await vaults.put(scope, { name, hosts: [input.host], value: input.key }, by))
    return 'set'
  }
  const removed = await vaults.remove(scope, name, by)
  if (!removed.ok && removed.failure.name === 'secret_unknown') return 'absent'
  need(removed)
  return 'removed'
}
