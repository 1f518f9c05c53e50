import { readFileSync } from 'node:fs'
import { isUtf8 } from 'node:buffer'
import { type Command, InvalidArgumentError } from 'commander'
import {
  createAttachableVault,
  deleteAttachableVault,
  listAttachableVaults,
  type AttachableVault,
  findAttachableVault,
} from '../../store/vault/attachable-vaults.ts'
import { nameOf, need, withDatabase } from '../parts/database.ts'
import { inOrganization, organizationIfAny, workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { idOf } from '../parts/reference.ts'
import { addRotationVerbs } from './vault-rotation.ts'
import { addVerb, print, printList } from '../parts/verb.ts'
import { normalHosts } from '../../../schemas/egress/hosts.ts'
import {
  SECRET_HOSTS_MAX,
  SECRET_VALUE_CHARS_MAX,
  SECRETS_PAGE_MAX,
} from '../../../schemas/vault/vault-limits.ts'
import { secretAnswer, isSecretName, SECRET_NAME_RULES } from '../../../schemas/vault/vault.ts'
import type { SecretMetadata, VaultScope } from '../../ports/vault/vault.ts'
import type { Store } from '../../store/base/open.ts'
import { openSecretRows } from '../../store/vault/secrets.ts'
import { withVaults } from './own-vaults.ts'
import { Secret } from '../../../schemas/vault/secret.ts'

/** `vault create|list|delete`, verbs for the secrets of attachable vaults, and `rotate-root|rotate-data|status`. */
export function addTo(program: Command, outcome: { code: number | null }): void {
  const group = program.command('vault').description('manage attachable vaults and the keys of all vaults')
  addRotationVerbs(group, outcome)
  inOrganization(
    addVerb(group, 'create', 'create a vault that can be attached to interns of a workspace'),
    'slug',
  )
    .requiredOption('--name <name>', 'name of the vault, unique in the workspace', nameOf)
    .requiredOption('--workspace <ref>', 'workspace id or slug')
    .action((options: PlaceOptions & { name: string }) =>
      withDatabase(async (database) => {
        const { store, by } = database
        const { id: workspaceId, organizationId } = await workspaceOf(database, options.workspace, options)
        const vault = need(
          await createAttachableVault(store, { organizationId, workspaceId, name: options.name }, by),
        )
        print(options, wireOf(vault), vault.id)
      }),
    )
  inOrganization(addVerb(group, 'list', 'list attachable vaults'), 'all').action((options: PlaceOptions) =>
    withDatabase(async (database) => {
      const vaults = need(
        await listAttachableVaults(database.store, await organizationIfAny(database, options)),
      )
      printList(options, vaults, wireOf, [
        ['ID', 'NAME', 'SECRETS', 'WORKSPACE'],
        ({ id, name, secrets, workspaceId }) => [id, name, secrets, workspaceId],
      ])
    }),
  )
  addVerb(group, 'delete', 'delete an attachable vault with all its secrets')
    .argument('<vault>', 'name or id of the vault (or the beginning of its id)')
    .action((named: string, options: PlaceOptions) =>
      withDatabase(async ({ store, by }) => {
        const id = await idOf(store.sql, 'vault', named)
        need(await deleteAttachableVault(store, id, by), { name: id, list: 'vault list' })
        print(options, { id, deleted: true }, `deleted ${id}`)
      }),
    )
  addVaultSecretVerbs(group)
}

function wireOf(vault: AttachableVault): object {
  return {
    id: vault.id,
    name: vault.name,
    organization_id: vault.organizationId,
    workspace_id: vault.workspaceId,
    secrets: vault.secrets,
    created_at: vault.createdAt.toISOString(),
  }
}

const STANDARD_INPUT = 0

interface SecretOptions {
  readonly json?: boolean
  readonly vault: string
}

/** `vault put|rm|secrets`: verbs for the secrets of a vault that interns attach, since no route writes it. */
function addVaultSecretVerbs(group: Command): void {
  addVerb(
    group,
    'put',
    'store a secret in an attachable vault; the value is read from standard input, without a trailing line break',
  )
    .argument('<name>', SECRET_NAME_RULES, secretNameOf)
    .requiredOption('--vault <ref>', 'vault name, id or id prefix')
    .requiredOption('--host <host...>', 'exact hostnames the value may be sent to')
    .action(async (name: string, options: SecretOptions & { host: readonly string[] }, command: Command) => {
      const hosts = hostsOf(options.host, command)
      const value = valueOf(readFileSync(STANDARD_INPUT), command)
      await withDatabase(async (database) => {
        const { store, by } = database
        const scope = await scopeOf(store, options.vault)
        const stored = need(
          await withVaults(database, (vaults) => vaults.put(scope, { name, hosts, value }, by)),
        )
        print(options, secretAnswer(stored), `${name}: stored for ${hosts.join(', ')}`)
      })
    })
  addVerb(group, 'rm', 'delete a secret from an attachable vault')
    .argument('<name>', SECRET_NAME_RULES, secretNameOf)
    .requiredOption('--vault <ref>', 'vault name, id or id prefix')
    .action((name: string, options: SecretOptions) =>
      withDatabase(async ({ store, by }) => {
        const scope = await scopeOf(store, options.vault)
        const removed = await openSecretRows(store).remove(scope, name, by)
        const among = removed.ok ? [] : (await everySecret(store, scope)).map((secret) => secret.name)
        need(removed, { name, list: `vault secrets --vault ${options.vault}`, among })
        print(options, { name, deleted: true }, `${name}: removed`)
      }),
    )
  addVerb(group, 'secrets', 'list the secrets of an attachable vault, without their values')
    .requiredOption('--vault <ref>', 'vault name, id or id prefix')
    .action((options: SecretOptions) =>
      withDatabase(async ({ store }) => {
        const secrets = await everySecret(store, await scopeOf(store, options.vault))
        printList(options, secrets, secretAnswer, [
          ['NAME', 'HOSTS', 'CREATED'],
          ({ name, hosts, createdAt }) => [name, hosts?.join(' ') ?? 'legacy', createdAt],
        ])
      }),
    )
}

async function everySecret(store: Store, scope: VaultScope): Promise<readonly SecretMetadata[]> {
  const rows = openSecretRows(store)
  const secrets: SecretMetadata[] = []
  for (;;) {
    const page = need(await rows.list(scope, { limit: SECRETS_PAGE_MAX, offset: secrets.length }))
    secrets.push(...page.secrets)
    if (!page.hasMore) return secrets
  }
}

async function scopeOf(store: Store, named: string): Promise<VaultScope> {
  const id = await idOf(store.sql, 'vault', named)
  const { organizationId, workspaceId } = need(await findAttachableVault(store.sql, id), {
    name: id,
    list: 'vault list',
  })
  return { organizationId, workspaceId, internId: null, attachableId: id }
}

function secretNameOf(text: string): string {
  if (!isSecretName(text)) throw new InvalidArgumentError(`Expected ${SECRET_NAME_RULES}.`)
  return text
}

function hostsOf(texts: readonly string[], command: Command): readonly string[] {
  if (texts.length > SECRET_HOSTS_MAX)
    return command.error(`error: --host allows at most ${SECRET_HOSTS_MAX} hosts`, { exitCode: 2 })
  const { hosts, issues } = normalHosts(texts, '--host')
  if (hosts !== null) return hosts
  const [first] = issues
  return command.error(
    `error: --host ${first?.message ?? 'is not valid'}; expected ${first?.expected ?? 'hostnames'}`,
    { exitCode: 2 },
  )
}

/** The secret in the standard input; no error shows its text. */
function valueOf(bytes: Buffer, command: Command): Secret {
  const text = isUtf8(bytes) ? bytes.toString('utf8').replace(/\r?\n$/, '') : ''
  bytes.fill(0)
  if (text === '' || [...text].length > SECRET_VALUE_CHARS_MAX) {
    return command.error(
      `error: standard input must contain 1 to ${SECRET_VALUE_CHARS_MAX} characters of UTF-8`,
      { exitCode: 2 },
    )
  }
  return new Secret(text)
}
