/**
 * A front with every operation over a real vault: database, root key, short-job threads, keys of a workspace
 * and its interns.
 */
import { randomBytes } from 'node:crypto'
import { hashOfKey } from '../../../src/schemas/keys/api-keys.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import type { AnyOperation } from '../../../src/server/operations/define.ts'
import type { KeyRecord } from '../../../src/server/ports/keys/keys.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import type { SecretRows } from '../../../src/server/ports/vault/secret-rows.ts'
import type { ShortJobs } from '../../../src/server/ports/short-jobs.ts'
import type { VaultScope, Vaults } from '../../../src/server/ports/vault/vault.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import { insertOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { openSecretRows } from '../../../src/server/store/vault/secrets.ts'
import { insertVault, type VaultKind } from '../../../src/server/store/vault/vaults.ts'
import { insertWorkspace } from '../../../src/server/store/workspaces/workspaces.ts'
import { openRootKeys, type RootKeys } from '../../../src/server/vault/root-keys.ts'
import { VaultKeys } from '../../../src/server/vault/vault-keys.ts'
import { openVaults } from '../../../src/server/vault/vaults.ts'
import { accessTo, KEY, keyRecords, OTHER_KEY, openFront, threads, type TestFront } from '../front.ts'
import { SILENT } from '../log.ts'
import { NO_FILES } from '../files/no-files.ts'
import { openTestStore } from '../stores/postgres.ts'

export interface VaultStand {
  readonly store: Store
  readonly rows: SecretRows
  readonly keys: VaultKeys
  readonly rootKeys: RootKeys
  readonly jobs: ShortJobs
  readonly vaults: Vaults
  readonly workspace: VaultScope
  readonly otherWorkspace: VaultScope
  readonly intern: VaultScope & { readonly internId: string }
  /** Of the same workspace. */
  readonly otherIntern: VaultScope & { readonly internId: string }
  addIntern(scope: VaultScope, attachedVaultId?: string): Promise<VaultScope & { readonly internId: string }>
  /** An attachable vault of the workspace. */
  addVault(name: string): Promise<string>
  attach(intern: VaultScope & { readonly internId: string }, vaultId: string): Promise<void>
}

export const BY = { actor: { kind: 'key', id: 'a'.repeat(64) }, requestId: 'the-request' } as const
export const HOST = 'api.example.com'

export async function openVaultStand(
  t: Parameters<typeof openTestStore>[0],
  poolMax = 8,
): Promise<VaultStand> {
  const store = await openTestStore(t, poolMax)
  const { organizationId, first, other } = await store.sql.begin(async (tx) => {
    const { organization, workspace } = await insertOrganization(tx, 'Test')
    const second = await insertWorkspace(tx, {
      organizationId: organization.id,
      name: 'Other',
      slug: 'other',
    })
    return { organizationId: organization.id, first: workspace.id, other: second.id }
  })
  const rootKeys = openRootKeys({
    setting: new Secret(randomBytes(32).toString('hex')),
    file: null,
    dataDir: '/nowhere',
  })
  const rows = openSecretRows(store)
  const keys = new VaultKeys({ rootKeys, rows })
  const jobs = threads()
  const workspace = { organizationId, workspaceId: first, internId: null }
  const addVault = ({ workspaceId }: VaultScope, kind: VaultKind, name: string | null): Promise<string> =>
    store.sql.begin((tx) => insertVault(tx, { organizationId, workspaceId, kind, name }))
  const addIntern = async (
    scope: VaultScope,
    attachedVaultId: string | null = null,
  ): Promise<VaultScope & { readonly internId: string }> => {
    const internId = newId()
    const vaultId = await addVault(scope, 'intern', null)
    await store.sql`
      INSERT INTO interns (id, organization_id, workspace_id, vault_id, attached_vault_id, name)
      VALUES (${internId}, ${organizationId}, ${scope.workspaceId}, ${vaultId}, ${attachedVaultId}, 'Test')`
    return { ...scope, internId }
  }
  return {
    store,
    rows,
    keys,
    rootKeys,
    jobs,
    vaults: openVaults({ rows, keys, jobs }),
    workspace,
    otherWorkspace: { organizationId, workspaceId: other, internId: null },
    intern: await addIntern(workspace),
    otherIntern: await addIntern(workspace),
    addIntern,
    addVault: (name) => addVault(workspace, 'attachable', name),
    async attach({ internId }, vaultId) {
      await store.sql`UPDATE interns SET attached_vault_id = ${vaultId} WHERE id = ${internId}`
    },
  }
}

export interface VaultFront extends VaultStand {
  readonly front: TestFront
  /** As the workspace's inference key, unless another one is given. */
  call(
    method: string,
    path: string,
    more?: { readonly key?: string; readonly body?: unknown },
  ): Promise<VaultAnswer>
}

export interface VaultAnswer {
  readonly status: number
  readonly text: string
  readonly json: VaultJson
}

/** What tests look at of any answer of the vault. */
export interface VaultJson {
  readonly data: SecretJson & readonly SecretJson[]
  readonly has_more: boolean
  readonly error: {
    readonly message: string
    readonly metadata: {
      readonly error_type: string
      readonly issues?: readonly { readonly path: string; readonly message: string }[]
    }
  }
}

export interface SecretJson {
  readonly name: string
  readonly hosts: readonly string[] | null
  readonly fingerprint: string | null
  readonly created_at: string
  readonly scope?: string
}

export interface VaultFrontOptions {
  readonly vaults?: (vaults: Vaults) => Vaults
  readonly operations?: (operations: readonly AnyOperation[]) => readonly AnyOperation[]
  readonly facts?: Partial<KeyRecord>
  readonly http?: Parameters<typeof openFront>[2]
}

/** KEY is of the workspace, OTHER_KEY of the other one, INTERN_KEY of `intern`. */
export async function openVaultFront(
  t: Parameters<typeof openFront>[0],
  options: VaultFrontOptions = {},
): Promise<VaultFront> {
  const stand = await openVaultStand(t)
  const { workspace, otherWorkspace, intern } = stand
  const records = new Map(
    [...keyRecords(options.facts)].map(([hash, record]) => [
      hash,
      {
        ...record,
        organizationId: workspace.organizationId,
        workspaceId:
          record.kind === 'management'
            ? null
            : hash === hashOfKey(OTHER_KEY)
              ? otherWorkspace.workspaceId
              : workspace.workspaceId,
        defaultWorkspaceId: workspace.workspaceId,
        internId: record.kind === 'intern' ? intern.internId : null,
      },
    ]),
  )
  const vaults = options.vaults?.(stand.vaults) ?? stand.vaults
  const ports = {
    ...NO_FILES,
    observer: { log: SILENT, settled: () => undefined, trace: () => undefined },
    vaults,
  } as unknown as Ports
  const operations = options.operations?.(OPERATIONS) ?? OPERATIONS
  const front = await openFront(t, operations, { access: accessTo(records), ports, ...options.http })
  return { ...stand, front, call: (method, path, more) => ask(front.url, { method, path, ...more }) }
}

interface Asked {
  readonly method: string
  readonly path: string
  readonly key?: string
  readonly body?: unknown
}

async function ask(url: string, { method, path, key = KEY, body }: Asked): Promise<VaultAnswer> {
  const answer = await fetch(`${url}/api/v1/vault${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  return { status: answer.status, text, json: (text === '' ? {} : JSON.parse(text)) as VaultJson }
}
