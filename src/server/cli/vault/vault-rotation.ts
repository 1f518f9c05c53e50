import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { HEARTBEAT_MS } from '../../../schemas/limits/limits.ts'
import { resealSecret } from '../../../workers/seal-secrets.ts'
import { openDataRotation, sealingKeyUse } from '../../store/vault/data-rotation.ts'
import { nodesOnOtherRootKey } from '../../store/nodes/fronts.ts'
import type { Store } from '../../store/base/open.ts'
import { aloneWithRootKeys, openRootRotation, rootKeyUses } from '../../store/vault/root-rotation.ts'
import { openSecretRows } from '../../store/vault/secrets.ts'
import { rotateData, type DataRotation } from '../../vault/rotation.ts'
import { rotateRoot, type RootRotation } from '../../vault/rotate-root.ts'
import { VaultKeys } from '../../vault/vault-keys.ts'
import { need, remedyOf, withDatabase } from '../parts/database.ts'
import { inOrganization, workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { idOf } from '../parts/reference.ts'
import { addConfirmRootVerb } from './root-key-copies.ts'
import { newOwnRootKey, ownRootKeys } from './root-keys.ts'
import { addVerb, CliFailure, print, tell, table } from '../parts/verb.ts'

/** Milliseconds for every live front to wrap with the new key: each front checks it with its heartbeat. Decision. */
const FRONTS_WAIT_MS_MAX = 5 * HEARTBEAT_MS
/** Milliseconds between two checks of the live fronts. */
const FRONTS_LOOK_MS = 250
/** Milliseconds between two lines of progress. */
const PROGRESS_MS = 1_000

interface Options {
  readonly json?: boolean
}

type Outcome = { code: number | null }

/** `vault rotate-root|rotate-data|confirm-root|status`. */
export function addRotationVerbs(group: Command, outcome: Outcome): void {
  addVerb(group, 'rotate-root', 'encrypt all vault and file keys with the current root key')
    .option('--new', 'first create a root key at the top of the key file in the data directory')
    .action((options: Options & { new?: true }) =>
      withDatabase(({ store, by }) => {
        return runRoot({ store, by, options, outcome })
      }),
    )
  inOrganization(
    addVerb(group, 'rotate-data', 'create new keys for vaults and encrypt every secret again'),
    'slug',
  )
    .option('--workspace <ref>', 'workspace id or slug; default: all workspaces')
    .option('--vault <ref>', 'only this vault: id, id prefix, or name of an attachable vault')
    .option('--made-before <time>', 'only keys created before this time, to continue an interrupted run')
    .action((options: DataOptions) =>
      withDatabase(({ store, by }) => runData({ store, by, options, outcome })),
    )
  addConfirmRootVerb(group)
  addStatusVerb(group, outcome)
}

interface Run<O> {
  readonly store: Store
  readonly by: Parameters<Parameters<typeof withDatabase>[0]>[0]['by']
  readonly options: O
  readonly outcome: Outcome
}

async function runRoot({ store, by, options, outcome }: Run<Options & { new?: true }>): Promise<void> {
  const made = options.new === true ? await aloneWithRootKeys(store, newOwnRootKey) : null
  const rootKeys = ownRootKeys()
  // When two verbs created keys at the same time, the later key is the current one for both.
  const rootKeyId = rootKeys.currentId
  if (made !== null)
    tell(
      options,
      { made: made.id, file: made.file },
      `created root key ${made.id} in ${made.file}: back it up now (\`vault confirm-root COPY\`)`,
    )
  await untilFrontsWrapWith(store, rootKeyId)
  const progress = every(options, (done: RootRotation) => [
    { rewrapped: done.rewrapped },
    `${done.rewrapped} keys re-encrypted`,
  ])
  const done = need(await rotateRoot({ rows: openRootRotation(store), rootKeys, rootKeyId, by, progress }))
  const broken = done.broken.map(({ table, id, rootKeyId: root, problem }) => ({
    table,
    id,
    root_key_id: root,
    problem,
  }))
  const lines = broken.map((key) => `${key.table} ${key.id}: ${REASONS[key.problem]} (${key.root_key_id})`)
  const text = `${done.rewrapped} keys re-encrypted with root key ${rootKeyId}; unchanged: ${broken.length}`
  const answer = { root_key_id: rootKeyId, rewrapped: done.rewrapped, broken, unfinished: done.isUnfinished }
  print(options, answer, [...lines, text, ...unfinished(done)].join('\n'))
  if (broken.length > 0 || done.isUnfinished) outcome.code = 1
}

const REASONS = {
  root_key_missing: 'the root key that encrypts this key is missing',
  does_not_open: 'the key cannot be decrypted',
}

/**
 * Waits until every live front wraps with the current root key: a front without that key could not open the rows
 * that the rotation wraps, and a front that still wraps with the old key would add rows that need the old key.
 */
async function untilFrontsWrapWith(store: Store, rootKeyId: string): Promise<void> {
  const endsAt = performance.now() + FRONTS_WAIT_MS_MAX
  for (;;) {
    const nodes = await nodesOnOtherRootKey(store.sql, rootKeyId)
    if (nodes.length === 0) return
    if (performance.now() > endsAt) {
      throw new CliFailure(
        `nodes without root key ${rootKeyId}: ${nodes.join(', ')}; nothing was changed. ` +
          'Give every node the same root keys, the new one first (a changed SLUICE_ROOT_KEY needs a restart), then run this command again',
      )
    }
    await sleep(FRONTS_LOOK_MS)
  }
}

interface DataOptions extends PlaceOptions {
  readonly vault?: string
  readonly madeBefore?: string
}

async function runData({ store, by, options, outcome }: Run<DataOptions>): Promise<void> {
  const rows = openDataRotation(store)
  const rootKeys = ownRootKeys()
  await untilFrontsWrapWith(store, rootKeys.currentId)
  const scope = await scopeOf(store, options)
  const madeBefore = timeOf(options.madeBefore) ?? need(await rows.now())
  tell(
    options,
    { made_before: madeBefore },
    `if this command is interrupted, continue with --made-before '${madeBefore}'`,
  )
  const keys = new VaultKeys({ rootKeys, rows: openSecretRows(store) })
  const progress = every(options, (now: DataRotation) => [
    { vaults: now.vaults, resealed: now.resealed },
    `${now.vaults} vaults, ${now.resealed} secrets re-encrypted`,
  ])
  try {
    const done = need(
      await rotateData({ rows, rootKeys, keys, reseal: resealSecret, by, progress }, { scope, madeBefore }),
    )
    if (options.vault !== undefined && done.vaults === 0) throw new CliFailure(noVault(options.vault))
    report(options, done)
    if (done.broken.length > 0 || done.isUnfinished) outcome.code = 1
  } finally {
    keys.close()
  }
}

function noVault(vault: string): string {
  return `There is no such vault, or it has never had a secret. ${remedyOf({ name: vault, list: 'vault list' })}`
}

async function scopeOf(store: Store, options: DataOptions) {
  const { workspace, vault } = options
  if (workspace === undefined) {
    return { workspaceId: null, vaultId: vault === undefined ? null : await idOf(store.sql, 'vault', vault) }
  }
  if (vault !== undefined) throw new CliFailure('give --workspace or --vault, not both')
  return { workspaceId: (await workspaceOf({ store }, workspace, options)).id, vaultId: null }
}

/** A time, passed on as given: the store reads it to the microsecond. */
function timeOf(text: string | undefined): string | undefined {
  if (text !== undefined && !/^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d(:?\d\d)?)$/.test(text)) {
    throw new CliFailure('--made-before needs a time with a time zone, such as 2026-01-31 09:00:00Z')
  }
  return text
}

