import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import {
  FILE_PROVIDERS,
  isProviderKey,
  providerKeyHost,
  providerKeyName,
} from '../../../schemas/workspaces/provider-keys.ts'
import { UpdateWorkspaceBody } from '../../../schemas/workspaces/workspaces.ts'
import { Secret } from '../../../schemas/vault/secret.ts'
import { changesOf } from '../../operations/workspaces/workspace-answers.ts'
import { updateWorkspace } from '../../store/workspaces/workspaces.ts'
import { loadCatalogue } from '../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../catalogue/shipped.ts'
import type { VaultScope, Vaults } from '../../ports/vault/vault.ts'
import { filesAddress } from '../../upstream/files/provider-files.ts'
import { type DatabaseHandle, need, withDatabase } from '../parts/database.ts'
import { ofWorkspace, workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { optionsOf } from '../parts/shape-options.ts'
import { addVerb, CliFailure, loadGeneration, print } from '../parts/verb.ts'
import { catalogueChoice } from '../parts/load-models.ts'
import { withVaults } from '../vault/own-vaults.ts'

export const SWITCHES = {
  programme: '--programme <on|off>',
  vault_writes: '--vault-writes <on|off>',
} as const
const SET = optionsOf(UpdateWorkspaceBody, SWITCHES)

interface SetOptions extends PlaceOptions {
  readonly providerKey?: readonly string[]
}

/** `workspaces set`: its keys for providers, and two switches. */
export function addSetVerb(group: Command): void {
  const verb = ofWorkspace(addVerb(group, 'set', 'change a workspace')).option(
    '--provider-key <provider=key...>',
    'workspace key for a provider, stored in the workspace vault; "-" reads the key from standard input, an empty key removes it',
  )
  SET.addTo(verb).action(async (ref: string, options: SetOptions, command: Command) => {
    const inputs = inputsOf(options, command)
    const settings = changesOf(SET.from(options))
    const isSet = Object.keys(settings).length > 0
    if (inputs.length === 0 && !isSet) {
      command.error('error: give at least one of --programme, --vault-writes or --provider-key', {
        exitCode: 2,
      })
    }
    await withDatabase(async (database) => {
      const { store, publish, by } = database
      let workspace = await workspaceOf(database, ref, options)
      if (isSet) {
        const at = { organizationId: null, reference: workspace.id }
        const set = need(
          await updateWorkspace(store, at, settings, { ...by, operation: 'cli.workspaces-set' }),
        )
        await publish(set.change)
        workspace = set.workspace
      }
      const scope = { organizationId: workspace.organizationId, workspaceId: workspace.id, internId: null }
      const changes = await setProviderKeys(database, scope, inputs)
      const { isInProgramme: programme, mayWriteVault: vault_writes } = workspace
      const lines = changes.map(({ provider, is }) => `${provider}: ${is}`)
      if (isSet)
        lines.unshift(
          `programme: ${programme ? 'on' : 'off'}`,
          `vault writes: ${vault_writes ? 'on' : 'off'}`,
        )
      print(options, { id: workspace.id, programme, vault_writes, provider_keys: changes }, lines.join('\n'))
    })
  })
}

function inputsOf({ providerKey: texts = [] }: SetOptions, command: Command): readonly ProviderKeyInput[] {
  if (texts.length === 0) return []
  const hosts = keyHosts()
  return texts.map((text) => inputOf(text, hosts, command))
}

function inputOf(text: string, hosts: KeyHosts, command: Command): ProviderKeyInput {
  const input = parseProviderKey(text, hosts)
  return typeof input === 'string' ? command.error(`error: ${input}`, { exitCode: 2 }) : input
}

/** Providers for which a workspace may have a key, each with the host that gets the key. */
type KeyHosts = ReadonlyMap<string, string>

interface ProviderKeyInput {
  readonly provider: string
  readonly host: string
  /** Null removes the existing key. */
  readonly key: Secret | null
}

interface ProviderKeyChange {
  readonly provider: string
  readonly is: 'set' | 'removed' | 'absent'
}

const STANDARD_INPUT = 0

/** Providers of this installation's catalogue, and providers of files. Throws CliFailure. */
function keyHosts(): KeyHosts {
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

/** Parses `openai=KEY`. @returns the fault instead, without the text: commander's own message would show it */
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
async function setProviderKeys(
  database: DatabaseHandle,
  scope: VaultScope,
  inputs: readonly ProviderKeyInput[],
): Promise<readonly ProviderKeyChange[]> {
  if (inputs.length === 0) return []
  return withVaults(database, async (vaults) => {
    const changes: ProviderKeyChange[] = []
    for (const input of inputs)
      changes.push({ provider: input.provider, is: await setOne(vaults, { database, scope, input }) })
    return changes
  })
}

async function setOne(
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
