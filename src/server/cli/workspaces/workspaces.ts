import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { checkCallbackUrl } from '../../../schemas/webhooks/callback-urls.ts'
import { CreateWorkspaceBody, UpdateWorkspaceBody } from '../../../schemas/workspaces/workspaces.ts'
import { openGate } from '../../main/egress.ts'
import { changesOf, workspaceAnswer } from '../../operations/workspaces/workspace-answers.ts'
import type { Workspace } from '../../ports/workspaces/workspaces.ts'
import { openWorkspaces } from '../../store/lifecycle/open-workspaces.ts'
import { createWorkspace, listWorkspaces, updateWorkspace } from '../../store/workspaces/workspaces.ts'
import { nameOf, need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import {
  inOrganization,
  ofWorkspace,
  organizationIfAny,
  organizationOf,
  workspaceOf,
  type PlaceOptions,
} from '../parts/places.ts'
import { CALL_LIMITS, NONE, optionsOf } from '../parts/shape-options.ts'
import { addVerb, loadGeneration, print, printList, table, CliFailure } from '../parts/verb.ts'
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
import { withVaults } from '../vault/own-vaults.ts'

const SWITCHES = {
  programme: '--programme <on|off>',
  vault_writes: '--vault-writes <on|off>',
} as const
const SETTINGS = {
  name: { flags: '--name <name>', about: 'name of the workspace', parse: nameOf },
  ...CALL_LIMITS,
  description: { flags: '--description <text>', about: 'description of the workspace', takesNone: false },
  default_callback_url: {
    flags: '--callback-url <url>',
    about: `default URL for webhooks: HTTPS, at a public address; ${NONE} removes it`,
  },
  storage_quota_bytes: '--storage-quota <bytes>',
  ...SWITCHES,
  include_byok_in_budgets: '--byok-in-budgets <on|off>',
} as const

const CREATE = optionsOf(CreateWorkspaceBody, {
  slug: {
    flags: '--slug <slug>',
    about: 'slug of lower-case letters, digits and single hyphens; unique in the organization',
  },
  ...SETTINGS,
})

const UPDATE = optionsOf(UpdateWorkspaceBody, {
  slug: { flags: '--slug <slug>', about: 'new slug; the old slug becomes free at once' },
  ...SETTINGS,
})

/** `workspaces create|list|get|update|set|delete`. */
export function addTo(program: Command): void {
  const group = program.command('workspaces').description('manage workspaces')
  addCreate(group)
  inOrganization(addVerb(group, 'list', 'list workspaces'), 'all').action((options: PlaceOptions) =>
    withDatabase(async (database) => {
      const workspaces = need(
        await listWorkspaces(database.store, await organizationIfAny(database, options)),
      )
      printList(options, workspaces, wireOf, [
        ['ID', 'SLUG', 'NAME', 'ORGANIZATION'],
        ({ id, slug, name, organizationId }) => [id, slug, name, organizationId],
      ])
    }),
  )
  ofWorkspace(addVerb(group, 'get', 'show a workspace')).action((ref: string, options: PlaceOptions) =>
    withDatabase(async (database) => {
      const workspace = await workspaceOf(database, ref, options)
      print(options, wireOf(workspace), textOf(workspace))
    }),
  )
  addUpdate(group)
  addSetVerb(group)
  addDelete(group)
}

function addCreate(group: Command): void {
  const verb = CREATE.addTo(addVerb(group, 'create', 'create a workspace'))
  inOrganization(verb, 'only').action((options: PlaceOptions) =>
    withDatabase(async (database) => {
      const organizationId = await organizationOf(database, options)
      const { name, slug, ...settings } = CREATE.from(options)
      await checkUrl(settings.default_callback_url)
      const input = { organizationId, name, slug, ...changesOf(settings) }
      const actor = { ...database.by, operation: 'cli.workspaces-create' }
      const workspace = need(await createWorkspace(database.store, input, actor))
      print(options, wireOf(workspace), workspace.id)
    }),
  )
}

function addUpdate(group: Command): void {
  const verb = ofWorkspace(addVerb(group, 'update', 'change a workspace; omitted options stay unchanged'))
  UPDATE.addTo(verb).action((ref: string, options: PlaceOptions, command: Command) =>
    withDatabase(async (database) => {
      const { store, publish, by } = database
      const { name, slug, ...settings } = UPDATE.from(options)
      await checkUrl(settings.default_callback_url)
      const changes = {
        ...(name !== undefined && { name }),
        ...(slug !== undefined && { slug }),
        ...changesOf(settings),
      }
      if (Object.keys(changes).length === 0)
        command.error('error: give at least one option to change; see --help', { exitCode: 2 })
      const found = await workspaceOf(database, ref, options)
      const at = { organizationId: found.organizationId, reference: found.id }
      const { workspace, change } = need(
        await updateWorkspace(store, at, changes, { ...by, operation: 'cli.workspaces-update' }),
      )
      await publish(change)
      print(options, wireOf(workspace), textOf(workspace))
    }),
  )
}

/** Checks a callback URL as the API does. Throws CliFailure. */
async function checkUrl(url: string | null | undefined): Promise<void> {
  if (url === null || url === undefined) return
  const gate = openGate(loadGeneration().config)
  try {
    need(await checkCallbackUrl(url, { path: '--callback-url', gate, holder: null }))
  } finally {
    await gate.close()
  }
}

function addDelete(group: Command): void {
  ofWorkspace(addVerb(group, 'delete', 'delete a workspace with its keys, interns, vaults and files'))
    .option(
      '--confirm-default',
      'allow deleting the default workspace; the oldest remaining workspace becomes the default',
    )
    .action((ref: string, options: PlaceOptions & { confirmDefault?: boolean }) =>
      withDatabase(async (database) => {
        const { store, publish, by } = database
        const { id, slug, organizationId } = await workspaceOf(database, ref, options)
        const actor = { ...by, operation: 'cli.workspaces-delete' }
        const mayBeDefault = options.confirmDefault === true
        need(
          await openWorkspaces(store, publish).remove({ organizationId, reference: id }, mayBeDefault, actor),
        )
        print(options, { id, deleted: true }, `deleted ${slug}`)
      }),
    )
}

function wireOf(workspace: Workspace) {
  return { ...workspaceAnswer(workspace), organization_id: workspace.organizationId }
}

function textOf(workspace: Workspace): string {
  return table(
    Object.entries(wireOf(workspace)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

const SET = optionsOf(UpdateWorkspaceBody, SWITCHES)

interface SetOptions extends PlaceOptions {
  readonly providerKey?: readonly string[]
}

/** `workspaces set`: sets its provider keys and two switches. */
function addSetVerb(group: Command): void {
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

/** Parses `openai=KEY`. @returns the fault as a text without the key: commander's own message would show the key */
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
 * Stores each key in the workspace's vault, for the host of its provider only. The verb belongs to the operator:
 * it does not check whether the workspace is enabled to write its vault over HTTP. Throws CliFailure.
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