function report(options: Options, done: DataRotation): void {
  const { vaults, newKeys, resealed, removedKeys, legacy, isUnfinished } = done
  const broken = done.broken.map(({ vaultId, name }) => ({ vault_id: vaultId, name }))
  const lines = broken.map(({ vault_id: id, name }) =>
    name === null ? `the key of vault ${id} cannot be decrypted` : `secret ${id}/${name} cannot be decrypted`,
  )
  const text =
    `${vaults} vaults, ${newKeys} new keys, ${resealed} secrets re-encrypted, ${removedKeys} old keys removed; ` +
    `unchanged: ${broken.length}, plus ${legacy} legacy rows`
  const answer = {
    vaults,
    new_keys: newKeys,
    resealed,
    removed_keys: removedKeys,
    broken,
    legacy,
    unfinished: isUnfinished,
  }
  print(options, answer, [...lines, text, ...unfinished(done)].join('\n'))
}

function unfinished({ isUnfinished }: { readonly isUnfinished: boolean }): readonly string[] {
  return isUnfinished ? ['other changes interfered: run this command again'] : []
}

function every<T>(options: Options, lineOf: (done: T) => readonly [unknown, string]): (done: T) => void {
  let reportedAt = performance.now()
  return (done) => {
    if (performance.now() - reportedAt < PROGRESS_MS) return
    reportedAt = performance.now()
    tell(options, ...lineOf(done))
  }
}

/** `vault status`: exit code 1 while a rotation is not complete, or a root key is missing. */
function addStatusVerb(group: Command, outcome: { code: number | null }): void {
  addVerb(
    group,
    'status',
    'show how each root key is used, which root keys can be destroyed, and how many secrets are encrypted with old keys',
  ).action((options: { json?: boolean }) =>
    withDatabase(async ({ store }) => {
      const status = await statusOf(store)
      print(options, status, textOf(status))
      if (!status.ok) outcome.code = 1
    }),
  )
}

interface RootKeyStatus {
  readonly id: string
  readonly is: 'current' | 'old' | 'missing'
  readonly vault_keys: number
  readonly data_keys: number
  /** True when no row needs the key; older backups of the database may still need it. */
  readonly can_be_destroyed: boolean
}

async function statusOf(store: Store) {
  const { currentId, ids } = ownRootKeys()
  const uses = new Map((await rootKeyUses(store.sql)).map((use) => [use.rootKeyId, use]))
  const behind = await nodesOnOtherRootKey(store.sql, currentId)
  const rootKeys = [...new Set([...ids, ...uses.keys()])].map((id): RootKeyStatus => {
    const { vaultKeys = 0, dataKeys = 0 } = uses.get(id) ?? {}
    const is = id === currentId ? 'current' : ids.includes(id) ? 'old' : 'missing'
    const isUnused = vaultKeys + dataKeys === 0 && behind.length === 0
    return { id, is, vault_keys: vaultKeys, data_keys: dataKeys, can_be_destroyed: is === 'old' && isUnused }
  })
  const use = await sealingKeyUse(store.sql)
  const secretsLeft = use.secretsOnOldKeys - use.legacyOnOldKeys
  const keysLeft = rootKeys
    .filter(({ is }) => is !== 'current')
    .reduce((sum, key) => sum + key.vault_keys + key.data_keys, 0)
  return {
    ok: keysLeft === 0 && secretsLeft === 0 && behind.length === 0,
    root_keys: rootKeys,
    nodes_on_other_root_keys: behind,
    vaults: use.vaults,
    secrets: use.secrets,
    secrets_on_old_sealing_keys: secretsLeft,
    legacy_on_old_sealing_keys: use.legacyOnOldKeys,
    old_sealing_keys: use.oldKeys,
  }
}

function textOf(status: Awaited<ReturnType<typeof statusOf>>): string {
  const rows = status.root_keys.map(({ id, is, can_be_destroyed: mayGo, ...key }) => [
    id,
    is,
    String(key.vault_keys),
    String(key.data_keys),
    mayGo ? 'can be destroyed' : '',
  ])
  const behind = status.nodes_on_other_root_keys.map((node) => `node ${node} still uses another root key`)
  return [
    table([['ROOT KEY', 'IS', 'VAULT KEYS', 'DATA KEYS', ''], ...rows]),
    `${status.secrets} secrets in ${status.vaults} vaults; encrypted with old sealing keys: ${status.secrets_on_old_sealing_keys}, ` +
      `plus ${status.legacy_on_old_sealing_keys} legacy rows; old sealing keys: ${status.old_sealing_keys}`,
    ...behind,
  ].join('\n')
}
